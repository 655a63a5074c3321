// SPDX-License-Identifier: BSD-2-Clause
#include "fpga_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

constexpr FpgaFigure kFigures[] = {
    {"banks", &FpgaBoard::banks},
    {"bank_bytes_per_second", &FpgaBoard::bank_bytes_per_second},
    {"efficiency", &FpgaBoard::efficiency},
    {"clock_hz", &FpgaBoard::clock_hz},
    {"highest_clock_hz", &FpgaBoard::highest_clock_hz},
    {"initiation_interval", &FpgaBoard::initiation_interval},
    {"chain_cycles", &FpgaBoard::chain_cycles},
    {"burst_bits", &FpgaBoard::burst_bits},
    {"bus_in_bytes_per_second", &FpgaBoard::bus_in_bytes_per_second},
    {"bus_out_bytes_per_second", &FpgaBoard::bus_out_bytes_per_second},
    {"launch_seconds", &FpgaBoard::launch_seconds, true},
    {"dsp_blocks", &FpgaBoard::dsp_blocks},
    {"dsp_floats", &FpgaBoard::dsp_floats, true},
};

enum Array : std::size_t { kLower, kDiag, kUpper, kY, kX, kStored };

constexpr double kBitsOfByte = 8;

bool is_spike(FpgaKernel kernel) {
  return kernel == FpgaKernel::spktrunc || kernel == FpgaKernel::spkboth || kernel == FpgaKernel::spkjac;
}

/// Iterations of a kernel's loops for `rows` rows in blocks of `block` rows.
double iterations(FpgaKernel kernel, double rows, double block) {
  const double blocks = std::ceil(rows / block);
  if (is_spike(kernel)) return blocks + (kernel == FpgaKernel::spkjac ? 2 : 1);  // the last blocks flush the pipeline
  return 2 * (kernel == FpgaKernel::tdma_batch ? rows : blocks);                 // a sweep down and a sweep back
}

/// The longest term. @param[out] limit  its name
double longest(std::initializer_list<std::pair<FpgaTerm, double>> terms, FpgaTerm& limit) {
  const auto most =
      std::max_element(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  limit = most->first;
  return most->second;
}

}  // namespace

std::span<const FpgaFigure> fpga_figures() { return kFigures; }

void check_fpga_board(const FpgaBoard& board) {
  for (const FpgaFigure& figure : kFigures) {
    const double value = board.*figure.member;
    if (std::isfinite(value) && (value > 0 || (figure.may_be_zero && value == 0))) continue;
    throw InvalidInput(std::string(figure.name) + " of a board must be finite and " +
                       (figure.may_be_zero ? "not negative" : "more than 0") + ", not " + std::to_string(value));
  }
  if (board.banks != std::floor(board.banks)) throw InvalidInput("banks of a board must be a whole number");
  if (board.efficiency > 1) throw InvalidInput("efficiency of a board must be at most 1");
  if (board.highest_clock_hz < board.clock_hz) throw InvalidInput("highest_clock_hz must be at least clock_hz");
}

std::vector<FpgaPass> fpga_passes(FpgaKernel kernel, Form form) {
  if (form == Form::narrow) throw InvalidInput("the model has no form narrow: choose general, symmetric or shared");
  const int lower = form == Form::general ? 1 : 0, bands = form == Form::shared ? 0 : 1;
  //                    L      D      U      Y  X  S
  if (is_spike(kernel)) return {{lower, bands, bands, 1, 1, 0}};
  switch (kernel) {
    case FpgaKernel::tdma:  // pivots and right-hand sides overwrite diag and y; the second pass reads them
      return {{lower, 2 * bands, bands, 2, 0, 0}, {0, bands, bands, 1, 1, 0}};
    case FpgaKernel::tdma_stored:  // the eliminated y is stored in x
      return {{lower, bands, bands, 1, 1, bands}, {0, 0, 0, 0, 2, bands}};
    default:  // couplings and right-hand sides are stored in one array of the kernel's own
      return {{lower, bands, bands, 1, 0, 1 + bands}, {0, 0, 0, 0, 1, 1 + bands}};
  }
}

int fpga_words(const std::vector<FpgaPass>& passes) {
  int words = 0;
  for (const FpgaPass& pass : passes) words = std::accumulate(pass.begin(), pass.end(), words);
  return words;
}

int fpga_bank_words(const std::vector<FpgaPass>& passes, const FpgaBanks& placed) {
  int words = 0;
  for (const FpgaPass& pass : passes) {
    std::array<int, kFpgaArrays> banks{};
    for (std::size_t i = 0; i < kFpgaArrays; ++i) {
      if (placed[i] >= 0) banks[static_cast<std::size_t>(placed[i])] += pass[i];
    }
    words += *std::max_element(banks.begin(), banks.end());
  }
  return words;
}

FpgaBanks place_fpga_arrays(const std::vector<FpgaPass>& passes, int banks) {
  FpgaBanks now, best;
  int least = std::numeric_limits<int>::max();
  // Banks are alike, so an array goes to a bank in use or to the first empty one.
  const auto place = [&](const auto& self, std::size_t array, int used) -> void {
    if (array == kFpgaArrays) {
      const int words = fpga_bank_words(passes, now);
      if (words < least) {
        least = words;
        best = now;
      }
      return;
    }
    if (std::none_of(passes.begin(), passes.end(), [&](const FpgaPass& pass) { return pass[array] > 0; })) {
      now[array] = -1;
      return self(self, array + 1, used);
    }
    for (int bank = 0; bank <= used && bank < banks; ++bank) {
      now[array] = bank;
      self(self, array + 1, std::max(used, bank + 1));
    }
  };
  place(place, 0, 0);
  return best;
}

std::string placement_text(const FpgaBanks& placed) {
  std::string text;
  for (int bank = 0; bank < static_cast<int>(kFpgaArrays); ++bank) {
    std::string arrays;
    for (std::size_t i = 0; i < kFpgaArrays; ++i) {
      if (placed[i] == bank) arrays += std::string(arrays.empty() ? "" : ",") + kFpgaArrayLetters[i];
    }
    if (!arrays.empty()) text += std::string(text.empty() ? "" : " / ") + "{" + arrays + "}";
  }
  return text;
}

FpgaTime predict_fpga(const FpgaBoard& board, const FpgaTask& task) {
  check_fpga_board(board);
  if (task.rows < 0) throw InvalidInput("the rows of a prediction must not be negative");
  const std::vector<FpgaPass> passes = fpga_passes(task.kernel, task.form);
  const double rows = static_cast<double>(task.rows), word = task.word;
  FpgaTime time;
  time.placed = place_fpga_arrays(passes, static_cast<int>(std::min<double>(board.banks, kFpgaArrays)));
  time.bank_words = task.interleaved ? fpga_words(passes) / board.banks : fpga_bank_words(passes, time.placed);
  const double block = std::max(1.0, board.burst_bits / kBitsOfByte / word);
  time.pipeline = board.initiation_interval * iterations(task.kernel, rows, block) / board.clock_hz;
  const bool waits = task.kernel == FpgaKernel::tdma || task.kernel == FpgaKernel::tdma_stored;
  time.chain = waits ? board.chain_cycles * rows / board.clock_hz : 0;
  time.memory = time.bank_words * word * rows / (board.efficiency * board.bank_bytes_per_second);
  const int in = task.form == Form::shared ? 1 : task.form == Form::symmetric ? 3 : 4;
  time.bus_in = in * word * rows / board.bus_in_bytes_per_second;
  time.bus_out = word * rows / board.bus_out_bytes_per_second;
  // If terms are equal, the first one in this list is named.
  time.kernel =
      longest({{FpgaTerm::memory, time.memory}, {FpgaTerm::pipeline, time.pipeline}, {FpgaTerm::chain, time.chain}},
              time.kernel_limit);
  time.solve =
      longest({{time.kernel_limit, time.kernel}, {FpgaTerm::bus_in, time.bus_in}, {FpgaTerm::bus_out, time.bus_out}},
              time.solve_limit);
  return time;
}

}  // namespace oclspkt

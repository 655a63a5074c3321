// SPDX-License-Identifier: BSD-2-Clause
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <thread>

#include "clock.hpp"
#include "find_device.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "selection.hpp"
#include "settings.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

/// Bytes a row that problem, solvers and peers hold at most, in doubles.
constexpr double kBytesPerRow = 200;
constexpr Index kTrialRows = 1 << 20;
/// What a run takes for a row, as times of making and checking one; of each processor.
constexpr double kTrialsPerRow = 60;

Processor host() {
  Processor p{{}, "host"};
  p.info.type = DeviceType::host;
  p.info.name = "host";
  p.info.physical = "cpu";
  p.info.cores = static_cast<int>(std::thread::hardware_concurrency());
  return p;
}

Processor of(const DeviceInfo& info) { return {info, std::to_string(info.index)}; }

/// What takes its turn while pieces run.
class Turns {
 public:
  Turns(const std::vector<Piece>& pieces, double limit) : estimate_(work_of(pieces), limit), all_(pieces.size()) {}
  bool may_begin() const { return estimate_.may_begin(spent_); }
  /// @return seconds that it took
  template <typename F>
  void run(const Piece& piece, const F& f) {
    progress_.step(std::to_string(++at_) + " of " + std::to_string(all_) + ", " + piece.section + ": " + piece.words +
                   estimate_.describe(piece.work));
    const double seconds = seconds_of(f);
    estimate_.done(piece.work, seconds);
    spent_ += seconds;
  }

 private:
  static double work_of(const std::vector<Piece>& pieces) {
    double work = 0;
    for (const Piece& piece : pieces) work += piece.work;
    return work;
  }
  gpu::Estimate estimate_;
  Progress progress_;
  std::size_t all_, at_ = 0;
  double spent_ = 0;
};

void mark(const Piece& piece, const char* outcome, const std::string& why, Json& records) {
  if (piece.record.is_null()) return;
  Json record = piece.record;
  record["outcome"] = outcome;
  record["note"] = why;
  records.push_back(record);
}

/// Run a piece; what it throws becomes a record, and the others go on.
void attempt(const Piece& piece, Json& records) {
  try {
    piece.run(records);
  } catch (const Absent& error) {
    mark(piece, "absent", error.what(), records);
  } catch (const Error& error) {
    mark(piece, "failed", error.what(), records);
  } catch (const std::bad_alloc&) {
    mark(piece, "failed", "the host's memory does not hold it", records);
  }
}

}  // namespace

std::string Processor::kind() const {
  if (info.emulated) return "emulator";
  return info.type == DeviceType::gpu ? "GPU" : info.type == DeviceType::fpga ? "FPGA" : "CPU";
}

Processor paper_board() {
  Processor board{{}, ""};
  board.info.type = DeviceType::fpga;
  board.info.name = "A10PL4";
  return board;
}

Json figure(double value) {
  if (!std::isfinite(value)) return {};
  return std::strtod(text("%.4e", value).c_str(), nullptr);
}

std::vector<Processor> find_processors(const std::string& words) {
  std::vector<Processor> found;
  if (words != "auto") {
    for (const std::string& word : gpu::split(words)) {
      const DeviceInfo* info = gpu::find_device(word);
      found.push_back(info == nullptr ? host() : of(*info));
    }
    return found;
  }
  found.push_back(host());
  std::string why;
  DeviceModule* const module = device_module(&why);
  if (module == nullptr) return found;
  for (const DeviceInfo& info : module->devices()) found.push_back(of(info));
  return found;
}

Index choose_rows(const Settings& settings, std::size_t processors) {
  if (settings.rows > 0) return settings.rows;
  const double seconds = seconds_of([] {
    Problem<double> problem({.dominance = kPaperDominance}, kTrialRows);
    Json record;
    right(problem, record);
  });
  const double whole = kTrialsPerRow * seconds / kTrialRows * static_cast<double>(processors);
  Index rows = kPaperSize;
  while (rows > kTrialRows &&
         (!fits_memory(rows, kBytesPerRow) || static_cast<double>(rows) * whole > settings.seconds)) {
    rows /= 2;
  }
  return rows;
}

Json run(const Plan& plan, const std::vector<Piece>& pieces, const std::function<bool()>& stop) {
  Json document;
  for (const std::string& section : plan.settings.sections) document[section] = Json::array();
  Turns turns(pieces, plan.settings.seconds);
  for (const Piece& piece : pieces) {
    Json& records = document[piece.section];
    if (stop()) {
      mark(piece, "left out", "interrupted", records);
    } else if (piece.work > 0 && !turns.may_begin()) {
      mark(piece, "left out", "no time left: raise --seconds, or name fewer --rows or --figures", records);
    } else {
      turns.run(piece, [&] { attempt(piece, records); });
    }
  }
  return document;
}

}  // namespace oclspkt::bench::paper

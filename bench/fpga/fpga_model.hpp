// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "oclspkt/options.hpp"

namespace oclspkt {

/// Kernels for FPGAs that the model knows.
///   spktrunc, spkboth, spkjac  truncated SPIKE as a stream of blocks
///   tdma                       Thomas' algorithm as in Macintosh, Banks and Kelson (2019), 10 words a row
///   tdma_stored                tdma with stored couplings, 9 words a row
///   tdma_batch                 many lines that take turns, a row of one line in each cycle
enum class FpgaKernel { spktrunc, spkboth, spkjac, tdma, tdma_stored, tdma_batch };
inline constexpr const char* kFpgaKernelNames[] = {"spktrunc", "spkboth",     "spkjac",
                                                   "tdma",     "tdma-stored", "tdma-batch"};
inline constexpr const char* name(FpgaKernel k) { return kFpgaKernelNames[static_cast<int>(k)]; }

/// Figures of a board. The defaults are for the board of Macintosh, Banks and Kelson (2019), with their sources in
/// bench/boards/a10pl4.json.
struct FpgaBoard {
  double banks = 2;                                ///< number of memory banks on the board
  double bank_bytes_per_second = 8 * 2133.3333e6;  ///< peak rate of each bank
  double efficiency = 0.9;                         ///< share of the peak rate that streams reach
  double clock_hz = 200e6;                         ///< usual clock of a kernel
  double highest_clock_hz = 240e6;                 ///< highest clock of a kernel
  double initiation_interval = 1;                  ///< cycles from one iteration of a kernel's loop to the next
  double chain_cycles = 20;                        ///< latency of a division, a product and a difference in sequence
  double burst_bits = 1024;                        ///< bits of one access to memory; it holds the rows of a block
  double bus_in_bytes_per_second = 4.48e9;         ///< from the host to the board
  double bus_out_bytes_per_second = 4.48e9;        ///< from the board to the host, at the same time
  double launch_seconds = 100e-6;                  ///< fixed cost of an apply
  double dsp_blocks = 1518;                        ///< number of multiply-adders on the chip
  double dsp_floats = 1;                           ///< 1: a DSP block does one operation of floats; 0: it does not
};

/// A member of FpgaBoard by its name.
struct FpgaFigure {
  const char* name;
  double FpgaBoard::*member;
  bool may_be_zero = false;
};
std::span<const FpgaFigure> fpga_figures();

/// @throws InvalidInput that names a figure which is not finite, negative, or 0 where that means nothing
void check_fpga_board(const FpgaBoard& board);

/// Arrays on a board: lower, diag, upper, y, x, and the array that a kernel stores between two passes.
inline constexpr std::size_t kFpgaArrays = 6;
inline constexpr const char* kFpgaArrayLetters = "LDUYXS";

/// Words a row that one pass of a kernel moves, for each array; 2 for an array that the pass reads and writes.
using FpgaPass = std::array<int, kFpgaArrays>;

/// The passes of a kernel. Shared bands, the same in all lines, stay on the chip.
/// @throws InvalidInput for a form that the kernel has not: narrow
std::vector<FpgaPass> fpga_passes(FpgaKernel kernel, Form form);

/// Words a row of all passes.
int fpga_words(const std::vector<FpgaPass>& passes);

/// The bank of each array; -1 if no pass moves it.
using FpgaBanks = std::array<int, kFpgaArrays>;

/// Words a row that the fullest bank moves, summed over the passes, which run one after the other.
int fpga_bank_words(const std::vector<FpgaPass>& passes, const FpgaBanks& placed);

/// Find the placement of whole arrays on banks with the fewest words on the fullest bank: all placements are tried.
/// @param banks at least 1; more than there are arrays make no difference
FpgaBanks place_fpga_arrays(const std::vector<FpgaPass>& passes, int banks);

/// A placement in words, such as {D,U} / {L,Y,X}.
std::string placement_text(const FpgaBanks& placed);

struct FpgaTask {
  FpgaKernel kernel = FpgaKernel::spktrunc;
  Form form = Form::general;
  Index rows = 0;
  int word = sizeof(float);  ///< bytes of a scalar
  bool interleaved = false;  ///< arrays are spread over all banks, burst by burst, instead of placed
};

/// The resource that limits a solve.
enum class FpgaTerm { pipeline, chain, memory, bus_in, bus_out };
inline constexpr const char* kFpgaTermNames[] = {"pipeline", "division chain", "memory", "bus in", "bus out"};
inline constexpr const char* name(FpgaTerm t) { return kFpgaTermNames[static_cast<int>(t)]; }

/// Predicted seconds of each term, and the longest term.
struct FpgaTime {
  double pipeline = 0;  ///< iterations of the loops at the kernel's clock
  double chain = 0;     ///< each row waits for the division of the row above
  double memory = 0;    ///< transfers of the fullest bank; of all banks if arrays are interleaved
  double bus_in = 0;    ///< transfer of the right-hand side and of bands, unless they are shared
  double bus_out = 0;   ///< transfer of the solution
  double kernel = 0;    ///< the longest of pipeline, chain and memory
  double solve = 0;     ///< the longest of all terms, because transfers of chunks overlap with solves
  FpgaTerm kernel_limit = FpgaTerm::memory, solve_limit = FpgaTerm::memory;
  FpgaBanks placed = {};  ///< meaningless if arrays are interleaved
  double bank_words = 0;  ///< words a row from which `memory` follows
};

/// Predict a solve by one kernel of a board.
/// @throws InvalidInput for a board with a meaningless figure, negative rows or form narrow
FpgaTime predict_fpga(const FpgaBoard& board, const FpgaTask& task);

}  // namespace oclspkt

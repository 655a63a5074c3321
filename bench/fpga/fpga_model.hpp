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
///   tdma                       Thomas' algorithm as Macintosh, Banks and Kelson (2019) have it, 10 words a row
///   tdma_stored                the same with stored couplings, 9 words a row
///   tdma_batch                 many lines that take turns, a row of one line in each cycle
enum class FpgaKernel { spktrunc, spkboth, spkjac, tdma, tdma_stored, tdma_batch };
inline constexpr const char* kFpgaKernelNames[] = {"spktrunc", "spkboth",     "spkjac",
                                                   "tdma",     "tdma-stored", "tdma-batch"};
inline constexpr const char* name(FpgaKernel k) { return kFpgaKernelNames[static_cast<int>(k)]; }

/// Figures of a board. The defaults are those of the board of the paper (bench/boards/a10pl4.json has their sources).
struct FpgaBoard {
  double banks = 2;                                ///< of the memory on the board
  double bank_bytes_per_second = 8 * 2133.3333e6;  ///< of each
  double efficiency = 0.9;                         ///< part of that rate that streams reach
  double clock_hz = 200e6;                         ///< of a kernel
  double highest_clock_hz = 240e6;                 ///< that a kernel may reach at best
  double initiation_interval = 1;                  ///< cycles from one iteration of a kernel's loop to the next
  double chain_cycles = 20;                        ///< of a division, a product and a difference, one after the other
  double burst_bits = 1024;                        ///< of one access to memory: the rows of a block
  double bus_in_bytes_per_second = 4.48e9;         ///< from the host to the board
  double bus_out_bytes_per_second = 4.48e9;        ///< back, at the same time
  double launch_seconds = 100e-6;                  ///< of an apply however few its rows are
  double dsp_blocks = 1518;                        ///< multiply-adders of the chip
  double dsp_floats = 1;                           ///< 1: each of them is one operation of floats; 0: it is not
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

/// Arrays on a board: lower, diag, upper, y, x, and what a kernel keeps between two passes.
inline constexpr std::size_t kFpgaArrays = 6;
inline constexpr const char* kFpgaArrayLetters = "LDUYXS";

/// Words a row that one pass of a kernel moves, by array; an array that is read and written has 2.
using FpgaPass = std::array<int, kFpgaArrays>;

/// The passes of a kernel. Shared bands, the same in all lines, stay on the chip.
/// @throws InvalidInput for a form that the kernel has not: narrow
std::vector<FpgaPass> fpga_passes(FpgaKernel kernel, Form form);

/// Words a row of all passes.
int fpga_words(const std::vector<FpgaPass>& passes);

/// Where arrays lie: for each its bank, -1 if no pass moves it.
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

/// What may limit a solve.
enum class FpgaTerm { pipeline, chain, memory, bus_in, bus_out };
inline constexpr const char* kFpgaTermNames[] = {"pipeline", "division chain", "memory", "bus in", "bus out"};
inline constexpr const char* name(FpgaTerm t) { return kFpgaTermNames[static_cast<int>(t)]; }

/// Seconds of each term, and which is the longest.
struct FpgaTime {
  double pipeline = 0;  ///< the iterations of the loops, at the clock
  double chain = 0;     ///< rows that wait for the division of the row above
  double memory = 0;    ///< the fullest bank, or all banks where arrays are interleaved
  double bus_in = 0;    ///< of the bands that are not shared and the right-hand side
  double bus_out = 0;   ///< of the solution
  double kernel = 0;    ///< the longest of the first three
  double solve = 0;     ///< the longest of all: chunks travel while others are solved
  FpgaTerm kernel_limit = FpgaTerm::memory, solve_limit = FpgaTerm::memory;
  FpgaBanks placed = {};  ///< meaningless where arrays are interleaved
  double bank_words = 0;  ///< words a row behind `memory`
};

/// Predict a solve by one kernel of a board.
/// @throws InvalidInput for a board with a meaningless figure, negative rows or form narrow
FpgaTime predict_fpga(const FpgaBoard& board, const FpgaTask& task);

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE as a stream of blocks, by one work-item: what the kernels kernels/fpga/task_spk*.cl are planned and
// judged by. Each block of m rows is swept down (LU) and up (UL) by itself, and a system of 2x2 at each cut gives the
// unknowns on either side of it.
#pragma once

#include <limits>

#include "certificate.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"

namespace oclspkt {

/// How blocks are solved from the unknowns at their cuts. Half: each half of a block from its own cut. Both: all rows
/// from both cuts. Jacobi: as both, after a sweep of Jacobi's method over the systems of all cuts.
enum class CutSweep { half, both, jacobi };

/// Rows of a block: the fewest, which fill bursts of 1024 bits in float and in double, and the most, with which kernels
/// still build in seconds. Powers of two.
inline constexpr Index kTaskRows = 32, kMostTaskRows = 128;

/// Blocks that a launch reads again before its own, and behind them.
constexpr Index task_overlap(CutSweep sweep) { return sweep == CutSweep::jacobi ? 2 : 1; }

/// Plan method truncated-streamed by one work-item, for lines laid end to end: a tile is a block.
/// @param m  rows of a block, rounded up to a power of two from kTaskRows to kMostTaskRows
/// @throws InvalidInput if the memory does not hold one block
OCLSPKT_API Plan make_task_plan(Index n, Index m, const char* scheme, int word, const DeviceTraits& traits);

/// Rigorous bound for blocks of plan.m rows, in double whatever T is. The unknowns of cut k, between the blocks k - 1
/// and k, err by
///
///   above:  (|w_b| e_above + |v_b v_t| e_below) / |1 - v_b w_t|     v_b, w_b of block k - 1, w_t, v_t of block k
///   below:  (|w_t w_b| e_above + |v_t| e_below) / |1 - v_b w_t|
///
/// where e_above and e_below are 1 in the first turn, and in the second one the errors of the first at the cuts k - 1
/// and k + 1. Row i of a block then errs by |w_i| times the error above it and |v_i| times the error below it. For
/// CutSweep::half see certify_halves().
/// @pre couplings out of the lines are 0
/// @cost 2 sweeps over the rows, by all processors
template <typename T>
Certificate certify_task(const Plan& plan, CutSweep sweep, const BandsView<T>& bands);

/// The bound of certify_task() from dominance alone. With e = d^(1 - m) / (d - 1), which bounds the errors of the first
/// turn, it is (1 / d + d^-m) e for both, (1 / d + d^-m) e^2 for jacobi; infinite if d <= 1.
/// @pre every row is dominant by rows with at least d, or d is Survey::decay()
double bound_task(CutSweep sweep, double d, Index m);

/// The bound on rounding, in eps in a row, by dominance; NaN if d <= 1.
///
/// In units of u max |x|, u = eps / 2: a row whose pivot is û and whose couplings are a and c collects at most
/// 6 |û| + 6 |c| + (8 + 1/d) |a| <= (6 + (8 + 7/d) / d) |b| of the sweep down, of what enters it and of the
/// substitution, that is 6 + (2 + 7/d) / (1 + d) of |a| + |b| + |c|. An unknown that is known twice, once from the
/// system of its cut and once from the substitution, differs by what both collect, times d / (d - 1), the largest row
/// sum of the inverse times the diagonal; the sweep up collects (4 + 1/d + (5 + 2/d) / d) |b|. The row beyond the cut,
/// whose coupling is 1 / (1 + d) of it at most, is left with that. On the other side of the cut both values follow from
/// the same sweep down, and differ by 14, the rounding of the system itself.
/// @pre every row is dominant by rows with at least d
double rounding_of_task(CutSweep sweep, double d, Index m);

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Truncated SPIKE as a stream of blocks, by one work-item: plans and bounds of kernels/fpga/task_spk*.cl. Each block of
// m rows is swept down (LU) and up (UL) by itself. A 2x2 system at each cut gives the unknowns on both sides of it.
#pragma once

#include "certificate.hpp"
#include "oclspkt/bands.hpp"
#include "plan.hpp"

namespace oclspkt {

/// How the rows of a block follow from the unknowns at its cuts. half: each half of the block, from the cut at its own
/// end. both: all rows, from both cuts. jacobi: like both, after one Jacobi sweep over the systems of all cuts.
enum class CutSweep { half, both, jacobi };

/// Fewest and most rows of a block, powers of two. Blocks of kTaskRows rows fill bursts of 1024 bits in float and in
/// double. With more than kMostTaskRows rows, kernels take too long to build.
inline constexpr Index kTaskRows = 32, kMostTaskRows = 128;

/// Blocks on each side that a launch reads in addition to its own.
constexpr Index task_overlap(CutSweep sweep) { return sweep == CutSweep::jacobi ? 2 : 1; }

/// Plan truncated-streamed by one work-item, for lines laid end to end. A tile is a block.
/// @param m  rows of a block, rounded up to a power of two from kTaskRows to kMostTaskRows
/// @throws InvalidInput if the memory does not hold one block
OCLSPKT_API Plan make_task_plan(Index n, Index m, const char* scheme, int word, const DeviceTraits& traits);

/// Rigorous bound for blocks of plan.m rows, in double whatever T is. The unknowns at cut k, between the blocks k - 1
/// and k, err by
///
///   above:  (|w_b| e_above + |v_b v_t| e_below) / |1 - v_b w_t|     v_b, w_b of block k - 1, w_t, v_t of block k
///   below:  (|w_t w_b| e_above + |v_t| e_below) / |1 - v_b w_t|
///
/// In the first sweep over the cuts, e_above and e_below are 1. In a second sweep they are the errors that the first
/// sweep gives at the cuts k - 1 and k + 1. Row i of a block then errs by |w_i| times the error above the block, plus
/// |v_i| times the error below the block.
/// For CutSweep::half see certify_halves().
/// @pre couplings out of the lines are 0
/// @cost 2 sweeps over the rows, by all processors
template <typename T>
Certificate certify_task(const Plan& plan, CutSweep sweep, const BandsView<T>& bands);

/// The bound of certify_task() from dominance d alone; infinite if d <= 1. Let e = d^(1 - m) / (d - 1), which bounds
/// the errors of the first sweep over the cuts. The bound is (1 / d + d^-m) e for CutSweep::both, and (1 / d + d^-m)
/// e^2 for CutSweep::jacobi.
/// @pre every row is dominant by rows with at least d, or d is Survey::decay()
double bound_task(CutSweep sweep, double d, Index m);

/// The bound on rounding in a row from dominance d alone, in eps; NaN if d <= 1. Notation: rounding.hpp; all numbers
/// are in u max |x|.
///
/// The sweep down, the value that enters the row and the substitution add at most 6 |u_i| + 6 |c_i| + (8 + 1 / d) |a_i|
/// to a row. As |u_i| <= |b_i| + |a_i| / d and |a_i| + |c_i| <= |b_i| / d, this sum is at most (6 + (8 + 7 / d) / d)
/// |b_i|, or 6 + (2 + 7 / d) / (1 + d) of |A_i|.
///
/// The 2x2 system and the substitution both compute the unknown at a cut. The two results differ by the rounding of
/// both computations, times d / (d - 1), the largest row sum of the inverse times the diagonal. The sweep up adds (4 +
/// r + (5 + 2 r) r) |b_i| to this rounding, with r = 1 / d. The difference enters the row beyond the cut times its
/// coupling, which is at most 1 / (1 + d) of |A_i|. On the other side of the cut, both results follow from the same
/// sweep down, and differ by only 14, the rounding of the 2x2 system.
/// @pre every row is dominant by rows with at least d
double rounding_of_task(CutSweep sweep, double d, Index m);

}  // namespace oclspkt

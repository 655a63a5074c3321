// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <functional>

#include "logged.hxx"
#include "parallel.hpp"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// The index in PC_OCLSPKT::sweeps of the sweep at a step. For `symmetric`, the steps go through the sweeps and back.
int sweep_at(const PC_OCLSPKT& o, int step, bool transpose) {
  const int count = static_cast<int>(o.sweeps.size());
  const int place = step < count ? step : 2 * (count - 1) - step;
  return transpose && o.settings.combine != Combine::symmetric ? count - 1 - place : place;
}

Sweep& sweep_of(PC_OCLSPKT& o, int step, bool transpose) {
  return *o.sweeps[static_cast<std::size_t>(sweep_at(o, step, transpose))];
}

/// The number of solves in one application of the operator.
int steps_of(const PC_OCLSPKT& o) {
  const int count = static_cast<int>(o.sweeps.size());
  return o.settings.combine == Combine::symmetric ? 2 * count - 1 : count;
}

enum class RowWise { add, multiply, take_from };

/// Compute to += with (add), to *= with (multiply) or to = with - to (take_from). If both vectors lie on a device, the
/// device computes. Otherwise, the cores of this rank compute.
void change_vector(Vec to, RowWise what, Vec with) {
  const PetscScalar* operand;
  PetscScalar* changed;
  PetscInt rows;
  if (queue_of({.vector = with}, {.vector = to})) {
    if (what == RowWise::add) must(VecAXPY(to, 1, with));
    if (what == RowWise::multiply) must(VecPointwiseMult(to, to, with));
    if (what == RowWise::take_from) must(VecAYPX(to, -1, with));
    return;
  }
  must(VecGetLocalSize(to, &rows));
  must(VecGetArrayRead(with, &operand));
  must(VecGetArray(to, &changed));
  const auto change = [&](Index first, Index end) {
    if (what == RowWise::add) {
      for (Index i = first; i < end; ++i) changed[i] += operand[i];
    } else if (what == RowWise::multiply) {
      for (Index i = first; i < end; ++i) changed[i] *= operand[i];
    } else {
      for (Index i = first; i < end; ++i) changed[i] = operand[i] - changed[i];
    }
  };
  for_pieces(rows, kPieceRows, std::ref(change));
  must(VecRestoreArray(to, &changed));
  must(VecRestoreArrayRead(with, &operand));
}

void change(const Block& to, RowWise what, const Block& with) {
  each_vector(to, with, [&](Vec changed, Vec read) { change_vector(changed, what, read); });
}

/// Make the blocks for results between sweeps. They lie on the host or the device of the solution. Collective.
/// @return blocks with as many columns as the solution; `between` is set if the factors have a diagonal between them
Work match_work(PC pc, const Block& solution) {
  PC_OCLSPKT* o = data(pc);
  Work& own = solution.matrix ? o->work_columns : o->work;
  Block one = solution;
  Work work;
  one.count = 1;
  for (std::size_t k = 0; k < own.parts.size(); ++k) {
    match_block(solution, own.parts[k]);
    work.parts[k] = own.parts[k];
    work.parts[k].count = solution.count;
  }
  if (o->settings.combine != Combine::symmetric || o->between.empty()) return work;
  if (match_block(one, own.between)) {
    const Columns<PetscScalar> values = get_write(own.between);
    std::copy(o->between.begin(), o->between.end(), values.first);
    restore_write(own.between, values);
  }
  work.between = own.between;
  return work;
}

void apply_additive(PC pc, const Work& work, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  solve_sweep(pc, o->first(), right, solution, transpose);
  for (std::size_t k = 1; k < o->sweeps.size(); ++k) {
    solve_sweep(pc, *o->sweeps[k], right, work.parts[0], transpose);
    change(solution, RowWise::add, work.parts[0]);
  }
}

/// Apply the product of the sweeps: the result of each sweep is the right-hand side of the next sweep.
void apply_product(PC pc, const Work& work, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  const int steps = steps_of(*o);
  Block from = right;
  const bool scaled = work.between.vector || work.between.matrix;
  for (int k = 0; k < steps; ++k) {
    const Block to = k == steps - 1 ? solution : work.parts[static_cast<std::size_t>(k % 2)];
    solve_sweep(pc, sweep_of(*o, k, transpose), from, to, transpose);
    if (k < steps - 1 && scaled) change(to, RowWise::multiply, work.between);
    from = to;
  }
}

/// x = 0; for each direction x += T^-1 (y - A x), where T is the tridiagonal matrix of the direction.
void apply_multiplicative(PC pc, const Work& work, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  Mat matrix = pc->useAmat ? pc->mat : pc->pmat;
  const auto& [residual, part] = work.parts;
  solve_sweep(pc, sweep_of(*o, 0, transpose), right, solution, transpose);
  for (std::size_t k = 1; k < o->sweeps.size(); ++k) {
    each_vector(residual, solution,
                [&](Vec product, Vec x) { multiply(matrix, x, product, transpose, o->work.of_matrix); });
    change(residual, RowWise::take_from, right);
    solve_sweep(pc, sweep_of(*o, static_cast<int>(k), transpose), residual, part, transpose);
    change(solution, RowWise::add, part);
  }
}

/// Apply all directions with one transfer of host vectors to the device and back.
/// @return false if the caller must apply each direction separately
bool apply_in_one_visit(PC pc, const Block& right, const Block& solution) {
  PC_OCLSPKT* o = data(pc);
  bool solved = false, failed = false;
  if (!o->visit.ready() || queue_of(right, solution)) return false;
  const Columns<const PetscScalar> y = get_read(right);
  const Columns<PetscScalar> x = get_write(solution);
  try {
    solved = o->visit.apply(y.first, y.stride, x.first, x.stride, solution.count);
  } catch (...) {
    o->answers.keep();  // until the end of the apply, see PC_OCLSPKT::answers
    failed = true;
  }
  restore_write(solution, x);
  restore_read(right, y);
  for (int k = 0; solved && k < steps_of(*o); ++k) {
    log_applies(sweep_of(*o, k, false).solver.report(), solution.count);
  }
  return solved || failed;
}

}  // namespace

void solve_sweep(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  const LineLayout& layout = sweep.layout;
  const PetscInt count = solution.count;
  const Index rows = layout.rows.empty() ? 0 : layout.lines.rows();  // number of rows to permute
  const Lent lent = lend(pc, sweep, right, solution, transpose);
  // The first solve with several columns allocates memory for them, and later solves reuse it.
  sweep.right.resize(count * rows);
  sweep.solution.resize(count * rows);
  const Columns<PetscScalar> moved_y{sweep.right.data(), rows}, moved_x{sweep.solution.data(), rows};
  for (PetscInt k = 0; k < count; ++k) {
    for (Index i = 0; i < rows; ++i) moved_y[k][i] = lent.y[k][layout.row(i)];
  }
  const Columns<const PetscScalar> y = rows > 0 ? Columns<const PetscScalar>{moved_y.first, rows} : lent.y;
  const Columns<PetscScalar> x = rows > 0 ? moved_x : lent.x;
  for (PetscInt k = 0; k < (transpose ? count : 1); ++k) {
    try {
      transpose ? sweep.solver.apply_transpose(y[k], x[k], lent.place) : sweep.solver.apply(lent.place, y, x, count);
    } catch (...) {
      o->answers.keep();  // PCApply() raises the exception at its end
    }
  }
  for (PetscInt k = 0; k < count; ++k) {
    for (Index i = 0; i < rows; ++i) lent.x[k][layout.row(i)] = moved_x[k][i];
  }
  give_back(right, solution, lent);
  log_applies(sweep.report(transpose), count, lent.place);
}

/// The order of a visit: the solvers of all steps, and the combination of their results.
static DeviceVisit<PetscScalar>::Order order_of(PC_OCLSPKT& o) {
  DeviceVisit<PetscScalar>::Order order;
  order.sum = o.settings.combine == Combine::additive;
  for (int k = 0; k < steps_of(o); ++k) order.solvers.push_back(&sweep_of(o, k, false).solver);
  if (o.settings.combine == Combine::symmetric && !o.between.empty()) order.between = o.between.data();
  return order;
}

void set_up_visit(PC pc) {
  PC_OCLSPKT* o = data(pc);
  const auto in_order = [](const auto& sweep) { return sweep->layout.rows.empty(); };
  Trouble trouble;
  if (o->sweeps.size() == 1 || o->settings.combine == Combine::multiplicative) return;
  if (std::all_of(o->sweeps.begin(), o->sweeps.end(), in_order))
    trouble.attempt([&] { o->visit.set_up(order_of(*o)); });
  agree_on(pc, trouble);
}

void apply_combined(PC pc, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  /* Each rank decides alone about a visit, but making vectors is collective, so several ranks make them first. */
  const bool alone = ranks_of(comm_of(pc)) == 1;
  const Work made = alone ? Work{} : match_work(pc, solution);
  if (!transpose && apply_in_one_visit(pc, right, solution)) return;
  const Combine combine = o->settings.combine;
  const auto apply = combine == Combine::additive         ? apply_additive
                     : combine == Combine::multiplicative ? apply_multiplicative
                                                          : apply_product;
  apply(pc, alone ? match_work(pc, solution) : made, right, solution, transpose);
}

}  // namespace oclspkt::petsc

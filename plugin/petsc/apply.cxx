// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <functional>
#include <utility>

#include "boundary.hxx"
#include "flops.hxx"
#include "logged.hxx"
#include "parallel.hpp"
#include "pc_oclspkt.hxx"
#include "place.hxx"

namespace oclspkt::petsc {
namespace {

/// The order in which sweeps follow each other, as places in PC_OCLSPKT::sweeps: x, y, z, and back for `symmetric`.
int sweep_at(const PC_OCLSPKT& o, int step, bool transpose) {
  const int count = static_cast<int>(o.sweeps.size());
  const int place = step < count ? step : 2 * (count - 1) - step;
  return transpose && o.settings.combine != Combine::symmetric ? count - 1 - place : place;
}

Sweep& sweep_of(PC_OCLSPKT& o, int step, bool transpose) {
  return *o.sweeps[static_cast<std::size_t>(sweep_at(o, step, transpose))];
}

/// Solves that an operator is made of.
int steps_of(const PC_OCLSPKT& o) {
  const int count = static_cast<int>(o.sweeps.size());
  return o.settings.combine == Combine::symmetric ? 2 * count - 1 : count;
}

/// What is done to a vector, row by row, with another one.
enum class RowWise { add, multiply, take_from };

/// to += with; to *= with; or to = with - to: on the device where they lie there, else by all processors of this rank.
PetscErrorCode ChangeVector(PC pc, Vec to, RowWise what, Vec with) {
  DeviceQueue queue;
  const PetscScalar* operand;
  PetscScalar* changed;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(QueueOf({.vector = with}, {.vector = to}, &queue));
  if (queue) {
    if (what == RowWise::add) PetscCall(VecAXPY(to, 1, with));
    if (what == RowWise::multiply) PetscCall(VecPointwiseMult(to, to, with));
    if (what == RowWise::take_from) PetscCall(VecAYPX(to, -1, with));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(to, &rows));
  PetscCall(VecGetArrayRead(with, &operand));
  PetscCall(VecGetArray(to, &changed));
  const auto change = [&](Index first, Index end) {
    if (what == RowWise::add) {
      for (Index i = first; i < end; ++i) changed[i] += operand[i];
    } else if (what == RowWise::multiply) {
      for (Index i = first; i < end; ++i) changed[i] *= operand[i];
    } else {
      for (Index i = first; i < end; ++i) changed[i] = operand[i] - changed[i];
    }
  };
  OclspktCall(pc, for_pieces(rows, kPieceRows, std::ref(change)));
  PetscCall(VecRestoreArray(to, &changed));
  PetscCall(VecRestoreArrayRead(with, &operand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Change(PC pc, const Block& to, RowWise what, const Block& with) {
  PetscFunctionBegin;
  PetscCall(EachVector(to, with, [&](Vec changed, Vec read) { return ChangeVector(pc, changed, what, read); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Make the vectors between the sweeps where the solution lies.
/// @param[out] work  parts as wide as the solution; `between` as one vector, if there is such a diagonal
PetscErrorCode MatchWork(PC pc, const Block& solution, Work* work) {
  PC_OCLSPKT* o = data(pc);
  Work& kept = solution.matrix ? o->work_columns : o->work;
  Block one = solution;
  Columns<PetscScalar> values;
  PetscBool made;

  PetscFunctionBegin;
  *work = {};
  one.count = 1;
  for (std::size_t k = 0; k < kept.parts.size(); ++k) {
    PetscCall(MatchBlock(solution, &kept.parts[k], &made));
    work->parts[k] = kept.parts[k];
    work->parts[k].count = solution.count;
  }
  if (o->settings.combine != Combine::symmetric || o->between.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatchBlock(one, &kept.between, &made));
  if (made) {
    PetscCall(GetWrite(kept.between, &values));
    std::copy(o->between.begin(), o->between.end(), values.first);
    PetscCall(RestoreWrite(kept.between, &values));
  }
  work->between = kept.between;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyAdditive(PC pc, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  Work work;

  PetscFunctionBegin;
  PetscCall(MatchWork(pc, solution, &work));
  PetscCall(SolveSweep(pc, o->first(), right, solution, transpose));
  for (std::size_t k = 1; k < o->sweeps.size(); ++k) {
    PetscCall(SolveSweep(pc, *o->sweeps[k], right, work.parts[0], transpose));
    PetscCall(Change(pc, solution, RowWise::add, work.parts[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One sweep after the other, each from where the last one left; the last one writes to the solution.
PetscErrorCode ApplyProduct(PC pc, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  const int steps = steps_of(*o);
  Work work;
  Block from = right;

  PetscFunctionBegin;
  PetscCall(MatchWork(pc, solution, &work));
  const bool scaled = work.between.vector || work.between.matrix;
  for (int k = 0; k < steps; ++k) {
    const Block to = k == steps - 1 ? solution : work.parts[static_cast<std::size_t>(k % 2)];
    PetscCall(SolveSweep(pc, sweep_of(*o, k, transpose), from, to, transpose));
    if (k < steps - 1 && scaled) PetscCall(Change(pc, to, RowWise::multiply, work.between));
    from = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x = 0; for each direction x += (D + X)^-1 (y - A x).
PetscErrorCode ApplyMultiplicative(PC pc, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  Mat matrix = pc->useAmat ? pc->mat : pc->pmat;
  Work work;

  PetscFunctionBegin;
  PetscCall(MatchWork(pc, solution, &work));
  const auto& [residual, part] = work.parts;
  PetscCall(SolveSweep(pc, sweep_of(*o, 0, transpose), right, solution, transpose));
  for (std::size_t k = 1; k < o->sweeps.size(); ++k) {
    PetscCall(EachVector(residual, solution, [&](Vec product, Vec x) {
      return Multiply(matrix, x, product, transpose, &o->work.of_matrix);
    }));
    PetscCall(Change(pc, residual, RowWise::take_from, right));
    PetscCall(SolveSweep(pc, sweep_of(*o, static_cast<int>(k), transpose), residual, part, transpose));
    PetscCall(Change(pc, solution, RowWise::add, part));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Apply all directions while the vectors of the host go to the device and back once.
/// @param[out] solved  false: each direction has to go by itself
PetscErrorCode ApplyInOneVisit(PC pc, const Block& right, const Block& solution, PetscBool* solved) {
  PC_OCLSPKT* o = data(pc);
  DeviceQueue queue;
  Columns<const PetscScalar> y;
  Columns<PetscScalar> x;

  PetscFunctionBegin;
  *solved = PETSC_FALSE;
  if (!o->visit.ready()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(QueueOf(right, solution, &queue));
  if (queue) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetRead(right, &y));
  PetscCall(GetWrite(solution, &x));
  OclspktCall(pc,
              *solved = static_cast<PetscBool>(o->visit.apply(y.first, y.stride, x.first, x.stride, solution.count)));
  PetscCall(RestoreWrite(solution, &x));
  PetscCall(RestoreRead(right, &y));
  if (!*solved) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < steps_of(*o); ++k) {
    const Report& report = sweep_of(*o, k, false).solver.report();
    PetscCall(LogFlops(report, static_cast<PetscLogDouble>(solution.count) * apply_flops(report)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode SolveColumns(PC pc, Sweep& sweep, Columns<const PetscScalar> y, Columns<PetscScalar> x, PetscInt count,
                            bool transpose) {
  const LineLayout& layout = sweep.layout;
  const Index rows = layout.lines.rows();
  const bool moved = !layout.rows.empty();
  const Index together = moved ? std::min<Index>(count, kColumnsTogether) : count;

  PetscFunctionBegin;
  // Room for several columns is made when the first of them come.
  if (moved) OclspktCall(pc, sweep.right.resize(together * rows));
  if (moved) OclspktCall(pc, sweep.solution.resize(together * rows));
  const Columns<PetscScalar> right{sweep.right.data(), rows}, solution{sweep.solution.data(), rows};
  for (Index done = 0, some; done < count && !pc->failedreason; done += some) {
    some = std::min(together, count - done);
    for (Index k = 0; moved && k < some; ++k) {
      for (Index i = 0; i < rows; ++i) right[k][i] = y[done + k][layout.row(i)];
    }
    const Columns<const PetscScalar> from = moved ? Columns<const PetscScalar>{right.first, right.stride} : y + done;
    const Columns<PetscScalar> to = moved ? solution : x + done;
    const auto solve = [&](Index k, Index columns) {
      transpose ? sweep.solver.apply_transpose(from[k], to[k])
                : sweep.solver.apply(from.first, from.stride, to.first, to.stride, columns);
    };
    for (Index k = 0; k < (transpose ? some : 1); ++k) {
      // All ranks have to hear of an answer that is wrong on this one, and others may wait for its next solve.
      if (answers_may_fail(*data(pc))) {
        data(pc)->answers.keep_on([&] { solve(k, some); });
      } else {
        OclspktCall(pc, solve(k, some));
      }
    }
    for (Index k = 0; moved && k < some; ++k) {
      for (Index i = 0; i < rows; ++i) x[done + k][layout.row(i)] = solution[k][i];
    }
  }
  if (!pc->failedreason) {
    const Report& report = transpose ? sweep.solver.transpose_report() : sweep.solver.report();
    PetscCall(LogFlops(report, static_cast<PetscLogDouble>(count) * apply_flops(report)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveSweep(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose) {
  Columns<const PetscScalar> y;
  Columns<PetscScalar> x;
  PetscBool solved;

  PetscFunctionBegin;
  PetscCall(SolveOnDevice(pc, sweep, right, solution, transpose, &solved));
  if (solved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetRead(right, &y));
  PetscCall(GetWrite(solution, &x));
  PetscCall(SolveColumns(pc, sweep, y, x, solution.count, transpose));
  PetscCall(RestoreWrite(solution, &x));
  PetscCall(RestoreRead(right, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In which order a visit of a device solves.
static DeviceVisit<PetscScalar>::Order order_of(PC_OCLSPKT& o) {
  DeviceVisit<PetscScalar>::Order order;
  order.sum = o.settings.combine == Combine::additive;
  for (int k = 0; k < steps_of(o); ++k) order.solvers.push_back(&sweep_of(o, k, false).solver);
  if (o.settings.combine == Combine::symmetric && !o.between.empty()) order.between = o.between.data();
  return order;
}

PetscErrorCode SetUpVisit(PC pc) {
  PC_OCLSPKT* o = data(pc);
  bool possible = o->sweeps.size() > 1 && o->settings.combine != Combine::multiplicative;

  PetscFunctionBegin;
  for (const auto& sweep : o->sweeps) possible = possible && sweep->layout.rows.empty();
  if (!possible) PetscFunctionReturn(PETSC_SUCCESS);
  OclspktCall(pc, o->visit.set_up(order_of(*o)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyCombined(PC pc, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  PetscBool solved = PETSC_FALSE;

  PetscFunctionBegin;
  if (!transpose) PetscCall(ApplyInOneVisit(pc, right, solution, &solved));
  if (solved || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  switch (o->settings.combine) {
    case Combine::additive:
      PetscCall(ApplyAdditive(pc, right, solution, transpose));
      break;
    case Combine::multiplicative:
      PetscCall(ApplyMultiplicative(pc, right, solution, transpose));
      break;
    default:
      PetscCall(ApplyProduct(pc, right, solution, transpose));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

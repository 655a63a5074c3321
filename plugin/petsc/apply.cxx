// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "boundary.hxx"
#include "flops.hxx"
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

/// What is done to a vector, row by row, with another one.
enum class RowWise { add, multiply, take_from };

/// to += with; to *= with; or to = with - to: on the device where they lie there, else by all processors of this rank.
PetscErrorCode Change(PC pc, Vec to, RowWise what, Vec with) {
  DeviceQueue queue;
  const PetscScalar* operand;
  PetscScalar* changed;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(QueueOf(with, to, &queue));
  if (queue) {
    if (what == RowWise::add) PetscCall(VecAXPY(to, 1, with));
    if (what == RowWise::multiply) PetscCall(VecPointwiseMult(to, to, with));
    if (what == RowWise::take_from) PetscCall(VecAYPX(to, -1, with));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(to, &rows));
  PetscCall(VecGetArrayRead(with, &operand));
  PetscCall(VecGetArray(to, &changed));
  OclspktCall(pc, for_pieces(rows, kPieceRows, [&](Index first, Index end) {
                if (what == RowWise::add) {
                  for (Index i = first; i < end; ++i) changed[i] += operand[i];
                } else if (what == RowWise::multiply) {
                  for (Index i = first; i < end; ++i) changed[i] *= operand[i];
                } else {
                  for (Index i = first; i < end; ++i) changed[i] = operand[i] - changed[i];
                }
              }));
  PetscCall(VecRestoreArray(to, &changed));
  PetscCall(VecRestoreArrayRead(with, &operand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a vector is of the same type as another one, and bound to the host where that is.
PetscErrorCode Alike(Vec a, Vec b, PetscBool* alike) {
  VecType type;
  PetscBool a_bound = PETSC_FALSE, b_bound = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VecGetType(b, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)a, type, alike));
  PetscCall(VecBoundToCPU(a, &a_bound));
  PetscCall(VecBoundToCPU(b, &b_bound));
  if (a_bound != b_bound) *alike = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Have the vectors between the sweeps lie where the solution does.
PetscErrorCode MatchWork(PC pc, Vec solution) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  for (Vec* vector : {&o->work[0], &o->work[1], &o->between_vector}) {
    PetscBool alike = PETSC_TRUE;
    if (*vector) PetscCall(Alike(*vector, solution, &alike));
    if (!alike) PetscCall(VecDestroy(vector));
  }
  for (Vec& vector : o->work) {
    if (!vector) PetscCall(VecDuplicate(solution, &vector));
  }
  if (!o->between_vector && o->settings.combine == Combine::symmetric && !o->between.empty()) {
    PetscScalar* values;
    PetscCall(VecDuplicate(solution, &o->between_vector));
    PetscCall(VecGetArrayWrite(o->between_vector, &values));
    std::copy(o->between.begin(), o->between.end(), values);
    PetscCall(VecRestoreArrayWrite(o->between_vector, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyAdditive(PC pc, Vec right, Vec solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(SolveSweep(pc, o->first(), right, solution, transpose));
  for (std::size_t k = 1; k < o->sweeps.size(); ++k) {
    PetscCall(SolveSweep(pc, *o->sweeps[k], right, o->work[0], transpose));
    PetscCall(Change(pc, solution, RowWise::add, o->work[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One sweep after the other, each from where the last one left; the last one writes to the solution.
PetscErrorCode ApplyProduct(PC pc, Vec right, Vec solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  const int count = static_cast<int>(o->sweeps.size());
  const bool symmetric = o->settings.combine == Combine::symmetric;
  const int steps = symmetric ? 2 * count - 1 : count;
  Vec from = right;

  PetscFunctionBegin;
  for (int k = 0; k < steps; ++k) {
    Vec to = k == steps - 1 ? solution : o->work[static_cast<std::size_t>(k % 2)];
    PetscCall(SolveSweep(pc, sweep_of(*o, k, transpose), from, to, transpose));
    if (k < steps - 1 && o->between_vector) PetscCall(Change(pc, to, RowWise::multiply, o->between_vector));
    from = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x = 0; for each direction x += (D + X)^-1 (y - A x).
PetscErrorCode ApplyMultiplicative(PC pc, Vec right, Vec solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  Mat matrix = pc->useAmat ? pc->mat : pc->pmat;
  Vec residual = o->work[0], part = o->work[1];

  PetscFunctionBegin;
  PetscCall(SolveSweep(pc, sweep_of(*o, 0, transpose), right, solution, transpose));
  for (std::size_t k = 1; k < o->sweeps.size(); ++k) {
    PetscCall(transpose ? MatMultTranspose(matrix, solution, residual) : MatMult(matrix, solution, residual));
    PetscCall(Change(pc, residual, RowWise::take_from, right));
    PetscCall(SolveSweep(pc, sweep_of(*o, static_cast<int>(k), transpose), residual, part, transpose));
    PetscCall(Change(pc, solution, RowWise::add, part));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode SolveColumns(PC pc, Sweep& sweep, Columns<const PetscScalar> y, Columns<PetscScalar> x, PetscInt count,
                            bool transpose) {
  const LineLayout& layout = sweep.layout;
  const Index rows = layout.lines.rows();
  const bool moved = !layout.rows.empty();
  const Index together = moved ? std::min<Index>(count, kMovedColumns) : count;

  PetscFunctionBegin;
  // Room for several columns is made when the first of them come.
  if (moved) OclspktCall(pc, sweep.right.resize(together * rows); sweep.solution.resize(together * rows));
  const Columns<PetscScalar> right{sweep.right.data(), rows}, solution{sweep.solution.data(), rows};
  for (Index done = 0, some; done < count && !pc->failedreason; done += some) {
    some = std::min(together, count - done);
    for (Index k = 0; moved && k < some; ++k) {
      for (Index i = 0; i < rows; ++i) right[k][i] = y[done + k][layout.row(i)];
    }
    const Columns<const PetscScalar> from = moved ? Columns<const PetscScalar>{right.first, right.stride} : y + done;
    const Columns<PetscScalar> to = moved ? solution : x + done;
    if (transpose) {
      for (Index k = 0; k < some; ++k) OclspktCall(pc, sweep.solver.apply_transpose(from[k], to[k]));
    } else {
      OclspktCall(pc, sweep.solver.apply(from.first, from.stride, to.first, to.stride, some));
    }
    for (Index k = 0; moved && k < some; ++k) {
      for (Index i = 0; i < rows; ++i) x[done + k][layout.row(i)] = solution[k][i];
    }
  }
  if (!pc->failedreason) {
    const Report& report = transpose ? sweep.solver.transpose_report() : sweep.solver.report();
    PetscCall(PetscLogFlops(static_cast<PetscLogDouble>(count) * apply_flops(report)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveSweep(PC pc, Sweep& sweep, Vec right, Vec solution, bool transpose) {
  const PetscScalar* y;
  PetscScalar* x;
  PetscBool solved = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SolveOnDevice(pc, sweep, right, solution, transpose, &solved));
  if (solved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(right, &y));
  PetscCall(VecGetArrayWrite(solution, &x));
  PetscCall(SolveColumns(pc, sweep, {y, 0}, {x, 0}, 1, transpose));
  PetscCall(VecRestoreArrayWrite(solution, &x));
  PetscCall(VecRestoreArrayRead(right, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyCombined(PC pc, Vec right, Vec solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(MatchWork(pc, solution));
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

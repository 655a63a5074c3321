// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <atomic>
#include <utility>

#include "boundary.hxx"
#include "flops.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

bool reads_matrix(const PC_OCLSPKT& o, Direction direction) {
  return place(direction) >= kAxes || !o.given_bands[place(direction)].set;
}

/// Diagonal D_0 + D_x of the split form: the row sums, and what the couplings of the direction balance.
/// @pre the bands are as Extraction left them: couplings out of the lines are 0
void split_diagonal(const std::vector<PetscScalar>& row_sums, const LineLayout& layout,
                    const BandsPart<PetscScalar>& part, Index first, Index end) {
  for (Index i = 0; i < end - first; ++i) {
    part.diag[i] = row_sums[static_cast<std::size_t>(layout.row(first + i))] - part.lower[i] - part.upper[i];
  }
}

/// Divide row i by between[i]: (D + Y)^-1 D is the inverse of that, and an apply needs no pass for D.
void divide_rows(const std::vector<PetscScalar>& between, const LineLayout& layout, const BandsPart<PetscScalar>& part,
                 Index first, Index end) {
  for (Index i = 0; i < end - first; ++i) {
    const PetscScalar divisor = between[static_cast<std::size_t>(layout.row(first + i))];
    part.lower[i] /= divisor;
    part.diag[i] /= divisor;
    part.upper[i] /= divisor;
  }
}

Index count_couplings(const BandsPart<PetscScalar>& part, Index count) {
  Index couplings = 0;
  for (Index i = 0; i < count; ++i) {
    couplings += (part.lower[i] != PetscScalar(0)) + (part.upper[i] != PetscScalar(0));
  }
  return couplings;
}

/// A diagonal of the matrix, or its row sums, by local rows.
PetscErrorCode ReadVector(PC pc, PetscErrorCode (*read)(Mat, Vec), std::vector<PetscScalar>* values) {
  Vec vector;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, nullptr, &vector));
  PetscCall((*read)(pc->pmat, vector));
  PetscCall(CopyVector(pc, vector, values));
  PetscCall(VecDestroy(&vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products with D between the factors need D^-1 to be there. Collective.
PetscErrorCode CheckBetween(PC pc) {
  PC_OCLSPKT* o = data(pc);
  PetscInt first, bad = -1;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, nullptr));
  const auto zero = std::find(o->between.begin(), o->between.end(), PetscScalar(0));
  if (zero != o->between.end()) bad = first + static_cast<PetscInt>(zero - o->between.begin());
  OclspktAllreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  PetscCheck(bad < 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "-pc_oclspkt_combine %s -pc_oclspkt_diagonal %s: the %s of row %" PetscInt_FMT
             " is 0, but its inverse joins the factors; use -pc_oclspkt_combine additive or multiplicative",
             kCombineNames[static_cast<int>(o->settings.combine)],
             kDiagonalNames[static_cast<int>(o->settings.diagonal)],
             o->settings.diagonal == Diagonal::split ? "sum" : "diagonal", bad);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Fill the bands of sweep s from the matrix. Collective.
PetscErrorCode ReadSweep(PC pc, std::size_t s, const std::vector<PetscScalar>& row_sums) {
  PC_OCLSPKT* o = data(pc);
  Sweep& sweep = *o->sweeps[s];
  const bool several = o->sweeps.size() > 1, split = o->settings.diagonal == Diagonal::split;
  const bool scaled = several && s > 0 && o->settings.combine == Combine::factored;
  std::atomic<Index> couplings{0};
  const auto change = [&](const BandsPart<PetscScalar>& part, Index first, Index end) {
    if (several) couplings += count_couplings(part, end - first);
    if (split) split_diagonal(row_sums, sweep.layout, part, first, end);
    if (scaled) divide_rows(o->between, sweep.layout, part, first, end);
  };

  PetscFunctionBegin;
  PetscCall(sweep.extraction.Run(pc, pc->pmat, sweep.layout, change, sweep.solver));
  sweep.couplings = couplings;
  if (!several) PetscFunctionReturn(PETSC_SUCCESS);
  OclspktAllreduce(MPI_IN_PLACE, &sweep.couplings, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Hand the bands that the program gave to the solver of a sweep, unless it has them already.
PetscErrorCode TakeGiven(PC pc, Sweep& sweep) {
  GivenBands& given = data(pc)->given_bands[place(sweep.direction)];
  const LineLayout& layout = sweep.layout;

  PetscFunctionBegin;
  if (given.taken) {
    OclspktCall(pc, sweep.solver.bands(layout.lines, layout.cuts, layout.exchange));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(given.bands.extent() == layout.lines.rows(), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "PCOCLSPKTSetBands() for %s was given %" PetscInt_FMT " rows on this rank, the matrix has %" PetscInt_FMT
             "; make the vectors with MatCreateVecs() or DMCreateGlobalVector()",
             name(sweep.direction), static_cast<PetscInt>(given.bands.extent()),
             static_cast<PetscInt>(layout.lines.rows()));
  PetscCheck(!given.ends || *given.ends == ends_of(layout), PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "The lines along %s differ from those that PCOCLSPKTSetBands() was called for; call it again after "
             "PCSetDM() and PCSetOperators()",
             name(sweep.direction));
  OclspktCall(pc, sweep.solver.swap_bands(layout.lines, layout.cuts, layout.exchange, given.bands);
              given.ends = ends_of(layout); given.taken = true);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The order in which sweeps follow each other, as places in PC_OCLSPKT::sweeps: x, y, z, and back for `symmetric`.
int sweep_at(const PC_OCLSPKT& o, int step, bool transpose) {
  const int count = static_cast<int>(o.sweeps.size());
  const int place = step < count ? step : 2 * (count - 1) - step;
  return transpose && o.settings.combine != Combine::symmetric ? count - 1 - place : place;
}

/// What the steps of an apply work on.
struct Step {
  PC pc;
  Vec right, solution;
  const PetscScalar* y;
  PetscScalar* x;
  PetscInt rows;
  bool transpose;
};

PetscErrorCode ApplyAdditive(const Step& s) {
  PC_OCLSPKT* o = data(s.pc);

  PetscFunctionBegin;
  PetscCall(SolveSweep(s.pc, o->first(), s.y, s.x, s.transpose));
  PetscScalar* part = o->work[0].data();
  for (std::size_t k = 1; k < o->sweeps.size(); ++k) {
    PetscCall(SolveSweep(s.pc, *o->sweeps[k], s.y, part, s.transpose));
    for (PetscInt i = 0; i < s.rows; ++i) s.x[i] += part[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One sweep after the other, each from where the last one left; the last one writes to x.
PetscErrorCode ApplyProduct(const Step& s) {
  PC_OCLSPKT* o = data(s.pc);
  const int count = static_cast<int>(o->sweeps.size());
  const bool symmetric = o->settings.combine == Combine::symmetric;
  const int steps = symmetric ? 2 * count - 1 : count;
  const PetscScalar* from = s.y;

  PetscFunctionBegin;
  for (int k = 0; k < steps; ++k) {
    PetscScalar* to = k == steps - 1 ? s.x : o->work[static_cast<std::size_t>(k % 2)].data();
    PetscCall(
        SolveSweep(s.pc, *o->sweeps[static_cast<std::size_t>(sweep_at(*o, k, s.transpose))], from, to, s.transpose));
    if (symmetric && k < steps - 1 && !o->between.empty()) {
      for (PetscInt i = 0; i < s.rows; ++i) to[i] *= o->between[static_cast<std::size_t>(i)];
    }
    from = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x = 0; for each direction x += (D + X)^-1 (y - A x).
PetscErrorCode ApplyMultiplicative(const Step& s) {
  PC_OCLSPKT* o = data(s.pc);
  Mat matrix = s.pc->useAmat ? s.pc->mat : s.pc->pmat;
  Vec product = o->product;

  PetscFunctionBegin;
  PetscScalar *residual = o->work[0].data(), *part = o->work[1].data();
  for (std::size_t k = 0; k < o->sweeps.size(); ++k) {
    Sweep& sweep = *o->sweeps[static_cast<std::size_t>(sweep_at(*o, static_cast<int>(k), s.transpose))];
    PetscScalar* x;
    const PetscScalar* ax;
    if (k == 0) {
      PetscCall(VecGetArrayWrite(s.solution, &x));
      PetscCall(SolveSweep(s.pc, sweep, s.y, x, s.transpose));
      PetscCall(VecRestoreArrayWrite(s.solution, &x));
      continue;
    }
    PetscCall(s.transpose ? MatMultTranspose(matrix, s.solution, product) : MatMult(matrix, s.solution, product));
    PetscCall(VecGetArrayRead(product, &ax));
    for (PetscInt i = 0; i < s.rows; ++i) residual[i] = s.y[i] - ax[i];
    PetscCall(VecRestoreArrayRead(product, &ax));
    PetscCall(SolveSweep(s.pc, sweep, residual, part, s.transpose));
    PetscCall(VecGetArray(s.solution, &x));
    for (PetscInt i = 0; i < s.rows; ++i) x[i] += part[i];
    PetscCall(VecRestoreArray(s.solution, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode FillBands(PC pc) {
  PC_OCLSPKT* o = data(pc);
  const bool several = o->sweeps.size() > 1, split = o->settings.diagonal == Diagonal::split;
  const bool from_matrix = reads_matrix(*o, o->first().direction);
  const bool product = o->settings.combine == Combine::factored || o->settings.combine == Combine::symmetric;
  std::vector<PetscScalar> row_sums;

  PetscFunctionBegin;
  if (split && from_matrix) PetscCall(ReadVector(pc, MatGetRowSum, &row_sums));
  OclspktCall(pc, o->between.clear(); if (several && product && from_matrix) o->between = row_sums);
  if (several && product && from_matrix) {
    if (!split) PetscCall(ReadVector(pc, MatGetDiagonal, &o->between));
    PetscCall(CheckBetween(pc));
  }
  for (std::size_t s = 0; s < o->sweeps.size(); ++s) {
    Sweep& sweep = *o->sweeps[s];
    const LineLayout& layout = sweep.layout;
    if (from_matrix) {
      PetscCall(ReadSweep(pc, s, row_sums));
    } else {
      PetscCall(TakeGiven(pc, sweep));
    }
    if (!layout.rows.empty())
      OclspktCall(pc, sweep.right.resize(layout.lines.rows()); sweep.solution.resize(layout.lines.rows()));
  }
  const Index rows = o->first().layout.lines.rows();
  if (several) OclspktCall(pc, o->work[0].resize(rows); o->work[1].resize(rows));
  if (several && o->settings.combine == Combine::multiplicative && !o->product) {
    PetscCall(MatCreateVecs(pc->pmat, nullptr, &o->product));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

PetscErrorCode SolveSweep(PC pc, Sweep& sweep, const PetscScalar* y, PetscScalar* x, bool transpose) {
  PetscFunctionBegin;
  PetscCall(SolveColumns(pc, sweep, {y, 0}, {x, 0}, 1, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyCombined(PC pc, Vec right, Vec solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  Step step{pc, right, solution, nullptr, nullptr, 0, transpose};

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(right, &step.rows));
  PetscCall(VecGetArrayRead(right, &step.y));
  if (o->settings.combine == Combine::multiplicative) {
    PetscCall(ApplyMultiplicative(step));
  } else {
    PetscCall(VecGetArrayWrite(solution, &step.x));
    PetscCall(o->settings.combine == Combine::additive ? ApplyAdditive(step) : ApplyProduct(step));
    PetscCall(VecRestoreArrayWrite(solution, &step.x));
  }
  PetscCall(VecRestoreArrayRead(right, &step.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each direction ignores the couplings of the others, which are not ignored by all.
Index ignored_entries(const PC_OCLSPKT& o) {
  const auto others = static_cast<Index>(o.sweeps.size()) - 1;
  Index off_diagonal = o.first().extraction.ignored() + o.first().couplings, ignored = -others * off_diagonal;
  for (const auto& sweep : o.sweeps) ignored += sweep->extraction.ignored();
  return ignored;
}

}  // namespace oclspkt::petsc

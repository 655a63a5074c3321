// SPDX-License-Identifier: BSD-2-Clause
#include "pc_oclspkt.hxx"

#include <algorithm>

#include "boundary.hxx"
#include "package.hxx"

using oclspkt::Known;
using oclspkt::OnDeviceFailure;
using oclspkt::Options;
using oclspkt::Report;
using oclspkt::Solver;
using oclspkt::petsc::data;
using oclspkt::petsc::events;
using oclspkt::petsc::kSetUpFlopsPerRow;
using oclspkt::petsc::kSolveFlopsPerRow;
using oclspkt::petsc::PC_OCLSPKT;
using oclspkt::petsc::Settings;

/* Solver::apply or Solver::apply_transpose. */
using Solve = void (Solver<PetscScalar>::*)(const PetscScalar*, PetscScalar*);

/* Tell of devices lost since the last call: to -info each, to the error stream the first. */
static PetscErrorCode NoteDegraded(PC pc) {
  PC_OCLSPKT* o = data(pc);
  const Report& report = o->solver.report();

  PetscFunctionBegin;
  const std::size_t all = report.degraded.size(), fresh = std::min(report.losses - o->losses_seen, all);
  o->losses_seen = report.losses;
  for (std::size_t i = all - fresh; i < all; ++i) {
    const char* lost = report.degraded[i].c_str();
    PetscCall(PetscLogEventBegin(events().degraded, pc, 0, 0, 0));
    PetscCall(PetscInfo(pc, "degraded: %s\n", lost));
    if (!o->degraded_printed && o->solver.options().on_device_failure != OnDeviceFailure::quiet) {
      PetscCall(
          (*PetscErrorPrintf)("PCOCLSPKT degraded: %s; its rows are solved on %s "
                              "(-pc_oclspkt_on_device_failure quiet hides this, error stops)\n",
                              lost, report.device.c_str()));
      o->degraded_printed = true;
    }
    PetscCall(PetscLogEventEnd(events().degraded, pc, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InfoChoice(PC pc) {
  const Report& report = data(pc)->solver.report();

  PetscFunctionBegin;
  PetscCall(PetscInfo(pc, "method %s on %s: %s\n", name(report.method), report.device.c_str(), report.why.c_str()));
  for (const oclspkt::GroupReport& group : report.groups) {
    if (group.pinned) PetscCall(PetscInfo(pc, "pinned (%s): %s\n", report.pin_why.c_str(), group.why.c_str()));
  }
  if (report.certificate_above_tolerance) {
    PetscCall(
        PetscInfo(pc,
                  "WARNING: the method was named and is not covered (certificate %g, tolerance %g, backward error "
                  "%g); -pc_oclspkt_method auto is accurate\n",
                  report.certificate, report.tolerance, report.backward_error));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a null space holds the constant vectors. */
static PetscErrorCode HoldsConstants(MatNullSpace space, PetscBool* constant) {
  const Vec* vectors;
  PetscInt count;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceGetVecs(space, constant, &count, &vectors));
  for (PetscInt i = 0; i < count && !*constant; ++i) {
    PetscReal least, most;
    PetscCall(VecMin(vectors[i], nullptr, &least));
    PetscCall(VecMax(vectors[i], nullptr, &most));
    /* The vectors have norm 1; a constant one may have been scaled entry by entry. */
    *constant = static_cast<PetscBool>(most - least <= 4 * PETSC_MACHINE_EPSILON * PetscMax(most, -least));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KnownOfMatrix(PC pc, Known* known) {
  MatNullSpace space = nullptr;
  PetscBool constant = PETSC_FALSE, set, symmetric;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &set, &symmetric));
  PetscCall(MatGetNullSpace(pc->pmat, &space));
  if (!space && pc->mat) PetscCall(MatGetNullSpace(pc->mat, &space));
  if (space) PetscCall(HoldsConstants(space, &constant));
  *known = {.symmetric = set && symmetric, .constant_null_space = constant == PETSC_TRUE};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_OCLSPKT(PC pc) {
  PC_OCLSPKT* o = data(pc);
  const PetscObjectState state = pc->matstate;
  Known known;

  PetscFunctionBegin;
  o->ready = false;
  o->failure.clear();
  pc->matstate = -1; /* a set-up that ends in an error is tried again even if the matrix stays */
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(oclspkt::petsc::Cite());
  PetscCall(PetscLogEventBegin(events().set_up, pc, pc->pmat, 0, 0));
  PetscCall(PetscLogEventBegin(events().bands, pc, pc->pmat, 0, 0));
  PetscCall(o->extraction.Run(pc, pc->pmat, o->solver));
  PetscCall(PetscLogEventEnd(events().bands, pc, pc->pmat, 0, 0));
  PetscCall(KnownOfMatrix(pc, &known));
  OclspktCall(pc, o->solver.set_up(known));
  PetscCall(PetscLogFlops(kSetUpFlopsPerRow * o->solver.lines().rows()));
  PetscCall(PetscLogEventEnd(events().set_up, pc, pc->pmat, 0, 0));
  o->ready = pc->failedreason == PC_NOERROR;
  pc->matstate = state;
  PetscCall(NoteDegraded(pc));
  if (o->ready) PetscCall(InfoChoice(pc));
  if (o->explain) PetscCall(oclspkt::petsc::Explain(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckReady(PC pc) {
  PetscFunctionBegin;
  PetscCheck(data(pc)->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "The last set-up of PCOCLSPKT ended in an error; mend what it named and call PCSetUp() again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveVector(PC pc, Vec x, Vec y, Solve solve) {
  PC_OCLSPKT* o = data(pc);
  const PetscScalar* right;
  PetscScalar* solution;

  PetscFunctionBegin;
  if (pc->failedreason) {
    PetscCall(VecSetInf(y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckReady(pc));
  PetscCall(PetscLogEventBegin(events().solve, pc, x, y, 0));
  PetscCall(VecGetArrayRead(x, &right));
  PetscCall(VecGetArrayWrite(y, &solution));
  OclspktCall(pc, (o->solver.*solve)(right, solution));
  PetscCall(VecRestoreArrayWrite(y, &solution));
  PetscCall(VecRestoreArrayRead(x, &right));
  if (pc->failedreason) PetscCall(VecSetInf(y)); /* the transposed set-up runs inside its first solve */
  PetscCall(PetscLogFlops(kSolveFlopsPerRow * o->solver.lines().rows()));
  PetscCall(PetscLogEventEnd(events().solve, pc, x, y, 0));
  PetscCall(NoteDegraded(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_OCLSPKT(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(SolveVector(pc, x, y, &Solver<PetscScalar>::apply));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_OCLSPKT(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(SolveVector(pc, x, y, &Solver<PetscScalar>::apply_transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillWithInf(Mat y) {
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(y, nullptr, &columns));
  for (PetscInt c = 0; c < columns; ++c) {
    Vec column;
    PetscCall(MatDenseGetColumnVecWrite(y, c, &column));
    PetscCall(VecSetInf(column));
    PetscCall(MatDenseRestoreColumnVecWrite(y, c, &column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_OCLSPKT(PC pc, Mat x, Mat y) {
  PC_OCLSPKT* o = data(pc);
  const PetscScalar* right;
  PetscScalar* solution;
  PetscInt columns, x_stride, y_stride;

  PetscFunctionBegin;
  if (pc->failedreason) {
    PetscCall(FillWithInf(y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckReady(pc));
  PetscCall(MatGetSize(x, nullptr, &columns));
  PetscCall(PetscLogEventBegin(events().solve, pc, x, y, 0));
  PetscCall(MatDenseGetLDA(x, &x_stride));
  PetscCall(MatDenseGetLDA(y, &y_stride));
  PetscCall(MatDenseGetArrayRead(x, &right));
  PetscCall(MatDenseGetArrayWrite(y, &solution));
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
    OclspktCall(pc, o->solver.apply(right + c * x_stride, solution + c * y_stride));
  }
  PetscCall(MatDenseRestoreArrayWrite(y, &solution));
  PetscCall(MatDenseRestoreArrayRead(x, &right));
  PetscCall(PetscLogFlops(kSolveFlopsPerRow * o->solver.lines().rows() * columns));
  PetscCall(PetscLogEventEnd(events().solve, pc, x, y, 0));
  PetscCall(NoteDegraded(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_OCLSPKT(PC pc, OclspktOptionItems PetscOptionsObject) {
  Settings settings;

  PetscFunctionBegin;
  OclspktCall(pc, settings = oclspkt::petsc::settings(pc));
  PetscOptionsHeadBegin(PetscOptionsObject, "oclspkt options");
  PetscCall(oclspkt::petsc::ReadSettings(pc, PetscOptionsObject, settings));
  PetscOptionsHeadEnd();
  PetscCall(oclspkt::petsc::ChangeSettings(pc, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_OCLSPKT(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::View(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings survive, everything that belongs to a matrix is freed. */
static PetscErrorCode PCReset_OCLSPKT(PC pc) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  o->ready = false;
  o->failure.clear();
  o->losses_seen = 0;
  OclspktCall(pc, o->extraction = {}; o->solver = Solver<PetscScalar>(Options(o->solver.options())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_OCLSPKT(PC pc) {
  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::RemoveFunctions(pc));
  delete data(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_OCLSPKT(PC pc) {
  PetscFunctionBegin;
  OclspktCall(pc, pc->data = new PC_OCLSPKT);
  pc->ops->setup = PCSetUp_OCLSPKT;
  pc->ops->apply = PCApply_OCLSPKT;
  pc->ops->applytranspose = PCApplyTranspose_OCLSPKT;
  pc->ops->matapply = PCMatApply_OCLSPKT;
  pc->ops->setfromoptions = PCSetFromOptions_OCLSPKT;
  pc->ops->view = PCView_OCLSPKT;
  pc->ops->reset = PCReset_OCLSPKT;
  pc->ops->destroy = PCDestroy_OCLSPKT;
  PetscCall(oclspkt::petsc::ComposeFunctions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

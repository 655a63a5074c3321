// SPDX-License-Identifier: BSD-2-Clause
#include "pc_oclspkt.hxx"

#include <utility>

#include "boundary.hxx"
#include "flops.hxx"
#include "logged.hxx"
#include "package.hxx"
#include "place.hxx"

using oclspkt::Known;
using oclspkt::Report;
using oclspkt::Times;
using oclspkt::petsc::Block;
using oclspkt::petsc::data;
using oclspkt::petsc::DestroyWork;
using oclspkt::petsc::events;
using oclspkt::petsc::PC_OCLSPKT;
using oclspkt::petsc::Settings;
using oclspkt::petsc::Sweep;

/* Say by -info, once for a set-up, that all methods are above the limits of method auto. */
static PetscErrorCode InfoAboveBound(PC pc, Sweep& sweep, bool transpose) {
  PetscFunctionBegin;
  for (const std::string* text : {&sweep.report(transpose).above_bound, &sweep.cut_report(transpose).above_bound}) {
    if (text->empty() || sweep.told_above[transpose]) continue;
    PetscCall(
        PetscInfo(pc, "WARNING: method auto has no method within its limits for this matrix: %s\n", text->c_str()));
    sweep.told_above[transpose] = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode oclspkt::petsc::TellAnswers(PC pc, bool transpose) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  for (const auto& sweep : o->sweeps) PetscCall(InfoAboveBound(pc, *sweep, transpose));
  if (!answers_may_fail(*o)) PetscFunctionReturn(PETSC_SUCCESS);
  const oclspkt::petsc::Trouble met = std::exchange(o->answers, {});
  PetscCall(oclspkt::petsc::AgreeOn(pc, met));
  o->failed_apply = pc->failedreason != PC_NOERROR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clear the failed reason of the last apply: another right-hand side may have an answer. */
static PetscErrorCode ForgetFailedApply(PC pc) {
  PetscFunctionBegin;
  if (data(pc)->failed_apply) PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InfoChoice(PC pc, Sweep& sweep, bool transpose) {
  const Report& report = sweep.report(transpose);

  PetscFunctionBegin;
  PetscCall(PetscInfo(pc, "lines %s%s: %s\n", name(sweep.direction), transpose ? ", transposed" : "",
                      sweep.layout.lines.describe().c_str()));
  PetscCall(
      PetscInfo(pc, "method %s on %s: %s\n", name(report.method), report.device.name.c_str(), report.why.c_str()));
  for (const oclspkt::GroupReport& group : report.groups) {
    if (group.pinned) PetscCall(PetscInfo(pc, "pinned (%s): %s\n", report.pin_why.c_str(), group.why.c_str()));
  }
  PetscCall(InfoAboveBound(pc, sweep, transpose));
  if (sweep.bounds[transpose].above_limits) {
    PetscCall(PetscInfo(
        pc,
        "WARNING: the named method is above its limits, so the answer may be inaccurate (certificate %g, tolerance "
        "%g, rounding at most %g eps in a row, backward error %g); use -pc_oclspkt_method auto\n",
        sweep.bounds[transpose].truncation, report.tolerance, sweep.bounds[transpose].rounding, report.backward_error));
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

PetscErrorCode oclspkt::petsc::KnownOfMatrix(PC pc, Known* known) {
  MatNullSpace space = nullptr;
  PetscBool constant = PETSC_FALSE, set, symmetric;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &set, &symmetric));
  PetscCall(MatGetNullSpace(pc->pmat, &space));
  if (!space && pc->mat) PetscCall(MatGetNullSpace(pc->mat, &space));
  if (space) PetscCall(HoldsConstants(space, &constant));
  *known = {.symmetric = set && symmetric, .constant_null_space = constant == PETSC_TRUE, .queue = data(pc)->queue};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Let the solver of one direction choose; what one rank meets is an error or a failed reason on all. */
PetscErrorCode oclspkt::petsc::SetUpSweep(PC pc, Sweep& sweep, const Known& known) {
  oclspkt::petsc::Trouble trouble;

  PetscFunctionBegin;
  data(pc)->transpose_ready = false;
  sweep.bounds[true] = {};
  sweep.told_above = {};
  trouble.attempt([&] { sweep.solver.set_up(known); });
  PetscCall(oclspkt::petsc::AgreeOn(pc, trouble));
  if (!pc->failedreason) PetscCall(PetscLogFlops(oclspkt::petsc::set_up_flops(sweep.solver.report())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up of the transposed operator, before its first solve. */
static PetscErrorCode SetUpTranspose(PC pc) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(events().set_up, pc, pc->pmat, 0, 0));
  for (std::size_t s = 0; s < o->sweeps.size() && !pc->failedreason; ++s) {
    oclspkt::petsc::Trouble trouble;
    trouble.attempt([&] { o->sweeps[s]->solver.set_up_transpose(); });
    PetscCall(oclspkt::petsc::AgreeOn(pc, trouble));
  }
  PetscCall(PetscLogEventEnd(events().set_up, pc, pc->pmat, 0, 0));
  o->transpose_ready = pc->failedreason == PC_NOERROR;
  if (o->transpose_ready) PetscCall(oclspkt::petsc::AgreeOnBounds(pc, true));
  for (std::size_t s = 0; s < o->sweeps.size() && o->transpose_ready; ++s) {
    PetscCall(InfoChoice(pc, *o->sweeps[s], true));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_OCLSPKT(PC pc) {
  PC_OCLSPKT* o = data(pc);
  Known known;

  PetscFunctionBegin;
  o->ready = o->stale = false;
  o->failure.clear();
  o->failed_apply = false;
  o->visit.forget();             /* of solvers that may go */
  pc->setupcalled = PETSC_FALSE; /* a set-up that ends in an error is tried again even if the matrix stays */
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(oclspkt::petsc::Cite());
  PetscCall(PetscLogEventBegin(events().set_up, pc, pc->pmat, 0, 0));
  PetscCall(PetscLogEventBegin(events().bands, pc, pc->pmat, 0, 0));
  PetscCall(oclspkt::petsc::FindLines(pc));
  PetscCall(oclspkt::petsc::FillBands(pc));
  if (choice_is_stale(*o)) {
    o->key = {};
    PetscCall(oclspkt::petsc::FindLines(pc));
    PetscCall(oclspkt::petsc::FillBands(pc));
  }
  if (!o->chosen_for) o->chosen_for = o->first().extraction.coupling();
  PetscCall(oclspkt::petsc::CheckIgnored(pc));
  PetscCall(PetscLogEventEnd(events().bands, pc, pc->pmat, 0, 0));
  PetscCall(oclspkt::petsc::FindQueue(pc));
  PetscCall(oclspkt::petsc::KnownOfMatrix(pc, &known));
  for (std::size_t s = 0; s < o->sweeps.size() && !pc->failedreason; ++s) {
    PetscCall(oclspkt::petsc::SetUpSweep(pc, *o->sweeps[s], known));
  }
  if (!pc->failedreason) PetscCall(oclspkt::petsc::SetUpVisit(pc));
  PetscCall(PetscLogEventEnd(events().set_up, pc, pc->pmat, 0, 0));
  o->ready = pc->failedreason == PC_NOERROR;
  pc->setupcalled = PETSC_TRUE;
  PetscCall(oclspkt::petsc::NoteDegraded(pc));
  PetscCall(oclspkt::petsc::AgreeOnDegraded(pc));
  if (o->ready) PetscCall(oclspkt::petsc::AgreeOnBounds(pc, false));
  for (std::size_t s = 0; s < o->sweeps.size() && o->ready; ++s) PetscCall(InfoChoice(pc, *o->sweeps[s], false));
  if (o->ready) PetscCall(oclspkt::petsc::WarnOfPeriodicAxis(pc));
  if (o->settings.explain) PetscCall(oclspkt::petsc::Explain(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Make up for a set-up that was put off while the program reused the operator. All ranks do, or none: settings change
   on all of them. */
static PetscErrorCode SetUpIfStale(PC pc) {
  PetscFunctionBegin;
  if (data(pc)->stale && !pc->reusepreconditioner) PetscCall(PCSetUp_OCLSPKT(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before an apply: make the operator of the present settings, unless the last set-up ended with a failed reason. */
static PetscErrorCode CheckReady(PC pc) {
  PetscFunctionBegin;
  PetscCall(SetUpIfStale(pc));
  PetscCall(ForgetFailedApply(pc));
  if (data(pc)->failed_apply) data(pc)->failure.clear();
  data(pc)->failed_apply = false;
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(
      data(pc)->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
      "The last PCSetUp() of PCOCLSPKT ended in an error; correct what its message names and call PCSetUp() again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a solve: set up for its vectors, and warn of ignored entries. A part of PCCOMPOSITE is not set up yet. */
static PetscErrorCode PCPreSolve_OCLSPKT(PC pc, KSP ksp, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(OclspktOwnPreSolve(pc, ksp));
  PetscCall(SetUpIfStale(pc));
  if (data(pc)->ready) PetscCall(oclspkt::petsc::SetUpForVectors(pc, b, x));
  PetscCall(oclspkt::petsc::WarnOfIgnored(pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a solve: PETSc would find the reason of its failed apply before the applies of the next solve. */
static PetscErrorCode PCPostSolve_OCLSPKT(PC pc, KSP, Vec, Vec) {
  PetscFunctionBegin;
  PetscCall(ForgetFailedApply(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors laid out as the rows of the matrix are; PETSc looks at those of some calls only. */
static PetscErrorCode CheckVectors(PC pc, Vec x, Vec y) {
  PetscInt rows, of_x, of_y;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &rows, nullptr));
  PetscCall(VecGetLocalSize(x, &of_x));
  PetscCall(VecGetLocalSize(y, &of_y));
  PetscCheck(of_x == rows && of_y == rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The vectors have %" PetscInt_FMT " (right-hand side) and %" PetscInt_FMT
             " (solution) rows on this rank, the matrix has %" PetscInt_FMT "; make them with MatCreateVecs()",
             of_x, of_y, rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveVector(PC pc, Vec x, Vec y, bool transpose) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(CheckReady(pc));
  PetscCall(CheckVectors(pc, x, y));
  if (transpose && !pc->failedreason && !o->transpose_ready) PetscCall(SetUpTranspose(pc));
  if (pc->failedreason) {
    PetscCall(OclspktVecSetInf(y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(oclspkt::petsc::NoteVectors(pc, x));
  const Times before = oclspkt::petsc::moved(pc);
  const std::int64_t windows = oclspkt::petsc::energy_windows(pc);
  PetscCall(PetscLogEventBegin(events().solve, pc, x, y, 0));
  if (o->sweeps.size() > 1) {
    PetscCall(oclspkt::petsc::ApplyCombined(pc, {.vector = x}, {.vector = y}, transpose));
  } else {
    PetscCall(oclspkt::petsc::SolveSweep(pc, o->first(), {.vector = x}, {.vector = y}, transpose));
  }
  PetscCall(oclspkt::petsc::TellAnswers(pc, transpose));
  if (pc->failedreason) PetscCall(OclspktVecSetInf(y));
  PetscCall(oclspkt::petsc::LogTransfers(pc, before));
  PetscCall(oclspkt::petsc::TellEnergy(pc, windows));
  PetscCall(PetscLogEventEnd(events().solve, pc, x, y, 0));
  PetscCall(oclspkt::petsc::NoteDegraded(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_OCLSPKT(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(SolveVector(pc, x, y, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_OCLSPKT(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(SolveVector(pc, x, y, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillWithInf(Mat y) {
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(y, nullptr, &columns));
  for (PetscInt c = 0; c < columns; ++c) {
    Vec column;
    PetscCall(MatDenseGetColumnVecWrite(y, c, &column));
    PetscCall(OclspktVecSetInf(column));
    PetscCall(MatDenseRestoreColumnVecWrite(y, c, &column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_OCLSPKT(PC pc, Mat x, Mat y) {
  PC_OCLSPKT* o = data(pc);
  PetscInt columns;

  PetscFunctionBegin;
  PetscCall(CheckReady(pc));
  if (pc->failedreason) {
    PetscCall(FillWithInf(y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(x, nullptr, &columns));
  const bool several = o->sweeps.size() > 1;
  const PetscInt together = several ? oclspkt::petsc::kColumnsTogether : columns;
  const Times before = oclspkt::petsc::moved(pc);
  const std::int64_t windows = oclspkt::petsc::energy_windows(pc);
  PetscCall(PetscLogEventBegin(events().solve, pc, x, y, 0));
  for (PetscInt first = 0; first < columns && !pc->failedreason; first += together) {
    const PetscInt count = PetscMin(together, columns - first);
    const Block right{nullptr, x, first, count}, solution{nullptr, y, first, count};
    if (several) {
      PetscCall(oclspkt::petsc::ApplyCombined(pc, right, solution, false));
    } else {
      PetscCall(oclspkt::petsc::SolveSweep(pc, o->first(), right, solution, false));
    }
  }
  PetscCall(oclspkt::petsc::TellAnswers(pc, false));
  if (pc->failedreason) PetscCall(FillWithInf(y));
  PetscCall(oclspkt::petsc::LogTransfers(pc, before));
  PetscCall(oclspkt::petsc::TellEnergy(pc, windows));
  PetscCall(PetscLogEventEnd(events().solve, pc, x, y, 0));
  PetscCall(oclspkt::petsc::NoteDegraded(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_OCLSPKT(PC pc, OclspktOptionItems PetscOptionsObject) {
  Settings settings;
  PetscBool changed;

  PetscFunctionBegin;
  OclspktCall(pc, settings = data(pc)->settings);
  PetscOptionsHeadBegin(PetscOptionsObject, "oclspkt options");
  PetscCall(oclspkt::petsc::ReadSettings(pc, PetscOptionsObject, settings));
  PetscOptionsHeadEnd();
  PetscCall(oclspkt::petsc::ChangeSettings(pc, settings, &changed));
  /* If settings changed on some ranks only, all ranks set up again, and the set-up reports the difference. */
  OclspktAllreduce(MPI_IN_PLACE, &changed, 1, OCLSPKT_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)pc));
  if (changed) oclspkt::petsc::forget_operator(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_OCLSPKT(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::View(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode oclspkt::petsc::DestroyWork(Work* work) {
  PetscFunctionBegin;
  for (Block& block : work->parts) PetscCall(DestroyBlock(&block));
  PetscCall(oclspkt::petsc::DestroyWorkOfMatrix(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode oclspkt::petsc::DestroyWorkOfMatrix(Work* work) {
  PetscFunctionBegin;
  PetscCall(DestroyBlock(&work->between));
  for (Block& block : work->of_matrix) PetscCall(DestroyBlock(&block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What survives a reset: the settings, and what was told once. */
static PC_OCLSPKT without_matrix(const PC_OCLSPKT& o) {
  PC_OCLSPKT fresh;
  fresh.settings = o.settings;
  fresh.degraded_printed = o.degraded_printed;
  fresh.told_ignored = o.told_ignored;
  fresh.told_left_out = o.told_left_out;
  fresh.first().solver.set_options(o.settings);
  return fresh;
}

static PetscErrorCode PCReset_OCLSPKT(PC pc) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::AgreeOnDegraded(pc)); /* PCDestroy() comes here, too */
  PetscCall(DestroyWork(&o->work));
  PetscCall(DestroyWork(&o->work_columns));
  OclspktCall(pc, *o = without_matrix(*o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_OCLSPKT(PC pc) {
  PetscBool finalized; /* then PETSc's part of the object is not there any more */

  PetscFunctionBegin;
  PetscCall(PetscFinalized(&finalized));
  PetscCall(DestroyWork(&data(pc)->work)); /* PCSetType() to another type destroys without a reset */
  PetscCall(DestroyWork(&data(pc)->work_columns));
  if (!finalized) PetscCall(oclspkt::petsc::RemoveFunctions(pc));
  delete data(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_OCLSPKT(PC pc) {
  PetscFunctionBegin;
  OclspktCall(pc, pc->data = new PC_OCLSPKT);
  pc->ops->setup = PCSetUp_OCLSPKT;
  pc->ops->presolve = PCPreSolve_OCLSPKT;
  pc->ops->postsolve = PCPostSolve_OCLSPKT;
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

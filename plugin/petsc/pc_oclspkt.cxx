// SPDX-License-Identifier: BSD-2-Clause
#include "pc_oclspkt.hxx"

#include <utility>

#include "logged.hxx"

namespace oclspkt::petsc {
namespace {

/// Report by -info, once per set-up, that no method is within the limits of method auto.
void info_above_bound(PC pc, Sweep& sweep, bool transpose) {
  for (const std::string* text : {&sweep.report(transpose).above_bound, &sweep.cut_report(transpose).above_bound}) {
    if (text->empty() || sweep.told_above[transpose]) continue;
    must(PetscInfo(pc, "WARNING: method auto has no method within its limits for this matrix: %s\n", text->c_str()));
    sweep.told_above[transpose] = true;
  }
}

/// At the end of an apply, report answers above the limits of method auto by -info, and raise an exception of its
/// solves. If answers_may_fail(), all ranks raise the exception of one rank; this part is collective.
void tell_answers(PC pc, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  for (const auto& sweep : o->sweeps) info_above_bound(pc, *sweep, transpose);
  const Trouble met = std::exchange(o->answers, {});
  if (answers_may_fail(*o)) {
    agree_on(pc, met);
  } else if (met.met()) {
    accept_breakdown(pc, met.met());
  }
  o->failed_apply = pc->failedreason != PC_NOERROR;
}

/// Clear the failed reason of the last apply: another right-hand side may have an answer.
void forget_failed_apply(PC pc) {
  if (data(pc)->failed_apply) must(PCSetFailedReason(pc, PC_NOERROR));
}

void info_choice(PC pc, Sweep& sweep, bool transpose) {
  const Report& report = sweep.report(transpose);
  must(PetscInfo(pc, "lines %s%s: %s\n", name(sweep.direction), transpose ? ", transposed" : "",
                 sweep.layout.lines.describe().c_str()));
  must(PetscInfo(pc, "method %s on %s: %s\n", name(report.method), report.device.name.c_str(), report.why.c_str()));
  for (const GroupReport& group : report.groups) {
    if (group.pinned) must(PetscInfo(pc, "pinned (%s): %s\n", report.pin_why.c_str(), group.why.c_str()));
  }
  info_above_bound(pc, sweep, transpose);
  if (sweep.bounds[transpose].above_limits) {
    must(PetscInfo(
        pc,
        "WARNING: the named method is above its limits, so the answer may be inaccurate (certificate %g, tolerance "
        "%g, rounding at most %g eps in a row, backward error %g); use -pc_oclspkt_method auto\n",
        sweep.bounds[transpose].truncation, report.tolerance, sweep.bounds[transpose].rounding, report.backward_error));
  }
}

void info_choices(PC pc, bool transpose) {
  agree_on_bounds(pc, transpose);
  for (const auto& sweep : data(pc)->sweeps) info_choice(pc, *sweep, transpose);
}

/// True if all entries are equal. In a constant vector of norm 1, entries may differ by rounding, because each entry
/// was scaled.
bool is_constant(Vec vector) {
  PetscReal least, most, size;
  must(VecMin(vector, nullptr, &least)); /* of the real parts */
  must(VecMax(vector, nullptr, &most));
  must(VecNorm(vector, NORM_INFINITY, &size));
  const PetscReal rounding = 4 * PETSC_MACHINE_EPSILON * size;
  if (!(most - least <= rounding)) return false;
#if defined(PETSC_USE_COMPLEX)
  Vec turned;
  must(VecDuplicate(vector, &turned));
  must(VecCopy(vector, turned));
  must(VecScale(turned, -PETSC_i));
  must(VecMin(turned, nullptr, &least));
  must(VecMax(turned, nullptr, &most));
  must(VecDestroy(&turned));
#endif
  return most - least <= rounding;
}

bool holds_constants(MatNullSpace space) {
  const Vec* vectors;
  PetscInt count;
  PetscBool constant;
  must(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  for (PetscInt i = 0; i < count && !constant; ++i) constant = static_cast<PetscBool>(is_constant(vectors[i]));
  return constant;
}

/// The properties of the matrix that PETSc knows, and the queue of the device where vectors lie.
Known known_of_matrix(PC pc) {
  MatNullSpace space = nullptr;
  PetscBool set, symmetric;
  must(MatIsSymmetricKnown(pc->pmat, &set, &symmetric));
  must(MatGetNullSpace(pc->pmat, &space));
  if (!space && pc->mat) must(MatGetNullSpace(pc->mat, &space));
  return {.symmetric = (set && symmetric) || is_hermitian(pc->pmat),
          .constant_null_space = space && holds_constants(space),
          .queue = data(pc)->vectors.queue};
}

/// Call set_up for the solvers of all directions. A breakdown on one rank marks the PC as failed on all ranks.
template <typename SetUp>
void each_set_up(PC pc, const SetUp& set_up) {
  PC_OCLSPKT* o = data(pc);
  for (std::size_t s = 0; s < o->sweeps.size() && !pc->failedreason; ++s) {
    Trouble trouble;
    trouble.attempt([&] { set_up(*o->sweeps[s]); });
    agree_on(pc, trouble);
  }
}

void set_up_transpose(PC pc) {
  PC_OCLSPKT* o = data(pc);
  must(PetscLogEventBegin(events().set_up, pc, pc->pmat, 0, 0));
  each_set_up(pc, [](Sweep& sweep) { sweep.solver.set_up_transpose(); });
  must(PetscLogEventEnd(events().set_up, pc, pc->pmat, 0, 0));
  o->transpose_ready = pc->failedreason == PC_NOERROR;
  if (o->transpose_ready) info_choices(pc, true);
}

void set_up(PC pc) {
  PC_OCLSPKT* o = data(pc);
  o->ready = false;
  o->failure.clear();
  o->failed_apply = false;
  o->visit.forget();             /* the visit's solvers may be destroyed below */
  pc->setupcalled = PETSC_FALSE; /* after an error, the next PCSetUp() tries again even if the matrix stays */
  must(PCSetFailedReason(pc, PC_NOERROR));
  must(Cite());
  must(PetscLogEventBegin(events().set_up, pc, pc->pmat, 0, 0));
  must(PetscLogEventBegin(events().bands, pc, pc->pmat, 0, 0));
  find_lines(pc);
  fill_bands(pc);
  if (choice_is_stale(*o)) {
    o->chosen.key = {};
    find_lines(pc);
    fill_bands(pc);
  }
  if (!o->chosen.coupling) o->chosen.coupling = o->first().extraction.coupling();
  check_ignored(pc);
  must(PetscLogEventEnd(events().bands, pc, pc->pmat, 0, 0));
  find_queue(pc);
  set_up_sweeps(pc);
  must(PetscLogEventEnd(events().set_up, pc, pc->pmat, 0, 0));
  o->ready = pc->failedreason == PC_NOERROR;
  pc->setupcalled = PETSC_TRUE;
  note_degraded(pc);
  agree_on_degraded(pc);
  if (o->ready) info_choices(pc, false);
  if (o->ready) warn_of_periodic_axis(pc);
  if (o->settings.explain) explain(pc);
}

/// Before an apply, forget the failure of the last apply. @throws PetscFailure if the last set-up ended in an error
void check_ready(PC pc) {
  forget_failed_apply(pc);
  if (data(pc)->failed_apply) data(pc)->failure.clear();
  data(pc)->failed_apply = false;
  OclspktCheck(
      pc->failedreason || data(pc)->ready, comm_of(pc), PETSC_ERR_ORDER,
      "The last PCSetUp() of PCOCLSPKT ended in an error; correct what its message names and call PCSetUp() again");
}

/// Check that vectors have as many local rows as the matrix; PETSc checks this in some calls only.
void check_vectors(PC pc, Vec x, Vec y) {
  PetscInt rows, of_x, of_y;
  must(MatGetLocalSize(pc->pmat, &rows, nullptr));
  must(VecGetLocalSize(x, &of_x));
  must(VecGetLocalSize(y, &of_y));
  OclspktCheck(of_x == rows && of_y == rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "The vectors have %" PetscInt_FMT " (right-hand side) and %" PetscInt_FMT
               " (solution) rows on this rank, the matrix has %" PetscInt_FMT "; make them with MatCreateVecs()",
               of_x, of_y, rows);
}

void fill_with_inf(const Block& block) {
  for (PetscInt c = 0; c < block.count; ++c) {
    Vec column = block.vector;
    if (block.matrix) must(MatDenseGetColumnVecWrite(block.matrix, c, &column));
    must(OclspktVecSetInf(column));
    if (block.matrix) must(MatDenseRestoreColumnVecWrite(block.matrix, c, &column));
  }
}

/// Before an apply, check the vectors, and set up the transposed operator if the apply needs it.
void begin_apply(PC pc, const Block& right, const Block& solution, bool transpose) {
  check_ready(pc);
  if (right.matrix) return;  // PETSc has checked the sizes
  check_vectors(pc, right.vector, solution.vector);
  if (transpose && !pc->failedreason && !data(pc)->transpose_ready) set_up_transpose(pc);
  if (!pc->failedreason) note_vectors(pc, right.vector);
}

/// Solve for all columns of a block, at most kColumnsTogether at a time if columns need memory for copies.
void solve_block(PC pc, const Block& right, const Block& solution, bool transpose) {
  PC_OCLSPKT* o = data(pc);
  const auto [x, y] = right.matrix ? std::pair((PetscObject)right.matrix, (PetscObject)solution.matrix)
                                   : std::pair((PetscObject)right.vector, (PetscObject)solution.vector);
  begin_apply(pc, right, solution, transpose);
  if (pc->failedreason) {
    fill_with_inf(solution);
    return;
  }
  const bool several = o->sweeps.size() > 1;
  const PetscInt together = several || !o->first().layout.rows.empty() ? kColumnsTogether : solution.count;
  const Times before = moved(pc);
  const std::int64_t windows = energy_windows(pc);
  must(PetscLogEventBegin(events().solve, pc, x, y, 0));
  for (PetscInt first = 0; first < solution.count && !pc->failedreason; first += together) {
    const PetscInt count = PetscMin(together, solution.count - first);
    const Block some_right{right.vector, right.matrix, first, count};
    const Block some{solution.vector, solution.matrix, first, count};
    if (several) {
      apply_combined(pc, some_right, some, transpose);
    } else {
      solve_sweep(pc, o->first(), some_right, some, transpose);
    }
  }
  tell_answers(pc, transpose);
  if (pc->failedreason) fill_with_inf(solution);
  log_transfers(pc, before);
  tell_energy(pc, windows);
  must(PetscLogEventEnd(events().solve, pc, x, y, 0));
  note_degraded(pc);
}

Block columns_of(Mat matrix) {
  PetscInt columns;
  must(MatGetSize(matrix, nullptr, &columns));
  return {nullptr, matrix, 0, columns};
}

/* Before a solve, set up for its vectors and warn of ignored entries. Within PCCOMPOSITE, a PC is not set up yet. */
void prepare_solve(PC pc, KSP ksp, Vec right, Vec solution) {
  must(OclspktOwnPreSolve(pc, ksp));
  if (data(pc)->ready) set_up_for_vectors(pc, right, solution);
  warn_of_ignored(pc, ksp);
}

void destroy_work(PC_OCLSPKT& o) {
  for (Work* work : {&o.work, &o.work_columns}) {
    for (Block& block : work->parts) destroy_block(block);
    destroy_work_of_matrix(*work);
  }
}

/// Forget everything but the settings and the record of printed warnings.
void reset(PC pc) {
  PC_OCLSPKT& o = *data(pc);
  PC_OCLSPKT fresh;
  agree_on_degraded(pc); /* PCDestroy() resets, too */
  destroy_work(o);
  fresh.settings = o.settings;
  fresh.warned = o.warned;
  fresh.first().solver.set_options(o.settings);
  o = std::move(fresh);
}

void destroy(PC pc) {
  PetscBool finalized; /* PetscFinalize() has destroyed PETSc's part of the PC */
  must(PetscFinalized(&finalized));
  destroy_work(*data(pc)); /* PCSetType() to another type destroys without a reset */
  if (!finalized) compose_functions(pc, true);
  delete data(pc);
  pc->data = nullptr;
}

}  // namespace

void set_up_sweeps(PC pc) {
  const Known known = known_of_matrix(pc);
  each_set_up(pc, [&](Sweep& sweep) {
    data(pc)->transpose_ready = false;
    sweep.bounds[true] = {};
    sweep.told_above = {};
    sweep.solver.set_up(known);
  });
  if (pc->failedreason) return;
  for (const auto& sweep : data(pc)->sweeps) must(PetscLogFlops(set_up_flops(sweep->solver.report())));
  set_up_visit(pc);
}

void destroy_work_of_matrix(Work& work) {
  destroy_block(work.between);
  for (Block& block : work.of_matrix) destroy_block(block);
}

/* The callbacks for PETSc. PCPostSolve_OCLSPKT() clears the reason of a failed apply, because PETSc would test it when
   the next solve begins. */
#define OCLSPKT_CALLBACK(Name, parameters, ...) \
  static PetscErrorCode Name parameters {       \
    PetscFunctionBegin;                         \
    OclspktCall(pc, __VA_ARGS__);               \
    PetscFunctionReturn(PETSC_SUCCESS);         \
  }
OCLSPKT_CALLBACK(PCSetUp_OCLSPKT, (PC pc), set_up(pc))
OCLSPKT_CALLBACK(PCPreSolve_OCLSPKT, (PC pc, KSP ksp, Vec b, Vec x), prepare_solve(pc, ksp, b, x))
OCLSPKT_CALLBACK(PCPostSolve_OCLSPKT, (PC pc, KSP, Vec, Vec), forget_failed_apply(pc))
OCLSPKT_CALLBACK(PCApply_OCLSPKT, (PC pc, Vec x, Vec y), solve_block(pc, {.vector = x}, {.vector = y}, false))
OCLSPKT_CALLBACK(PCApplyTranspose_OCLSPKT, (PC pc, Vec x, Vec y), solve_block(pc, {.vector = x}, {.vector = y}, true))
OCLSPKT_CALLBACK(PCMatApply_OCLSPKT, (PC pc, Mat x, Mat y), solve_block(pc, columns_of(x), columns_of(y), false))
OCLSPKT_CALLBACK(PCView_OCLSPKT, (PC pc, PetscViewer viewer), view(pc, viewer))
OCLSPKT_CALLBACK(PCReset_OCLSPKT, (PC pc), reset(pc))
OCLSPKT_CALLBACK(PCDestroy_OCLSPKT, (PC pc), destroy(pc))

static PetscErrorCode PCSetFromOptions_OCLSPKT(PC pc, OclspktOptionItems PetscOptionsObject) {
  Settings settings;
  PetscBool changed;

  PetscFunctionBegin;
  OclspktCall(pc, settings = data(pc)->settings);
  PetscOptionsHeadBegin(PetscOptionsObject, "oclspkt options");
  OclspktCall(pc, read_settings(PetscOptionsObject, settings));
  PetscOptionsHeadEnd();
  OclspktCall(pc, changed = static_cast<PetscBool>(change_settings(pc, settings)));
  /* If settings changed on some ranks only, all ranks set up again, and the set-up reports the difference. */
  OclspktAllreduce(MPI_IN_PLACE, &changed, 1, OCLSPKT_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)pc));
  if (changed) forget_operator(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void create(PC pc) {
  pc->data = new PC_OCLSPKT;
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
  compose_functions(pc, false);
}

}  // namespace oclspkt::petsc

PetscErrorCode PCCreate_OCLSPKT(PC pc) {
  PetscFunctionBegin;
  OclspktCall(pc, oclspkt::petsc::create(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

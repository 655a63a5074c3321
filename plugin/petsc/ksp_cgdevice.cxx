// SPDX-License-Identifier: BSD-2-Clause
/* -ksp_type cgdevice: conjugate gradients whose scalars stay on the device of dressed vectors. It is KSPCG of PETSc
   with another function for the solve, and takes the same decisions by the same numbers: iterates, counts and reasons
   are those of KSPCG. The host learns the numbers of several iterations at once, so it enqueues iterations that may not
   be needed; the device skips those beyond the tolerance. Where the device cannot do all of the iteration, KSPCG
   solves. */
#include <petsc/private/kspimpl.h>

#include <tuple>
#include <unordered_map>

#include "mat_dress.hxx"
#include "oclspkt/oclspkt_vec.h"
#include "pc_oclspkt.hxx"
#include "space_cg.hpp"

namespace oclspkt::petsc {
namespace {

using Record = CgRecord<PetscScalar>;

/// Functions of KSPCG that set what only KSPCG has.
constexpr const char* kOfCgAlone[] = {"KSPCGSetRadius_C", "KSPCGSetObjectiveTarget_C"};

struct CgDevice {
  struct _KSPOps of_cg = {};  ///< PETSc's operations of KSPCG
  PetscErrorCode (*set_limit[2])(KSP, PetscReal) = {};
  std::string wants_cg;  ///< what KSPCG alone does; empty: nothing of the kind was asked for
  PetscInt check = 10;
  bool solved = false;
  std::string why;     ///< why KSPCG did the last solve; empty: the device did it
  PetscReal unit = 1;  ///< 1 in the scale of the residual on the device is this number in the scale of the solution
  std::tuple<DeviceSpace*, CgForm, CgNorm, Index, PetscInt> key;  ///< of `memory`
  std::unique_ptr<SpaceCg<PetscScalar>> memory;
  Vec inverse = nullptr;  ///< the diagonal of the preconditioner
};
std::unordered_map<KSP, CgDevice>& solvers() {
  static auto* const all = new std::unordered_map<KSP, CgDevice>;
  return *all;
}

PetscErrorCode CheckDot(KSP ksp, PetscScalar dot) {
  PetscFunctionBegin;
  KSPCheckDot(ksp, dot);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode CheckNorm(KSP ksp, PetscReal norm) {
  PetscFunctionBegin;
  KSPCheckNorm(ksp, norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Set the preconditioner up for work vectors, because it may have seen them on the host.
PetscErrorCode SetUpForWork(PC pc, const Vec work[]) {
  PetscFunctionBegin;
  OclspktCall(pc, set_up_for_vectors(pc, work[0], work[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool has_type(PC pc, const char* type) {
  PetscBool same;
  must(PetscObjectTypeCompare((PetscObject)pc, type, &same));
  return same;
}

/// Why the device cannot do a solve; empty if it can. The vectors of KSPSetWorkVecs() are there.
std::string why_cg(KSP ksp, const CgDevice& own) {
  const int ranks = ranks_of(comm_of(ksp));
  const PetscInt rows = ksp->vec_rhs->map->n;
  Mat matrix;
  if (ranks > 1) return "there are " + std::to_string(ranks) + " ranks";
  if (!own.wants_cg.empty()) return own.wants_cg;
  must(PCGetOperators(ksp->pc, &matrix, nullptr));
  if (ksp->calc_sings) return "eigenvalues or singular values are wanted";
  if (ksp->transpose_solve) return "the solve is KSPSolveTranspose()";
  if (ksp->chknorm > 0) return "-ksp_check_norm_iteration leaves norms out";
  if (OclspktScalesSystem(ksp->pc)) return "the preconditioner scales the system";
  if (!is_dressed(matrix)) return std::string("the matrix has type ") + ((PetscObject)matrix)->type_name;
  for (const Vec v : {ksp->vec_rhs, ksp->vec_sol, ksp->work[0], ksp->work[1], ksp->work[2]}) {
    if (!is_dressed(v)) return "vectors are not on a device";
  }
  if (space_for(rows) == nullptr) {
    const Types& t = types();
    return t.failed ? "there is no device: " + t.why
                    : "the host is faster for " + std::to_string(rows) + " rows than the device, which pays off from " +
                          std::to_string(t.least) + " rows on";
  }
  if (ksp->reason) return "the preconditioner failed";
  if (has_type(ksp->pc, PCNONE) || has_type(ksp->pc, PCJACOBI)) return {};
  if (!has_type(ksp->pc, PCOCLSPKT)) {
    return std::string("the preconditioner is ") + ((PetscObject)ksp->pc)->type_name + ", not none, jacobi or oclspkt";
  }
  must(SetUpForWork(ksp->pc, ksp->work));
  if (ksp->pc->failedreason) return "the preconditioner failed";
  return stays_on_device(ksp->pc, ksp->work[0], ksp->work[1]) ? "" : "the preconditioner takes vectors to the host";
}

/// A solve on the device.
class Solve {
 public:
  Solve(KSP ksp, CgDevice& own)
      : ksp_(ksp),
        own_(own),
        space_(*space_for(ksp->vec_rhs->map->n)),
        r_(ksp->work[0]),
        z_(ksp->work[1]),
        p_(ksp->work[2]) {
    MatNullSpace nullspace;
    must(PCGetOperators(ksp->pc, &matrix_, nullptr));
    must(MatGetNullSpace(matrix_, &nullspace));
    const bool of_r = ksp->normtype == KSP_NORM_UNPRECONDITIONED;
    if (nullspace || has_type(ksp->pc, PCOCLSPKT)) {
      form_ = of_r ? CgForm::others_r : CgForm::others_z;
    } else if (has_type(ksp->pc, PCJACOBI)) {
      form_ = of_r ? CgForm::diagonal_r : CgForm::diagonal_z;
      if (!own.inverse) must(VecDuplicate(r_, &own.inverse));
      must(VecSet(p_, 1));
      must(PCApply(ksp->pc, p_, own.inverse));
    }
  }

  /// Solve, and set the reason. @throws DeviceError, BuildError
  void run() {
    begin();
    while (!ksp_->reason) iterate();
  }

 private:
  bool has_norm(KSPNormType type) const { return ksp_->normtype == type; }

  /// Give the norm to the history, the monitors and the convergence test.
  void tell(PetscReal norm) {
    ksp_->rnorm = norm;
    must(KSPLogResidualHistory(ksp_, norm));
    must(KSPMonitor(ksp_, done_, norm));
    must((*ksp_->converged)(ksp_, done_, norm, &ksp_->reason, ksp_->cnvP));
  }

  /// The first residual, its norm and the first direction, as KSPCG makes them.
  void begin() {
    PetscReal norm = 0;
    ksp_->its = 0;
    if (ksp_->guess_zero) {
      must(VecCopy(ksp_->vec_rhs, r_));
    } else {
      must(KSP_MatMult(ksp_, matrix_, ksp_->vec_sol, r_));
      must(VecAYPX(r_, -1, ksp_->vec_rhs));
    }
    const bool applied = has_norm(KSP_NORM_PRECONDITIONED) || has_norm(KSP_NORM_NATURAL);
    if (applied) must(KSP_PCApply(ksp_, r_, z_));
    if (has_norm(KSP_NORM_PRECONDITIONED)) must(VecNorm(z_, NORM_2, &norm));
    if (has_norm(KSP_NORM_UNPRECONDITIONED)) must(VecNorm(r_, NORM_2, &norm));
    if (has_norm(KSP_NORM_NATURAL)) {
      find_rho();
      if (must(CheckDot(ksp_, rho_)); ksp_->reason) return;
      norm = own_.unit * PetscSqrtReal(PetscAbsScalar(rho_));
    }
    if (must(CheckNorm(ksp_, norm)); ksp_->reason) return;
    if (tell(norm); ksp_->reason) return;
    if (!applied) must(KSP_PCApply(ksp_, r_, z_));
    if (!has_norm(KSP_NORM_NATURAL)) find_rho();
    if (must(CheckDot(ksp_, rho_)); ksp_->reason) return;
    must(VecCopy(z_, p_));
    begin_on_device(norm);
  }

  /* The device's sums of squares are plain. Where they may over- or underflow, r and z get another scale, in which r .
     z is about 1. It is a power of two, so the iterates have the same bits. */
  void find_rho() {
    constexpr PetscReal kLeast = 0x1p-100, kMost = 0x1p100; /* leave room for the residual to shrink and to grow */
    PetscReal of_r, of_z;
    must(VecTDot(z_, r_, &rho_));
    if (PetscAbsScalar(rho_) > kLeast && PetscAbsScalar(rho_) < kMost) return;
    must(VecNorm(r_, NORM_2, &of_r));
    must(VecNorm(z_, NORM_2, &of_z));
    if (!std::isnormal(of_r) || !std::isnormal(of_z)) return;
    own_.unit = std::ldexp(1, (std::ilogb(of_r) + std::ilogb(of_z)) / 2);
    for (const Vec v : {r_, z_}) must(VecScale(v, 1 / own_.unit));
    must(VecTDot(z_, r_, &rho_));
  }

  /* Between two checks, the device has to know by itself where to stop. Monitors, and convergence tests of a program,
     may look at the solution: they are called at each iteration. */
  void begin_on_device(PetscReal norm) {
    const bool may_wait =
        ksp_->numbermonitors == 0 && (ksp_->converged == KSPConvergedDefault || ksp_->converged == KSPConvergedSkip);
    const CgNorm kind = has_norm(KSP_NORM_NATURAL) || has_norm(KSP_NORM_NONE) ? CgNorm::natural : CgNorm::of_form;
    together_ = may_wait ? own_.check : 1;
    const decltype(own_.key) key{&space_, form_, kind, r_->map->n, together_};
    if (!own_.memory || own_.key != key) {
      own_.memory.reset();
      own_.memory = space_.make_cg(form_, kind, r_->map->n, static_cast<int>(together_));
      own_.key = key;
    }
    own_.memory->begin({rho_, 0, norm / own_.unit, 1}, own_.unit);
    if (together_ == 1 || ksp_->converged == KSPConvergedSkip || has_norm(KSP_NORM_NONE)) return;
    least_ = ksp_->ttol / own_.unit;
    most_ = ksp_->divtol * (ksp_->rnorm0 / own_.unit);
    own_.memory->set_limits(least_, most_);
  }

  /// Mark a vector as written on the device.
  static void wrote(Vec v) {
    wrote_on_device(v);
    must(PetscObjectStateIncrease((PetscObject)v));
  }

  CgArrays<PetscScalar> arrays() {
    const auto array = [&](Vec v) { return &bring_to_device(space_, v, false); };
    Twin& twin = twin_of(matrix_, false);
    if (const std::string failure = follow(space_, matrix_, -1, false, twin); !failure.empty())
      throw DeviceError(failure);
    entries_ = twin.entries;
    const bool is_diagonal = form_ == CgForm::diagonal_z || form_ == CgForm::diagonal_r;
    DeviceArray *const r = array(r_), *const z = array(z_);
    return {twin.form.get(),
            array(ksp_->vec_sol),
            r,
            array(p_),
            z,
            form_ == CgForm::plain ? r : z,
            is_diagonal ? array(own_.inverse) : nullptr};
  }

  /// Do iterations on the device, and get their numbers.
  void advance() {
    const PetscInt count = PetscMax(1, PetscMin(together_, ksp_->max_it - done_));
    const bool others = form_ == CgForm::others_z || form_ == CgForm::others_r;
    CgArrays<PetscScalar> v = arrays();
    for (PetscInt k = 0; k < count; ++k) {
      own_.memory->step(v);
      if (others) {
        wrote(r_);
        must(KSP_PCApply(ksp_, r_, z_));
        v = arrays();
      }
      own_.memory->turn(v);
    }
    records_.resize(static_cast<std::size_t>(count));
    own_.memory->take(records_);
    next_ = 0;
    for (const Vec written : {ksp_->vec_sol, r_, z_, p_}) wrote(written);
    must(OclspktLogGpuFlops(static_cast<PetscLogDouble>(count) *
                            (2 * entries_ + 10 * static_cast<PetscLogDouble>(r_->map->n))));
  }

  /// End the solve because the method broke down.
  void break_down(KSPConvergedReason reason, const char* what) {
    OclspktCheck(!ksp_->errorifnotconverged, comm_of(ksp_), PETSC_ERR_NOT_CONVERGED, "cgdevice diverged: %s", what);
    must(PetscInfo(ksp_, "diverging due to %s\n", what));
    ksp_->reason = reason;
  }

  /// Take the decisions of an iteration, in the order of KSPCG.
  void iterate() {
    ksp_->its = done_ + 1;
    if (rho_ == PetscScalar(0)) {
      must(PetscInfo(ksp_, "converged due to beta = 0\n"));
      ksp_->reason = KSP_CONVERGED_ATOL;
      return;
    }
    if (done_ > 0 && PetscRealPart(rho_ * before_.rho) < 0) {
      return break_down(KSP_DIVERGED_INDEFINITE_PC, "an indefinite preconditioner");
    }
    if (next_ == records_.size()) advance();
    const Record record = records_[next_++];
    if (must(CheckDot(ksp_, record.curvature)); ksp_->reason) return;
    if (record.curvature == PetscScalar(0) || PetscRealPart(record.curvature) * PetscRealPart(before_.curvature) < 0) {
      if (OclspktConvergesByCurvature(ksp_)) {
        ksp_->reason = OCLSPKT_CONVERGED_NEG_CURVE;
        return;
      }
      return break_down(KSP_DIVERGED_INDEFINITE_MAT, "an indefinite matrix");
    }
    ++done_;
    if (has_norm(KSP_NORM_NATURAL)) must(CheckDot(ksp_, record.rho));
    const PetscReal norm = has_norm(KSP_NORM_NONE) ? 0 : own_.unit * PetscRealPart(record.norm);
    if (!ksp_->reason) must(CheckNorm(ksp_, norm));
    if (ksp_->reason) return;
    if (tell(norm); ksp_->reason) return;
    if (must(CheckDot(ksp_, record.rho)); ksp_->reason) return;
    before_ = {rho_, record.curvature, 0, 0};
    rho_ = record.rho;
    if (const PetscReal size = PetscRealPart(record.norm); !(size > least_ && size < most_)) check_each();
    if (done_ >= ksp_->max_it) ksp_->reason = KSP_DIVERGED_ITS;
  }

  /* The device stopped, but the convergence test did not: it has conditions of its own. */
  void check_each() {
    least_ = -1;
    most_ = std::numeric_limits<PetscReal>::infinity();
    own_.memory->set_limits(least_, most_);
    together_ = 1;
    records_.clear(); /* the device skipped the iterations that follow */
    next_ = 0;
  }

  KSP ksp_;
  CgDevice& own_;
  DeviceSpace& space_;
  Mat matrix_ = nullptr;
  Vec r_, z_, p_; /* A p and z share a vector */
  CgForm form_ = CgForm::plain;
  PetscScalar rho_ = 0;
  Record before_ = {};     ///< rho and the curvature of the iteration before
  PetscInt done_ = 0;      ///< iterations
  PetscInt together_ = 1;  ///< iterations between two checks
  PetscReal least_ = -1, most_ = std::numeric_limits<PetscReal>::infinity(); /* of norms in the records */
  std::vector<Record> records_;
  std::size_t next_ = 0;  ///< in records_
  PetscLogDouble entries_ = 0;
};

/// Solve on the device. @return why this failed; empty on success
std::string solve_on_device(KSP ksp, CgDevice& own) {
  const std::size_t told = ksp->res_hist_len;
  std::string failure;
  try {
    Solve(ksp, own).run();
    return failure;
  } catch (const std::exception& e) {
    failure = e.what();
  }
  lose_device(failure);
  ksp->res_hist_len = told;
  if (ksp->guess_zero) must(VecSet(ksp->vec_sol, 0));
  return "the device failed: " + failure;
}

void solve(KSP ksp) {
  CgDevice& own = solvers()[ksp];
  own.solved = true;
  own.unit = 1;
  {
    const LeastRowsOfCg least(ranks_of(comm_of(ksp)) > 1 ? 0 : ksp->vec_rhs->map->n);
    own.why = why_cg(ksp, own);
    if (own.why.empty()) own.why = solve_on_device(ksp, own);
  }
  if (own.why.empty()) return;
  own.unit = 1;
  must(PetscInfo(ksp, "KSPCG solves: %s\n", own.why.c_str()));
  must((*own.of_cg.solve)(ksp));
}

template <std::size_t k>
void set_limit(KSP ksp, PetscReal value) {
  CgDevice& own = solvers()[ksp];
  own.wants_cg = "a radius or an objective was set";
  must((*own.set_limit[k])(ksp, value));
}

/// Build the residual from KSPCG's work vector, which may have the device's scale.
void build_residual(KSP ksp, Vec work, Vec room, Vec* residual) {
  const CgDevice& own = solvers()[ksp];
  must((*own.of_cg.buildresidual)(ksp, work, room, residual));
  if (own.unit != 1) must(VecScale(*residual, own.unit));
}

void reset(KSP ksp) {
  CgDevice& own = solvers()[ksp];
  own.memory.reset();
  must(VecDestroy(&own.inverse));
  if (own.of_cg.reset) must((*own.of_cg.reset)(ksp));
}

void destroy(KSP ksp) {
  const auto destroy_cg = solvers()[ksp].of_cg.destroy;
  must(VecDestroy(&solvers()[ksp].inverse));
  solvers().erase(ksp);
  must((*destroy_cg)(ksp));
}

void view(KSP ksp, PetscViewer viewer) {
  const CgDevice& own = solvers()[ksp];
  PetscBool is_text;
  if (own.of_cg.view) must((*own.of_cg.view)(ksp, viewer));
  must(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &is_text));
  if (!is_text) return;
  const bool replaced = ksp->ops->solve != Called<solve, KSP>;
  if (replaced || !own.why.empty()) {
    must(PetscViewerASCIIPrintf(viewer, "  KSPCG solves: %s\n",
                                replaced ? "its scalars come by one reduction" : own.why.c_str()));
  } else {
    const auto& space = types().space;
    const std::string name = own.solved && space ? " " + space->device().name : "";
    must(PetscViewerASCIIPrintf(viewer, "  scalars stay on the device%s, checked every %" PetscInt_FMT " iterations\n",
                                name.c_str(), own.check));
  }
}

PetscErrorCode SetFromOptions(KSP ksp, OclspktOptionItems PetscOptionsObject) {
  CgDevice& own = solvers()[ksp];
  const auto of_cg = own.of_cg.solve, present = ksp->ops->solve;

  PetscFunctionBegin;
  ksp->ops->solve = of_cg;
  PetscCall((*own.of_cg.setfromoptions)(ksp, PetscOptionsObject));
  if (ksp->ops->solve == of_cg) ksp->ops->solve = present; /* else -ksp_cg_single_reduction put another one */
  PetscOptionsHeadBegin(PetscOptionsObject, "cgdevice options");
  PetscCall(PetscOptionsInt("-ksp_cgdevice_check", "Iterations between two checks of the residual norm", "KSPCGDEVICE",
                            own.check, &own.check, nullptr));
  PetscOptionsHeadEnd();
  PetscCheck(own.check >= 1 && own.check <= 100000, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_cgdevice_check %" PetscInt_FMT ": give 1 to 100000 iterations", own.check);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t k>
void replace_limit(KSP ksp, CgDevice& own) {
  must(PetscObjectQueryFunction((PetscObject)ksp, kOfCgAlone[k], &own.set_limit[k]));
  if (!own.set_limit[k]) return; /* this PETSc does not have it */
  must(PetscObjectComposeFunction((PetscObject)ksp, kOfCgAlone[k], (Called<set_limit<k>, KSP, PetscReal>)));
}

void create(KSP ksp) {
  PetscErrorCode (*create_cg)(KSP) = nullptr;
  must(PetscFunctionListFind(KSPList, KSPCG, &create_cg));
  OclspktCheck(create_cg, comm_of(ksp), PETSC_ERR_PLIB, "this PETSc has no KSPCG");
  must((*create_cg)(ksp));
  CgDevice& own = solvers()[ksp];
  own = {};
  own.of_cg = *ksp->ops;
  ksp->ops->solve = Called<solve>;
  ksp->ops->buildresidual = Called<build_residual>;
  ksp->ops->reset = Called<reset>;
  ksp->ops->destroy = Called<destroy>;
  ksp->ops->view = Called<view>;
  ksp->ops->setfromoptions = SetFromOptions;
  replace_limit<0>(ksp, own);
  replace_limit<1>(ksp, own);
}

}  // namespace

void register_solver() { must(KSPRegister(KSPCGDEVICE, Called<create>)); }

void forget_solvers() {
  for (auto& [ksp, own] : solvers()) own.memory.reset();
}

}  // namespace oclspkt::petsc

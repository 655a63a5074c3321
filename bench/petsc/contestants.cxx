// SPDX-License-Identifier: BSD-2-Clause
#include "contestants.hxx"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "measure.hpp"
#include "oclspkt/oclspkt.h"

namespace oclspkt::bench::petsc {
namespace {

PetscErrorCode Add(const System& system, const std::string& axis, const std::string& solver, PCType type,
                   std::vector<Contestant>* contestants) {
  Contestant contestant;
  PC pc;

  PetscFunctionBeginUser;
  contestant.solver = solver;
  contestant.solves = std::string(type) != PCNONE;
  PetscCall(CreateKSP(system, KSPPREONLY, type, solver, &contestant.ksp));
  PetscCall(KSPGetPC(contestant.ksp, &pc));
  if (!axis.empty()) PetscCall(PCOCLSPKTSetDirections(pc, axis.c_str()));
  contestants->push_back(contestant);
  PetscFunctionReturn(0);
}

/// What the plugin chose.
PetscErrorCode Describe(Contestant& contestant) {
  const char *method, *device;
  PetscBool ours;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(contestant.ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCOCLSPKT, &ours));
  if (!ours) PetscFunctionReturn(0);
  PetscCall(PCOCLSPKTGetMethodUsed(pc, &method, nullptr));
  PetscCall(PCOCLSPKTGetDeviceUsed(pc, &device, nullptr));
  contestant.method = method;
  contestant.device = device;
  PetscFunctionReturn(0);
}

PetscErrorCode Judge(const System& system, Contestant& contestant) {
  KSPConvergedReason reason;
  double error;
  char text[80];

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(contestant.ksp, &reason));
  PetscCall(KSPGetIterationNumber(contestant.ksp, &contestant.iterations));
  if (reason <= 0) contestant.note = std::string("failed: ") + KSPConvergedReasons[reason];
  if (reason <= 0 || !contestant.solves) PetscFunctionReturn(0);
  PetscCall(system.BackwardError(&error));
  contestant.error = std::max(contestant.error, error);
  const double limit = kWrongEps * std::numeric_limits<double>::epsilon();
  if (!(error <= limit)) {
    std::snprintf(text, sizeof text, "wrong: backward error %.1e > %.1e", error, limit);
    contestant.note = text;
  }
  PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode CreateKSP(const System& system, KSPType type, PCType preconditioner, const std::string& solver,
                         KSP* ksp) {
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, (solver + "_").c_str()));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetOperators(*ksp, system.matrix, system.matrix));
  PetscCall(KSPGetPC(*ksp, &pc));
  if (system.grid) PetscCall(PCSetDM(pc, system.grid));
  PetscCall(PCSetType(pc, preconditioner));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));  // nothing unless the type has an order
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode CreateContestants(const System& system, const std::string& axis, std::vector<Contestant>* contestants) {
  PetscFunctionBeginUser;
  contestants->clear();
  PetscCall(Add(system, axis, "oclspkt", PCOCLSPKT, contestants));
  if (!axis.empty()) {
    PetscCall(Add(system, axis, "oclspkt", PCOCLSPKT, contestants));
    contestants->back().solver = "oclspkt from bands";
    contestants->back().source = Contestant::Source::bands;
  }
  PetscCall(Add(system, axis, "ilu", PCILU, contestants));
  if (axis.empty()) PetscCall(Add(system, axis, "lu", PCLU, contestants));
  PetscCall(Add(system, axis, "none", PCNONE, contestants));
  PetscFunctionReturn(0);
}

PetscErrorCode DestroyContestants(std::vector<Contestant>* contestants) {
  PetscFunctionBeginUser;
  for (Contestant& contestant : *contestants) PetscCall(KSPDestroy(&contestant.ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode TakeRound(System& system, const std::string& axis, Contestant& contestant) {
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(contestant.ksp, &pc));
  PetscCall(VecSet(system.solution, 0));  // what an earlier one left must not pass for the answer
  const double start = MPI_Wtime();
  if (contestant.source == Contestant::Source::bands) {
    PetscCall(PCOCLSPKTSetBands(pc, axis.c_str(), system.lower, system.diag, system.upper));
  }
  PetscCall(KSPSetOperators(contestant.ksp, system.matrix, system.matrix));  // or KSPSetUp() does nothing
  PetscCall(KSPSetUp(contestant.ksp));
  const double ready = MPI_Wtime();
  PetscCall(KSPSolve(contestant.ksp, system.right, system.solution));
  const double end = MPI_Wtime();
  contestant.setup.push_back(ready - start);
  contestant.solve.push_back(end - ready);
  PetscCall(Describe(contestant));
  PetscCall(Judge(system, contestant));
  PetscFunctionReturn(0);
}

}  // namespace oclspkt::bench::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "contestants.hxx"

#include <petscpc.h>

#include <cmath>
#include <cstdio>

#include "oclspkt/oclspkt.h"

namespace oclspkt::bench::adi {
namespace {

constexpr double kTightest = 1e-12;

/// A matrix that only says how many rows there are: the bands come from PCOCLSPKTSetBands().
PetscErrorCode CreateEmptyMatrix(DM grid, Mat* matrix) {
  Vec field;
  PetscInt rows, all;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(grid, &field));
  PetscCall(VecGetLocalSize(field, &rows));
  PetscCall(VecGetSize(field, &all));
  PetscCall(DMRestoreGlobalVector(grid, &field));
  PetscCall(MatCreateConstantDiagonal(PetscObjectComm((PetscObject)grid), rows, rows, all, all, 1, matrix));
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/// 1 - lambda h^2 (second difference) along each of the axes.
PetscErrorCode GiveBands(const Task& task, const std::string& axes, PC pc) {
  Vec off, diagonal;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(task.problem->grid, &off));
  PetscCall(DMGetGlobalVector(task.problem->grid, &diagonal));
  PetscCall(VecSet(off, -task.lambda));
  PetscCall(VecSet(diagonal, 1 + 2 * task.lambda));
  for (const char* axis : {"x", "y", "z"}) {
    if (axes.find(axis) == std::string::npos) continue;
    PetscCall(PCOCLSPKTSetBands(pc, axis, off, diagonal, off));
  }
  PetscCall(DMRestoreGlobalVector(task.problem->grid, &diagonal));
  PetscCall(DMRestoreGlobalVector(task.problem->grid, &off));
  PetscFunctionReturn(0);
}

PetscErrorCode CreateCG(const Task& task, Mat matrix, const char* name, PCType type, Contestant* contestant) {
  const std::string prefix = std::string(name) + "_";
  MPI_Comm comm = PetscObjectComm((PetscObject)task.problem->grid);
  PetscMPIInt ranks;
  PC pc;

  PetscFunctionBeginUser;
  contestant->name = std::string("cg ") + name;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(KSPCreate(comm, &contestant->ksp));
  PetscCall(KSPSetOptionsPrefix(contestant->ksp, prefix.c_str()));
  PetscCall(KSPSetType(contestant->ksp, KSPCG));
  PetscCall(KSPSetInitialGuessNonzero(contestant->ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(contestant->ksp, matrix, matrix));
  PetscCall(KSPGetPC(contestant->ksp, &pc));
  const bool blocks = ranks > 1 && std::string(type) != PCGAMG;  // ILU and ICC are of one rank
  PetscCall(PCSetType(pc, blocks ? PCBJACOBI : type));
  if (blocks) PetscCall(PetscOptionsSetValue(nullptr, ("-" + prefix + "sub_pc_type").c_str(), type));
  PetscCall(KSPSetFromOptions(contestant->ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode Now(MPI_Comm comm, double* now) {
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(comm));
  *now = MPI_Wtime();
  PetscFunctionReturn(0);
}

PetscErrorCode SetUp(const Task& task, Contestant& contestant) {
  MPI_Comm comm = PetscObjectComm((PetscObject)contestant.ksp);
  double start, end;

  PetscFunctionBeginUser;
  PetscCall(Now(comm, &start));
  PC pc;
  PetscCall(KSPGetPC(contestant.ksp, &pc));
  if (contestant.ours) PetscCall(GiveBands(task, "x,y,z", pc));
  PetscCall(KSPSetUp(contestant.ksp));
  PetscCall(KSPSetUpOnBlocks(contestant.ksp));
  PetscCall(Now(comm, &end));
  contestant.setup_seconds = end - start;
  PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode CreateLines(const Task& task, const std::string& axes, KSP* ksp) {
  Mat empty;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(CreateEmptyMatrix(task.problem->grid, &empty));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)task.problem->grid), ksp));
  PetscCall(KSPSetType(*ksp, KSPPREONLY));
  PetscCall(KSPSetOperators(*ksp, empty, empty));
  PetscCall(MatDestroy(&empty));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetDM(pc, task.problem->grid));
  PetscCall(PCSetType(pc, PCOCLSPKT));
  PetscCall(PCOCLSPKTSetDirections(pc, axes.c_str()));
  PetscCall(PCOCLSPKTSetCombine(pc, PC_OCLSPKT_COMBINE_FACTORED));
  PetscCall(GiveBands(task, axes, pc));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode CreateContestants(const Task& task, Mat matrix, std::vector<Contestant>* contestants) {
  const struct {
    const char* name;
    PCType type;
  } preconditioners[] = {{"ilu", PCILU}, {"icc", PCICC}, {"gamg", PCGAMG}};

  PetscFunctionBeginUser;
  contestants->assign(1 + std::size(preconditioners), {});
  Contestant& ours = contestants->front();
  ours.name = "oclspkt factored";
  ours.ours = true;
  PetscCall(CreateLines(task, "x,y,z", &ours.ksp));
  for (std::size_t p = 0; p < std::size(preconditioners); ++p) {
    PetscCall(CreateCG(task, matrix, preconditioners[p].name, preconditioners[p].type, &(*contestants)[p + 1]));
  }
  for (Contestant& contestant : *contestants) PetscCall(SetUp(task, contestant));
  PetscFunctionReturn(0);
}

PetscErrorCode DestroyContestants(std::vector<Contestant>* contestants) {
  PetscFunctionBeginUser;
  for (Contestant& contestant : *contestants) PetscCall(KSPDestroy(&contestant.ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode TakeSteps(const Task& task, Contestant& contestant, Vec u, double* seconds) {
  MPI_Comm comm = PetscObjectComm((PetscObject)contestant.ksp);
  Vec next;
  double start, end;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(task.problem->grid, &next));
  PetscCall(task.problem->Fill(task.problem->unchanged(), u));
  PetscCall(VecCopy(u, next));
  contestant.iterations = 0;
  PetscCall(Now(comm, &start));
  for (int step = 0; step < task.steps; ++step) {
    KSPConvergedReason reason;
    PetscInt iterations;
    PetscCall(KSPSolve(contestant.ksp, u, next));
    PetscCall(KSPGetConvergedReason(contestant.ksp, &reason));
    PetscCall(KSPGetIterationNumber(contestant.ksp, &iterations));
    if (reason <= 0) contestant.note = std::string("step failed: ") + KSPConvergedReasons[reason];
    contestant.iterations += iterations;
    PetscCall(VecCopy(next, u));
  }
  PetscCall(Now(comm, &end));
  *seconds = end - start;
  PetscCall(DMRestoreGlobalVector(task.problem->grid, &next));
  PetscCall(task.problem->Error(task.problem->exact(task.lambda, task.steps), u, &contestant.error));
  PetscFunctionReturn(0);
}

PetscErrorCode FindTolerance(const Task& task, double allowed, Contestant& contestant, Vec u) {
  double seconds;

  PetscFunctionBeginUser;
  contestant.allowed = allowed;
  // From the loosest one on: the error does not always fall with the tolerance, what CG leaves can make up for the
  // method.
  for (int halves = 1;; ++halves) {
    contestant.rtol = std::pow(10, -0.5 * halves);
    if (contestant.rtol < kTightest) break;
    PetscCall(KSPSetTolerances(contestant.ksp, contestant.rtol, 0, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(TakeSteps(task, contestant, u, &seconds));
    if (!contestant.note.empty() || contestant.error <= allowed) PetscFunctionReturn(0);
  }
  contestant.note = "no tolerance down to 1e-12 is enough";
  PetscFunctionReturn(0);
}

}  // namespace oclspkt::bench::adi

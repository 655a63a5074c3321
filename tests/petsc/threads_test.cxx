// SPDX-License-Identifier: BSD-2-Clause
// Threads of one process that each register the type, and set up, solve and destroy KSPs of their own. For a PETSc that
// was configured with thread safety.
#include <petscksp.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "oclspkt/oclspkt.h"
#include "small_system.h"

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

namespace {

constexpr int kThreads = 4, kRounds = 10;

PetscErrorCode SolveOnce(PetscInt n, const char* devices, PetscReal* error) {
  const char *device, *type;
  Mat A;
  Vec x, b;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSystem(n, &A, &x, &b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCOCLSPKT));
  PetscCall(PCOCLSPKTSetDevices(pc, devices));
  PetscCall(KSPSetFromOptions(ksp));
  for (int i = 0; i < 2; ++i) PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PCOCLSPKTGetDeviceUsed(pc, &device, &type));
  PetscCheck((std::strcmp(type, "host") == 0) == (std::strcmp(devices, "host") == 0), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s (%s) solved for %s", device, type, devices);
  PetscCall(VecShift(x, -1.5));
  PetscCall(VecNorm(x, NORM_INFINITY, error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Work(int thread, const char* devices, PetscReal* worst) {
  PetscFunctionBeginUser;
  PetscCall(PCOCLSPKTInitializePackage());
  for (int round = 0; round < kRounds; ++round) {
    PetscReal error;
    PetscCall(SolveOnce(1000 + 7000 * thread + 100 * round, devices, &error));
    *worst = PetscMax(*worst, error);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != PETSC_SUCCESS) return 1;
  std::atomic<int> failed{0};
  std::barrier together(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      PetscReal worst = 0;
      together.arrive_and_wait();
      const bool good = Work(t, t % 2 == 0 ? "host" : "portable", &worst) == PETSC_SUCCESS && worst < 1e-13;
      if (!good) ++failed;
      std::printf("thread %d: largest error %g\n", t, static_cast<double>(worst));
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (PetscFinalize() != PETSC_SUCCESS || failed > 0) return 1;
  std::printf("all %d threads are right\n", kThreads);
  return 0;
}

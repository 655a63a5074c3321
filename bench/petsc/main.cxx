// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>
#include <petscksp.h>

#include <exception>
#include <iostream>

#include "json_file.hpp"
#include "measures.hxx"
#include "oclspkt/oclspkt.h"
#include "provenance.hpp"
#include "report.hxx"

static char help[] =
    "oclspkt-bench-petsc: whole set-ups and solves of PETSc, the plugin beside PETSc's own; one rank, double.\n\n\
  -rows <n,...>      rows of systems of one line; none with 0\n\
  -grid <n>          points along each axis of a grid whose x, y and z lines are solved; none with 0\n\
  -repetitions <n>   rounds, each with other values and everybody in turn; times are medians\n\
  -json <file>       where to write the results\n\
  -allow_debug       do not refuse a build that is not Release (tests of the output)\n\
  -oclspkt_...       options of our KSP and PC (-oclspkt_pc_oclspkt_devices cpu); -ilu_..., -lu_...: of the others\n\n";

namespace oclspkt::bench::petsc {
namespace {

constexpr int kUsage = 2;  // exit status of what the caller can mend; 1 is for answers that are wrong

struct Settings {
  PetscInt rows[8] = {2000000, 20000000}, sizes = 8, grid = 128, repetitions = 7;
  char json[PETSC_MAX_PATH_LEN] = "";
  PetscBool allow_debug = PETSC_FALSE;
};

PetscErrorCode ReadSettings(Settings* s) {
  PetscBool set;
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-rows", s->rows, &s->sizes, &set));
  if (!set) s->sizes = 2;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-grid", &s->grid, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repetitions", &s->repetitions, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-json", s->json, sizeof s->json, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-allow_debug", &s->allow_debug, nullptr));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCheck(ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "run it on one rank");
  PetscCheck(s->repetitions > 0 && s->grid >= 0 && s->grid <= 1024, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-repetitions is positive, -grid from 0 to 1024");
  for (PetscInt i = 0; i < s->sizes; ++i) {
    PetscCheck(s->rows[i] >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-rows must not be negative");
  }
  PetscFunctionReturn(0);
}

PetscErrorCode Run(const Settings& s, std::vector<Part>* parts) {
  Progress progress;

  PetscFunctionBeginUser;
  const auto show = [&] {
    progress.finish();
    std::cout << table(parts->back()) << std::flush;
  };
  for (PetscInt i = 0; i < s.sizes; ++i) {
    if (s.rows[i] == 0) continue;
    parts->emplace_back();
    PetscCall(RunOneLine(s.rows[i], static_cast<int>(s.repetitions), progress, &parts->back()));
    show();
  }
  for (int axis = 0; axis < 3 && s.grid > 0; ++axis) {
    parts->emplace_back();
    PetscCall(RunAxis(s.grid, axis, static_cast<int>(s.repetitions), progress, &parts->back()));
    show();
  }
  PetscFunctionReturn(0);
}

/// A norm that OpenBLAS takes by several threads leaves them spinning, tens of milliseconds long, on the processors
/// that whoever comes next is timed on. This is one rank, so one thread is all that PETSc's own solvers would use.
void KeepBlasToOneThread() {
  using SetThreads = void(int);
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) reinterpret_cast<SetThreads*>(set)(1);
}

/// @return the exit status
PetscErrorCode RunAndReport(const Settings& s, const std::string& command, int* status) {
  PetscFunctionBeginUser;
  try {
    if (!s.allow_debug) require_release();
    JsonFile json(s.json);
    std::vector<Part> parts;
    PetscCall(Run(s, &parts));
    DeviceInfo device;
    device.name = "see results.device";
    json.write({{"provenance", provenance(device, command)}, {"results", to_json(parts)}, {"ratios", ratios(parts)}});
    for (const Part& part : parts) *status = part.bad() ? 1 : *status;
  } catch (const std::exception& error) {
    std::cerr << "oclspkt-bench-petsc: " << error.what() << '\n';
    *status = kUsage;
  }
  PetscFunctionReturn(0);
}

}  // namespace
}  // namespace oclspkt::bench::petsc

int main(int argc, char** argv) {
  std::string command = "oclspkt-bench-petsc";
  for (int a = 1; a < argc; ++a) command += std::string(" ") + argv[a];
  oclspkt::bench::petsc::Settings settings;
  int status = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(PCOCLSPKTInitializePackage());
  oclspkt::bench::petsc::KeepBlasToOneThread();
  PetscCall(oclspkt::bench::petsc::ReadSettings(&settings));
  PetscCall(oclspkt::bench::petsc::RunAndReport(settings, command, &status));
  PetscCall(PetscFinalize());
  return status;
}

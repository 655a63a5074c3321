// SPDX-License-Identifier: BSD-2-Clause
#include "logged.hxx"

#include "apply_energy.hpp"
#include "boundary.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {

PetscErrorCode LogFlops(const Report& report, PetscLogDouble flops) {
  PetscFunctionBegin;
  if (report.device.type == "gpu" && report.sharing.shares.empty()) {
    PetscCall(OclspktLogGpuFlops(flops));
  } else {
    PetscCall(PetscLogFlops(flops));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

Times moved(PC pc) {
  Times sum;
  if (!PetscDefined(HAVE_DEVICE)) return sum;
  for (const auto& sweep : data(pc)->sweeps) {
    sum = sum + sweep->solver.times() + sweep->solver.transpose_times();
  }
  return sum;
}

PetscErrorCode LogTransfers(PC pc, const Times& before) {
  [[maybe_unused]] const Times since = moved(pc) - before;

  PetscFunctionBegin;
  if (since.bytes_to_device > 0) PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(since.bytes_to_device)));
  if (since.bytes_from_device > 0) PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(since.bytes_from_device)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::int64_t energy_windows(PC pc) {
  std::int64_t sum = 0;
  for (const auto& sweep : data(pc)->sweeps) sum += sweep->solver.report().energy.windows;
  return sum;
}

PetscErrorCode TellEnergy(PC pc, std::int64_t before) {
  std::vector<std::string> lines;

  PetscFunctionBegin;
  if (energy_windows(pc) == before) PetscFunctionReturn(PETSC_SUCCESS);
  for (const auto& sweep : data(pc)->sweeps) {
    OclspktCall(pc, lines = energy_lines(sweep->solver.report().energy));
    for (const std::string& line : lines) PetscCall(PetscInfo(pc, "%s\n", line.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

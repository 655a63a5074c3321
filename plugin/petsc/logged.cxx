// SPDX-License-Identifier: BSD-2-Clause
#include "logged.hxx"

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

}  // namespace oclspkt::petsc

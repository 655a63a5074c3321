// SPDX-License-Identifier: BSD-2-Clause
#include "logged.hxx"

#include <algorithm>

#include "apply_energy.hpp"
#include "boundary.hxx"
#include "pc_oclspkt.hxx"
#include "row_flops.hpp"

namespace oclspkt::petsc {
namespace {

/// Flops of all lines: those of groups by the groups' methods, the others by the report's.
PetscLogDouble total(const Report& report, double RowFlops::*which) {
  PetscLogDouble flops = 0;
  Index rows = report.rows;
  for (const GroupReport& group : report.groups) {
    flops += flops_of(group.method).*which * static_cast<PetscLogDouble>(group.rows);
    rows -= group.rows;
  }
  return flops + flops_of(report.method, report.device.type != "fpga").*which * static_cast<PetscLogDouble>(rows);
}

}  // namespace

PetscLogDouble set_up_flops(const Report& report) { return total(report, &RowFlops::set_up); }

PetscLogDouble apply_flops(const Report& report) {
  const Partitioning& cut = report.partition;
  const auto halos = static_cast<PetscLogDouble>(std::max<Index>(cut.count - 1, 0) * cut.halo);
  return total(report, &RowFlops::apply) + flops_of(report.method).halo * halos;
}

void log_flops(const Report& report, PetscLogDouble flops) {
  if (report.device.type == "gpu" && report.sharing.shares.empty()) {
    must(OclspktLogGpuFlops(flops));
  } else {
    must(PetscLogFlops(flops));
  }
}

Times moved(PC pc) {
  Times sum;
  if (!PetscDefined(HAVE_DEVICE)) return sum;
  for (const auto& sweep : data(pc)->sweeps) {
    sum = sum + sweep->solver.times() + sweep->solver.transpose_times();
  }
  return sum;
}

void log_transfers(PC pc, const Times& before) {
  [[maybe_unused]] const Times since = moved(pc) - before;
  if (since.bytes_to_device > 0) must(PetscLogCpuToGpu(static_cast<PetscLogDouble>(since.bytes_to_device)));
  if (since.bytes_from_device > 0) must(PetscLogGpuToCpu(static_cast<PetscLogDouble>(since.bytes_from_device)));
}

std::int64_t energy_windows(PC pc) {
  std::int64_t sum = 0;
  for (const auto& sweep : data(pc)->sweeps) sum += sweep->solver.report().energy.windows;
  return sum;
}

void tell_energy(PC pc, std::int64_t before) {
  if (energy_windows(pc) == before) return;
  for (const auto& sweep : data(pc)->sweeps) {
    for (const std::string& line : energy_lines(sweep->solver.report().energy)) {
      must(PetscInfo(pc, "%s\n", line.c_str()));
    }
  }
}

}  // namespace oclspkt::petsc

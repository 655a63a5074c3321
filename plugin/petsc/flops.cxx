// SPDX-License-Identifier: BSD-2-Clause
#include "flops.hxx"

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
  const bool halos = report.method == Method::truncated_halo && cut.count > 1;
  return total(report, &RowFlops::apply) +
         (halos ? kHaloFlops * static_cast<PetscLogDouble>((cut.count - 1) * cut.halo) : 0);
}

}  // namespace oclspkt::petsc

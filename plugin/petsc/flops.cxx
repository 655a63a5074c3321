// SPDX-License-Identifier: BSD-2-Clause
#include "flops.hxx"

namespace oclspkt::petsc {
namespace {

/// Flops of all lines: those of groups by the groups' methods, the others by the report's.
PetscLogDouble total(const Report& report, double RowFlops::*which, double repeated) {
  PetscLogDouble flops = 0;
  Index rows = report.rows;
  for (const GroupReport& group : report.groups) {
    flops += flops_of(group.method).*which * static_cast<PetscLogDouble>(group.rows);
    rows -= group.rows;
  }
  return flops + flops_of(report.method).*which * static_cast<PetscLogDouble>(rows) * repeated;
}

/// How often a row is read: the halos of a partition belong to its neighbours as well. Not counted of methods that
/// store factors.
double repeated(const Report& report) {
  if (flops_of(report.method).set_up > 0 || report.partition.rows <= 0 || report.partition.count <= 1) return 1;
  const auto cuts = static_cast<double>(report.partition.count - 1);
  return 1 + 2 * cuts * static_cast<double>(report.partition.halo) / static_cast<double>(report.rows);
}

}  // namespace

PetscLogDouble set_up_flops(const Report& report) { return total(report, &RowFlops::set_up, 1); }

PetscLogDouble apply_flops(const Report& report) { return total(report, &RowFlops::apply, repeated(report)); }

}  // namespace oclspkt::petsc

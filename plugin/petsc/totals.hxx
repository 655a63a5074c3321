// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {

/// What a direction is over all ranks of the preconditioner. Counts are sums, bounds and errors the largest; what is
/// chosen by each rank for itself (method, device, partitions) is that of rank 0.
struct Totals {
  Report report;
  CutReport cut;
  std::string above_bound;  ///< of the first rank that has one, behind its number; see Report
  int ranks = 1;
  Index elsewhere = 0;                                   ///< ranks that chose another method or device than rank 0
  Index fallback_elsewhere = 0, degraded_elsewhere = 0;  ///< fallback lines and devices lost on ranks but 0
};

/// Collective. @param[out] totals the same on all ranks, but for what rank 0 chose
PetscErrorCode TotalOfSweep(PC pc, const Sweep& sweep, bool transpose, Totals* totals);

}  // namespace oclspkt::petsc

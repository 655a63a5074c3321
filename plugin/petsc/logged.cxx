// SPDX-License-Identifier: BSD-2-Clause
/* Logs and warnings. A rank that loses a device reports it to -info and to its log. The error stream gets one line for
   each preconditioner, however many ranks lose a device. Other warnings concern entries in no direction's bands, and a
   periodic axis that `-pc_oclspkt_lines auto` cannot take. */
#include <algorithm>

#include "apply_energy.hpp"
#include "logged.hxx"
#include "pc_oclspkt.hxx"
#include "row_flops.hpp"

namespace oclspkt::petsc {
namespace {

/// Flops of all lines. Fallback lines count by the methods of their groups, other lines by the report's method.
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

void log_applies(const Report& report, Index columns, const Place& place) {
  const PetscLogDouble flops = static_cast<PetscLogDouble>(columns) * apply_flops(report);
  if (place.queue || (report.device.type == "gpu" && report.sharing.shares.empty())) {
    must(OclspktLogGpuFlops(flops));
  } else {
    must(PetscLogFlops(flops));
  }
}

Times moved(PC pc) {
  Times sum;
  if (!PetscDefined(HAVE_DEVICE)) return sum;
  for (const auto& sweep : data(pc)->sweeps) {
    sum = sum + sweep->solver.times() + sweep->solver.transposed().times();
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

namespace {

/// Report the devices of a sweep that were lost since the last call.
void note_sweep(PC pc, Sweep& sweep) {
  PC_OCLSPKT* o = data(pc);
  const Report& report = sweep.solver.report();
  const std::size_t all = report.degraded.size(), fresh = std::min(report.losses - sweep.losses_seen, all);
  sweep.losses_seen = report.losses;
  for (std::size_t i = all - fresh; i < all; ++i) {
    must(PetscLogEventBegin(events().degraded, pc, 0, 0, 0));
    must(PetscInfo(pc, "degraded: %s\n", report.degraded[i].c_str()));
    must(PetscLogEventEnd(events().degraded, pc, 0, 0, 0));
    if (o->first_loss.empty()) {
      o->first_loss = report.degraded[i] + "; its rows are solved on " + report.device.name;
    }
  }
}

void print_loss(PC pc) {
  PC_OCLSPKT* o = data(pc);
  const std::string where =
      ranks_of(comm_of(pc)) > 1 ? " on rank " + std::to_string(rank_of(comm_of(pc))) : std::string();
  if (o->settings.on_device_failure != OnDeviceFailure::quiet) {
    must((*PetscErrorPrintf)("PCOCLSPKT degraded%s: %s (-pc_oclspkt_on_device_failure quiet hides this, error stops)\n",
                             where.c_str(), o->first_loss.c_str()));
  }
  o->warned.degraded = true;
}

/// Write a line to -info. The first call with `print` also writes it to the error stream of the first rank.
void warn(PC pc, bool print, bool& told, const std::string& text) {
  must(PetscInfo(pc, "WARNING: %s\n", text.c_str()));
  if (!print || told || data(pc)->settings.ignored != Ignored::warn) return;
  if (rank_of(comm_of(pc)) == 0) {
    must((*PetscErrorPrintf)("PCOCLSPKT: %s (-pc_oclspkt_ignored ignore hides this)\n", text.c_str()));
  }
  told = true;
}

/// True if the KSP's own PC is this PC, and the KSP only applies it once.
bool applies_once(PC pc, KSP ksp) {
  PC its_own;
  PetscBool once;
  must(PetscObjectTypeCompareAny((PetscObject)ksp, &once, KSPPREONLY, "none", ""));
  must(KSPGetPC(ksp, &its_own));
  return once && its_own == pc;
}

}  // namespace

void note_degraded(PC pc) {
  PC_OCLSPKT* o = data(pc);
  for (const auto& sweep : o->sweeps) note_sweep(pc, *sweep);
  if (rank_of(comm_of(pc)) == 0 && !o->first_loss.empty() && !o->warned.degraded) print_loss(pc);
}

void agree_on_degraded(PC pc) {
  PC_OCLSPKT* o = data(pc);
  PetscBool finalized; /* a PC may be destroyed after PetscFinalize() */
  must(PetscFinalized(&finalized));
  if (finalized) return;
  const int ranks = ranks_of(comm_of(pc)), rank = rank_of(comm_of(pc));
  if (ranks == 1) return;
  /* [0]: this rank has printed the warning; [1]: ranks - rank if this rank lost a device, else 0. */
  int state[] = {o->warned.degraded, o->first_loss.empty() ? 0 : ranks - rank};
  OclspktReduce(MPI_IN_PLACE, state, 2, MPI_INT, MPI_MAX, comm_of(pc));
  if (!state[0] && state[1] > 0 && rank == ranks - state[1]) print_loss(pc);
  o->warned.degraded = state[0] || state[1] > 0;
}

std::string ignored_text(const PC_OCLSPKT& o) {
  return std::to_string(ignored_entries(o)) + " nonzero entries off the " +
         (o.sweeps.size() > 1 ? "bands of all directions" : "three bands");
}

void check_ignored(PC pc) {
  const PC_OCLSPKT& o = *data(pc);
  OclspktCheck(o.settings.ignored != Ignored::error || ignored_entries(o) == 0, comm_of(pc), PETSC_ERR_ARG_INCOMP,
               "-pc_oclspkt_ignored error: the matrix has %s; name the directions of all couplings in "
               "-pc_oclspkt_lines, or use -pc_oclspkt_ignored warn with a Krylov method (-ksp_type gmres), which makes "
               "up for them",
               ignored_text(o).c_str());
}

void warn_of_periodic_axis(PC pc) {
  PC_OCLSPKT* o = data(pc);
  if (!o->chosen.left_out.empty()) warn(pc, true, o->warned.left_out, o->chosen.left_out);
}

void warn_of_ignored(PC pc, KSP ksp) {
  PC_OCLSPKT* o = data(pc);
  PetscInt level;
  o->applied_once = applies_once(pc, ksp);
  if (!o->applied_once || !o->ready || ignored_entries(*o) == 0) return;
  must(PetscObjectGetTabLevel((PetscObject)ksp, &level));
  /* A KSP of level > 0 belongs to another solver, such as a block of bjacobi. The outer solver iterates. */
  warn(pc, level == 0, o->warned.ignored,
       "the preconditioner ignores " + ignored_text(*o) +
           " of the matrix, and no Krylov method follows (-ksp_type preonly), so the answer solves another matrix; use "
           "-ksp_type gmres");
}

}  // namespace oclspkt::petsc

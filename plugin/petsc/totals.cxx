// SPDX-License-Identifier: BSD-2-Clause
#include "totals.hxx"

#include <algorithm>

#include "boundary.hxx"

namespace oclspkt::petsc {
namespace {

/// Lines of a layout that begin on this rank, so that each is counted once.
Index lines_begun(const LineLayout& layout) {
  const Index continued =
      std::count_if(layout.above.begin(), layout.above.end(), [](PetscInt row) { return row >= 0; });
  return layout.lines.count() - continued;
}

/// Lines that begin on this rank and continue on another one.
Index cuts_begun(const LineLayout& layout) {
  Index begun = 0;
  for (std::size_t l = 0; l < layout.above.size(); ++l) begun += layout.above[l] < 0 && layout.below[l] >= 0;
  return begun;
}

Index fallback_lines(const Report& report) {
  Index lines = 0;
  for (const GroupReport& group : report.groups) lines += group.lines;
  return lines;
}

/// Whether this rank chose as rank 0 did. Collective.
PetscErrorCode ChoseAsFirst(MPI_Comm comm, const Report& report, bool* same) {
  constexpr std::size_t kMost = 256;
  char first[kMost] = "", own[kMost];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(own, sizeof own, "%s on %s", name(report.method), report.device.name.c_str()));
  PetscCall(PetscStrncpy(first, own, sizeof first));
  PetscCallMPI(MPI_Bcast(first, static_cast<PetscMPIInt>(kMost), MPI_CHAR, 0, comm));
  *same = std::string_view(first) == own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The text of the first rank that has one, behind its number. Collective.
PetscErrorCode FirstText(MPI_Comm comm, std::string* text) {
  constexpr std::size_t kMost = 256;
  char all[kMost] = "";
  PetscMPIInt ranks, rank, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  first = text->empty() ? ranks : rank;
  OclspktAllreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(all, sizeof all, "rank %d: %s", rank, text->c_str()));
  PetscCallMPI(MPI_Bcast(all, static_cast<PetscMPIInt>(kMost), MPI_CHAR, first, comm));
  OclspktCall(nullptr, *text = all);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode TotalOfSweep(PC pc, const Sweep& sweep, bool transpose, Totals* totals) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt rank;
  bool same = true;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &totals->ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  OclspktCall(pc, totals->report = sweep.report(transpose));
  OclspktCall(pc, totals->cut = sweep.cut_report(transpose));
  const std::string& above = totals->report.above_bound;
  OclspktCall(pc, totals->above_bound = above.empty() ? totals->cut.above_bound : above);
  if (totals->ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  Report& report = totals->report;
  CutReport& cut = totals->cut;
  PetscCall(ChoseAsFirst(comm, report, &same));
  PetscCall(FirstText(comm, &totals->above_bound));
  report.lines = lines_begun(sweep.layout);
  cut.lines = cuts_begun(sweep.layout);
  totals->elsewhere = !same;
  totals->fallback_elsewhere = rank == 0 ? 0 : fallback_lines(report);
  totals->degraded_elsewhere = rank == 0 ? 0 : static_cast<Index>(report.degraded.size());
  Index by_rows = report.promise == Promise::by_rows ? 1 : 0;
  Index* const counts[] = {&by_rows,
                           &report.rows,
                           &report.lines,
                           &cut.lines,
                           &cut.sent,
                           &cut.received,
                           &cut.gathered,
                           &cut.pinned,
                           &totals->elsewhere,
                           &totals->fallback_elsewhere,
                           &totals->degraded_elsewhere};
  auto units = static_cast<double>(report.units);
  double* const largest[] = {&report.certificate, &report.backward_error, &report.rounding,
                             &cut.backward_error, &cut.rounding,          &units};
  for (Index* count : counts) OclspktAllreduce(MPI_IN_PLACE, count, 1, MPIU_INT64, MPI_SUM, comm);
  for (double* value : largest) {
    *value = without_nan(*value);
    OclspktAllreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_MAX, comm);
  }
  report.units = static_cast<Index>(units);
  report.promise = by_rows > 0 ? Promise::by_rows : Promise::by_component;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

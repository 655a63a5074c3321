// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstdio>

#include "apply_energy.hpp"
#include "device.hpp"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

using Lines = std::vector<std::string>;

/// The reports of a direction, combined over all ranks. Counts are sums; bounds and errors are maxima. Choices that may
/// differ between ranks (method, device, partitions) are rank 0's choices.
struct Totals {
  Report report;
  CutReport cut;
  std::string above_bound{};  ///< Report::above_bound of the first rank that has such a text, after "rank 2: "
  int ranks = 1;
  Index elsewhere = 0;                                   ///< number of ranks with another method or device than rank 0
  Index fallback_elsewhere = 0, degraded_elsewhere = 0;  ///< fallback lines, lost devices of ranks > 0
};

/// The number of lines of a layout that begin on this rank. The sum over ranks counts each line once.
Index lines_begun(const LineLayout& layout) {
  const Index continued =
      std::count_if(layout.above.begin(), layout.above.end(), [](PetscInt row) { return row >= 0; });
  return layout.lines.count() - continued;
}

/// The number of lines that begin on this rank and continue on another rank.
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

/// True if this rank has the same method and device as rank 0. Collective.
bool chose_as_first(MPI_Comm comm, const Report& report) {
  const std::string own = std::string(name(report.method)) + " on " + report.device.name;
  return text_of(comm, 0, own) == own.substr(0, kMostText - 1);
}

/// The text of the first rank that has a text, as in "rank 2: TEXT"; empty if no rank has a text. Collective.
std::string first_text(MPI_Comm comm, const std::string& text) {
  const int ranks = ranks_of(comm), rank = rank_of(comm);
  int first = text.empty() ? ranks : rank;
  OclspktReduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) return {};
  return text_of(comm, first, "rank " + std::to_string(rank) + ": " + text);
}

/// Combine the reports of a direction over all ranks. Collective.
/// @return equal on all ranks, except for choices that may differ between ranks
Totals total_of(PC pc, const Sweep& sweep, bool transpose) {
  const MPI_Comm comm = comm_of(pc);
  Totals totals{.report = sweep.report(transpose), .cut = sweep.cut_report(transpose), .ranks = ranks_of(comm)};
  Report& report = totals.report;
  CutReport& cut = totals.cut;
  totals.above_bound = report.above_bound.empty() ? cut.above_bound : report.above_bound;
  if (totals.ranks == 1) return totals;
  const bool is_first = rank_of(comm) == 0;
  totals.elsewhere = !chose_as_first(comm, report);
  totals.above_bound = first_text(comm, totals.above_bound);
  report.lines = lines_begun(sweep.layout);
  cut.lines = cuts_begun(sweep.layout);
  totals.fallback_elsewhere = is_first ? 0 : fallback_lines(report);
  totals.degraded_elsewhere = is_first ? 0 : static_cast<Index>(report.degraded.size());
  Index by_rows = report.promise == Promise::by_rows ? 1 : 0;
  auto units = static_cast<double>(report.units);
  for (Index* count : {&by_rows, &report.rows, &report.lines, &cut.lines, &cut.sent, &cut.received, &cut.gathered,
                       &cut.pinned, &totals.elsewhere, &totals.fallback_elsewhere, &totals.degraded_elsewhere}) {
    OclspktReduce(MPI_IN_PLACE, count, 1, MPIU_INT64, MPI_SUM, comm);
  }
  for (double* value :
       {&report.certificate, &report.backward_error, &report.rounding, &cut.backward_error, &cut.rounding, &units}) {
    *value = without_nan(*value);
    OclspktReduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_MAX, comm);
  }
  report.units = static_cast<Index>(units);
  report.promise = by_rows > 0 ? Promise::by_rows : Promise::by_component;
  return totals;
}

void append(std::string& text, const std::string& words) { text += words; }
void append(std::string& text, Index number) { text += std::to_string(number); }

template <typename... Parts>
void add(Lines& lines, const Parts&... parts) {
  std::string line;
  (append(line, parts), ...);
  lines.push_back(std::move(line));
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string failure_line(const PC_OCLSPKT& o) {
  return (o.failed_apply ? "apply failed: " : "set-up failed: ") + o.failure;
}

void add_accuracy(const Totals& totals, Lines& lines) {
  const Report& report = totals.report;
  const double bound = largest_bound(report.rounding, totals.cut.rounding);
  const bool by_component = report.promise == Promise::by_component && totals.cut.lines == 0;
  if (truncates(report.method)) {
    add(lines, "certificate: ", number(report.certificate),
        (report.certificate <= report.tolerance ? ", tolerance " : ", ABOVE the tolerance "), number(report.tolerance));
  }
  if (std::isfinite(bound)) {
    add(lines, "rounding: ", (by_component ? "by component" : "by rows"), " at most ", number(bound), " eps",
        (report.units > 0 ? ", in " + std::to_string(report.units) + " units" : ""),
        (bound <= kRoundingLimit ? "" : ", ABOVE the limit of method auto"));
  } else {
    add(lines, "rounding: no bound is known");
  }
  if (!totals.above_bound.empty()) add(lines, "ABOVE the limits of method auto: ", totals.above_bound);
  if (report.backward_error > 0) add(lines, "checked: backward error ", number(report.backward_error));
}

std::string device_line(const Report& report) {
  return "device: " + report.device.name + " (" + type_text(report.device.type, report.device.emulated) +
         (report.device.platform.empty() ? "" : ", " + report.device.platform) + "), " + report.device.why;
}

void add_vectors(const std::string& text, Lines& lines) {
  if (!text.empty()) add(lines, "vectors: ", text);
}

/// Add the processors that share the rows, or the line "shares: none".
void add_shares(const Report& report, Lines& lines) {
  if (report.sharing.shares.empty()) {
    if (!report.sharing.why.empty()) add(lines, "shares: none");
    return;
  }
  for (const ShareReport& share : report.sharing.shares) {
    const double part = static_cast<double>(share.rows) / static_cast<double>(std::max<Index>(1, report.rows));
    add(lines, "share: ", number(100 * part), " % of the rows, ", share.rows, ", on ", share.device, " (",
        type_text(share.type, share.emulated), (share.platform.empty() ? "" : ", " + share.platform), "), ",
        name(share.method), (share.shape.empty() ? "" : ", " + share.shape));
  }
}

void add_share_times(const SharesReport& sharing, Lines& lines) {
  if (!sharing.why.empty()) add(lines, "sharing: ", sharing.why);
  if (!sharing.objectives.empty()) add(lines, "shares by ", sharing.objectives);
  if (sharing.shares.empty()) return;
  add(lines, "shares together: predicted ", number(sharing.predicted_seconds), " s an apply, measured ",
      number(sharing.seconds), " s, the best device alone is predicted to take ", number(sharing.single_seconds), " s");
  for (const ShareReport& share : sharing.shares) {
    const double rate = share.seconds > 0 ? static_cast<double>(share.rows) / share.seconds : 0;
    add(lines, "share of ", share.device, (share.emulated ? ", emulated" : ""), ": predicted ",
        number(share.predicted_seconds), " s, measured ", number(share.seconds), " s, ", number(rate), " rows/s, ",
        share.bytes, " bytes moved");
  }
}

void add_exceptions(const Report& report, Lines& lines) {
  if (!report.pin_why.empty()) add(lines, "singular: pinned, ", report.pin_why);
  for (const GroupReport& group : report.groups) {
    add(lines, "fallback lines: ", group.lines, ", from line ", group.first_line, " on, by ", name(group.method),
        (group.pinned ? ", pinned" : ""), " on the host, ", group.why);
  }
  for (const std::string& lost : report.degraded) add(lines, "degraded: ", lost);
}

/// Add the lines that ranks cut, and the lines that one rank solves whole.
void add_cuts(const CutReport& cut, Lines& lines) {
  std::string text = "cut by ranks: " + std::to_string(cut.lines) + (cut.lines == 1 ? " line" : " lines") +
                     ", over up to " + std::to_string(cut.longest_chain) + " ranks, " +
                     (cut.truncated ? "truncated at the cuts, bound " + number(cut.bound) : "exact at the cuts");
  if (cut.truncated) text += (cut.above_tolerance ? ", ABOVE the tolerance " : ", tolerance ") + number(cut.tolerance);
  add(lines, text);
  add(lines, "messages: ", cut.sent, " numbers sent and ", cut.received, " received by an apply, all ranks together");
  if (cut.backward_error > 0) add(lines, "checked across cuts: backward error ", number(cut.backward_error));
  if (cut.gathered == 0) return;
  add(lines, "gathered: ", cut.gathered, (cut.gathered == 1 ? " line is" : " lines are"),
      " solved whole, each on one rank",
      (cut.first_gathered < 0 ? "" : ", from line " + std::to_string(cut.first_gathered) + " on, " + cut.gathered_why),
      (cut.pinned > 0 ? ", " + std::to_string(cut.pinned) + " pinned" : ""));
}

/// The text " (rank 0 of 4)" for choices that may differ between ranks; empty for one rank.
std::string whose(const Totals& totals) {
  return totals.ranks == 1 ? "" : " (rank 0 of " + std::to_string(totals.ranks) + ")";
}

void add_elsewhere(const Totals& totals, Lines& lines) {
  if (totals.elsewhere > 0) {
    add(lines, "other ranks: ", totals.elsewhere,
        " use another method or device than rank 0; -ksp_view ::ascii_info_detail lists them");
  }
  if (totals.fallback_elsewhere > 0) add(lines, "fallback lines on other ranks: ", totals.fallback_elsewhere);
  if (totals.degraded_elsewhere > 0) {
    add(lines, "degraded on other ranks: ", totals.degraded_elsewhere, " devices lost");
  }
}

void add_options(const PC_OCLSPKT& o, Lines& lines) {
  const std::string text = non_default_options(o.settings);
  if (!text.empty()) add(lines, "options: ", text);
}

/// Lines about the choices for a direction. Their text is the same for every run on the same devices.
Lines choice_lines(const Totals& totals, bool cut) {
  const Report& report = totals.report;
  Lines lines;
  add(lines, "method: ", name(report.method), ", ", (report.shape.empty() ? "" : report.shape + ", "), report.why,
      whose(totals));
  add(lines, device_line(report), whose(totals));
  add_vectors(report.device.vectors, lines);
  add(lines, "rows: ", report.rows, " in ", report.lines, (report.lines == 1 ? " line" : " lines"),
      (totals.ranks > 1 ? ", on " + std::to_string(totals.ranks) + " ranks" : ""));
  add(lines, "precision: ", name(report.precision.applied), ", storage form: ", name(report.form), ", ",
      number(report.words_per_row), " words a row",
      (report.words_saved > 0 ? ", " + number(report.words_saved) + " less than the general form" : ""), whose(totals));
  if (!report.precision.why.empty()) add(lines, "narrow: ", report.precision.why);
  if (report.partition.rows > 0) {
    add(lines, "partitions: ", report.partition.count, " of ", report.partition.rows, " rows, halo ",
        report.partition.halo, " rows", whose(totals));
  }
  add_shares(report, lines);
  for (const std::string& line : energy_lines(report.energy)) add(lines, line, whose(totals));
  add_accuracy(totals, lines);
  if (cut) add_cuts(totals.cut, lines);
  add_exceptions(report, lines);
  add_elsewhere(totals, lines);
  return lines;
}

std::string direction_line(const PC_OCLSPKT& o, const Sweep& sweep, int ranks) {
  const char* of = sweep.direction == Direction::matrix  ? "the matrix's order"
                   : sweep.direction == Direction::given ? "as the program gave them"
                                                         : name(sweep.direction);
  std::string text = std::string("lines: ") + of + ", " + sweep.layout.lines.describe();
  if (ranks > 1) text += " on rank 0";
  return o.chosen.why.empty() ? text : text + ", " + o.chosen.why;
}

void add_choice(const Totals& totals, const Sweep& sweep, const std::string& indent, Lines& lines) {
  for (const std::string& line : choice_lines(totals, sweep.layout.exchange != nullptr)) add(lines, indent, line);
}

/// The lines of text about all directions, with a heading for each if there are several.
/// @param transposed  totals of the transposed operator; empty if it was not set up
Lines operator_lines(const PC_OCLSPKT& o, const std::vector<Totals>& totals, const std::vector<Totals>& transposed) {
  Lines lines;
  const bool several = o.sweeps.size() > 1;
  if (several) {
    add(lines, "combined: ", o.sweeps.size(), " directions, ", kCombineNames[static_cast<int>(o.settings.combine)],
        ", diagonal ", kDiagonalNames[static_cast<int>(o.settings.diagonal)]);
    if (o.visit.ready()) {
      add(lines, "vectors of the host: one way to the device and back for all directions", whose(totals.front()));
    }
  }
  for (std::size_t s = 0; s < totals.size(); ++s) {
    const Sweep& sweep = *o.sweeps[s];
    add(lines, direction_line(o, sweep, totals[s].ranks));
    const std::string indent = several ? "  " : "";
    add_choice(totals[s], sweep, indent, lines);
    if (transposed.empty()) continue;
    add(lines, indent, "transposed: set up by the first apply since the last set-up");
    add_choice(transposed[s], sweep, indent + "  ", lines);
  }
  if (!o.failure.empty()) add(lines, (o.failed_apply ? "" : "transposed: "), failure_line(o));
  add_vectors(o.vectors.from_host, lines);
  if (ignored_entries(o) > 0) {
    add(lines, "ignored: ", ignored_text(o),
        (o.applied_once ? ", and no Krylov method follows: the answer solves another matrix" : ""));
  }
  if (!o.chosen.left_out.empty()) add(lines, "left out: ", o.chosen.left_out);
  add_options(o, lines);
  return lines;
}

Lines pending_lines(const PC_OCLSPKT& o) {
  Lines lines;
  if (o.failure.empty()) {
    add(lines, "method and device: chosen at set-up (", name(o.settings.method), ", ", o.settings.devices, ")");
  } else {
    add(lines, failure_line(o));
  }
  for (const auto& sweep : o.sweeps) {
    for (const std::string& lost : sweep->solver.report().degraded) add(lines, "degraded: ", lost);
  }
  add_options(o, lines);
  return lines;
}

void add_candidates(const Report& report, const char* which, Lines& lines) {
  for (const std::string& candidate : explain(report)) add(lines, which, candidate);
}

/// Add figures that change from run to run, and the candidates that the set-up considered.
void add_details(const Sweep& o, Lines& lines) {
  const Report& report = o.report(false);
  add_candidates(report, "considered: ", lines);
  if (o.report(true).ready) add_candidates(o.report(true), "considered for the transpose: ", lines);
  if (!report.device.costs.empty()) add(lines, "costs: ", report.device.costs);
  add_share_times(report.sharing, lines);
  if (report.ready) add(lines, "dominance: ", number(report.dominance));
  const Counts counts = o.solver.counts();
  add(lines, "set-ups: ", counts.set_ups, ", matrix reads: ", o.extraction.gathers(),
      ", pattern searches: ", o.extraction.searches(), ", bands passed to a solver: ", counts.uploads);
  const Times times = o.solver.times();
  add(lines, "solves: ", times.applies, " in ", number(times.total_seconds), " s, kernels ",
      number(times.kernel_seconds), " s, transfers ", number(times.transfer_seconds), " s");
  add(lines, "bytes: ", o.solver.bytes(), o.extraction.bytes(), " held, ", times.bytes_to_device, " to the device, ",
      times.bytes_from_device, " from it");
}

Lines detail_lines(const PC_OCLSPKT& o) {
  Lines lines;
  for (const auto& sweep : o.sweeps) {
    if (o.sweeps.size() > 1) add(lines, "details of ", name(sweep->direction));
    add_details(*sweep, lines);
  }
  if (o.visit.bytes() > 0) add(lines, "bytes between directions: ", o.visit.bytes(), " held on the device");
  return lines;
}

/// Lines about the choices of this rank. The main view shows only the choices of rank 0.
Lines rank_lines(const PC_OCLSPKT& o) {
  Lines lines;
  for (const auto& sweep : o.sweeps) {
    const Report& report = sweep->solver.report();
    add(lines, direction_line(o, *sweep, 1), ", method ", name(report.method), ", ", device_line(report));
  }
  return lines;
}

Lines explained_lines(const PC_OCLSPKT& o, const std::vector<Totals>& totals) {
  Lines lines;
  for (std::size_t s = 0; s < o.sweeps.size(); ++s) {
    const Sweep& sweep = *o.sweeps[s];
    const Report& report = sweep.solver.report();
    if (o.ready) {
      add(lines, direction_line(o, sweep, totals[s].ranks));
      add(lines, device_line(report), whose(totals[s]));
      add_vectors(report.device.vectors, lines);
      if (!report.device.costs.empty()) add(lines, "costs: ", report.device.costs);
      add_share_times(report.sharing, lines);
    }
    add_candidates(report, "", lines);
    if (o.ready && sweep.layout.exchange) add_cuts(totals[s].cut, lines);
    add_exceptions(report, lines);
    if (o.ready) add_elsewhere(totals[s], lines);
  }
  add_vectors(o.vectors.from_host, lines);
  if (!o.failure.empty()) add(lines, failure_line(o));
  return lines;
}

/// The totals of all directions; empty before a successful set-up. Collective.
std::vector<Totals> all_totals(PC pc, bool transpose) {
  const PC_OCLSPKT& o = *data(pc);
  std::vector<Totals> totals;
  if (!o.ready || (transpose && !o.transpose_ready)) return totals;
  for (const auto& sweep : o.sweeps) totals.push_back(total_of(pc, *sweep, transpose));
  return totals;
}

/// Print the detail lines of each rank, after the rank's number if there are several ranks. Collective.
void view_details(PC pc, PetscViewer viewer) {
  const PC_OCLSPKT& o = *data(pc);
  const bool several = ranks_of(comm_of(pc)) > 1;
  const std::string begin = several ? "  [" + std::to_string(rank_of(comm_of(pc))) + "] " : "  ";
  Lines lines = several && o.ready ? rank_lines(o) : Lines();
  const Lines details = detail_lines(o);
  lines.insert(lines.end(), details.begin(), details.end());
  must(PetscViewerASCIIPushSynchronized(viewer));
  for (const std::string& line : lines) {
    must(PetscViewerASCIISynchronizedPrintf(viewer, "%s%s\n", begin.c_str(), line.c_str()));
  }
  must(PetscViewerFlush(viewer));
  must(PetscViewerASCIIPopSynchronized(viewer));
}

void view_string(PC pc, PetscViewer viewer) {
  const PC_OCLSPKT& o = *data(pc);
  const Report& report = o.first().solver.report();
  const std::string text = o.ready             ? std::string(name(report.method)) + " on " + report.device.name
                           : o.failure.empty() ? "not set up"
                                               : "set-up failed";
  must(PetscViewerStringSPrintf(viewer, " %s", text.c_str()));
}

void print(PetscViewer viewer, const Lines& lines) {
  for (const std::string& line : lines) must(PetscViewerASCIIPrintf(viewer, "  %s\n", line.c_str()));
}

}  // namespace

void view(PC pc, PetscViewer viewer) {
  PetscBool ascii, string;
  PetscViewerFormat format;
  must(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  must(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  if (string) view_string(pc, viewer);
  if (!ascii) return;
  must(PetscViewerGetFormat(viewer, &format));
  const PC_OCLSPKT& o = *data(pc);
  const std::vector<Totals> plain = all_totals(pc, false), transposed = all_totals(pc, true);
  print(viewer, o.ready ? operator_lines(o, plain, transposed) : pending_lines(o));
  if (format == PETSC_VIEWER_ASCII_INFO_DETAIL) view_details(pc, viewer);
}

void explain(PC pc) {
  PetscViewer viewer;
  const char* prefix;
  const Lines lines = explained_lines(*data(pc), all_totals(pc, false));
  must(PCGetOptionsPrefix(pc, &prefix));
  must(PetscViewerASCIIGetStdout(comm_of(pc), &viewer));
  must(PetscViewerASCIIPrintf(viewer, "PCOCLSPKT%s%s: why\n", prefix ? " " : "", prefix ? prefix : ""));
  print(viewer, lines);
}

}  // namespace oclspkt::petsc

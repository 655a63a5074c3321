// SPDX-License-Identifier: BSD-2-Clause
#include <cstdio>

#include "evidence.hpp"
#include "method_choice.hpp"
#include "oclspkt/report.hpp"
#include "proposal.hpp"

namespace oclspkt {
namespace {

std::string seconds_text(double seconds) {
  char text[32];
  const bool micro = seconds < 1e-3;
  std::snprintf(text, sizeof text, "%.3g %s", seconds * (micro ? 1e6 : 1e3), micro ? "us" : "ms");
  return text;
}

std::string words_text(double words) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g words a row", words);
  return text;
}

std::string candidate_line(const Candidate& c) {
  std::string line = name(c.method);
  if (!c.shape.empty()) line += ", " + c.shape;
  line += std::string(c.taken ? ": taken, " : ": refused, ") + c.why;
  if (c.words_per_row > 0) line += "; " + words_text(c.words_per_row);
  if (c.seconds > 0) line += ", " + seconds_text(c.seconds) + " predicted";
  return line;
}

std::string groups_text(const Plan& plan) { return format("work-groups of %d x %d rows", plan.items, plan.item_rows); }

std::string factors_text(const Plan& plan) {
  return std::string(plan.narrow ? "narrow " : "") + (plan.form == Form::general ? "stored" : name(plan.form)) +
         " factors";
}

}  // namespace

std::string shape_text(const Plan& plan) {
  if (plan.grid()) return grid_text(plan);
  switch (plan.method) {
    case Method::truncated_halo:
      if (plan.paper) {
        return format("variant paper, work-groups of %d partitions of %lld rows, factored in every apply", plan.items,
                      static_cast<long long>(plan.m));
      }
      if (plan.by_groups()) {
        return (plan.halo > 0 || !plan.keeps_factors() ? format("halo %lld, ", static_cast<long long>(plan.halo))
                                                       : std::string("whole lines, ")) +
               (plan.keeps_factors() ? "shared factors, " : "") + groups_text(plan);
      }
      if (plan.walked) return format("tiles of %lld rows, walked", static_cast<long long>(plan.tile_rows()));
      return format("halo %lld", static_cast<long long>(plan.halo)) +
             (plan.segments > 0 ? format(", %lld segments a line", static_cast<long long>(plan.segments)) : "");
    case Method::truncated_streamed:
      if (plan.by_groups()) {
        return (plan.runs_are_lines() ? format("stored factors, each line a run of %d tiles, ", plan.run_tiles)
                                      : format("stored factors, reach %lld, runs of %d tiles, ",
                                               static_cast<long long>(plan.halo), plan.run_tiles)) +
               (plan.corrects ? "corrected where work-items meet, " : "") + groups_text(plan);
      }
      if (plan.stored) {
        return factors_text(plan) + format(", reach %lld", static_cast<long long>(plan.reach)) +
               (plan.corrects ? ", corrected where partitions meet" : "");
      }
      return std::string("walking ") + (plan.walk_up ? "up" : "down") + (plan.exact_starts ? " from exact starts" : "");
    case Method::exact_twopass:
      if (plan.by_groups()) return "tiles reduced by " + groups_text(plan);
      return plan.from_ends ? "swept from both ends" : "";
    case Method::exact_factored:
      if (plan.takes_lines()) {
        return format("shared factors, whole lines by work-groups of %d x %lld rows", plan.teams,
                      static_cast<long long>(plan.line_tile_rows()));
      }
      if (plan.by_groups()) return "stored factors, folded by " + groups_text(plan);
      if (plan.stored) return "stored factors, swept from both ends";
      return (plan.form == Form::general && !plan.narrow ? "" : factors_text(plan) + (plan.bundle > 1 ? ", " : "")) +
             (plan.bundle > 1 ? format("bundles of %lld lines", static_cast<long long>(plan.bundle)) : "");
    default:
      return {};
  }
}

std::vector<std::string> explain(const Report& report) {
  std::vector<std::string> lines;
  for (const Candidate& candidate : report.candidates) lines.push_back(candidate_line(candidate));
  return lines;
}

}  // namespace oclspkt

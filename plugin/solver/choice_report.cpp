// SPDX-License-Identifier: BSD-2-Clause
#include "choice_report.hpp"

#include <algorithm>

#include "fallback_lines.hpp"
#include "format.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

constexpr const char* kNoKernel = "no kernel of the chosen device has this method";

std::string microseconds(double seconds) { return format("%.3g us", seconds * 1e6); }

std::string candidate_line(const Candidate& c) {
  std::string line = name(c.method);
  if (!c.shape.empty()) line += ", " + c.shape;
  line += std::string(c.taken ? ": taken, " : ": rejected, ") + c.why;
  if (c.words_per_row > 0) line += format("; %.3g words a row", c.words_per_row);
  const bool micro = c.seconds < 1e-3;
  if (c.seconds > 0) line += format(", %.3g %s predicted", c.seconds * (micro ? 1e6 : 1e3), micro ? "us" : "ms");
  return line;
}

/// The fastest way among all devices; null if no device has a way.
const Way* least_of_devices(const std::vector<Way>& ways) {
  const Way* best = nullptr;
  for (const Way& way : ways) {
    const bool counts = !way.processor->host() && (best == nullptr || way.seconds < best->seconds);
    if (counts) best = &way;
  }
  return best;
}

}  // namespace

template <typename T>
std::string precision_text(const Options& options, double narrowed, bool on_host, const Proposal& p) {
  if (options.precision != Precision::narrow) return {};
  if (!narrows<T>(options)) {
    return std::string("narrow changes nothing: the vectors are ") + (kIsComplex<T> ? "complex" : "float already");
  }
  std::string changed;
  if (narrowed > 0) changed = format(", which changes the excess of a row by %.2g %% at most", 100 * narrowed);
  const std::string text = "bands rounded to float" + changed + "; ";
  if (p.plan.narrow) return text + "stored factors are floats, too";
  if (!scheme_of(p.plan).nature().stores_factors) return text + "no factors are stored";
  const std::string why = !p.why_wide.empty() ? p.why_wide
                          : p.above_tolerance ? "the certificate is above the tolerance"
                          : on_host           ? "the host solves"
                                              : std::string("method ") + name(p.plan.method) + " has no narrow factors";
  return text + "factors stay double, " + why;
}

Candidate candidate_of(const Way& way, bool planned, bool taken, std::string why) {
  Candidate candidate;
  candidate.method = way.method;
  candidate.taken = taken;
  candidate.why = std::move(why);
  if (planned && way.plan.n > 0) {
    candidate.shape = way.scheme->shape(way.plan);
    candidate.words_per_row = way.scheme->words(way.plan);
    candidate.seconds = way.method == Method::pivot ? 0 : way.apply;
  }
  return candidate;
}

void write_proposal(const Proposal& p, const LineSet& lines, Report& report) {
  const Scheme& scheme = scheme_of(p.plan);
  report.shape = scheme.shape(p.plan);
  report.why = p.why;
  report.certificate = p.certificate;
  report.certificate_above_tolerance = p.above_tolerance;
  report.rounding = eps_of(p);
  const bool whole = scheme.elimination(p.plan).tells_bound;
  report.promise = whole ? Promise::by_component : Promise::by_rows;
  for (const GroupReport& group : report.groups) report.rounding = larger(report.rounding, group.rounding);
  report.partition.rows = scheme.in_pieces(p.plan) ? p.plan.m : 0;
  report.partition.count = scheme.pieces(p.plan, lines);
  report.partition.halo = p.plan.halo;
  report.form = p.plan.narrow && p.plan.form == Form::general ? Form::narrow : p.plan.form;
  report.words_per_row = p.plan.words_per_row();
  Plan general = p.plan;
  general.form = Form::general;
  general.narrow = false;
  report.words_saved = general.words_per_row() - p.plan.words_per_row();
}

void explain_processor(const Processors& processors, std::vector<Way> ways, const Way& taken, Report& report) {
  const Processor& chosen = *taken.processor;
  const Way* device = least_of_devices(ways);
  report.device.costs.clear();
  if (device == nullptr) {
    report.device.why = processors.why_host.empty() ? kNoKernel : processors.why_host;
    return;
  }
  const auto host = std::find_if(ways.begin(), ways.end(), [](const Way& way) { return way.processor->host(); });
  const double by_host = chosen.host() ? taken.apply : host != ways.end() ? host->apply : 0;
  report.device.costs = "predicted " + microseconds(chosen.host() ? device->apply : taken.apply) + " an apply";
  if (by_host > 0) report.device.costs += ", host " + microseconds(by_host);
  if (chosen.host()) {
    report.device.costs = device->processor->name() + " " + report.device.costs;
    const bool predicted = processors.host && least(ways)->processor->host();
    report.device.why = predicted ? "predicted to be faster than " + device->processor->name()
                                  : "faster methods on " + device->processor->name() + " failed their error bounds";
  } else {
    report.device.why = processors.host      ? "predicted to be faster than the host"
                        : processors.several ? "the cheapest of those named"
                                             : "asked for";
  }
}

void write_fallback(Report& report) {
  const auto rows = [](const GroupReport& a, const GroupReport& b) { return a.rows < b.rows; };
  const GroupReport& most = *std::max_element(report.groups.begin(), report.groups.end(), rows);
  report.method = most.method;
  report.why = "by the host, as fallback lines: " + most.why;
  report.shape.clear();
  report.form = Form::general;
  report.partition = {};
  report.certificate = report.words_saved = 0;
  report.promise = Promise::by_component;
  report.units = 0;
  report.certificate_above_tolerance = false;
  const std::string vectors = std::exchange(report.device, {}).vectors;
  report.device.why = "all lines are fallback lines";
  report.device.vectors = vectors;
  Candidate& taken = report.candidates.back();
  taken = {};
  taken.method = report.method;
  taken.taken = true;
  taken.why = report.why;
}

std::string breakdown_text(const std::vector<Candidate>& candidates, const Options& options, bool singular, bool pins) {
  std::string text = "every method is rejected for this matrix";
  for (const Candidate& c : candidates) text += std::string("; ") + name(c.method) + ": " + c.why;
  if (singular && !pins) text += std::string("; ") + kPinCure;
  if (named(options.method) && !singular) text += "; set method to auto to try the others";
  return text;
}

std::vector<std::string> explain(const Report& report) {
  std::vector<std::string> lines;
  for (const Candidate& candidate : report.candidates) lines.push_back(candidate_line(candidate));
  return lines;
}

#define OCLSPKT_INSTANTIATE(T) template std::string precision_text<T>(const Options&, double, bool, const Proposal&);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "report.hpp"

#include <cmath>
#include <cstdlib>

#include "statistics.hpp"
#include "text.hpp"

namespace oclspkt::bench::gpu {
namespace {

bool has_time(const Record& r) { return r.outcome == Outcome::timed && !r.seconds.empty(); }

/// Four digits, which is more than a clock is good for.
double rounded(double value) { return std::strtod(text("%.3e", value).c_str(), nullptr); }

nlohmann::ordered_json rounded(const std::vector<double>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(rounded(value)) : nlohmann::ordered_json();
}

/// A median; nothing where there is no time.
nlohmann::ordered_json middle(const std::vector<double>& values) {
  return values.empty() ? nlohmann::ordered_json() : number(median(values));
}

}  // namespace

bool judge(DeviceRecord& r) {
  if (r.backward_error_eps <= kWrongEps) {
    r.outcome = Outcome::timed;
    r.note.clear();
    return true;
  }
  const std::string off = text("backward error of %.1f eps", r.backward_error_eps);
  if (r.outcome == Outcome::not_covered) {
    r.note = off + ", as the library warned: " + r.note;
  } else {
    r.outcome = Outcome::wrong;
    r.note = off;
  }
  return false;
}

void drop_times_unless_timed(DeviceRecord& r) {
  if (r.outcome == Outcome::timed) return;
  for (auto* times :
       {&r.seconds, &r.stream_seconds, &r.own_stream_seconds, &r.call_seconds, &r.batch_seconds, &r.end_to_end_seconds})
    times->clear();
}

nlohmann::ordered_json to_json(const DeviceRecord& r) {
  const double seconds = has_time(r) ? median(r.seconds) : std::nan("");
  const bool has_own = r.own_words != kStreamWords;  // else they are those of the stream
  return {{"solver", r.solver},
          {"device", r.device},
          {"method", r.method},
          {"variant", r.variant},
          {"form", r.form},
          {"scalar", r.scalar},
          {"matrix", r.matrix},
          {"lines", r.lines},
          {"line_length", r.line_length},
          {"bands", r.bands},
          {"rows", r.rows},
          {"words_per_row", number(r.words_per_row)},
          {"seconds", number(seconds)},
          {"rows_per_second", number(static_cast<double>(r.rows) / seconds)},
          {"share_of_stream", number(median_ratio(r.stream_seconds, r.seconds))},
          {"own_words", r.own_words},
          {"share_of_own_stream", number(median_ratio(r.own_stream_seconds, r.seconds))},
          {"stream_seconds", middle(r.stream_seconds)},
          {"call_seconds", middle(r.call_seconds)},
          {"batch_seconds", middle(r.batch_seconds)},
          {"end_to_end_seconds", middle(r.end_to_end_seconds)},
          {"backward_error_eps", number(r.backward_error_eps)},
          {"spread", number(has_time(r) ? spread(r.seconds) : std::nan(""))},
          {"repeats", r.repeats},
          {"setup_seconds", number(r.setup_seconds)},
          {"outcome", name(r.outcome)},
          {"note", r.note},
          {"shape", r.shape},
          {"why", r.why},
          {"rounds",
           {{"seconds", rounded(r.seconds)},
            {"stream_seconds", rounded(r.stream_seconds)},
            {"own_stream_seconds", rounded(has_own ? r.own_stream_seconds : std::vector<double>{})},
            {"end_to_end_seconds", rounded(r.end_to_end_seconds)}}}};
}

std::string describe(const DeviceRecord& r) {
  const std::string who = text("  %-10s %-22s %-18s", r.solver.c_str(), r.variant.c_str(), r.method.c_str());
  if (!has_time(r)) return who + " " + name(r.outcome) + ": " + r.note;
  const double seconds = median(r.seconds);
  std::string line =
      who + text(" %.3f of stream, %8.3f ms, %6.1f Grows/s, error %.2f eps", median_ratio(r.stream_seconds, r.seconds),
                 1e3 * seconds, 1e-9 * static_cast<double>(r.rows) / seconds, r.backward_error_eps);
  if (r.own_words != kStreamWords) {
    line += text(", %.3f of %g words", median_ratio(r.own_stream_seconds, r.seconds), r.own_words);
  }
  if (!r.end_to_end_seconds.empty()) line += text(", %.3g ms from host vectors", 1e3 * median(r.end_to_end_seconds));
  return line + (r.shape.empty() ? "" : ", " + r.shape);
}

bool is_bad(const DeviceRecord& r) { return r.outcome == Outcome::wrong || r.outcome == Outcome::failed; }

void Estimate::done(double work, double seconds) {
  work_ += work;
  left_ -= work;
  seconds_ += seconds;
}

std::string Estimate::describe(double work) const {
  if (work_ <= 0) return "";
  const double rate = seconds_ / work_;
  return text(", about %.2g s, all that is left about %.2g s", work * rate, left_ * rate);
}

}  // namespace oclspkt::bench::gpu

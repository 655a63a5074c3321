// SPDX-License-Identifier: BSD-2-Clause
// Reports as text. Doubles are written by their bits, so that none is lost.
#include <cmath>
#include <cstdio>

#include "cases.hpp"

namespace oclspkt::freeze {
namespace {

std::string bits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, std::isnan(value) ? "nan" : "%a", value);
  return text;
}

class Line {
 public:
  Line& add(const char* name, const std::string& value) {
    if (!value.empty()) text_ += std::string(text_.empty() ? "" : ", ") + name + " '" + value + "'";
    return *this;
  }
  Line& add(const char* name, double value) { return value == 0 ? *this : add(name, bits(value)); }
  Line& add(const char* name, Index value) { return value == 0 ? *this : add(name, std::to_string(value)); }
  Line& add(const char* name, bool value) { return value ? add(name, std::string("yes")) : *this; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string text_of(const Candidate& c) {
  Line line;
  line.add("taken", c.taken).add("why", c.why).add("shape", c.shape).add("words", c.words_per_row);
  return std::string(name(c.method)) + " (" + line.text() + ")";
}

std::string text_of(const GroupReport& g) {
  Line line;
  line.add("lines", g.lines).add("rows", g.rows).add("first", g.first_line).add("pinned", g.pinned);
  line.add("rounding", g.rounding).add("why", g.why);
  return std::string(name(g.method)) + " (" + line.text() + ")";
}

template <typename Items>
std::string list(const char* what, const Items& items) {
  std::string text;
  for (const auto& item : items) text += std::string("; ") + what + " " + text_of(item);
  return text;
}

}  // namespace

std::string text_of(const Report& r) {
  Line line;
  line.add("ready", r.ready).add("shape", r.shape).add("why", r.why).add("pins", r.pin_why);
  line.add("dominance", r.dominance).add("certificate", r.certificate).add("tolerance", r.tolerance);
  line.add("above tolerance", r.certificate_above_tolerance).add("rounding", r.rounding);
  line.add("backward error", r.backward_error).add("rows", r.rows).add("lines", r.lines);
  line.add("partition", r.partition.rows).add("partitions", r.partition.count).add("halo", r.partition.halo);
  line.add("words", r.words_per_row).add("saved", r.words_saved).add("form", std::string(name(r.form)));
  line.add("precision", std::string(name(r.precision.applied))).add("precision why", r.precision.why);
  line.add("device", r.device.name).add("type", r.device.type).add("platform", r.device.platform);
  line.add("device why", r.device.why).add("losses", static_cast<Index>(r.losses));
  std::string text = std::string(name(r.method)) + ": " + line.text();
  for (const std::string& lost : r.degraded) text += "; lost " + lost;
  return text + list("group", r.groups) + list("candidate", r.candidates);
}

std::string text_of(const CutReport& r) {
  Line line;
  line.add("lines", r.lines).add("longest chain", r.longest_chain).add("truncated", r.truncated);
  line.add("above tolerance", r.above_tolerance).add("bound", r.bound).add("tolerance", r.tolerance);
  line.add("rounding", r.rounding).add("backward error", r.backward_error).add("gathered", r.gathered);
  line.add("first gathered", r.first_gathered).add("gathered why", r.gathered_why).add("pinned", r.pinned);
  line.add("spike rows", r.spike_rows).add("sent", r.sent).add("received", r.received);
  return "cut (" + line.text() + ")";
}

}  // namespace oclspkt::freeze

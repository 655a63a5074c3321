// SPDX-License-Identifier: BSD-2-Clause
#include "tally.hpp"

#include <cmath>
#include <memory>
#include <utility>

namespace oclspkt::attack {
namespace {

constexpr long kMostCommands = 3;  // of each kind and cell

/// The numbers of a cell by their names in JSON: those that add up, and those of which the largest counts.
constexpr std::pair<const char*, long Counted::*> kCounts[] = {{"systems", &Counted::systems},
                                                               {"answers", &Counted::answers},
                                                               {"refused", &Counted::refused},
                                                               {"broke", &Counted::broke},
                                                               {"above_30", &Counted::above_goal},
                                                               {"told", &Counted::told},
                                                               {"told_by_auto", &Counted::told_by_auto},
                                                               {"failed", &Counted::failed},
                                                               {"exceeded", &Counted::exceeded},
                                                               {"astray", &Counted::astray},
                                                               {"beyond", &Counted::beyond},
                                                               {"spread", &Counted::spread},
                                                               {"lapack_spread", &Counted::lapack_spread},
                                                               {"forward_behind", &Counted::behind}};
constexpr std::pair<const char*, double Counted::*> kWorst[] = {{"worst_row", &Counted::worst},
                                                                {"worst_norm", &Counted::worst_norm},
                                                                {"worst_component", &Counted::worst_component},
                                                                {"worst_unit", &Counted::worst_unit},
                                                                {"worst_beyond", &Counted::worst_beyond},
                                                                {"worst_forward", &Counted::worst_forward}};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

/// JSON has no infinite numbers.
std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

void print_heading(std::FILE* to) {
  std::fprintf(to, "%-24s %-44s %-36s %8s %8s %8s %8s %8s %6s %6s %6s %6s %6s %8s %8s %8s\n", "family", "scheme",
               "device", "answers", "worst", "norm", "compon.", "unit", ">30", "told", "failed", ">bound", "astray",
               "least", "median", "forward");
}

void print_row(std::FILE* to, const Key& key, const Counted& c) {
  std::fprintf(to, "%-24s %-44.44s %-36.36s %8ld %8.2g %8.2g %8.2g %8.2g %6ld %6ld %6ld %6ld %6ld %8.2g %8.2g %8.2g\n",
               key.family.c_str(), key.scheme.c_str(), key.device.c_str(), std::max(c.answers, c.refused), c.worst,
               c.worst_norm, c.worst_component, c.worst_unit, c.above_goal, c.told, c.failed, c.exceeded, c.astray,
               c.least_margin(), c.median_margin(), c.worst_forward);
}

}  // namespace

void Counted::add(const Outcome& outcome) {
  ++systems;
  if (outcome.broke) ++broke;
  if (!outcome.refused.empty()) ++refused;
  for (const Answer& a : outcome.answers) {
    const double error = outcome.error(a);
    ++answers;
    above_goal += error > kGoal;
    told += error > kWrong && outcome.told(a);
    failed += outcome.failed(a);
    exceeded += outcome.exceeded(a);
    astray += outcome.astray(a);
    beyond += outcome.beyond(a);
    if (outcome.promised != Promised::component && !outcome.above_tolerance) {
      worst_beyond = std::max(worst_beyond, a.rows / outcome.bound_of(a));
    }
    spread += a.unit > kSpreads;
    lapack_spread += a.lapack_unit > kSpreads;
    if (error > 0 && outcome.bound > 0 && std::isfinite(outcome.bound / error)) {
      margins.push_back(static_cast<float>(outcome.bound / error));
    }
    told_by_auto += error > kWrong && outcome.told(a) && outcome.automatic;
    if (error > kWrong && outcome.told(a)) continue;
    behind += a.forward_share > 1;
    worst_forward = std::max(worst_forward, a.forward_share);
    worst = std::max(worst, error);
    worst_norm = std::max(worst_norm, a.errors.norm);
    worst_component = std::max(worst_component, a.errors.component);
    if (outcome.bound <= kWrong) worst_unit = std::max(worst_unit, a.unit);
  }
}

void Counted::add(const Counted& o) {
  for (const auto& [name, number] : kCounts) this->*number += o.*number;
  for (const auto& [name, number] : kWorst) this->*number = std::max(this->*number, o.*number);
  margins.insert(margins.end(), o.margins.begin(), o.margins.end());
}

double Counted::least_margin() const {
  const auto least = std::min_element(margins.begin(), margins.end());
  return least == margins.end() ? std::numeric_limits<double>::quiet_NaN() : *least;
}

double Counted::median_margin() const {
  if (margins.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<float> sorted = margins;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void Tally::add(const Key& key, const Outcome& outcome, const std::string& command) {
  Counted& cell = cells_[key];
  const long broke = cell.broke, failed = cell.failed, exceeded = cell.exceeded, astray = cell.astray,
             beyond = cell.beyond, behind = cell.behind;
  cell.add(outcome);
  const auto keep = [&](const char* what, long had, long has, double value) {
    if (has == had || had >= kMostCommands) return;
    char text[96];
    std::snprintf(text, sizeof text, "%s: %.3g eps, bound %.3g eps: ", what, value, outcome.bound);
    commands_.push_back(text + key.scheme + " on " + key.device + "\n  " + command +
                        (outcome.refused.empty() ? "" : "\n  " + outcome.refused));
  };
  double worst = 0, unit = 0, past = 0, forward = 0;
  for (const Answer& a : outcome.answers) {
    worst = std::max(worst, outcome.error(a));
    if (outcome.astray(a)) unit = std::max(unit, a.unit);
    if (outcome.beyond(a)) past = std::max({past, a.unit, a.rows});
    if (a.forward_share > 1) forward = std::max(forward, a.forward);
  }
  keep("device failed", broke, cell.broke, worst);
  keep("failed", failed, cell.failed, worst);
  if (cell.failed == failed) keep("bound exceeded", exceeded, cell.exceeded, worst);
  keep("forward error beyond the bound", beyond, cell.beyond, past);
  keep("spreads of forward error", astray, cell.astray, unit);
  keep("forward error", behind, cell.behind, forward);
}

Counted Tally::total() const {
  Counted total;
  for (const auto& [key, cell] : cells_) total.add(cell);
  return total;
}

void Tally::print(std::FILE* to) const {
  std::map<std::string, Counted> families, schemes;
  print_heading(to);
  for (const auto& [key, cell] : cells_) {
    print_row(to, key, cell);
    families[key.family].add(cell);
    schemes[key.scheme].add(cell);
  }
  std::fprintf(to, "\n");
  for (const auto& [family, cell] : families) print_row(to, {family, "all", "all"}, cell);
  for (const auto& [scheme, cell] : schemes) print_row(to, {"all", scheme, "all"}, cell);
  const Counted all = total();
  print_row(to, {"all", "all", "all"}, all);
  for (const std::string& command : commands_) std::fprintf(to, "%s\n", command.c_str());
  std::fprintf(to, "%ld systems, %ld refused, %ld devices failed; %ld answers: %ld above %g eps, ", all.systems,
               all.refused, all.broke, all.answers, all.above_goal, kGoal);
  std::fprintf(to, "%ld above %g eps and told (%ld by auto), %ld not told, %ld above their bound; ", all.told, kWrong,
               all.told_by_auto, all.failed, all.exceeded);
  std::fprintf(
      to,
      "%ld above %g spreads in a unit (LAPACK %ld), %ld of them not told; %ld farther from the truth than their "
      "bound allows (by rows at most %.2g of that); ",
      all.spread, kSpreads, all.lapack_spread, all.astray, all.beyond, all.worst_beyond);
  std::fprintf(to,
               "%ld with a forward error above %g times LAPACK's + %g eps; bound over error: at least %.3g, median "
               "%.3g\n",
               all.behind, kForward, kWrong, all.least_margin(), all.median_margin());
}

void Tally::write_json(const std::string& path) const {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  if (!file) throw BadText("cannot write " + path + ": name a file in a folder that can be written");
  std::fprintf(file.get(), "{\"cells\": [");
  const char* before = "\n";
  for (const auto& [key, c] : cells_) {
    std::fprintf(file.get(), "%s  {\"family\": %s, \"scheme\": %s, \"device\": %s", before, quoted(key.family).c_str(),
                 quoted(key.scheme).c_str(), quoted(key.device).c_str());
    for (const auto& [name, number] : kCounts) std::fprintf(file.get(), ", \"%s\": %ld", name, c.*number);
    for (const auto& [name, number] : kWorst) {
      std::fprintf(file.get(), ", \"%s\": %s", name, json_number(c.*number).c_str());
    }
    std::fprintf(file.get(), ", \"least_margin\": %s, \"median_margin\": %s}", json_number(c.least_margin()).c_str(),
                 json_number(c.median_margin()).c_str());
    before = ",\n";
  }
  std::fprintf(file.get(), "\n], \"findings\": [");
  before = "\n";
  for (const std::string& command : commands_) {
    std::fprintf(file.get(), "%s  %s", before, quoted(command).c_str());
    before = ",\n";
  }
  std::fprintf(file.get(), "\n]}\n");
}

}  // namespace oclspkt::attack

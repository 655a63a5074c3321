// SPDX-License-Identifier: BSD-2-Clause
#include "report.hxx"

#include <algorithm>

#include "measure.hpp"
#include "text.hpp"

namespace oclspkt::bench::adi {
namespace {

bool has_time(const Contestant& c) { return c.note.empty() && !c.seconds.empty(); }

std::string line_of(const Round& round, const Contestant& c) {
  std::string line = text("%8g  %-16s  %9.1e  %10.3f", round.lambda, c.name.c_str(), c.rtol, c.setup_seconds);
  if (!has_time(c)) return line + "  " + c.note + '\n';
  const double seconds = median(c.seconds), ours = median(round.contestants.front().seconds);
  return line + text("  %8.3f  %5.1f %%  %10d  %9.2e  %7.2f\n", seconds, 100 * spread(c.seconds),
                     static_cast<int>(c.iterations), c.error, seconds / ours);
}

}  // namespace

double ratio(const Round& round) {
  double fastest = 0;
  for (const Contestant& c : round.contestants) {
    if (c.ours || !has_time(c)) continue;
    const double seconds = median(c.seconds);
    if (fastest == 0 || seconds < fastest) fastest = seconds;
  }
  const Contestant& ours = round.contestants.front();
  return has_time(ours) ? fastest / median(ours.seconds) : 0;
}

std::string table(const std::vector<Round>& rounds) {
  std::string out =
      "  lambda  solver                 rtol  set-up / s  steps / s   spread  iterations      error   times ours\n";
  for (const Round& round : rounds) {
    for (const Contestant& c : round.contestants) out += line_of(round, c);
    out += text(
        "          error of the method itself: factored %.2e, unfactored %.2e; the fastest other takes %.2f times "
        "ours\n",
        round.factored_error, round.implicit_error, ratio(round));
  }
  const auto worst = std::min_element(rounds.begin(), rounds.end(),
                                      [](const Round& a, const Round& b) { return ratio(a) < ratio(b); });
  return out + text("worst: lambda %g, the fastest other takes %.2f times ours\n", worst->lambda, ratio(*worst));
}

std::string table(const Applies& a) {
  std::string out = text("one apply: x,y,z factored %.3g s; x %.3g, y %.3g, z %.3g, together %.3g s; ratio %.2f\n",
                         a.factored, a.directions[0], a.directions[1], a.directions[2], a.sum(), a.factored / a.sum());
  for (const std::string& line : a.lines) out += "  " + line + '\n';
  return out;
}

nlohmann::ordered_json to_json(const std::vector<Round>& rounds) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const Round& round : rounds) {
    nlohmann::ordered_json contestants = nlohmann::ordered_json::array();
    for (const Contestant& c : round.contestants) {
      contestants.push_back({{"solver", c.name},
                             {"rtol", c.rtol},
                             {"setup_seconds", c.setup_seconds},
                             {"seconds", has_time(c) ? nlohmann::ordered_json(median(c.seconds)) : nullptr},
                             {"spread", has_time(c) ? nlohmann::ordered_json(spread(c.seconds)) : nullptr},
                             {"repetitions", c.seconds.size()},
                             {"iterations", c.iterations},
                             {"error", c.error},
                             {"allowed_error", c.allowed},
                             {"note", c.note}});
    }
    results.push_back({{"lambda", round.lambda},
                       {"factored_error", round.factored_error},
                       {"implicit_error", round.implicit_error},
                       {"ratio", ratio(round)},
                       {"contestants", contestants}});
  }
  return results;
}

nlohmann::ordered_json to_json(const Applies& a) {
  return {{"factored_seconds", a.factored}, {"x_seconds", a.directions[0]},  {"y_seconds", a.directions[1]},
          {"z_seconds", a.directions[2]},   {"ratio", a.factored / a.sum()}, {"view", a.lines}};
}

}  // namespace oclspkt::bench::adi

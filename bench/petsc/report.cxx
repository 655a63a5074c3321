// SPDX-License-Identifier: BSD-2-Clause
#include "report.hxx"

#include <algorithm>
#include <cmath>

#include "measure.hpp"
#include "text.hpp"

namespace oclspkt::bench::petsc {
namespace {

bool has_time(const Contestant& c) { return c.note.empty() && !c.solve.empty(); }

/// Set-up and solve of the same round: an implicit step with new coefficients.
std::vector<double> steps(const Contestant& c) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < c.solve.size(); ++i) sums.push_back(c.setup[i] + c.solve[i]);
  return sums;
}

struct Ratio {
  std::string what;
  double value;
};

/// All that is compared within a part; NaN where a time is missing.
std::vector<Ratio> ratios_of(const Part& part) {
  const Contestant& ours = part.contestants.front();
  std::vector<Ratio> all;
  for (const Contestant& c : part.contestants) {
    if (&c == &ours || !c.solves || !has_time(c) || !has_time(ours)) continue;
    all.push_back({"set-up, ours over " + c.solver, median_ratio(ours.setup, c.setup)});
    all.push_back({"solve, ours over " + c.solver, median_ratio(ours.solve, c.solve)});
    all.push_back({"step, ours over " + c.solver, median_ratio(steps(ours), steps(c))});
  }
  if (part.extraction.empty()) return all;
  all.push_back({"set-up, ours over bare extraction", median_ratio(ours.setup, part.extraction)});
  all.push_back({"GMRES over its own work and our applies", part.gmres.ratio()});
  return all;
}

}  // namespace

std::string table(const Part& part) {
  std::string out =
      text("\n%s, %d rows\n%-20s %-18s %13s %12s %12s %12s %9s\n", part.name.c_str(), static_cast<int>(part.rows),
           "solver", "method", "first set-up", "set-up / s", "solve / s", "step / s", "error");
  for (const Contestant& c : part.contestants) {
    out += text("%-20s %-18s ", c.solver.c_str(), c.method.c_str());
    out += has_time(c) ? text("%13.4g %12.4g %12.4g %12.4g %9.1e\n", c.first_setup, median(c.setup), median(c.solve),
                              median(steps(c)), c.error)
                       : c.note + '\n';
  }
  if (!part.extraction.empty()) {
    out +=
        text("bare extraction %.4g s; GMRES %.4g s in %d iterations, without preconditioner %.4g s, an apply %.4g s\n",
             median(part.extraction), median(part.gmres.solve), static_cast<int>(part.gmres.iterations),
             median(part.gmres.own), median(part.gmres.apply));
  }
  for (const Ratio& r : ratios_of(part)) out += text("%-42s %.3f\n", r.what.c_str(), r.value);
  return out;
}

nlohmann::ordered_json to_json(const std::vector<Part>& parts) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const Part& part : parts) {
    for (const Contestant& c : part.contestants) {
      const auto of = [&](double (*figure)(std::vector<double>), const std::vector<double>& seconds) {
        return has_time(c) ? nlohmann::ordered_json(figure(seconds)) : nlohmann::ordered_json();
      };
      results.push_back({{"lines", part.name},
                         {"rows", part.rows},
                         {"solver", c.solver},
                         {"method", c.method},
                         {"device", c.device},
                         {"first_setup_seconds", c.first_setup},
                         {"setup_seconds", of(median, c.setup)},
                         {"setup_spread", of(spread, c.setup)},
                         {"seconds", of(median, c.solve)},
                         {"spread", of(spread, c.solve)},
                         {"step_seconds", of(median, steps(c))},
                         {"rounds", c.solve.size()},
                         {"iterations", c.iterations},
                         {"backward_error", c.error},
                         {"note", c.note}});
    }
  }
  return results;
}

nlohmann::ordered_json ratios(const std::vector<Part>& parts) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Part& part : parts) {
    for (const Ratio& r : ratios_of(part)) {
      if (!std::isfinite(r.value)) continue;
      all.push_back({{"lines", part.name}, {"rows", part.rows}, {"ratio", r.what}, {"value", r.value}});
    }
  }
  return all;
}

}  // namespace oclspkt::bench::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>

#include "backward_error.hpp"
#include "clock.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"

namespace oclspkt::bench {
namespace {

using Wide = long double;

struct Errors {
  double forward, backward;
};

/// NaN in the answer makes it NaN.
double ratio(Wide difference, Wide scale, bool finite) {
  return finite ? static_cast<double>(difference / scale) : std::numeric_limits<double>::quiet_NaN();
}

template <typename T>
Errors solution_errors(const Problem<T>& p) {
  Wide difference = 0, scale = 0;
  bool finite = true;
  for (Index i = 0; i < p.n(); ++i) {
    difference = std::max(difference, std::abs(Wide(p.x[i]) - p.solution[i]));
    scale = std::max(scale, std::abs(Wide(p.solution[i])));
    finite = finite && std::isfinite(p.x[i]);
  }
  return {ratio(difference, scale, finite), normwise_backward_error(p.lines, p.bands.view(), p.x.data(), p.y.data())};
}

/// Of a stream: forward against the largest sum, backward against the largest sum of magnitudes.
template <typename T>
Errors sum_errors(const Problem<T>& p) {
  const BandsView<T> bands = p.bands.view();
  Wide difference = 0, largest = 0, magnitude = 0;
  bool finite = true;
  for (Index i = 0; i < p.n(); ++i) {
    const Wide a = bands.lower[i], b = bands.diag[i], c = bands.upper[i], y = p.y[i];
    const Wide sum = (a + b) + (c + y);
    difference = std::max(difference, std::abs(sum - p.x[i]));
    largest = std::max(largest, std::abs(sum));
    magnitude = std::max(magnitude, (std::abs(a) + std::abs(b)) + (std::abs(c) + std::abs(y)));
    finite = finite && std::isfinite(p.x[i]);
  }
  return {ratio(difference, largest, finite), ratio(difference, magnitude, finite)};
}

void fail(Record& record, const Error& error) {
  record.outcome = Outcome::failed;
  record.note = error.what();
  record.error = record.backward_error = std::numeric_limits<double>::quiet_NaN();
}

/// Threads of OpenMP spin for some milliseconds when their work is done, and would hold the cores of whoever comes
/// next.
constexpr std::chrono::milliseconds kSpinning{5};

/// f() on somebody who is `timed`; whoever throws has failed.
template <typename T, typename F>
void attempt(Contestant<T>& contestant, const F& f) {
  if (contestant.record.outcome != Outcome::timed) return;
  try {
    f();
  } catch (const Error& error) {
    fail(contestant.record, error);
  }
}

/// How often somebody has to solve to take that long.
template <typename T>
int repeats_for(Contestant<T>& contestant, double least_seconds) {
  if (least_seconds <= 0) return 1;
  constexpr double kMost = 1e7;
  const double once = std::max(contestant.run(1), 1e-9);
  return static_cast<int>(std::clamp(std::round(least_seconds / once), 1.0, kMost));
}

}  // namespace

template <typename T>
void check(Contestant<T>& contestant, Problem<T>& p) {
  Record& record = contestant.record;
  if (record.outcome == Outcome::failed || record.outcome == Outcome::absent) {
    record.error = record.backward_error = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  // What an earlier contestant left must not pass for the answer.
  fill(p.x.data(), p.n(), [](Index) { return std::numeric_limits<T>::quiet_NaN(); });
  try {
    contestant.run(1);
  } catch (const Error& error) {
    return fail(record, error);
  }
  const Errors errors = contestant.answer == Contestant<T>::Answer::solution ? solution_errors(p) : sum_errors(p);
  record.error = errors.forward;
  record.backward_error = errors.backward;
  const double limit = kWrongEps * contestant.rounding;
  if (errors.backward <= limit) {
    record.outcome = Outcome::timed;
    record.note.clear();
    return;
  }
  char text[80];
  std::snprintf(text, sizeof text, "backward error %.1e > %.1e", errors.backward, limit);
  if (record.outcome == Outcome::not_covered) {
    record.note = std::string(text) + ", as the library warned: " + record.note;
  } else {
    record.outcome = Outcome::wrong;
    record.note = text;
  }
}

template <typename T>
void time_interleaved(std::vector<Contestant<T>>& contestants, const Budget& budget, Progress& progress) {
  std::vector<int> repeats(contestants.size(), 1);
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    Contestant<T>& c = contestants[i];
    attempt(c, [&] { repeats[i] = repeats_for(c, budget.least_seconds); });
  }
  double spent = 0;
  for (int round = 0; round < budget.rounds && (round < Budget::kLeastRounds || spent < budget.seconds); ++round) {
    spent += seconds_of([&] {
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        Contestant<T>& c = contestants[i];
        char text[160];
        std::snprintf(text, sizeof text, "round %d of at most %d, %.0f s of about %.0f s: %s %s", round + 1,
                      budget.rounds, spent, budget.seconds, c.record.solver.c_str(), c.record.method.c_str());
        progress.step(text);
        attempt(c, [&] {
          std::this_thread::sleep_for(kSpinning);
          c.record.seconds.push_back(c.run(repeats[i]));
        });
      }
    });
  }
}

template <typename T>
std::vector<Record> check_and_time(std::vector<Contestant<T>>& contestants, Problem<T>& problem, const Budget& budget,
                                   Progress& progress) {
  for (Contestant<T>& c : contestants) {
    progress.step("check " + c.record.solver + " " + c.record.method);
    check(c, problem);
  }
  time_interleaved(contestants, budget, progress);
  progress.finish();
  return records_of(contestants);
}

bool any_bad(const std::vector<Record>& records) {
  return std::any_of(records.begin(), records.end(),
                     [](const Record& r) { return r.outcome == Outcome::wrong || r.outcome == Outcome::failed; });
}

template void check(Contestant<float>&, Problem<float>&);
template void check(Contestant<double>&, Problem<double>&);
template std::vector<Record> check_and_time(std::vector<Contestant<float>>&, Problem<float>&, const Budget&, Progress&);
template std::vector<Record> check_and_time(std::vector<Contestant<double>>&, Problem<double>&, const Budget&,
                                            Progress&);
template void time_interleaved(std::vector<Contestant<float>>&, const Budget&, Progress&);
template void time_interleaved(std::vector<Contestant<double>>&, const Budget&, Progress&);

}  // namespace oclspkt::bench

// SPDX-License-Identifier: BSD-2-Clause
#include "measure_schemes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "backward_error.hpp"
#include "clock.hpp"
#include "memory.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "statistics.hpp"
#include "steered_scheme.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// A scheme that is so many times slower than the fastest is not timed twice.
constexpr double kFarSlower = 20;
/// Set-ups with other numbers, and those of new solvers, that are timed; small systems are set up more often, and long
/// ones less.
constexpr int kSetUps = 3, kLongSetUps = 2, kSmallTimes = 3;
constexpr Index kSmallRows = 100'000;
/// Set-ups, and applies, of a scheme are not repeated for longer than that, but so often at least.
constexpr double kRepeatSeconds = 1;
constexpr int kLeastSetUps = 2, kLeastApplies = 3;
/// Applies that a set-up is spread over.
constexpr int kExpected[] = {1, 10, 100};
constexpr std::size_t kNoteLetters = 120;

struct Timing {
  double set_up = 0, apply = 0;
  double cost(int applies) const { return set_up / applies + apply; }
};

/// Vectors in buffers of a device.
struct Buffers {
  Buffers(const DeviceHandles& handles, std::size_t bytes)
      : y(handles.context, CL_MEM_READ_ONLY, bytes), x(handles.context, CL_MEM_READ_WRITE, bytes) {}
  Memory y, x;
};

/// A solver of one case by one way, and what it is called with.
template <typename T>
class Trial {
 public:
  Trial(const Way& way, const SchemePlace& place, bench::Problem<T>& problem)
      : steering_(way), on_gpu_(place.on_gpu() && !way.on_host), problem_(problem), solver_(options(way, place)) {}

  /// Every number times `factor`: a power of two changes no decision.
  double set_up(T factor) {
    const BandsView<T> bands = problem_.bands.view();
    return seconds_of([&] {
      solver_.fill(problem_.lines, [&](const BandsPart<T>& to, Index first, Index end) {
        for (Index i = first; i < end; ++i) {
          to.lower[i - first] = factor * bands.lower[i];
          to.diag[i - first] = factor * bands.diag[i];
          to.upper[i - first] = factor * bands.upper[i];
        }
      });
      solver_.set_up();
    });
  }
  /// With vectors in the memory of a GPU, else in that of the host. @return wall clock
  double apply() {
    if (!on_gpu_ || solver_.report().device.type == name(DeviceType::host)) {
      return seconds_of([&] { solver_.apply(problem_.y.data(), problem_.x.data()); });
    }
    if (!buffers_) bring();
    return seconds_of([&] { solver_.apply_on_device(buffers_->y.get(), buffers_->x.get()); });
  }
  /// Apply once, with nothing left of other answers. @return the backward error, in eps
  double error() {
    problem_.spoil();
    apply();
    if (on_gpu_ && solver_.report().device.type != name(DeviceType::host)) {
      check(clEnqueueReadBuffer(solver_.device_handles().queue, buffers_->x.get(), CL_TRUE, 0, bytes(),
                                problem_.x.data(), 0, nullptr, nullptr),
            "a read");
    }
    return normwise_backward_error(problem_.lines, problem_.bands.view(), problem_.x.data(), problem_.y.data()) /
           static_cast<double>(std::numeric_limits<T>::epsilon());
  }
  const Report& report() const { return solver_.report(); }

 private:
  static Options options(const Way& way, const SchemePlace& place) {
    Options options;
    options.devices = way.on_host || place.device == nullptr ? "host" : std::to_string(place.device->index);
    if (place.chosen && place.host_beside && !place.on_gpu() && place.device != nullptr) options.devices += ",host";
    options.method = way.method;
    options.variant = way.variant;
    options.partition = way.partition;
    options.on_device_failure = OnDeviceFailure::error;
    return options;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(problem_.n()) * sizeof(T); }
  void bring() {
    const DeviceHandles handles = solver_.device_handles();
    buffers_.emplace(handles, bytes());
    check(clEnqueueWriteBuffer(handles.queue, buffers_->y.get(), CL_TRUE, 0, bytes(), problem_.y.data(), 0, nullptr,
                               nullptr),
          "a write");
  }

  Steering steering_;
  bool on_gpu_;
  bench::Problem<T>& problem_;
  Solver<T> solver_;
  std::optional<Buffers> buffers_;
};

bool has(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

/// The scheme of a plan that the library chose among those that do not propose by themselves, by what it says of it.
std::string scheme_of_shape(const Report& report, const LineSet& lines, bool by_groups) {
  const std::string& shape = report.shape;
  if (lines.contiguous()) {
    if (by_groups) return has(shape, "shared factors") ? "tiles-kept" : "tiles-halo";
    return has(shape, "streamed tiles") ? "lanes-tiles" : "lanes-halo";
  }
  const bool exact = report.method == Method::exact_factored, shared = has(shape, "shared factors");
  if (has(shape, "condensed")) return "grids-condensed";
  if (!exact && shared) return "grids-shared";
  const auto rows = shape.find(" lines x ");
  constexpr std::size_t kWords = 9;  // letters of " lines x "
  const bool whole = rows != std::string::npos && std::atoll(shape.c_str() + rows + kWords) >= lines.length(0);
  if (whole) return shared && !has(shape, "in turn") ? "grids-shared" : "grids-whole";
  return exact ? "grids-factored" : "grids-streamed";
}

std::string cut(const std::string& text) { return text.substr(0, kNoteLetters); }

/// To four digits, so that files stay short.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return std::strtod(text, nullptr);
}

/// Times every way of one case.
template <typename T>
class Schemes {
 public:
  Schemes(const SchemeCase& c, const SchemePlace& place)
      : case_(c), place_(place), problem_(std::make_unique<bench::Problem<T>>(c.matrix, c.lines)) {}

  nlohmann::ordered_json run() {
    spent_ = [start = std::chrono::steady_clock::now()] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    if (place_.chosen) {
      for (const int applies : kExpected) run_chosen(applies);
    } else {
      for (const Way& way : ways()) run(way);
    }
    return {{"family", case_.family},
            {"layout", case_.layout},
            {"matrix", case_.matrix.describe()},
            {"lines", case_.lines.describe()},
            {"size", case_.size},
            {"rows", case_.lines.rows()},
            {"scalar", case_.is_double ? "double" : "float"},
            {place_.chosen ? "chosen" : "schemes", std::move(records_)}};
  }

 private:
  /// What the schemes take, by what they say; those of plans that are made here last.
  std::vector<Way> ways() {
    std::vector<Way> ways;
    if (place_.device != nullptr) ask(ways);
    if (!place_.on_gpu()) {
      ways.push_back({.scheme = "beside-factored", .method = MethodChoice::exact_factored, .on_host = true});
      ways.push_back({.scheme = "host-pivot", .method = MethodChoice::pivot, .on_host = true});
    }
    std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.origin < b.origin; });
    return ways;
  }
  void ask(std::vector<Way>& ways) {
    const Way way{.variant = place_.variant};
    const Probe probe;
    Options options;
    options.devices = std::to_string(place_.device->index);
    options.variant = way.variant;
    Solver<T> solver(options);
    try {
      const BandsView<T> bands = problem_->bands.view();
      solver.set_up(problem_->lines, bands.lower, bands.diag, bands.upper);
    } catch (const Steered&) {
    }
    by_groups_ = probe.by_groups();
    for (Way found : probe.ways()) {
      found.variant = way.variant;
      ways.push_back(found);
    }
    if (!probe.by_task()) add_chosen(probe, way, ways);
  }
  /// Schemes that the library chooses by itself, where none proposes under the method.
  void add_chosen(const Probe& probe, const Way& base, std::vector<Way>& ways) const {
    const auto add = [&](MethodChoice method, Index partition) {
      const bool proposed = std::any_of(probe.ways().begin(), probe.ways().end(), [&](const Way& w) {
        return w.method == method && w.origin == Origin::proposed;
      });
      if (proposed) return;
      Way way = base;
      way.method = method;
      way.origin = Origin::chosen;
      way.partition = partition;
      ways.push_back(way);
    };
    if (case_.lines.contiguous()) {
      add(MethodChoice::truncated_halo, 0);
      add(MethodChoice::truncated_halo, probe.usual_partition());
    } else if (by_groups_) {
      add(MethodChoice::truncated_streamed, 0);
      add(MethodChoice::exact_factored, 0);
    }
  }

  void run(const Way& way) {
    // What is made here is for schemes that have given no answer yet.
    if (way.origin == Origin::made && answered_.count(way.scheme) > 0) return;
    const std::string scheme = way.scheme.empty() ? std::string("any of ") + name(way.method) : way.scheme;
    nlohmann::ordered_json record{{"scheme", scheme},
                                  {"where", way.on_host || place_.device == nullptr ? "host" : "device"},
                                  {"outcome", "failed"},
                                  {"method", name(way.method)}};
    if (spent_() > place_.seconds) {
      record["outcome"] = "no time";
    } else {
      try {
        measure(way, record);
      } catch (const Steered&) {
        record["outcome"] = "refused";
      } catch (const Breakdown& error) {
        record["outcome"] = "refused";
        record["note"] = cut(error.what());
      } catch (const InvalidInput& error) {  // not for these lines
        record["outcome"] = "refused";
        record["note"] = cut(error.what());
      } catch (const std::exception& error) {
        record["note"] = cut(error.what());
      }
    }
    if (record["outcome"] == "timed" || record["outcome"] == "slow")
      answered_.insert(record["scheme"].get<std::string>());
    if (record["outcome"] != "answered before") records_.push_back(std::move(record));
  }

  /// What the library chooses by itself for so many applies a set-up, from the second set-up on.
  void run_chosen(int applies) {
    const Way way{.origin = Origin::chosen, .variant = place_.variant};
    Trial<T> trial(way, place_, *problem_);
    nlohmann::ordered_json record{{"applies", applies}};
    const double first = trial.set_up(1);
    const auto apply_all = [&] {
      for (int i = 0; i < applies; ++i) trial.apply();
    };
    apply_all();
    trial.set_up(2);  // builds kernels
    apply_all();
    Timing timing;
    timing.set_up = median_of(set_ups(), kLeastSetUps, [&](int i) {
      const double seconds = trial.set_up(i % 2 == 0 ? T(4) : T(2));
      apply_all();
      return seconds;
    });
    record["method"] = name(trial.report().method);
    record["shape"] = trial.report().shape;
    record["where"] = trial.report().device.type == name(DeviceType::host) ? "host" : "device";
    timing.apply = median_of(times(place_.applies), kLeastApplies, [&](int) { return trial.apply(); });
    write(timing, first, record);
    record["backward_error_eps"] = rounded(trial.error());
    records_.push_back(std::move(record));
  }

  void measure(const Way& way, nlohmann::ordered_json& record) {
    Timing timing;
    {
      Trial<T> trial(way, place_, *problem_);
      try {
        trial.set_up(1);  // builds kernels
      } catch (const Steered& refused) {
        record["outcome"] = "refused";
        if (!refused.why.empty()) record["note"] = cut(refused.why);
        return;
      }
      if (!admit(way, trial, record)) return;
      trial.apply();
      timing = quick(trial);
      if (far_slower(timing)) {
        record["outcome"] = "slow";
        write(timing, timing.set_up, record);
        return;
      }
      measure_later(trial, timing);
    }
    const double first = measure_first(way);
    best_.push_back(timing);
    write(timing, first, record);
    record["outcome"] = "timed";
  }

  /// Name what was taken, and check its answer. @return false if it is not to be timed
  bool admit(const Way& way, Trial<T>& trial, nlohmann::ordered_json& record) {
    const Report& report = trial.report();
    if (way.origin == Origin::chosen) record["scheme"] = scheme_of_shape(report, case_.lines, by_groups_);
    record["method"] = name(report.method);
    record["shape"] = report.shape;
    if (!way.on_host && place_.device != nullptr && report.device.type == name(DeviceType::host)) {
      record["outcome"] = "refused";
      record["note"] = cut(report.device.why);
      return false;
    }
    if (report.certificate_above_tolerance) {
      record["outcome"] = "not covered";
      record["note"] = cut(report.why);
      return false;
    }
    const double error = trial.error();
    record["backward_error_eps"] = rounded(error);
    record["outcome"] = "wrong";
    if (!(error <= kWrongEps)) return false;
    const std::string scheme = record["scheme"].get<std::string>();
    record["outcome"] = "answered before";
    return way.origin != Origin::chosen || answered_.count(scheme) == 0;
  }

  /// What once around takes; of two if the first was far slower, which a busy machine may be the cause of.
  Timing quick(Trial<T>& trial) const {
    Timing best{trial.set_up(2), trial.apply()};
    if (!far_slower(best)) return best;
    return {std::min(best.set_up, trial.set_up(4)), std::min(best.apply, trial.apply())};
  }
  bool far_slower(const Timing& timing) const {
    return std::any_of(best_.begin(), best_.end(), [&](const Timing& other) {
      return std::all_of(std::begin(kExpected), std::end(kExpected),
                         [&](int n) { return timing.cost(n) > kFarSlower * other.cost(n); });
    });
  }

  int times(int count) const { return case_.lines.rows() <= kSmallRows ? kSmallTimes * count : count; }
  int set_ups() const { return times(case_.lines.rows() > kLongRows ? kLongSetUps : kSetUps); }

  /// The median of what f gives, of `most` calls or as many as there is time for.
  template <typename F>
  static double median_of(int most, int least, const F& f) {
    std::vector<double> seconds;
    const auto start = std::chrono::steady_clock::now();
    const auto in_time = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < kRepeatSeconds;
    };
    for (int i = 0; i < most && (i < least || in_time()); ++i) seconds.push_back(f(i));
    return median(seconds);
  }
  void measure_later(Trial<T>& trial, Timing& timing) const {
    timing.set_up = median_of(set_ups(), kLeastSetUps, [&](int i) { return trial.set_up(i % 2 == 0 ? T(4) : T(2)); });
    trial.apply();
    trial.apply();
    timing.apply = median_of(times(place_.applies), kLeastApplies, [&](int) { return trial.apply(); });
  }
  double measure_first(const Way& way) const {
    return median_of(set_ups(), 1, [&](int) {
      Trial<T> trial(way, place_, *problem_);
      return trial.set_up(1);
    });
  }
  static void write(const Timing& timing, double first, nlohmann::ordered_json& record) {
    record["first_set_up_seconds"] = rounded(first);
    record["later_set_up_seconds"] = rounded(timing.set_up);
    record["apply_seconds"] = rounded(timing.apply);
  }

  const SchemeCase& case_;
  const SchemePlace& place_;
  std::unique_ptr<bench::Problem<T>> problem_;
  bool by_groups_ = false;
  std::function<double()> spent_;
  std::set<std::string> answered_;
  std::vector<Timing> best_;
  nlohmann::ordered_json records_ = nlohmann::ordered_json::array();
};

}  // namespace

nlohmann::ordered_json measure_schemes(const SchemeCase& c, const SchemePlace& place) {
  return c.is_double ? Schemes<double>(c, place).run() : Schemes<float>(c, place).run();
}

}  // namespace oclspkt::bench::gpu

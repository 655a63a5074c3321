// SPDX-License-Identifier: BSD-2-Clause
#include "weak_line.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <random>

#include "backward_error.hpp"
#include "clock.hpp"
#include "command_line.hpp"
#include "matrices.hpp"
#include "measure.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "provenance.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;

/// What `oclspkt-bench weak-line` takes.
struct WeakLineSettings {
  std::string device = "auto", precision = "double", weak = "poisson";
  Index lines = 1'000'000;
  int repetitions = 21;
  std::uint64_t seed = kDefaultSeed;
  bool allow_debug = false;
};

po::options_description options(WeakLineSettings& s, std::string& lines) {
  po::options_description all("oclspkt-bench weak-line [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("device", po::value(&s.device)->default_value(s.device), "auto, host, cpu, gpu, fpga, part of a name, an index");
  add("precision", po::value(&s.precision)->default_value(s.precision), "float or double");
  add("lines", po::value(&lines)->default_value("1e6"), "of 8 to 16 rows each, glued");
  add("weak", po::value(&s.weak)->default_value(s.weak),
      "the line in the middle: poisson (-1, 2, -1), indefinite (-1, 1, -1) or pivot (1, 0, 1)");
  add("seed", po::value(&s.seed)->default_value(s.seed), "of random numbers");
  add("repetitions", po::value(&s.repetitions)->default_value(s.repetitions), "rounds; each times both once");
  add_allow_debug(all, s.allow_debug);
  return all;
}

std::optional<WeakLineSettings> parse_weak_line_settings(const std::vector<std::string>& arguments) {
  WeakLineSettings s;
  std::string lines;
  const po::options_description all = options(s, lines);
  if (read_command_line(arguments, "weak-line", all).empty()) return std::nullopt;
  s.lines = parse_rows(lines, "lines");
  check_precision(s.precision);
  if (s.weak != "poisson" && s.weak != "indefinite" && s.weak != "pivot") {
    throw InvalidInput("--weak takes poisson indefinite pivot, not '" + s.weak + "'");
  }
  if (s.repetitions < 1) throw InvalidInput("--repetitions must be at least 1");
  return s;
}

/// Lines of 8 to 16 rows; an even number in the middle one, for a diagonal of 0 is singular otherwise.
LineSet make_lines(const WeakLineSettings& s) {
  std::mt19937_64 generator(s.seed);
  std::uniform_int_distribution<Index> length(8, 16);
  std::vector<Index> starts{0};
  for (Index l = 0; l < s.lines; ++l) starts.push_back(starts.back() + (l == s.lines / 2 ? 12 : length(generator)));
  return LineSet::unequal(std::move(starts));
}

/// One side of the comparison: a solver, and what it took.
template <typename T>
struct Side {
  std::unique_ptr<Solver<T>> solver;
  Bands<T> bands;
  std::vector<double> set_up, apply;
};

template <typename T>
Side<T> make_side(const WeakLineSettings& s, const LineSet& lines, bool weak) {
  Options options;
  options.devices = s.device;
  options.on_device_failure = OnDeviceFailure::error;
  Side<T> side{std::make_unique<Solver<T>>(options), Bands<T>(lines), {}, {}};
  fill_bands(MatrixSpec{.seed = s.seed}, side.bands);
  if (weak) {
    const Index line = s.lines / 2, first = lines.first(line);
    const T diag = s.weak == "poisson" ? T(2) : s.weak == "indefinite" ? T(1) : T(0), off = s.weak == "pivot" ? 1 : -1;
    for (Index i = first; i < first + lines.length(line); ++i) {
      side.bands.lower()[i] = side.bands.upper()[i] = off;
      side.bands.diag()[i] = diag;
    }
  }
  side.bands.close_lines();
  return side;
}

template <typename T>
void set_up(Side<T>& side) {
  const BandsView<T> view = side.bands.view();
  const LineSet& lines = side.bands.lines();
  Bands<T>& own = side.solver->bands(lines);
  std::copy_n(view.lower, lines.extent(), own.lower());
  std::copy_n(view.diag, lines.extent(), own.diag());
  std::copy_n(view.upper, lines.extent(), own.upper());
  side.set_up.push_back(seconds_of([&] { side.solver->set_up(); }));
}

std::string describe(const Report& report) {
  std::string text = std::string(name(report.method)) + " on " + report.device.name;
  for (const GroupReport& group : report.groups) {
    text += ", " + std::to_string(group.lines) + " line by " + name(group.method);
  }
  return text;
}

template <typename T>
int run(const WeakLineSettings& s) {
  const LineSet lines = make_lines(s);
  AlignedArray<T> y(lines.rows()), x(lines.rows());
  fill_solution(s.seed, lines.rows(), y.data());
  Side<T> sides[] = {make_side<T>(s, lines, false), make_side<T>(s, lines, true)};
  bool right = true;
  constexpr double kRightEps = 100;
  for (Side<T>& side : sides) {
    set_up(side);  // builds and measures for the process: not timed
    side.set_up.clear();
    side.solver->apply(y.data(), x.data());
    const double error = componentwise_backward_error(lines, side.bands.view(), x.data(), y.data());
    right = right && error <= kRightEps * std::numeric_limits<T>::epsilon();
  }
  for (int round = 0; round < s.repetitions; ++round) {
    for (Side<T>& side : sides) set_up(side);
    for (Side<T>& side : sides) {
      side.solver->apply(y.data(), x.data());  // what the other left in the caches does not count
      side.apply.push_back(seconds_of([&] { side.solver->apply(y.data(), x.data()); }));
    }
  }
  std::printf("%lld lines, %lld rows, %s, weak line %s, %d rounds\n", static_cast<long long>(lines.count()),
              static_cast<long long>(lines.rows()), s.precision.c_str(), s.weak.c_str(), s.repetitions);
  const char* const names[] = {"all alike", "one weak "};
  for (int i = 0; i < 2; ++i) {
    std::printf("%s  set-up %.4g s, apply %.4g s (spread %.1f %%)  %s\n", names[i], median(sides[i].set_up),
                median(sides[i].apply), 100 * spread(sides[i].apply), describe(sides[i].solver->report()).c_str());
  }
  std::printf("medians of ratios: set-up %.3f, apply %.3f%s\n", median_ratio(sides[1].set_up, sides[0].set_up),
              median_ratio(sides[1].apply, sides[0].apply), right ? "" : "; an answer is WRONG");
  return right ? 0 : 1;
}

}  // namespace

int weak_line_command(const std::vector<std::string>& arguments, const std::string& /*command*/) {
  const std::optional<WeakLineSettings> settings = parse_weak_line_settings(arguments);
  if (!settings) return 0;
  if (!settings->allow_debug) require_release();
  return settings->precision == "double" ? run<double>(*settings) : run<float>(*settings);
}

}  // namespace oclspkt::bench

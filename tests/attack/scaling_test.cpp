// SPDX-License-Identifier: BSD-2-Clause
// Units that are powers of two: scaled rows, and a scaled line, change nothing but the scale of x.
#include <algorithm>
#include <cmath>

#include "devices.hpp"
#include "scalar_test.hpp"
#include "scaling.hpp"

namespace oclspkt::attack {
namespace {

/// Larger bounds, in eps, tell that nothing is known.
constexpr double kNoBound = 1e3;
constexpr MethodChoice kMethods[] = {MethodChoice::automatic,          MethodChoice::truncated_halo,
                                     MethodChoice::truncated_streamed, MethodChoice::exact_twopass,
                                     MethodChoice::exact_factored,     MethodChoice::pivot};

/// What a solver makes of a problem.
template <typename T>
struct Solved {
  std::string refused;
  Report report;
  std::vector<T> x;

  bool answered() const {
    return refused.empty() && std::all_of(x.begin(), x.end(), [](T number) { return std::isfinite(number); });
  }
};

template <typename T>
Solved<T> solve(const Problem<T>& problem, const Setting& setting) {
  Options options;
  options.devices = setting.device;
  options.variant = setting.variant;
  options.method = setting.method;
  options.on_device_failure = OnDeviceFailure::error;
  Solved<T> solved;
  solved.x.resize(problem.y.size());
  try {
    Solver<T> solver(options);
    const BandsView<T> b = problem.bands.view();
    solver.set_up(problem.bands.lines(), b.lower, b.diag, b.upper);
    solver.apply(problem.y.data(), solved.x.data());
    solved.report = solver.report();
  } catch (const Error& error) {
    solved.refused = error.what();
  }
  return solved;
}

/// Other numbers are read, or the fallback method solves other lines, or solves them in wider numbers.
bool solved_otherwise(const Report& a, const Report& b) {
  return a.form != b.form || !std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                                         [](const GroupReport& g, const GroupReport& h) {
                                           return g.rows == h.rows && g.rounding == h.rounding;
                                         });
}

/// Whether an answer keeps what its report promises.
template <typename T>
std::string broken_promise(const Problem<T>& problem, const Solved<T>& solved) {
  const std::vector<Piece> pieces = pieces_of(problem.bands);
  Outcome outcome;
  outcome.promised = promise_of(solved.report);
  outcome.bound = solved.report.rounding + solved.report.certificate / std::numeric_limits<T>::epsilon();
  Answer a;
  a.errors = judge(problem.bands, pieces, units_of(problem.bands, pieces), solved.x.data(), problem.y.data());
  if (!outcome.exceeded(a)) return "";
  return std::to_string(outcome.error(a)) + " eps by " + kPromisedNames[static_cast<int>(outcome.promised)] +
         " are more than the bound of " + std::to_string(outcome.bound) + " eps";
}

/// What differs between the answers, in words; empty where they are equal but for the units of columns.
/// @param other_columns  the columns of a line have units of their own
template <typename T>
std::string difference(const Solved<T>& before, const Solved<T>& after, const Problem<T>& problem,
                       const std::vector<int>& column, bool other_columns) {
  if (other_columns && !before.answered()) return "";  // rows that sum to 0 are seen as columns are given
  if (before.answered() != after.answered()) {
    return "no answer: '" + before.refused + "' and '" + after.refused + "'";
  }
  if (!before.answered()) return "";
  const Report &a = before.report, &b = after.report;
  if (solved_otherwise(a, b)) return broken_promise(problem, after);
  if (a.method != b.method || a.shape != b.shape) {
    return std::string(name(a.method)) + " " + a.shape + " became " + name(b.method) + " " + b.shape + ": " + b.why;
  }
  const std::string number = other_number(before.x, after.x, column);
  if (!number.empty()) return std::string(name(a.method)) + " " + a.shape + ": " + number;
  // Growth of 1e28 overflows in the units of one of both.
  const auto none = [](const Report& report) { return !(report.rounding <= kNoBound); };
  return a.rounding == b.rounding || (none(a) && none(b))
             ? ""
             : "the bound " + std::to_string(a.rounding) + " eps became " + std::to_string(b.rounding);
}

/// How many systems, and of what size.
struct Sizes {
  Index systems, rows, lines;  ///< at most so many rows and lines of a case; each line is a system
};

/// A case of few rows: many cases find more than large ones.
Case draw_small(bool in_float, const Sizes& sizes, Dice& dice) {
  Case c = draw_case(families()[static_cast<std::size_t>(dice.whole(0, static_cast<Index>(families().size()) - 1))],
                     in_float, dice);
  c.rows = std::max(std::min(c.rows, dice.whole(2, sizes.rows)), Index{2});
  c.lines = std::min(c.lines, dice.whole(2, sizes.lines));
  c.use = Use::plain;
  c.rtol = c.range = 0;
  c.inverse_rows = false;
  c.column_decades = std::min(c.column_decades, in_float ? 2.0 : 14.0);  // the test's own units come on top
  return c;
}

/// What scaling leaves.
///   same_bits                 rows by any powers of two, the columns of a line by one: all bits
///   same_bits_in_all_columns  columns by any powers of two, too: all bits
///   promise                   the same: what the report promises
enum class Expected { same_bits, same_bits_in_all_columns, promise };

template <typename T>
class Scaling : public ::testing::Test {
 protected:
  static constexpr bool in_float = sizeof(T) == sizeof(float);

  /// Scale systems, solve them as they are and scaled, and expect equal bits, or at least what the report promises.
  void expect_in_any_units(const Setting& setting, const Sizes& sizes, Expected expected) {
    Dice dice(20261127);
    Index drawn = 0, compared = 0, differ = 0;
    const bool column_each = expected != Expected::same_bits;
    while (drawn < sizes.systems) {
      const Case c = draw_small(in_float, sizes, dice);
      const Problem<T> problem = problem_of<T>(c, dice);
      const Index most = dice.chance(0.5) ? 4 : in_float ? 12 : 45;  // within what all kernels take as it is
      const Units units = draw_units(problem.bands.lines(), column_each, most, dice);
      const std::optional<Problem<T>> other = scaled(problem, units);
      drawn += problem.bands.lines().count();
      if (!other) continue;
      compared += problem.bands.lines().count();
      const Solved<T> after = solve(*other, setting);
      const std::string found = expected == Expected::promise
                                    ? (after.answered() ? broken_promise(*other, after) : "")
                                    : difference(solve(problem, setting), after, *other, units.column, column_each);
      if (found.empty() || ++differ > kMostTold) continue;
      ADD_FAILURE() << found << "\n  " << to_text(c) << " on device " << setting.device << ", variant "
                    << setting.variant << " by " << name(setting.method);
    }
    EXPECT_EQ(differ, 0) << "of " << compared << " on device " << setting.device << ", variant " << setting.variant
                         << " by " << name(setting.method);
    EXPECT_GT(compared, sizes.systems / 2);
  }

  static constexpr Index kMostTold = 3;
};

constexpr Sizes kOnHost{5000, 200, 6}, kOnDevices{500, 400, 120};

SCALAR_TEST(Scaling, OfRowsAndLinesLeavesAllBitsOfTheHost) {
  for (const MethodChoice method : kMethods) {
    this->expect_in_any_units({"host", "default", method}, kOnHost, Expected::same_bits);
  }
}

SCALAR_TEST(Scaling, OfRowsAndLinesLeavesAllBitsOfDevices) {
  for (const MethodChoice method : kMethods) {
    for (const Setting& setting : every_device(method)) {
      this->expect_in_any_units(setting, kOnDevices, Expected::same_bits);
    }
  }
}

SCALAR_TEST(Scaling, OfColumnsLeavesAllBitsOfPivoting) {
  this->expect_in_any_units({"host", "default", MethodChoice::pivot}, kOnHost, Expected::same_bits_in_all_columns);
}

SCALAR_TEST(Scaling, OfColumnsKeepsWhatTheHostPromises) {
  for (const MethodChoice method : kMethods) {
    this->expect_in_any_units({"host", "default", method}, kOnHost, Expected::promise);
  }
}

SCALAR_TEST(Scaling, OfColumnsKeepsWhatDevicesPromise) {
  for (const Setting& setting : every_device(MethodChoice::automatic)) {
    this->expect_in_any_units(setting, kOnDevices, Expected::promise);
  }
}

}  // namespace
}  // namespace oclspkt::attack

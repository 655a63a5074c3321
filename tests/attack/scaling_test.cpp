// SPDX-License-Identifier: BSD-2-Clause
// Units that are powers of two: scaled rows, and a scaled line, change nothing but the scale of x.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "devices.hpp"

namespace oclspkt::attack {
namespace {

constexpr MethodChoice kNamed[] = {MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
                                   MethodChoice::exact_twopass, MethodChoice::exact_factored, MethodChoice::pivot};

/// Row i of the matrix times 2^row[i], column i times 2^column[i].
struct Units {
  std::vector<int> row, column;
};

/// A matrix and a right-hand side, as a solver gets them.
template <typename T>
struct Problem {
  Bands<T> bands;
  std::vector<T> y;
};

/// Numbers that ldexp() may round.
template <typename T>
bool rounded(T from, T to) {
  return from != 0 && !std::isnormal(to);
}

/// @return nothing where a number leaves the range of normal ones
template <typename T>
std::optional<Problem<T>> scaled(const Problem<T>& of, const Units& units) {
  const LineSet& lines = of.bands.lines();
  Problem<T> result{Bands<T>(lines), of.y};
  result.bands.copy_from(of.bands.view());
  bool exact = true;
  const auto scale = [&](T& number, int exponent) {
    const T before = number;
    number = std::ldexp(number, exponent);
    exact = exact && !rounded(before, number);
  };
  for (Index l = 0; l < lines.count(); ++l) {
    const Index stride = lines.row_stride(), n = lines.length(l);
    for (Index i = 0, at = lines.first(l); i < n; ++i, at += stride) {
      const auto k = static_cast<std::size_t>(at), step = static_cast<std::size_t>(stride);
      if (i > 0) scale(result.bands.lower()[at], units.row[k] + units.column[k - step]);
      scale(result.bands.diag()[at], units.row[k] + units.column[k]);
      if (i + 1 < n) scale(result.bands.upper()[at], units.row[k] + units.column[k + step]);
      scale(result.y[k], units.row[k]);
    }
  }
  if (!exact) return std::nullopt;
  return result;
}

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

template <typename T>
std::string other_number(const std::vector<T>& before, const std::vector<T>& after, const std::vector<int>& column) {
  for (std::size_t k = 0; k < column.size(); ++k) {
    const T wanted = std::ldexp(before[k], -column[k]);
    if (rounded(before[k], wanted) || after[k] == wanted) continue;
    char text[120];
    std::snprintf(text, sizeof text, "x[%zu] is %.17g and not %.17g", k, static_cast<double>(after[k]),
                  static_cast<double>(wanted));
    return text;
  }
  return "";
}

/// What differs between the answers, in words; empty where they are equal but for the units of columns.
template <typename T>
std::string difference(const Solved<T>& before, const Solved<T>& after, const Problem<T>& problem,
                       const std::vector<int>& column) {
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
  return a.rounding == b.rounding || (std::isnan(a.rounding) && std::isnan(b.rounding))
             ? ""
             : "the bound " + std::to_string(a.rounding) + " eps became " + std::to_string(b.rounding);
}

/// Units for all rows; for columns one a line, or one each.
Units draw_units(const LineSet& lines, bool column_each, Index most, Dice& dice) {
  const auto size = static_cast<std::size_t>(lines.extent());
  Units units{std::vector<int>(size), std::vector<int>(size)};
  const bool rows = !column_each || dice.chance(0.5);
  for (Index l = 0; l < lines.count(); ++l) {
    const auto of_line = static_cast<int>(dice.whole(-most, most));
    for (Index i = 0, at = lines.first(l); i < lines.length(l); ++i, at += lines.row_stride()) {
      const auto k = static_cast<std::size_t>(at);
      if (rows) units.row[k] = static_cast<int>(dice.whole(-most, most));
      units.column[k] = column_each ? static_cast<int>(dice.whole(-most, most)) : of_line;
    }
  }
  return units;
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

template <typename T>
Problem<T> problem_of(const Case& c, Dice& dice) {
  const System system = make_system(c);
  Problem<T> problem{Bands<T>(system.lines), {}};
  for (std::size_t k = 0; k < system.diag.size(); ++k) {
    const auto at = static_cast<Index>(k);
    problem.bands.lower()[at] = static_cast<T>(system.lower[k]);
    problem.bands.diag()[at] = static_cast<T>(system.diag[k]);
    problem.bands.upper()[at] = static_cast<T>(system.upper[k]);
    problem.y.push_back(static_cast<T>(dice.uniform(-1, 1)));
  }
  return problem;
}

template <typename T>
class Scaling : public ::testing::Test {
 protected:
  static constexpr bool in_float = sizeof(T) == sizeof(float);

  /// Expect equal bits in `setting`.
  void expect_equal_bits(const Setting& setting, const Sizes& sizes, bool column_each) {
    Dice dice(20261127);
    Index drawn = 0, compared = 0, differ = 0;
    while (drawn < sizes.systems) {
      const Case c = draw_small(in_float, sizes, dice);
      const Problem<T> problem = problem_of<T>(c, dice);
      const Index most = dice.chance(0.5) ? 4 : in_float ? 12 : 45;  // within what all kernels take as it is
      const Units units = draw_units(problem.bands.lines(), column_each, most, dice);
      const std::optional<Problem<T>> other = scaled(problem, units);
      drawn += problem.bands.lines().count();
      if (!other) continue;
      compared += problem.bands.lines().count();
      const std::string found = difference(solve(problem, setting), solve(*other, setting), *other, units.column);
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

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Scaling, Scalars);

constexpr Sizes kOnHost{5000, 200, 6}, kOnDevices{1500, 500, 200};

TYPED_TEST(Scaling, OfRowsAndLinesLeavesAllBitsOfTheHost) {
  this->expect_equal_bits({"host", "default", MethodChoice::automatic}, kOnHost, false);
  for (const MethodChoice method : kNamed) this->expect_equal_bits({"host", "default", method}, kOnHost, false);
}

TYPED_TEST(Scaling, OfRowsAndLinesLeavesAllBitsOfDevices) {
  for (const Setting& setting : every_device(MethodChoice::automatic)) {
    this->expect_equal_bits(setting, kOnDevices, false);
  }
}

TYPED_TEST(Scaling, OfRowsAndLinesLeavesAllBitsOfDevicesByNamedMethods) {
  for (const MethodChoice method : kNamed) {
    for (const Setting& setting : every_device(method)) this->expect_equal_bits(setting, kOnDevices, false);
  }
}

TYPED_TEST(Scaling, OfColumnsLeavesAllBitsOfStoredFactorsAndPivoting) {
  this->expect_equal_bits({"host", "default", MethodChoice::exact_factored}, kOnHost, true);
  this->expect_equal_bits({"host", "default", MethodChoice::pivot}, kOnHost, true);
}

}  // namespace
}  // namespace oclspkt::attack

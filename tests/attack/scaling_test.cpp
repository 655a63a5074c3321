// SPDX-License-Identifier: BSD-2-Clause
// Units that are powers of two: scaled rows, and a scaled line, change nothing but the scale of x.
#include <gtest/gtest.h>

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

/// What differs between the answers, in words; empty where they are equal but for the units of columns.
template <typename T>
std::string difference(const Solved<T>& before, const Solved<T>& after, const std::vector<int>& column) {
  if (before.refused.empty() != after.refused.empty()) {
    return "refused: '" + before.refused + "' and '" + after.refused + "'";
  }
  if (!before.refused.empty()) return "";
  const Report &a = before.report, &b = after.report;
  if (a.form != b.form) return "";  // units that differ row by row leave fewer numbers to share
  if (a.method != b.method || a.shape != b.shape) {
    return std::string(name(a.method)) + " " + a.shape + " became " + name(b.method) + " " + b.shape + ": " + b.why;
  }
  for (std::size_t k = 0; k < column.size(); ++k) {
    const T wanted = std::ldexp(before.x[k], -column[k]);
    if (rounded(before.x[k], wanted) || after.x[k] == wanted) continue;
    if (std::isnan(after.x[k]) && std::isnan(wanted)) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%s %s: x[%zu] is %.17g and not %.17g", name(a.method), a.shape.c_str(), k,
                  static_cast<double>(after.x[k]), static_cast<double>(wanted));
    return text;
  }
  return a.rounding == b.rounding || (std::isnan(a.rounding) && std::isnan(b.rounding))
             ? ""
             : "the bound " + std::to_string(a.rounding) + " eps became " + std::to_string(b.rounding);
}

/// Units of any size for all rows; for columns one a line, or one each.
Units draw_units(const LineSet& lines, bool column_each, Dice& dice) {
  const auto size = static_cast<std::size_t>(lines.extent());
  Units units{std::vector<int>(size), std::vector<int>(size)};
  const Index most = dice.chance(0.5) ? 4 : 40;
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

/// A case of few rows: many cases find more than large ones.
Case draw_small(bool in_float, Dice& dice, Index most_rows) {
  Case c = draw_case(families()[static_cast<std::size_t>(dice.whole(0, static_cast<Index>(families().size()) - 1))],
                     in_float, dice);
  c.rows = std::max(std::min(c.rows, dice.whole(2, most_rows)), Index{2});
  c.lines = std::min(c.lines, dice.whole(2, 12));
  c.use = Use::plain;
  c.rtol = 0;
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

  /// Draw `systems` and expect equal bits in `setting`.
  void expect_equal_bits(Setting setting, int systems, bool column_each, Index most_rows) {
    Dice dice(20261127);
    int compared = 0, differ = 0;
    for (int k = 0; k < systems; ++k) {
      const Case c = draw_small(in_float, dice, most_rows);
      const Problem<T> problem = problem_of<T>(c, dice);
      const Units units = draw_units(problem.bands.lines(), column_each, dice);
      const std::optional<Problem<T>> other = scaled(problem, units);
      if (!other) continue;
      const std::string found = difference(solve(problem, setting), solve(*other, setting), units.column);
      ++compared;
      if (found.empty() || ++differ > kMostTold) continue;
      ADD_FAILURE() << found << "\n  " << to_text(c) << " on device " << setting.device << ", variant "
                    << setting.variant << " by " << name(setting.method);
    }
    EXPECT_EQ(differ, 0) << "of " << compared << " on device " << setting.device << ", variant " << setting.variant
                         << " by " << name(setting.method);
    EXPECT_GT(compared, systems / 2);
  }

  static constexpr int kMostTold = 3;
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Scaling, Scalars);

TYPED_TEST(Scaling, OfRowsAndLinesLeavesAllBitsOfTheHost) {
  this->expect_equal_bits({"host", "default", MethodChoice::automatic}, 2500, false, 200);
  for (const MethodChoice method : kNamed) this->expect_equal_bits({"host", "default", method}, 500, false, 200);
}

TYPED_TEST(Scaling, OfRowsAndLinesLeavesAllBitsOfDevices) {
  for (const MethodChoice method : kNamed) {
    for (const Setting& setting : every_device(method)) this->expect_equal_bits(setting, 40, false, 1500);
  }
  for (const Setting& setting : every_device(MethodChoice::automatic)) {
    this->expect_equal_bits(setting, 80, false, 1500);
  }
}

TYPED_TEST(Scaling, OfColumnsLeavesAllBitsOfStoredFactorsAndPivoting) {
  this->expect_equal_bits({"host", "default", MethodChoice::exact_factored}, 2000, true, 200);
  this->expect_equal_bits({"host", "default", MethodChoice::pivot}, 2000, true, 200);
}

}  // namespace
}  // namespace oclspkt::attack

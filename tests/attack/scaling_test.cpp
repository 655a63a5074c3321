// SPDX-License-Identifier: BSD-2-Clause
// Units that are powers of two: scaled rows, and a scaled line, change nothing but the scale of x.
#include <cstdio>
#include <optional>

#include "cut_case.hpp"
#include "devices.hpp"
#include "oclspkt/bands.hpp"
#include "scalar_test.hpp"

namespace oclspkt::attack {
namespace {

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
  Problem<T> result{test::copy_of(of.bands), of.y};
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

/// The first unknown of `after` that is not that of `before` in its unit, in words; empty if there is none.
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

template <typename T>
Problem<T> problem_of(const Case& c, Dice& dice) {
  Problem<T> problem{to_bands<T>(make_system(c)), {}};
  problem.y.resize(static_cast<std::size_t>(problem.bands.lines().extent()));
  for (T& number : problem.y) number = static_cast<T>(dice.uniform(-1, 1));
  return problem;
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

// Units of lines that are cut among processes: scaled rows and lines leave all bits, units that change at the cuts
// leave answers right.

/// Lines of a case laid end to end, each cut among two or three processes.
struct CutLines {
  test::CutCase parts;
  std::vector<int> process;  ///< of each row
};

CutLines draw_cuts(const LineSet& lines, Dice& dice) {
  CutLines cut;
  cut.parts.processes = static_cast<int>(dice.whole(2, 3));
  for (Index l = 0; l < lines.count(); ++l) {
    std::vector<test::PartOf> parts;
    Index left = lines.length(l);
    for (int p = 0; p < cut.parts.processes && left > 0; ++p) {
      const bool last = p + 1 == cut.parts.processes;
      const Index rows = last ? left : dice.whole(0, left);
      if (rows > 0) parts.push_back({p, rows});
      cut.process.insert(cut.process.end(), static_cast<std::size_t>(rows), p);
      left -= rows;
    }
    cut.parts.lines.push_back(parts);
  }
  return cut;
}

template <typename T>
class CutScaling : public ::testing::Test {
 protected:
  static constexpr bool in_float = sizeof(T) == sizeof(float);
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  Case draw() {
    Case c = draw_case(families()[static_cast<std::size_t>(dice_.whole(0, Index{12}))], in_float, dice_);
    c.layout = Layout::equal;
    c.rows = std::max(std::min(c.rows, dice_.whole(2, 300)), Index{2});
    c.lines = std::min(c.lines, dice_.whole(1, 4));
    c.use = Use::plain;
    c.column_decades = c.range = c.rtol = 0;
    c.inverse_rows = false;
    return c;
  }

  Dice dice_{20261127};
};

SCALAR_TEST(CutScaling, OfRowsAndLinesLeavesAllBits) {
  int compared = 0;
  for (int k = 0; k < 400; ++k) {
    const Case c = this->draw();
    const Problem<T> problem = problem_of<T>(c, this->dice_);
    const LineSet& lines = problem.bands.lines();
    const CutLines cut = draw_cuts(lines, this->dice_);
    const Units units = draw_units(lines, false, this->in_float ? 12 : 45, this->dice_);
    const std::optional<Problem<T>> other = scaled(problem, units);
    if (!other) continue;
    const test::CutOutcome<T> before = test::solve_cut(cut.parts, problem.bands, problem.y),
                              after = test::solve_cut(cut.parts, other->bands, other->y);
    ASSERT_EQ(before.none_threw(), after.none_threw()) << before.texts() << after.texts() << to_text(c);
    if (!before.none_threw()) continue;
    ++compared;
    EXPECT_EQ(other_number(before.x, after.x, units.column), "")
        << to_text(c) << "; " << before.reports[0].gathered_why << "; " << after.reports[0].gathered_why;
  }
  EXPECT_GT(compared, 300);
}

SCALAR_TEST(CutScaling, OfTheColumnsOfAProcessLeavesAnswersRight) {
  for (int k = 0; k < 400; ++k) {
    const Case c = this->draw();
    const Problem<T> problem = problem_of<T>(c, this->dice_);
    const LineSet& lines = problem.bands.lines();
    const CutLines cut = draw_cuts(lines, this->dice_);
    // Each process has units of its own.
    const Index most = this->in_float ? 20 : 46;
    std::vector<int> unit;
    for (int p = 0; p < cut.parts.processes; ++p) unit.push_back(static_cast<int>(this->dice_.whole(-most, most)));
    Units units{std::vector<int>(cut.process.size()), {}};
    for (const int process : cut.process) units.column.push_back(unit[static_cast<std::size_t>(process)]);
    const std::optional<Problem<T>> other = scaled(problem, units);
    if (!other) continue;
    const test::CutOutcome<T> solved = test::solve_cut(cut.parts, other->bands, other->y);
    if (!solved.none_threw()) continue;
    const std::vector<Piece> pieces = pieces_of(other->bands);
    Truth truth{solve_exactly(other->bands, pieces, other->y), {}};
    truth.spread = spread_of(other->bands, pieces, truth.x);
    Outcome outcome;
    double truncation = 0;
    for (const CutReport& report : solved.reports) {
      outcome.bound = std::max({outcome.bound, report.rounding, 0.0});
      truncation = std::max(truncation, report.bound);
      outcome.above_tolerance = outcome.above_tolerance || report.above_tolerance;
    }
    std::vector<double> sizes(units.column.size());
    std::transform(units.column.begin(), units.column.end(), sizes.begin(),
                   [](int exponent) { return std::exp2(-exponent); });
    const Errors errors = judge(other->bands, pieces, sizes, solved.x.data(), other->y.data());
    EXPECT_LE(errors.units, std::max(outcome.bound, kWrong) + truncation / this->eps)
        << to_text(c) << "; " << solved.reports[0].gathered_why << " bound " << outcome.bound;
    const double astray = unit_error(pieces, units.column, solved.x.data(), truth, truncation);
    EXPECT_LE(astray, kSpreads) << to_text(c) << "; gathered " << solved.reports[0].gathered << " "
                                << solved.reports[0].gathered_why << " bound " << outcome.bound << " truncation "
                                << truncation << " component " << errors.component << " units " << errors.units;
  }
}

}  // namespace
}  // namespace oclspkt::attack

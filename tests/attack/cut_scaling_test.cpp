// SPDX-License-Identifier: BSD-2-Clause
// Units of lines that are cut among processes: scaled rows and lines leave all bits, units that change at the cuts
// leave answers right.
#include <algorithm>
#include <cmath>

#include "cut_case.hpp"
#include "scalar_test.hpp"
#include "scaling.hpp"
#include "trial.hpp"

namespace oclspkt::attack {
namespace {

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

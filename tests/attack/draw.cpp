// SPDX-License-Identifier: BSD-2-Clause
// Drawing cases, and cases near other ones.
#include <algorithm>
#include <cmath>

#include "families.hpp"

namespace oclspkt::attack {
namespace {

/// Rows of partitions, registers, tiles, work-groups and runs of them.
constexpr Index kBorders[] = {16, 48, 64, 112, 496, 896, 1024, 2048, 3968};
constexpr Index kBesideBorder = 3;

double high_of(const Parameter& p, bool in_float) { return in_float ? p.high_in_float : p.high; }

double draw_above_one(const Parameter& p, Dice& dice) {
  return dice.chance(0.5) ? 1 + std::pow(10, dice.uniform(p.low, p.high)) : dice.uniform(1, 1.3);
}

double draw_parameter(const Parameter& p, Index rows, bool in_float, Dice& dice) {
  if (p.zeros > 0 && dice.chance(p.zeros)) return 0;
  const double high = high_of(p, in_float);
  switch (p.spread) {
    case Spread::linear:
      return dice.uniform(p.low, high);
    case Spread::logarithmic:
      return std::pow(10, dice.uniform(std::log10(p.low), std::log10(high)));
    case Spread::above_one:
      return draw_above_one(p, dice);
    case Spread::place:
      return static_cast<double>(draw_place(rows, dice));
    case Spread::whole:
      break;
  }
  return static_cast<double>(dice.whole(static_cast<Index>(p.low), static_cast<Index>(high)));
}

double near_parameter(const Parameter& p, double value, Index rows, bool in_float, Dice& dice) {
  const double high = high_of(p, in_float);
  switch (p.spread) {
    case Spread::linear:
      return std::clamp(value + 0.05 * (high - p.low) * dice.normal(), p.low, high);
    case Spread::logarithmic:
      return value == 0 ? 0 : std::clamp(value * std::pow(10, 0.3 * dice.normal()), p.low, high);
    case Spread::above_one:
      return 1 + (value - 1) * std::pow(10, 0.3 * dice.normal());
    case Spread::place:
      return static_cast<double>(
          std::clamp(static_cast<Index>(value) + dice.whole(-kBesideBorder, kBesideBorder), Index{0}, rows - 1));
    case Spread::whole:
      break;
  }
  return std::clamp(value + static_cast<double>(dice.whole(-1, 1)), p.low, high);
}

Index draw_rows(const Family& family, Index most, Dice& dice) {
  const auto low = static_cast<double>(family.least_rows), high = static_cast<double>(std::min(most, family.most_rows));
  return static_cast<Index>(std::exp(dice.uniform(std::log(std::max(low, 1.0)), std::log(high + 1))));
}

void draw_layout(const Family& family, Dice& dice, Case& c) {
  constexpr Index kMostRows = 12000;  // of all lines: a case takes a few milliseconds
  if (dice.chance(0.6)) {
    // One long line: short ones need no partitions.
    c.rows = std::max(draw_rows(family, family.most_rows, dice), draw_rows(family, family.most_rows, dice));
    return;
  }
  c.layout = static_cast<Layout>(dice.whole(1, 3));
  c.rows = draw_rows(family, dice.chance(0.5) ? 40 + family.least_rows : 3000, dice);
  c.lines = dice.whole(2, std::clamp(kMostRows / c.rows, Index{2}, Index{600}));
}

/// Units of columns; now and then at the ends of the range of numbers, of rows and columns at once.
void draw_units(bool in_float, Dice& dice, Case& c) {
  c.pattern = static_cast<Pattern>(dice.whole(0, 3));
  if (dice.chance(0.8)) {
    c.column_decades = dice.uniform(0, in_float ? 6 : 14);
  } else if (dice.chance(0.6)) {
    c.inverse_rows = true;
    c.column_decades = dice.uniform(0, in_float ? 37 : 300);
  } else {
    c.range = dice.uniform(in_float ? -44 : -320, in_float ? 36 : 300);
  }
}

void draw_dress(bool in_float, Dice& dice, Case& c) {
  c.over_diagonal = dice.chance(0.4);
  c.reversed = dice.chance(0.4);
  c.transposed = dice.chance(0.15);
  if (dice.chance(0.15)) c.row_decades = dice.uniform(0, in_float ? 6 : 12);
  if (dice.chance(0.3)) draw_units(in_float, dice, c);
}

}  // namespace

Index draw_place(Index rows, Dice& dice) {
  if (dice.chance(0.5)) return dice.whole(0, rows - 1);
  const Index border = dice.of(kBorders);
  const Index place = border * dice.whole(1, rows / border + 1) + dice.whole(-kBesideBorder, kBesideBorder);
  return std::clamp(place, Index{0}, rows - 1);
}

Case draw_case(const Family& family, bool in_float, Dice& dice) {
  Case c;
  c.family = family.name;
  draw_layout(family, dice, c);
  for (std::size_t k = 0; k < family.parameters.size(); ++k) {
    c.parameters[k] = draw_parameter(family.parameters[k], c.rows, in_float, dice);
  }
  draw_dress(in_float, dice, c);
  const double use = dice.uniform(0, 1);
  c.use = use < 0.7 ? Use::plain : use < 0.85 ? Use::later : Use::transpose;
  if (dice.chance(0.1)) c.rtol = std::pow(10, dice.uniform(in_float ? -6 : -14, -0.5));
  if (dice.chance(0.1)) c.partition = dice.of(kBorders);
  c.seed = dice.seed();
  return c;
}

Case near_case(Case c, bool in_float, Dice& dice) {
  const Family& family = family_named(c.family);
  if (dice.chance(0.3)) {
    const Index step = std::max(Index{1}, c.rows / 20);
    c.rows = std::clamp(c.rows + dice.whole(-step, step), family.least_rows, family.most_rows);
  }
  for (std::size_t k = 0; k < family.parameters.size(); ++k) {
    if (dice.chance(0.5)) {
      c.parameters[k] = near_parameter(family.parameters[k], c.parameters[k], c.rows, in_float, dice);
    }
  }
  // The numbers that a seed draws stay where some of them were changed.
  if (c.edits.empty() || dice.chance(0.02)) c.seed = dice.seed();
  return c;
}

Case edited_case(Case c, Dice& dice) {
  constexpr std::size_t kMostEdits = 60;
  for (Index more = dice.whole(1, 3); more > 0 && c.edits.size() < kMostEdits; --more) {
    // Half of the changes are beside the one before: errors grow along rows.
    const bool beside = !c.edits.empty() && dice.chance(0.5);
    const Index at = beside ? c.edits.back().at + dice.whole(-2, 2) : draw_place(c.rows, dice);
    const double factor = dice.chance(0.2)   ? -1
                          : dice.chance(0.5) ? std::pow(10, dice.normal())
                                             : 1 + std::pow(10, dice.uniform(-12, -1)) * dice.normal();
    c.edits.push_back({"ldu"[dice.whole(0, 2)], std::max(at, Index{0}), factor});
  }
  if (c.edits.size() >= kMostEdits) c.edits.erase(c.edits.begin() + dice.whole(0, kMostEdits - 1));
  return c;
}

}  // namespace oclspkt::attack

// SPDX-License-Identifier: BSD-2-Clause
// Problems in units that are powers of two.
#pragma once

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "families.hpp"
#include "oclspkt/bands.hpp"

namespace oclspkt::attack {

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

/// Units for all rows; for columns one a line, or one each.
inline Units draw_units(const LineSet& lines, bool column_each, Index most, Dice& dice) {
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

}  // namespace oclspkt::attack

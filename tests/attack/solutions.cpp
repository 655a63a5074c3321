// SPDX-License-Identifier: BSD-2-Clause
#include "solutions.hpp"

#include <algorithm>
#include <cmath>

namespace oclspkt::attack {
namespace {

bool beside_border(Index row) {
  for (const Index border : {16, 112, 496}) {
    if (row % border <= 1 || row % border == border - 1) return true;
  }
  return false;
}

double value_of(Solution kind, Index row, Index rows, double turn, Dice& dice) {
  const auto i = static_cast<double>(row);
  switch (kind) {
    case Solution::alternating:
      return row % 2 == 0 ? 1 : -1;
    case Solution::random:
    case Solution::balanced:
      return dice.uniform(-1, 1);
    case Solution::constant:
    case Solution::sources:
      return 1;
    case Solution::smooth:
      return std::sin(0.01 * i + turn);
    case Solution::growing:
      return std::pow(10, -6 * (turn < 0 ? i : static_cast<double>(rows) - i) / static_cast<double>(rows));
    case Solution::borders:
      break;
  }
  return beside_border(row) ? 1 : 1e-3;
}

/// The largest number of the column of row i of a line.
double column_size(const System& s, Index line, Index i) {
  const Index stride = s.lines.row_stride(), at = s.lines.first(line) + i * stride;
  const auto size = [](const std::vector<double>& band, Index k) {
    return std::abs(band[static_cast<std::size_t>(k)]);
  };
  double most = size(s.diag, at);
  if (i > 0) most = std::max(most, size(s.upper, at - stride));
  if (i + 1 < s.lines.length(line)) most = std::max(most, size(s.lower, at + stride));
  return most;
}

/// Divide a solution by the sizes of the columns; the largest of each line is then 1.
void balance(const System& system, std::vector<double>& x) {
  const LineSet& lines = system.lines;
  for (Index l = 0; l < lines.count(); ++l) {
    const auto at = [&](Index i) { return static_cast<std::size_t>(lines.first(l) + i * lines.row_stride()); };
    double most = 0;
    for (Index i = 0; i < lines.length(l); ++i) {
      const double size = column_size(system, l, i);
      if (size > 0) x[at(i)] /= size;
      most = std::max(most, std::abs(x[at(i)]));
    }
    for (Index i = 0; i < lines.length(l) && most > 0; ++i) x[at(i)] /= most;
  }
}

}  // namespace

std::vector<double> make_solution(Solution kind, const System& system, Dice& dice) {
  const LineSet& lines = system.lines;
  std::vector<double> x(static_cast<std::size_t>(lines.extent()));
  for (Index l = 0; l < lines.count(); ++l) {
    const double turn = dice.uniform(-1, 1);
    for (Index i = 0; i < lines.length(l); ++i) {
      x[static_cast<std::size_t>(lines.first(l) + i * lines.row_stride())] =
          value_of(kind, i, lines.length(l), turn, dice);
    }
  }
  if (kind == Solution::balanced) balance(system, x);
  return x;
}

}  // namespace oclspkt::attack

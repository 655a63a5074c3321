// SPDX-License-Identifier: BSD-2-Clause
#include "solutions.hpp"

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
      return dice.uniform(-1, 1);
    case Solution::constant:
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

}  // namespace

std::vector<double> make_solution(Solution kind, const LineSet& lines, Dice& dice) {
  std::vector<double> x(static_cast<std::size_t>(lines.extent()));
  for (Index l = 0; l < lines.count(); ++l) {
    const double turn = dice.uniform(-1, 1);
    for (Index i = 0; i < lines.length(l); ++i) {
      x[static_cast<std::size_t>(lines.first(l) + i * lines.row_stride())] =
          value_of(kind, i, lines.length(l), turn, dice);
    }
  }
  return x;
}

}  // namespace oclspkt::attack

// SPDX-License-Identifier: BSD-2-Clause
// [1 4 1] with ones on the right has the solution 3/14, 1/7, 3/14.
#include <cmath>
#include <oclspkt/solver.hpp>

int main() {
  const double lower[] = {0, 1, 1}, diag[] = {4, 4, 4}, upper[] = {1, 1, 0}, y[] = {1, 1, 1};
  double x[3];
  oclspkt::Solver<double> solver;
  solver.set_up(oclspkt::LineSet::one(3), lower, diag, upper);
  solver.apply(y, x);
  const bool right = std::abs(x[0] - 3. / 14) < 1e-15 && std::abs(x[1] - 1. / 7) < 1e-15 && x[0] == x[2];
  return right ? 0 : 1;
}

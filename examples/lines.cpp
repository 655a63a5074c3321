// SPDX-License-Identifier: BSD-2-Clause
// Many tridiagonal systems at once, without PETSc: one implicit step of diffusion along every line of a grid.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <vector>

#include "oclspkt/solver.hpp"

int main() {
  constexpr oclspkt::Index kLines = 2000, kRows = 512;
  constexpr double kLambda = 10;  // time step times diffusivity over the squared mesh width
  const oclspkt::LineSet lines = oclspkt::LineSet::equal(kLines, kRows);

  try {
    oclspkt::Solver<double> solver;
    oclspkt::Bands<double>& bands = solver.bands(lines);  // filled in place: no copy
    std::fill_n(bands.lower(), lines.extent(), -kLambda);
    std::fill_n(bands.diag(), lines.extent(), 1 + 2 * kLambda);
    std::fill_n(bands.upper(), lines.extent(), -kLambda);
    solver.set_up();

    // A sine wave of line l's own wave number is an eigenvector: the step divides it by 1 + 4 lambda sin^2(angle / 2).
    std::vector<double> before(lines.extent()), after(lines.extent());
    const auto angle = [](oclspkt::Index line) { return std::numbers::pi * (1 + line % 20) / (kRows + 1); };
    for (oclspkt::Index line = 0; line < kLines; ++line) {
      for (oclspkt::Index i = 0; i < kRows; ++i) before[lines.first(line) + i] = std::sin(angle(line) * (i + 1));
    }
    solver.apply(before.data(), after.data());

    double error = 0;
    for (oclspkt::Index line = 0; line < kLines; ++line) {
      const double decay = 1 / (1 + 4 * kLambda * std::pow(std::sin(angle(line) / 2), 2));
      for (oclspkt::Index i = lines.first(line); i < lines.first(line) + kRows; ++i) {
        const double difference = std::abs(after[i] - decay * before[i]);
        if (!(difference <= error)) error = difference;  // NaN is kept
      }
    }
    const oclspkt::Report& report = solver.report();
    std::printf("%s, %s (%s)\non %s (%s)\nlargest error %.3g\n", lines.describe().c_str(), oclspkt::name(report.method),
                report.why.c_str(), report.device.name.c_str(), report.device.why.c_str(), error);
    return error <= 100 * std::numeric_limits<double>::epsilon() ? 0 : 1;
  } catch (const oclspkt::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

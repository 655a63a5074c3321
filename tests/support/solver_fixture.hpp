// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "matrix_algebra.hpp"
#include "oclspkt/solver.hpp"
#include "scalar_test.hpp"
#include "thrown.hpp"

namespace oclspkt::test {

template <typename T>
void set_up(Solver<T>& solver, const Bands<T>& bands, const Known& known = {}) {
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper, known);
}

/// A solver that is set up.
template <typename T>
Solver<T> solver_for(const Bands<T>& bands, const Options& options, const Known& known = {}) {
  Solver<T> solver(options);
  set_up(solver, bands, known);
  return solver;
}

/// What a solver makes of y; places that belong to no line are 7.
template <typename T>
std::vector<T> answer(Solver<T>& solver, const std::vector<T>& y) {
  std::vector<T> x(y.size(), T(7));
  solver.apply(y.data(), x.data());
  return x;
}

/// Componentwise backward error over eps for a random right-hand side.
template <typename T>
double backward_error(Solver<T>& solver, const Bands<T>& bands) {
  const std::vector<T> y = random_vector<T>(bands.lines().extent());
  return componentwise_error(bands, answer(solver, y), y);
}

/// That of the transposed system.
template <typename T>
double transposed_error(Solver<T>& solver, const Bands<T>& bands) {
  const std::vector<T> y = random_vector<T>(bands.lines().extent());
  std::vector<T> x(y.size());
  solver.apply_transpose(y.data(), x.data());
  return componentwise_error(transposed(bands), x, y);
}

/// What tests of the public solver share.
template <typename T>
class SolverFixture : public ::testing::Test {
 protected:
  static constexpr double eps = kEpsOf<T>;

  static void set_up(Solver<T>& solver, const Bands<T>& bands, const Known& known = {}) {
    test::set_up(solver, bands, known);
  }
  static double backward_error(Solver<T>& solver, const Bands<T>& bands) { return test::backward_error(solver, bands); }
};

/// Expect that a solver refuses options after `change`, in a text that holds `word`.
template <typename Change>
void expect_refused(const Change& change, const std::string& word) {
  Options options;
  change(options);
  expect_refusal([&] { const Solver<double> solver(options); }, word);
}

}  // namespace oclspkt::test

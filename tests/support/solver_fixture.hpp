// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "matrices.hpp"
#include "oclspkt/solver.hpp"
#include "residual.hpp"

namespace oclspkt::test {

template <typename T>
void set_up(Solver<T>& solver, const Bands<T>& bands, const Known& known = {}) {
  solver.set_up(bands.lines(), bands.view().lower, bands.view().diag, bands.view().upper, known);
}

/// Componentwise backward error over eps for a random right-hand side.
template <typename T>
double backward_error(Solver<T>& solver, const Bands<T>& bands) {
  const std::vector<T> y = random_vector<T>(bands.lines().extent());
  std::vector<T> x(y.size());
  solver.apply(y.data(), x.data());
  return componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()) /
         static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// What tests of the public solver share.
template <typename T>
class SolverFixture : public ::testing::Test {
 protected:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  static void set_up(Solver<T>& solver, const Bands<T>& bands, const Known& known = {}) {
    test::set_up(solver, bands, known);
  }
  static double backward_error(Solver<T>& solver, const Bands<T>& bands) { return test::backward_error(solver, bands); }
};

/// Expect that a call is refused in a text that holds `word`.
template <typename Call>
void expect_refusal(const Call& call, const std::string& word) {
  try {
    call();
    ADD_FAILURE() << word << " was taken";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

/// Expect that a solver refuses options after `change`, in a text that holds `word`.
template <typename Change>
void expect_refused(const Change& change, const std::string& word) {
  Options options;
  change(options);
  expect_refusal([&] { const Solver<double> solver(options); }, word);
}

}  // namespace oclspkt::test

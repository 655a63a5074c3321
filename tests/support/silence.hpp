// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "hard_matrices.hpp"
#include "line_judge.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt::test {

/// Solves counted by how they ended.
struct Tally {
  int right = 0, reported = 0, wrong = 0;
  double componentwise = 0, normwise = 0;  ///< largest error of a line that is right by it, in eps

  void print(const char* what) const {
    std::printf(
        "%s: %d right (componentwise <= %.1f eps, else normwise <= %.1f eps), %d reported where LAPACK fails, %d "
        "wrong\n",
        what, right, componentwise, normwise, reported, wrong);
  }
};

/// One matrix and the right-hand sides that a solver must not get silently wrong: for each line the componentwise
/// backward error is at most 100 eps or the normwise one at most 10 max(LAPACK's, eps), or the set-up reports a matrix
/// that LAPACK does not manage.
template <typename T>
class Judge {
 public:
  explicit Judge(const HardMatrix& matrix) : name_(matrix.name), bands_(to_bands<T>(matrix)), lines_(matrix.lines()) {
    const LineSet& all = bands_.lines();
    cases_[0].y = random_vector<T>(all.rows());
    cases_[1].y = cases_[0].y;
    if (matrix.extreme) {
      for (T& value : cases_[0].y) value /= 64;
    }
    multiply(all, bands_.view(), cases_[0].y.data(), cases_[1].y.data());
    for (std::size_t i = 0; matrix.extreme && i < matrix.diag.size(); ++i) {
      cases_[0].y[i] *=
          static_cast<T>(std::max({std::abs(matrix.lower[i]), std::abs(matrix.diag[i]), std::abs(matrix.upper[i])}));
    }
    Reference<T> reference;
    reference.factor(all, bands_.view());
    lapack_manages_ = std::none_of(reference.doubts().begin(), reference.doubts().end(),
                                   [](const auto& doubt) { return doubt.singular; });
    std::vector<T> x(cases_[0].y.size());
    for (Case& c : cases_) {
      reference.solve(c.y.data(), x.data());
      for (Index l = 0; l < lines_.count(); ++l) {
        c.lapack.push_back(error(normwise_backward_error<T>, l, x, c.y));
        lapack_manages_ = lapack_manages_ && c.lapack.back() <= 10;
      }
    }
  }

  /// What is wrong, or nothing.
  std::optional<std::string> silently_wrong(const Options& options, Tally& tally) const {
    const std::string name = name_ + ", " + std::to_string(bands_.lines().rows()) + " rows";
    Solver<T> solver(options);
    try {
      solver.set_up(bands_.lines(), bands_.view().lower, bands_.view().diag, bands_.view().upper);
    } catch (const Breakdown& breakdown) {
      ++(lapack_manages_ ? tally.wrong : tally.reported);
      if (!lapack_manages_) return std::nullopt;
      return name + ": reported although LAPACK manages: " + breakdown.what();
    }
    std::vector<T> x(cases_[0].y.size());
    for (const Case& c : cases_) {
      solver.apply(c.y.data(), x.data());
      if (auto wrong = judge(c, x, tally)) {
        ++tally.wrong;
        return name + ": silently wrong by " + oclspkt::name(solver.report().method) + " (" + solver.report().why +
               "), " + *wrong;
      }
      ++tally.right;
    }
    return std::nullopt;
  }

 private:
  /// A right-hand side and what LAPACK makes of it.
  struct Case {
    std::vector<T> y;
    std::vector<double> lapack;  ///< normwise backward error of each line, in eps
  };

  template <typename F>
  double error(const F& f, Index line, const std::vector<T>& x, const std::vector<T>& y) const {
    const Index first = lines_.first(line);
    const BandsView<T> all = bands_.view();
    return f(LineSet::one(lines_.length(line)), {all.lower + first, all.diag + first, all.upper + first},
             x.data() + first, y.data() + first) /
           std::numeric_limits<T>::epsilon();
  }

  std::optional<std::string> judge(const Case& c, const std::vector<T>& x, Tally& tally) const {
    for (Index l = 0; l < lines_.count(); ++l) {
      const double componentwise = error(componentwise_backward_error<T>, l, x, c.y);
      if (componentwise <= 100) {
        tally.componentwise = std::max(tally.componentwise, componentwise);
        continue;
      }
      const double normwise = error(normwise_backward_error<T>, l, x, c.y);
      const double lapack = c.lapack[static_cast<std::size_t>(l)];
      if (!(normwise <= 10 * std::max(lapack, 1.0))) {
        return "line " + std::to_string(l) + ": componentwise " + std::to_string(componentwise) + " eps, normwise " +
               std::to_string(normwise) + " eps, LAPACK " + std::to_string(lapack) + " eps";
      }
      tally.normwise = std::max(tally.normwise, normwise);
    }
    return std::nullopt;
  }

  std::string name_;
  Bands<T> bands_;
  LineSet lines_;  ///< those that are judged each by itself; the solver is given one matrix
  Case cases_[2];  ///< y around 3, and that of a solution around 3
  bool lapack_manages_ = true;
};

}  // namespace oclspkt::test

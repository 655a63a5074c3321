// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdio>

#include "hard_matrices.hpp"
#include "line_judge.hpp"
#include "matrix_algebra.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt::test {

/// Solves counted by how they ended.
struct Tally {
  int right = 0, reported = 0, wrong = 0;
  Accepted accepted;

  void print(const char* what) const {
    std::printf(
        "%s: %d right (componentwise <= %.1f eps, else normwise <= %.1f eps), %d reported where LAPACK fails, %d "
        "wrong\n",
        what, right, accepted.componentwise, accepted.normwise, reported, wrong);
  }
};

/// One matrix and two right-hand sides that a solver must not get silently wrong: its answers are right (see
/// LineJudge), or the set-up reports a matrix that LAPACK does not manage.
template <typename T>
class Judge {
 public:
  explicit Judge(const HardMatrix& matrix) : name_(matrix.name), bands_(to_bands<T>(matrix)) {
    const LineSet whole = bands_.lines();
    rough_ = smooth_ = random_vector<T>(whole.rows());
    for (std::size_t i = 0; matrix.extreme && i < matrix.diag.size(); ++i) {
      smooth_[i] /= 64;
      rough_[i] *= static_cast<T>(
          std::max({std::abs(matrix.lower[i]), std::abs(matrix.diag[i]), std::abs(matrix.upper[i])}) / 64);
    }
    smooth_ = product(bands_, smooth_);
    bands_.relabel(matrix.lines());  // each line is judged by itself; the solver is given one matrix
    judges_.emplace_back(bands_, rough_);
    judges_.emplace_back(bands_, smooth_);
    lapack_manages_ = judges_[0].lapack_manages() && judges_[1].lapack_manages();
  }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// What is wrong, or nothing.
  std::optional<std::string> silently_wrong(const Options& options, Tally& tally) const {
    const Index rows = bands_.lines().rows();
    const std::string name = name_ + ", " + std::to_string(rows) + " rows";
    Solver<T> solver(options);
    try {
      solver.set_up(LineSet::one(rows), bands_.view().lower, bands_.view().diag, bands_.view().upper);
    } catch (const Breakdown& breakdown) {
      ++(lapack_manages_ ? tally.wrong : tally.reported);
      if (!lapack_manages_) return std::nullopt;
      return name + ": reported although LAPACK manages: " + breakdown.what();
    }
    std::vector<T> x(rough_.size());
    for (const LineJudge<T>& judge : judges_) {
      solver.apply((&judge == &judges_.front() ? rough_ : smooth_).data(), x.data());
      if (const auto wrong = judge.wrong(x.data(), 0, false, &tally.accepted)) {
        ++tally.wrong;
        return name + ": silently wrong by " + oclspkt::name(solver.report().method) + " (" + solver.report().why +
               "), " + *wrong;
      }
      ++tally.right;
    }
    return std::nullopt;
  }

 private:
  std::string name_;
  Bands<T> bands_;
  std::vector<T> rough_, smooth_;  ///< y around 3, and that of a solution around 3
  std::vector<LineJudge<T>> judges_;
  bool lapack_manages_ = false;
};

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#include "hard_matrices.hpp"

#include <gtest/gtest.h>

#include "silence.hpp"

namespace oclspkt {
namespace {

/// Every size and kind of matrix on the host.
class HardMatrices : public ::testing::Test {
 protected:
  void expect_never_silently_wrong(const test::HardMatrix& matrix) {
    expect_right(test::Judge<double>(matrix));
    expect_right(test::Judge<float>(matrix));
  }
  void TearDown() override { tally_.print("host"); }

 private:
  template <typename T>
  void expect_right(const test::Judge<T>& judge) {
    Options options;
    options.devices = "host";
    const auto wrong = judge.silently_wrong(options, tally_);
    EXPECT_FALSE(wrong.has_value()) << *wrong;
  }
  test::Tally tally_;
};

TEST_F(HardMatrices, OfTheTwentyNoneIsSilentlyWrong) {
  for (const Index n : {3, 31, 32, 33, 512, 513}) {
    for (int id = 1; id <= 20; ++id) {
      if (!test::is_dense(id) || n <= test::kMostDenseRows) expect_never_silently_wrong(test::klein_strzodka(id, n));
    }
  }
}

TEST_F(HardMatrices, OfApplicationsNoneIsSilentlyWrong) {
  for (const Index n : {1, 2, 3, 31, 32, 33, 997, 20000}) {
    for (const test::HardMatrix& matrix : test::applications(n)) expect_never_silently_wrong(matrix);
  }
}

TEST_F(HardMatrices, OfGluedLinesNoneIsSilentlyWrong) { expect_never_silently_wrong(test::glued_lines(1000, 16)); }

TEST_F(HardMatrices, HaveTheSingularValuesAskedFor) {
  // The product of the singular values is |det|, which the reflectors keep: geometric ones give 1e15^(-n/2).
  const Index n = 6;
  const test::HardMatrix m = test::klein_strzodka(9, n);
  double before = 0, det = 1;  // continuants
  for (std::size_t i = 0; i < 6; ++i) {
    const double next = m.diag[i] * det - (i > 0 ? m.lower[i] * m.upper[i - 1] * before : 0);
    before = det;
    det = next;
  }
  EXPECT_NEAR(std::log10(std::abs(det)), -15.0 * 6 / 2, 1);
}

}  // namespace
}  // namespace oclspkt

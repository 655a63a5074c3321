// SPDX-License-Identifier: BSD-2-Clause
#include "silence.hpp"

#include <cstdlib>

#include "every_device.hpp"

namespace oclspkt {
namespace {

class Silence : public ::testing::Test {
 protected:
  /// Rows a partition has where nothing decides, and those of a tile of 8 of them: the sizes where edges are.
  static constexpr Index kPartition = 16 * 31, kTile = 8 * kPartition;

  void expect_never_silently_wrong(const test::HardMatrix& matrix) {
    expect_right(test::Judge<double>(matrix));
    expect_right(test::Judge<float>(matrix));
  }
  template <typename T>
  void expect_right(const test::Judge<T>& judge) {
    test::with_every_device([&](const Options& options) {
      const auto wrong = judge.silently_wrong(options, tally_);
      EXPECT_FALSE(wrong.has_value()) << *wrong;
    });
  }
  void TearDown() override { tally_.print("all devices"); }

 private:
  test::Tally tally_;
};

TEST_F(Silence, OfTheTwentyNoneIsWrong) {
  for (const Index n : {Index{3}, Index{31}, Index{32}, Index{33}, Index{512}, Index{513}, kPartition - 1, kPartition,
                        kPartition + 1, kTile + 1, kTile + 2, Index{7919}}) {
    for (int id = 1; id <= 20; ++id) {
      if (!test::is_dense(id) || n <= test::kMostDenseRows) expect_never_silently_wrong(test::klein_strzodka(id, n));
    }
  }
}

TEST_F(Silence, OfApplicationsNoneIsWrong) {
  for (const Index n : {Index{1}, Index{2}, Index{3}, Index{31}, Index{32}, Index{33}, kPartition - 1, kPartition,
                        kPartition + 1, Index{997}, kTile + 1, kTile + 2, Index{20011}}) {
    for (const test::HardMatrix& matrix : test::applications(n)) expect_never_silently_wrong(matrix);
  }
}

TEST_F(Silence, OfExtremesNoneIsWrong) {
  for (const Index n : {1, 2, 33, 997, 20000}) {
    for (const test::HardMatrix& matrix : test::extremes<double>(n)) expect_right(test::Judge<double>(matrix));
    for (const test::HardMatrix& matrix : test::extremes<float>(n)) expect_right(test::Judge<float>(matrix));
  }
}

TEST_F(Silence, OfGluedLinesNoneIsWrong) { expect_never_silently_wrong(test::glued_lines(1000, 64)); }

// By themselves: they take long (see CMakeLists.txt). With OCLSPKT_MANY_ROWS=1000000 they take thirty times as long.
class SilenceOfManyRows : public Silence {
 protected:
  static Index many() {
    const char* text = std::getenv("OCLSPKT_MANY_ROWS");
    return text != nullptr ? std::stol(text) : 30'000;
  }
};

TEST_F(SilenceOfManyRows, OfTheTwentyNoneIsWrong) {
  for (int id = 1; id <= 20; ++id) {
    if (!test::is_dense(id)) expect_never_silently_wrong(test::klein_strzodka(id, many()));
  }
}

TEST_F(SilenceOfManyRows, OfApplicationsNoneIsWrong) {
  for (const test::HardMatrix& matrix : test::applications(many())) expect_never_silently_wrong(matrix);
}

}  // namespace
}  // namespace oclspkt

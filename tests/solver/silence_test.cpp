// SPDX-License-Identifier: BSD-2-Clause
#include "silence.hpp"

#include <gtest/gtest.h>

#include "every_device.hpp"

namespace oclspkt {
namespace {

template <typename T>
void expect_never_silently_wrong(const test::HardMatrix& matrix) {
  test::with_every_device([&](const Options& options) {
    for (const bool smooth : {false, true}) {
      const auto wrong = test::silently_wrong<T>(matrix, options, smooth);
      EXPECT_FALSE(wrong.has_value()) << *wrong;
    }
  });
}

TEST(Silence, OfTheTwentyNoneIsWrong) {
  for (int id = 1; id <= 20; ++id) {
    const test::HardMatrix matrix = test::klein_strzodka(id, 512);
    expect_never_silently_wrong<double>(matrix);
    expect_never_silently_wrong<float>(matrix);
  }
}

TEST(Silence, OfApplicationsNoneIsWrong) {
  for (const Index n : {1, 2, 3, 31, 32, 33, 997, 20000}) {
    for (const test::HardMatrix& matrix : test::applications(n)) {
      expect_never_silently_wrong<double>(matrix);
      expect_never_silently_wrong<float>(matrix);
    }
  }
}

TEST(Silence, OfManyRowsNoneIsWrong) {
  for (const test::HardMatrix& matrix : test::applications(200000)) {
    expect_never_silently_wrong<double>(matrix);
    expect_never_silently_wrong<float>(matrix);
  }
}

}  // namespace
}  // namespace oclspkt

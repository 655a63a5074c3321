// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::run_program;

TEST(WeakLineCommand, SolvesBothSidesAndSaysWhichLineFallsBack) {
  for (const char* weak : {"poisson", "indefinite", "pivot"}) {
    const auto run =
        run_program(std::string("weak-line --allow-debug --device host --lines 300 --repetitions 3 --weak ") + weak);
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_NE(run.output.find("300 lines"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("medians of ratios: set-up "), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("1 line by pivot") != std::string::npos, std::string(weak) != "poisson") << run.output;
  }
}

TEST(WeakLineCommand, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(run_program("weak-line --weak strong").output.find("--weak takes poisson indefinite pivot"),
            std::string::npos);
  EXPECT_EQ(run_program("weak-line --lines 0").status, 2);
  EXPECT_EQ(run_program("weak-line --precision half").status, 2);
}

}  // namespace
}  // namespace oclspkt::bench

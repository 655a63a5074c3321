// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "program.hpp"

namespace oclspkt::bench {
namespace {

TEST(SolveCommandOnADevice, RunsStreamAndKernelsOnTheSameDevice) {
  for (const std::string precision : {"float", "double"}) {
    const test::JsonFile file;
    const auto run = test::run_program("solve --allow-debug --device cpu --rows 1e5 --repetitions 3 --precision " +
                                       precision + " --json " + file.path());
    ASSERT_EQ(run.status, 0) << run.output;
    const auto json = file.read();
    const std::string device = json["provenance"]["device"];
    EXPECT_EQ(json["provenance"]["device_type"], "cpu");
    EXPECT_NE(json["provenance"]["platform"], "");
    int on_device = 0;
    for (const auto& r : json["results"]) {
      const bool ours_on_device = r["solver"] == "oclspkt" && r["method"] != "pivot";
      const bool expected = ours_on_device || r["variant"] == "opencl";
      EXPECT_EQ(r["device"] == device, expected) << r;
      on_device += expected;
      EXPECT_GT(r["seconds"].get<double>(), 0) << r;
    }
    EXPECT_EQ(on_device, 4);
  }
}

}  // namespace
}  // namespace oclspkt::bench

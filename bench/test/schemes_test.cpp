// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-schemes, on CPUs, where its kernels for GPUs only have to be right.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::JsonFile;
using test::run_program;

constexpr const char* kTiny = " --allow-debug --sizes 2e3 --applies 2 --seconds 60 --total 600 ";

/// Every record of a file is whole, no answer is wrong. @return how often each scheme was right
std::map<std::string, int> check_records(const nlohmann::json& json) {
  std::map<std::string, int> right;
  for (const auto& c : json["results"]) {
    EXPECT_FALSE(c["schemes"].empty()) << c;
    for (const auto& r : c["schemes"]) {
      const std::string outcome = r["outcome"];
      EXPECT_TRUE(outcome != "failed" && outcome != "wrong" && outcome != "no time") << c["matrix"] << r;
      if (outcome != "timed" && outcome != "slow") continue;
      EXPECT_GT(r["first_set_up_seconds"].get<double>(), 0) << r;
      EXPECT_GT(r["later_set_up_seconds"].get<double>(), 0) << r;
      EXPECT_GT(r["apply_seconds"].get<double>(), 0) << r;
      EXPECT_LE(r["backward_error_eps"].get<double>(), 10) << r;
      ++right[r["scheme"].get<std::string>()];
    }
  }
  return right;
}

TEST(SchemesProgram, TimesEverySchemeOfACpu) {
  const JsonFile file;
  const auto run = run_program(file.path() + " --device cpu --only d3" + kTiny);
  ASSERT_EQ(run.status, 0) << run.output;
  const auto json = file.read();
  const auto right = check_records(json);
  for (const char* scheme : {"lanes-halo", "lanes-paper", "lanes-streamed", "lanes-twopass", "beside-halo",
                             "beside-factored", "host-pivot"}) {
    EXPECT_GT(right.count(scheme), 0U) << scheme << "\n" << run.output;
  }
  EXPECT_EQ(json["provenance"]["vectors"], "host");
  EXPECT_GE(json["all_schemes"].size(), right.size());
  EXPECT_TRUE(json["left_out"].empty());
}

TEST(SchemesProgram, SteersAmongKernelsForGpus) {
  const JsonFile file;
  const auto run = run_program(file.path() + " --device cpu --variant gpu --only d3" + kTiny);
  ASSERT_EQ(run.status, 0) << run.output;
  const auto right = check_records(file.read());
  for (const char* scheme : {"tiles-halo", "tiles-streamed", "tiles-twopass", "grids-whole", "grids-factored"}) {
    EXPECT_GT(right.count(scheme), 0U) << scheme << "\n" << run.output;
  }
}

TEST(SchemesProgram, SteersAmongKernelsForFpgas) {
  const JsonFile file;
  const auto run = run_program(file.path() + " --device cpu --variant fpga --only d3" + kTiny);
  ASSERT_EQ(run.status, 0) << run.output;
  const auto right = check_records(file.read());
  for (const char* scheme : {"fpga-spktrunc", "fpga-spkboth", "fpga-spkjac", "fpga-tdma", "fpga-batch"}) {
    EXPECT_GT(right.count(scheme), 0U) << scheme << "\n" << run.output;
  }
}

TEST(SchemesProgram, TellsWhatIsRefusedAndWhatHoldsOnTheHost) {
  const JsonFile file;
  const auto run = run_program(file.path() + " --device host --only d0.5,\\ x64" + kTiny);
  ASSERT_EQ(run.status, 0) << run.output;
  const auto json = file.read();
  std::set<std::string> outcomes;
  ASSERT_FALSE(json["results"].empty());
  for (const auto& r : json["results"][0]["schemes"]) {
    EXPECT_EQ(r["where"], "host");
    outcomes.insert(r["scheme"].get<std::string>() + " " + r["outcome"].get<std::string>());
  }
  EXPECT_EQ(outcomes.count("host-pivot timed"), 1U) << run.output;
}

TEST(SchemesProgram, LeavesOutWhatThereIsNoTimeFor) {
  const JsonFile file;
  const auto run = run_program(file.path() + " --device host --allow-debug --sizes 2e3 --only poisson --total 0");
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_TRUE(file.read()["results"].empty());
  EXPECT_FALSE(file.read()["left_out"].empty());
}

/// The shapes of tiles-halo in a file of results.
std::string shapes_of_tiles(const nlohmann::json& json) {
  std::string shapes;
  for (const auto& c : json["results"]) {
    for (const auto& r : c["schemes"]) {
      if (r["scheme"] == "tiles-halo") shapes += r.value("shape", "") + "\n";
    }
  }
  return shapes;
}

TEST(SchemesProgram, WritesFiguresThatAreReadBackAndChangePlans) {
  const JsonFile results;
  const std::string begun = results.path() + ".conf", tuned = results.path() + ".tuned";
  const std::string figures = "tiles.shapes [items item_rows rows] = 64 8 1048576\n";
  const std::string cases = " --device cpu --variant gpu --only d3,\\ one ";
  std::ofstream(begun) << "devices = AMD, Intel, cpu, pthread\n" << figures;
  ASSERT_EQ(run_program(results.path() + cases + kTiny).status, 0);
  const std::string usual = shapes_of_tiles(results.read());

  ::setenv("OCLSPKT_TUNING", begun.c_str(), 1);
  const auto tune = run_program(tuned + " --tune --allow-debug --sizes 2e3 --total 0" + cases);
  EXPECT_EQ(tune.status, 0) << tune.output;
  std::ostringstream text;
  text << std::ifstream(tuned).rdbuf();
  EXPECT_NE(text.str().find("\ndevices = "), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("\n" + figures), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("tiles.kept"), std::string::npos) << "what the library has itself: " << text.str();

  ::setenv("OCLSPKT_TUNING", tuned.c_str(), 1);
  ASSERT_EQ(run_program(results.path() + cases + kTiny).status, 0);
  EXPECT_EQ(usual.find("64 x 8 rows"), std::string::npos) << usual;
  EXPECT_NE(shapes_of_tiles(results.read()).find("64 x 8 rows"), std::string::npos);

  ::setenv("OCLSPKT_TUNING", "/nowhere/figures", 1);
  const auto bad = run_program(tuned + " --tune --allow-debug --sizes 2e3" + cases);
  EXPECT_EQ(bad.status, 2) << bad.output;
  EXPECT_NE(bad.output.find("OCLSPKT_TUNING names /nowhere/figures, which cannot be read"), std::string::npos);
  ::unsetenv("OCLSPKT_TUNING");
  std::filesystem::remove(begun);
  std::filesystem::remove(tuned);
}

TEST(SchemesProgram, SaysWhatItWants) {
  const struct {
    const char *arguments, *message;
    int status;
  } cases[] = {{"--help", "--total", 0},
               {"--list --sizes 1e4", "lambda1e2, x512, 10000, double", 0},
               {"/dev/null --device no-such-card --allow-debug", "no device matches 'no-such-card'", 2},
               {"no-such-folder/x.json --allow-debug", "folder that exists", 2},
               {"x.json --variant paper", "--variant takes default, cpu, gpu or fpga", 2},
               {"x.json --sizes 1", "--sizes takes numbers from 64", 2}};
  for (const auto& c : cases) {
    const auto run = run_program(c.arguments);
    EXPECT_EQ(run.status, c.status) << c.arguments;
    EXPECT_NE(run.output.find(c.message), std::string::npos) << c.arguments << "\n" << run.output;
  }
}

}  // namespace
}  // namespace oclspkt::bench

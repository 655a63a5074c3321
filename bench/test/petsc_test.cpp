// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::JsonFile;
using test::run_program;

constexpr const char* kTiny = "petsc -allow_debug -rows 3000 -grid 9 -repetitions 3 -oclspkt_pc_oclspkt_devices host ";

TEST(PetscCommand, TimesSetUpAndSolveOfEverybodyWithARightAnswer) {
  const JsonFile file;
  const auto run = run_program(kTiny + ("-json " + file.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  const auto json = file.read();
  std::map<std::string, std::multiset<std::string>> solvers;
  for (const auto& r : json["results"]) {
    solvers[r["lines"]].insert(r["solver"]);
    EXPECT_EQ(r["rounds"], 3) << r;
    EXPECT_EQ(r["note"], "") << r;
    for (const char* key : {"first_setup_seconds", "setup_seconds", "seconds", "step_seconds"}) {
      EXPECT_GE(r[key].get<double>(), 0) << r;
    }
    if (r["solver"] == "none") continue;
    EXPECT_GT(r["seconds"].get<double>(), 0) << r;
    EXPECT_LE(r["backward_error"].get<double>(), 2.3e-14) << r;
  }
  const std::multiset<std::string> grid{"oclspkt", "oclspkt from bands", "ilu", "none"};
  EXPECT_EQ(solvers["one line"], (std::multiset<std::string>{"oclspkt", "ilu", "lu", "none"}));
  for (const char* axis : {"x of 9^3", "y of 9^3", "z of 9^3"}) EXPECT_EQ(solvers[axis], grid) << axis;
}

TEST(PetscCommand, ComparesWithIluTheBareExtractionAndTheWorkOfGmres) {
  const JsonFile file;
  const auto run = run_program(kTiny + ("-json " + file.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  std::set<std::string> ratios;
  const auto json = file.read();
  for (const auto& r : json["ratios"]) {
    EXPECT_GT(r["value"].get<double>(), 0) << r;
    ratios.insert(r["lines"].get<std::string>() + ": " + r["ratio"].get<std::string>());
  }
  for (const char* wanted :
       {"one line: set-up, ours over ilu", "one line: solve, ours over lu",
        "one line: set-up, ours over bare extraction", "one line: GMRES over its own work and our applies",
        "z of 9^3: step, ours over ilu", "x of 9^3: step, ours over oclspkt from bands"}) {
    EXPECT_EQ(ratios.count(wanted), 1U) << wanted;
  }
}

TEST(PetscCommand, RefusesWhatItCannotDo) {
  for (const char* arguments : {"-repetitions 0", "-grid -1", "-rows -1", "-json no-such-folder/x.json"}) {
    EXPECT_NE(run_program(std::string(kTiny) + arguments).status, 0) << arguments;
  }
}

}  // namespace
}  // namespace oclspkt::bench

// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <set>

#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::JsonFile;
using test::run_program;

constexpr const char* kTiny = "-allow_debug -size 12 -steps 4 -repetitions 3 -lambdas 1,10 -pc_oclspkt_devices host ";

TEST(Adi, TimesEverybodyWithAnErrorThatWasAllowed) {
  const JsonFile file;
  const auto run = run_program(kTiny + ("-json " + file.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  const auto json = file.read();
  ASSERT_EQ(json["results"].size(), 2U);
  for (const auto& round : json["results"]) {
    std::multiset<std::string> solvers;
    for (const auto& c : round["contestants"]) {
      solvers.insert(c["solver"]);
      EXPECT_EQ(c["repetitions"], 3) << c;
      EXPECT_GT(c["seconds"].get<double>(), 0) << c;
      if (c["solver"] == "oclspkt factored") continue;
      EXPECT_LE(c["error"].get<double>(), c["allowed_error"].get<double>()) << c;
    }
    EXPECT_EQ(solvers, (std::multiset<std::string>{"cg gamg", "cg icc", "cg ilu", "oclspkt factored"}));
    // The plugin's error is that of the factored form and nothing else.
    const double own = round["factored_error"].get<double>();
    EXPECT_NEAR(round["contestants"][0]["error"].get<double>(), own, 1e-11);
    EXPECT_GT(own, 1e-6);
    EXPECT_GT(round["ratio"].get<double>(), 0);
  }
}

TEST(Adi, ShowsTheFactoredApplyBesideItsDirections) {
  const JsonFile file;
  const auto run = run_program(kTiny + ("-json " + file.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  const auto applies = file.read()["applies"];
  for (const char* key : {"factored_seconds", "x_seconds", "y_seconds", "z_seconds", "ratio"}) {
    EXPECT_GT(applies[key].get<double>(), 0) << key;
  }
  int words = 0;
  for (const std::string line : applies["view"]) words += line.find("words a row") != std::string::npos;
  EXPECT_EQ(words, 3) << applies;
}

TEST(Adi, RefusesWhatItCannotDo) {
  const char* const cases[] = {"-size 1", "-steps 0", "-repetitions 0", "-lambdas -1", "-json no-such-folder/x.json"};
  for (const char* arguments : cases) EXPECT_NE(run_program(std::string(kTiny) + arguments).status, 0) << arguments;
}

}  // namespace
}  // namespace oclspkt::bench

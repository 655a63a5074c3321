// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <set>

#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::JsonFile;
using test::run_program;

constexpr const char* kTinyLines = "lines --allow-debug --device host --repetitions 3 --rows 4000 ";

TEST(LinesCommand, SolvesEveryAxisAndLengthInEveryForm) {
  for (const std::string precision : {"float", "double"}) {
    const JsonFile file;
    const auto run = run_program(
        kTinyLines + ("--grids 8,9 --lengths 1,16,1000 --precision " + precision + " --json " + file.path()));
    ASSERT_EQ(run.status, 0) << run.output;
    const auto json = file.read();
    std::set<std::string> seen;
    for (const auto& r : json["results"]) {
      EXPECT_EQ(r["outcome"], "timed") << r;
      EXPECT_EQ(r["scalar"], precision);
      const bool floats = precision == "float" || r["bands"] == "narrow";
      EXPECT_LE(r["backward_error"].get<double>(), floats ? 1e-5 : 1e-14) << r;
      if (r["solver"] == "oclspkt") seen.insert(r["lines"].get<std::string>() + ", " + r["bands"].get<std::string>());
    }
    EXPECT_EQ(seen.size(), (precision == "float" ? 3U : 4U) * (2 * 3 + 3));
    EXPECT_EQ(seen.count("z of 9^3, shared"), 1U);
    EXPECT_EQ(seen.count("16 rows, end to end, general"), 1U);
  }
}

TEST(LinesCommand, FindsSharedBandsAndComparesDirections) {
  const JsonFile file;
  const auto run = run_program(kTinyLines + ("--grids 12 --lengths 20 --json " + file.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  const auto json = file.read();
  for (const auto& r : json["results"]) {
    const bool ours = r["solver"] == "oclspkt";
    // The host makes nothing of symmetry, nor of floats.
    EXPECT_EQ(r["form"], ours && r["bands"] == "shared" ? "shared" : "general") << r;
    EXPECT_EQ(r["line_length"], ours ? (r["rows"] == 1728 ? 12 : 20) : 0) << r;
  }
  std::multiset<std::string> ratios;
  for (const auto& r : json["ratios"]) {
    ratios.insert(r["ratio"]);
    EXPECT_GT(r["value"].get<double>(), 0) << r;
  }
  EXPECT_EQ(ratios, (std::multiset<std::string>{"narrow/general",
                                                "narrow/general",
                                                "narrow/general",
                                                "narrow/general",
                                                "shared/general",
                                                "shared/general",
                                                "shared/general",
                                                "shared/general",
                                                "symmetric/general",
                                                "symmetric/general",
                                                "symmetric/general",
                                                "symmetric/general",
                                                "y/x",
                                                "y/x",
                                                "y/x",
                                                "y/x",
                                                "z/x",
                                                "z/x",
                                                "z/x",
                                                "z/x"}));
  EXPECT_NE(run.output.find("auto y of 12^3, general bands, y/x: "), std::string::npos) << run.output;
}

TEST(LinesCommand, RefusesWhatItCannotDo) {
  const struct {
    const char *arguments, *message;
  } cases[] = {
      {"--grids 0", "--grids must be a whole number"},         {"--grids 5000", "at most 4096"},
      {"--lengths x", "--lengths must be a whole number"},     {"--precision half", "float or double"},
      {"--repetitions 0", "--repetitions must be at least 1"}, {"--json no-such-folder/x.json", "folder that exists"},
  };
  for (const auto& c : cases) {
    const auto run = run_program(std::string("lines --allow-debug --device host ") + c.arguments);
    EXPECT_EQ(run.status, 2) << c.arguments;
    EXPECT_NE(run.output.find(c.message), std::string::npos) << c.arguments << "\n" << run.output;
  }
}

}  // namespace
}  // namespace oclspkt::bench

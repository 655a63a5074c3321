// SPDX-License-Identifier: BSD-2-Clause
#include "sweep.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "peers.hpp"
#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::JsonFile;
using test::run_program;

constexpr const char* kTinySweep = "sweep --allow-debug --repetitions 3 --from 10 --to 1e3 ";

TEST(SweepSizes, AreEvenByLogarithmAndHoldBothEnds) {
  EXPECT_EQ(sweep_sizes(10, 10000, 1), (std::vector<Index>{10, 100, 1000, 10000}));
  EXPECT_EQ(sweep_sizes(10, 200, 2), (std::vector<Index>{10, 32, 100, 200}));
  EXPECT_EQ(sweep_sizes(1, 3, 20).front(), 1);
  EXPECT_EQ(sweep_sizes(1, 3, 20).back(), 3);
  EXPECT_EQ(sweep_sizes(7, 7, 1), (std::vector<Index>{7}));
}

TEST(GroupsThatFit, HoldEverybodyOnceAndTheStreamEach) {
  const std::vector<std::string> names{"stream", "gtsv", "exact-factored@host", "thomas"};
  EXPECT_EQ(groups_that_fit(names, 1000, 8), (std::vector<std::vector<std::string>>{names}));
  EXPECT_TRUE(groups_that_fit(names, Index(1) << 40, 8).empty());
  // With ever larger scalars all fit, then some together, then nobody.
  bool cut = false;
  for (double bytes = 1; !groups_that_fit(names, 1'000'000, bytes).empty(); bytes *= 1.1) {
    const auto groups = groups_that_fit(names, 1'000'000, bytes);
    std::multiset<std::string> all;
    for (const auto& group : groups) {
      EXPECT_EQ(group.front(), "stream");
      all.insert(group.begin() + 1, group.end());
    }
    cut = cut || groups.size() > 1;
    for (const auto& name : names) EXPECT_LE(all.count(name), 1U);
    const bool whole = groups.size() == 1 && groups[0] == names;
    EXPECT_FALSE(whole && cut) << "more fit into less";
  }
  EXPECT_TRUE(cut);
}

TEST(SweepCommand, TimesEverybodyAtEverySizeInBothPrecisions) {
  const JsonFile file;
  const auto run = run_program(kTinySweep + ("--device host --json " + file.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  std::map<std::string, int> sizes;
  const auto json = file.read();
  for (const auto& r : json["results"]) {
    if (r["outcome"] == "absent") continue;
    EXPECT_EQ(r["outcome"], "timed") << r;
    EXPECT_GT(r["seconds"].get<double>(), 0) << r;
    ++sizes[r["scalar"].get<std::string>() + std::to_string(r["rows"].get<int>())];
  }
  EXPECT_EQ(sizes.size(), 6U);
  for (const auto& [size, count] : sizes) EXPECT_GE(count, 1 + 2 + 4) << size;
}

TEST(SweepCommand, SaysOnceWhoIsAbsent) {
  const auto run = run_program(kTinySweep + std::string("--device host --methods pttrs,gtsv --precisions double"));
  ASSERT_EQ(run.status, 0) << run.output;
  const std::string text = "the matrix is not symmetric";
  const auto first = run.output.find(text);
  ASSERT_NE(first, std::string::npos) << run.output;
  EXPECT_EQ(run.output.find(text, first + 1), std::string::npos) << run.output;
}

TEST(SweepCommand, RefusesWhatItCannotDo) {
  const struct {
    const char *arguments, *message;
  } cases[] = {
      {"--from 0", "--from must be a whole number"},
      {"--from 100 --to 10", "--from must not be above --to"},
      {"--per-decade 0", "at least 1"},
      {"--precisions float,half", "float or double"},
      {"--methods magic", "there is no method 'magic'"},
      {"--matrix poisson --lambda 3", "belongs to --matrix diffusion"},
      {"--json no-such-folder/x.json", "folder that exists"},
  };
  for (const auto& c : cases) {
    const auto run = run_program(std::string("sweep --allow-debug --device host ") + c.arguments);
    EXPECT_EQ(run.status, 2) << c.arguments;
    EXPECT_NE(run.output.find(c.message), std::string::npos) << c.arguments << "\n" << run.output;
  }
}

}  // namespace
}  // namespace oclspkt::bench

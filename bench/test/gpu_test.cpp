// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-gpu, on a CPU where it has to solve: figures mean nothing there, but everything else is the same.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cases.hpp"
#include "oclspkt/error.hpp"
#include "program.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace oclspkt::bench::gpu {
namespace {

using test::JsonFile;
using test::run_program;

Settings parse(std::vector<std::string> words) {
  words.insert(words.begin(), "/somewhere/oclspkt-bench-gpu");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  optind = 0;  // getopt begins anew
  return *parse_settings(static_cast<int>(arguments.size()), arguments.data());
}

TEST(GpuSettings, TakesListsAndNumbersWithExponents) {
  const Settings s = parse({"x.json", "--cases", "small,lines", "--rows=1e4,2.7e8", "--matrices", "poisson,d1.01",
                            "--methods", "auto,exact", "--scalars", "double", "--seconds", "0.5"});
  EXPECT_EQ(s.file, "x.json");
  EXPECT_TRUE(s.small_systems && s.lines && !s.long_systems);
  EXPECT_EQ(s.rows, (std::vector<Index>{10'000, 270'000'000}));
  EXPECT_EQ(s.matrices, (std::vector<std::string>{"poisson", "d1.01"}));
  EXPECT_EQ(s.methods, (std::vector<MethodChoice>{MethodChoice::automatic, MethodChoice::exact}));
  EXPECT_EQ(s.scalars, std::vector<std::string>{"double"});
  EXPECT_EQ(s.seconds, 0.5);
}

TEST(GpuSettings, NameNoFolderInTheCommandOfTheRecords) {
  std::string words[] = {"/somewhere/oclspkt-bench-gpu", "/elsewhere/x.json", "--rows", "1e4"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data()};
  Settings s;
  s.file = "/elsewhere/x.json";
  EXPECT_EQ(command_of(4, arguments, s.file), "oclspkt-bench-gpu FILE --rows 1e4");
}

TEST(GpuSettings, RefuseWhatTheyDoNotKnow) {
  const struct {
    std::vector<std::string> words;
    const char* message;
  } cases[] = {{{"x", "--cases", "short"}, "--cases takes words of: small, long, lines; not 'short'"},
               {{"x", "--rows", "0"}, "--rows takes numbers from 1"},
               {{"x", "--rows", "many"}, "not 'many'"},
               {{"x", "--methods", "thomas"}, "--methods takes words of: auto"},
               {{"x", "--repetitions", "0"}, "--repetitions takes numbers from 1"},
               {{"x", "--scalars", ""}, "at least one word"},
               {{"x", "y"}, "name one file"},
               {{}, "name one file"}};
  for (const auto& c : cases) {
    try {
      parse(c.words);
      ADD_FAILURE() << c.message;
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
}

TEST(GpuCases, TimeNamedMethodsAtOneSizeOnly) {
  Settings s = parse({"x", "--cases", "small,long", "--rows", "1e4,1e7,1e8", "--matrices", "d3,lambda1e4"});
  const std::vector<Case> cases = make_cases(s);
  EXPECT_EQ(cases.size(), 2U * 2 * 3);
  for (const Case& c : cases) {
    EXPECT_EQ(c.methods.size(), c.lines.rows() == 100'000'000 ? 5U : 1U);
    EXPECT_EQ(c.repetitions, c.lines.rows() == 10'000 ? 35 : 7);
  }
  s.methods = {MethodChoice::exact};
  EXPECT_EQ(make_cases(s).size(), 2U * 2);
}

TEST(GpuCases, LinesLieAlongEveryAxisInEveryForm) {
  const Settings s = parse({"x", "--cases", "lines", "--line-rows", "1e6", "--lengths", "64,4096"});
  std::set<std::string> seen;
  for (const Case& c : make_cases(s)) {
    EXPECT_GT(c.lines.rows(), 900'000) << c.describe();
    EXPECT_LE(c.lines.rows(), 1'000'000) << c.describe();
    EXPECT_TRUE(c.lines.length(0) == 64 || c.lines.length(0) == 4096);
    EXPECT_EQ(c.lines.contiguous(), c.place == "end to end");
    seen.insert(c.place.substr(0, 1) + " " + c.bands + " " + (c.is_double ? "double" : "float"));
  }
  EXPECT_EQ(seen.size(), 3U * (4 + 3));
  std::string place;
  EXPECT_EQ(grid_lines(1, 1024, 30'000'000, place), LineSet::grid_axis(1, 512, 1024, 57));
  EXPECT_EQ(place, "y of 512 x 1024 x 57");
  EXPECT_EQ(grid_lines(2, 65536, 30'000'000, place), LineSet::grid_axis(2, 448, 1, 65536));
}

DeviceRecord example() {
  DeviceRecord r;
  r.rows = 1000;
  r.seconds = {2, 4, 3};
  r.stream_seconds = {1, 2, 1.5};
  r.own_stream_seconds = {0.5, 1, 0.75};
  r.own_words = 4;
  r.backward_error_eps = 0.5;
  return r;
}

TEST(GpuReport, SharesAreOfStreamsTimedInTheSameRound) {
  const auto json = to_json(example());
  EXPECT_EQ(json["share_of_stream"], 0.5);
  EXPECT_EQ(json["share_of_own_stream"], 0.25);
  EXPECT_EQ(json["seconds"], 3.0);
  EXPECT_EQ(json["rounds"]["seconds"], (std::vector<double>{2, 4, 3}));
  EXPECT_TRUE(json["end_to_end_seconds"].is_null());
  EXPECT_NE(describe(example()).find("0.500 of stream"), std::string::npos);
}

TEST(GpuReport, AWrongAnswerHasNoTimes) {
  for (const double error : {11.0, std::nan("")}) {
    DeviceRecord r = example();
    r.backward_error_eps = error;
    EXPECT_FALSE(judge(r));
    drop_times_unless_timed(r);
    EXPECT_TRUE(is_bad(r));
    const auto json = to_json(r);
    EXPECT_EQ(json["outcome"], "wrong");
    for (const char* key : {"seconds", "rows_per_second", "share_of_stream", "stream_seconds"}) {
      EXPECT_TRUE(json[key].is_null()) << key;
    }
    EXPECT_TRUE(json["rounds"]["seconds"].empty());
  }
}

TEST(GpuReport, WhatTheLibraryWarnedOfIsNoFailure) {
  DeviceRecord r = example();
  r.outcome = Outcome::not_covered;
  r.note = "certificate 1e-3";
  r.backward_error_eps = 1e6;
  EXPECT_FALSE(judge(r));
  EXPECT_FALSE(is_bad(r));
  EXPECT_NE(r.note.find("as the library warned: certificate 1e-3"), std::string::npos);
}

TEST(GpuReport, EstimatesFromWhatCasesTook) {
  Estimate estimate(100, 3);
  EXPECT_EQ(estimate.describe(10), "");
  estimate.done(10, 2);
  EXPECT_EQ(estimate.describe(20), ", about 4 s, all that is left about 18 s");
  EXPECT_TRUE(estimate.may_begin(2.9));
  EXPECT_FALSE(estimate.may_begin(3));
}

constexpr const char* kOnCpu = " --allow-debug --device cpu --repetitions 2 ";

TEST(GpuProgram, SolvesSystemsAndLinesAndChecksThem) {
  const JsonFile file;
  const auto run = run_program(file.path() + kOnCpu +
                               "--repeats 3 --rows 2e4,1.1e6 --matrices d3 --named-rows 2e4 --line-rows 2e4 " +
                               "--lengths 64 --methods auto,exact-twopass");
  ASSERT_EQ(run.status, 0) << run.output;
  const auto json = file.read();
  std::set<std::string> systems, lines;
  for (const auto& r : json["results"]) {
    const bool timed = r["outcome"] == "timed";
    EXPECT_TRUE(timed || r["outcome"] == "absent") << r;
    if (!timed) continue;
    EXPECT_LE(r["backward_error_eps"].get<double>(), 10) << r;
    EXPECT_GT(r["share_of_stream"].get<double>(), 0) << r;
    EXPECT_GT(r["end_to_end_seconds"].get<double>(), 0) << r;
    EXPECT_GT(r["call_seconds"].get<double>(), 0) << r;
    EXPECT_EQ(r["repeats"], 3) << r;
    EXPECT_EQ(r["rounds"]["seconds"].size(), r["rounds"]["stream_seconds"].size());
    (r["lines"] == "" ? systems : lines).insert(r["variant"].get<std::string>() + " " + r["form"].get<std::string>());
  }
  EXPECT_TRUE(systems.count("auto general") == 1 && systems.count("exact-twopass general") == 1) << run.output;
  EXPECT_TRUE(lines.count("auto general") == 1 && lines.count("auto shared") == 1) << run.output;
  EXPECT_EQ(json["provenance"]["device_type"], "cpu");
  EXPECT_NE(run.output.find("all that is left about"), std::string::npos);
}

TEST(GpuProgram, TimesAppliesThatAreEnqueuedTogether) {
  const JsonFile file;
  const auto run =
      run_program(file.path() + kOnCpu + "--enqueued --cases small,lines --rows 2e4 --matrices d3 " +
                  "--scalars float --line-rows 6400 --lengths 64 --bands shared --methods auto --repeats 2");
  ASSERT_EQ(run.status, 0) << run.output;
  for (const auto& r : file.read()["results"]) {
    ASSERT_EQ(r["outcome"], "timed") << r;
    EXPECT_GT(r["batch_seconds"].get<double>(), 0) << r;
    EXPECT_GT(r["call_seconds"].get<double>(), 0) << r;
  }
}

TEST(GpuProgram, NamesThePapersFormInItsRecords) {
  const JsonFile file;
  const auto run = run_program(file.path() + kOnCpu + "--variant paper --cases small,lines --rows 2e4 " +
                               "--matrices d3,lambda1e5 --scalars float --line-rows 6400 --lengths 64 --methods auto");
  ASSERT_EQ(run.status, 0) << run.output;
  const auto json = file.read();
  int timed = 0, absent = 0;
  for (const auto& r : json["results"]) {
    EXPECT_EQ(r["variant"], "paper");
    const bool solved = r["outcome"] == "timed";
    (solved ? timed : absent) += 1;
    const char* word = solved ? "variant paper, " : "variant paper does not carry it";
    EXPECT_NE(r[solved ? "shape" : "note"].get<std::string>().find(word), std::string::npos) << r;
    if (solved) {
      EXPECT_EQ(r["method"], "truncated-halo");
      EXPECT_GE(r["words_per_row"].get<double>(), 20);
    } else {
      EXPECT_EQ(r["outcome"], "absent") << r;
    }
  }
  EXPECT_GE(timed, 2) << "one system, and lines laid end to end";
  EXPECT_GE(absent, 2) << "what does not decay, and lines side by side";
}

TEST(GpuProgram, LeavesOutWhatThereIsNoTimeFor) {
  const JsonFile file;
  const auto run =
      run_program(file.path() + kOnCpu + "--cases small --rows 1e3 --matrices d3 --scalars float --seconds 0");
  ASSERT_EQ(run.status, 0) << run.output;
  ASSERT_EQ(file.read()["results"].size(), 1U);
  EXPECT_EQ(file.read()["results"][0]["outcome"], "absent");
  EXPECT_EQ(file.read()["results"][0]["note"], "no time left");
}

TEST(GpuProgram, SaysWhatItWants) {
  const struct {
    const char *arguments, *message;
    int status;
  } cases[] = {{"--help", "--named-rows", 0},
               {"/dev/null --device no-such-card --allow-debug", "no device matches 'no-such-card'", 2},
               {"no-such-folder/x.json --allow-debug", "folder that exists", 2},
               {"x.json --cases tall", "--cases takes words of", 2}};
  for (const auto& c : cases) {
    const auto run = run_program(c.arguments);
    EXPECT_EQ(run.status, c.status) << c.arguments;
    EXPECT_NE(run.output.find(c.message), std::string::npos) << c.arguments << "\n" << run.output;
  }
}

}  // namespace
}  // namespace oclspkt::bench::gpu

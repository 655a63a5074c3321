// SPDX-License-Identifier: BSD-2-Clause
#include "solve.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "command_line.hpp"
#include "mkl_peers.hpp"
#include "oclspkt/error.hpp"
#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::JsonFile;
using test::run_program;

constexpr const char* kTinySolve = "solve --allow-debug --device host --rows 5e3 --repetitions 3 ";

TEST(SolveCommand, ChecksTimesAndWritesEveryContestant) {
  for (const std::string precision : {"float", "double"}) {
    const JsonFile file;
    const auto run = run_program(kTinySolve + ("--precision " + precision + " --methods " + kDefaultMethods) +
                                 ",truncated-streamed,pivot,auto,gttrs --json " + file.path());
    ASSERT_EQ(run.status, 0) << run.output;
    const auto json = file.read();
    const double eps = precision == "float" ? 1.2e-7 : 2.3e-16;
    std::multiset<std::string> solvers;
    for (const auto& r : json["results"]) {
      if (r["outcome"] == "absent") {  // on the host stored factors take their place
        EXPECT_TRUE(r["method"] == "truncated-halo" || r["method"] == "truncated-streamed" ||
                    r["method"] == "exact-twopass")
            << r;
        continue;
      }
      solvers.insert(r["solver"]);
      EXPECT_EQ(r["scalar"], precision);
      EXPECT_EQ(r["rows"], 5000);
      EXPECT_EQ(r["rounds"], 3);
      EXPECT_GT(r["seconds"].get<double>(), 0);
      EXPECT_GT(r["words_per_row"].get<double>(), 0);
      EXPECT_LE(r["error"].get<double>(), 20 * eps) << r;
    }
    // stream-opencl has no device to run on.
    EXPECT_EQ(solvers,
              (std::multiset<std::string>{"lapack", "lapack", "oclspkt", "oclspkt", "oclspkt", "stream", "thomas"}));
  }
}

TEST(SolveCommand, SaysWhereItsFiguresComeFrom) {
  const JsonFile file;
  const auto run = run_program(kTinySolve + ("--json " + file.path()));
  ASSERT_EQ(run.status, 0) << run.output;
  const auto provenance = file.read()["provenance"];
  for (const char* key : {"commit", "date", "cpu", "architecture", "instruction_set", "caches", "threads", "compiler",
                          "build_type", "device", "driver", "platform", "matrix"}) {
    EXPECT_TRUE(provenance.contains(key)) << key;
  }
  EXPECT_GE(provenance["cores"].get<int>(), 1);
  EXPECT_NE(provenance["command"].get<std::string>().find("oclspkt-bench solve"), std::string::npos);
  EXPECT_NE(run.output.find("seed 20261121"), std::string::npos);
  EXPECT_NE(run.output.find("make the matrix"), std::string::npos) << "no progress on stderr";
}

TEST(SolveCommand, SolvesMatricesWithoutDominance) {
  for (const char* matrix :
       {"poisson", "diffusion --lambda 1e8", "conduction --lambda 1e3", "random --symmetric", "row-sums-zero"}) {
    const auto run = run_program(kTinySolve + (std::string("--methods exact-factored,gtsv --matrix ") + matrix));
    EXPECT_EQ(run.status, 0) << run.output;
  }
}

TEST(SolveCommand, ShowsAMethodThatTheHostDoesNotHaveWithoutATime) {
  const auto run = run_program(kTinySolve + std::string("--methods truncated-halo,exact-factored"));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find("absent: oclspkt truncated-halo (default): the host solves exactly by stored factors"),
            std::string::npos)
      << run.output;
}

TEST(SolveCommand, GoesOnWithoutMklAndWithoutASymmetricMatrix) {
  ASSERT_EQ(setenv(kMklVariable, "/no-such-folder/libmkl_rt.so", 1), 0);
  const JsonFile file;
  const auto run = run_program(kTinySolve + ("--methods dtsvb,dttrsb,dtsvb-halves,pttrs,gtsv --json " + file.path()));
  unsetenv(kMklVariable);
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find("absent: mkl exact (dtsvb): MKL is not there: ./run.sh bench installs it"),
            std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("absent: lapack exact (pttrs): the matrix is not symmetric"), std::string::npos);
  const auto json = file.read();
  for (const auto& r : json["results"]) {
    const bool there = r["solver"] == "stream" || r["variant"] == "gtsv";
    EXPECT_EQ(r["outcome"], there ? "timed" : "absent") << r;
    EXPECT_EQ(r["seconds"].is_null(), !there) << r;
  }
}

TEST(SolveCommand, RefusesWhatItCannotDoAndNamesTheCure) {
  const struct {
    const char *arguments, *message;
  } cases[] = {
      {"", "usage: oclspkt-bench"},
      {"sing", "there is no command 'sing'"},
      {"solve --colour red", "--help"},
      {"solve red", "--help"},
      {"solve --rows 0", "--rows must be a whole number"},
      {"solve --rows 1e15", "--rows must be a whole number"},
      {"solve --rows 1099511627776", "use --rows"},
      {"solve --precision half", "float or double"},
      {"solve --matrix hilbert", "random, poisson"},
      {"solve --matrix poisson --dominance 2", "belongs to --matrix random"},
      {"solve --lambda 2", "belongs to --matrix diffusion"},
      {"solve --matrix poisson --symmetric", "belongs to --matrix random"},
      {"solve --dominance 0", "must be positive"},
      {"solve --repetitions 0", "at least 1"},
      {"solve --threads 0", "at least 1"},
      {"solve --methods gtsv,magic", "there is no method 'magic'"},
      {"solve --rows 10 --device warp-drive", "warp-drive"},
      {"solve --rows 10 --device host --json no-such-folder/x.json", "folder that exists"},
  };
  for (const auto& c : cases) {
    const auto run = run_program(std::string(c.arguments) + (c.arguments[0] == '\0' ? "" : " --allow-debug"));
    EXPECT_EQ(run.status, 2) << c.arguments << "\n" << run.output;
    EXPECT_NE(run.output.find(c.message), std::string::npos) << c.arguments << "\n" << run.output;
  }
}

TEST(SolveCommand, PrintsItsOptions) {
  const auto run = run_program("solve --help");
  EXPECT_EQ(run.status, 0);
  for (const char* option : {"--device", "--precision", "--rows", "--json", "--seconds"}) {
    EXPECT_NE(run.output.find(option), std::string::npos) << option;
  }
}

TEST(ParseRows, TakesWholeNumbersInEitherNotation) {
  EXPECT_EQ(parse_rows("2e7"), 20'000'000);
  EXPECT_EQ(parse_rows("6.4e7"), 64'000'000);
  EXPECT_EQ(parse_rows("17"), 17);
  for (const char* text : {"", "0", "-3", "1.5", "7x", "nan", "inf", "2e12"}) {
    EXPECT_THROW(parse_rows(text), InvalidInput) << text;
  }
}

TEST(ParseMethods, OnlyMethodsOfTheLibraryTakeADevice) {
  EXPECT_EQ(parse_methods("exact-twopass@cpu"), (std::vector<std::string>{"stream", "exact-twopass@cpu"}));
  for (const char* list : {"gtsv@host", "stream@cpu", "magic@host"}) {
    EXPECT_THROW(parse_methods(list), InvalidInput) << list;
  }
}

TEST(OnHostAndDevice, AMethodIsThereForEachOfThemThatCarriesIt) {
  DeviceInfo device;
  device.index = 3;
  const std::vector<std::string> names{"stream", "exact-twopass", "pivot", "gtsv"};
  EXPECT_EQ(on_host_and_device(names, device),
            (std::vector<std::string>{"stream", "exact-twopass@3", "pivot@host", "gtsv"}));
  device.type = DeviceType::host;
  EXPECT_EQ(on_host_and_device(names, device), (std::vector<std::string>{"stream", "pivot@host", "gtsv"}));
}

TEST(ParseMethods, PutsTheStreamFirstAndNamesNobodyTwice) {
  EXPECT_EQ(parse_methods("gtsv,thomas,gtsv"), (std::vector<std::string>{"stream", "gtsv", "thomas"}));
  EXPECT_EQ(parse_methods("gtsv,stream"), (std::vector<std::string>{"stream", "gtsv"}));
  EXPECT_THROW(parse_methods(",gtsv"), InvalidInput);
}

}  // namespace
}  // namespace oclspkt::bench

// SPDX-License-Identifier: BSD-2-Clause
#include "output.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "json_file.hpp"
#include "oclspkt/error.hpp"
#include "provenance.hpp"

namespace oclspkt::bench {
namespace {

Record record(const std::string& solver, const std::string& variant, std::vector<double> seconds) {
  Record r;
  r.solver = solver;
  r.device = "host";
  r.method = solver == "stream" ? "stream" : "exact-factored";
  r.variant = variant;
  r.form = "general";
  r.scalar = "double";
  r.rows = 1000;
  r.words_per_row = 5;
  r.error = 1e-16;
  r.seconds = std::move(seconds);
  return r;
}

/// The OpenCL stream stands first here, so that taking the first stream would show.
std::vector<Record> example() {
  std::vector<Record> records{record("stream", "opencl", {4, 4, 4}), record("stream", "openmp-avx", {1, 2, 3}),
                              record("oclspkt", "default", {4, 5, 6})};
  records[0].device = "a card";
  Record wrong = record("lapack", "gtsv", {});
  wrong.outcome = Outcome::wrong;
  wrong.note = "backward error 1.0e-02 > 2.2e-14";
  wrong.error = std::numeric_limits<double>::quiet_NaN();
  records.push_back(wrong);
  return records;
}

TEST(Output, SharesAreOfTheStreamInC) {
  const auto json = to_json(example());
  EXPECT_EQ(json[0]["share_of_stream"], 0.5);
  EXPECT_EQ(json[1]["share_of_stream"], 1.0);
  EXPECT_EQ(json[2]["share_of_stream"], 0.4);
  EXPECT_EQ(json[2]["seconds"], 5.0);
  EXPECT_EQ(json[2]["rows_per_second"], 200.0);
}

TEST(Output, AWrongAnswerHasNoTimeAnywhere) {
  const auto json = to_json(example())[3];
  for (const char* key : {"seconds", "rows_per_second", "share_of_stream", "error", "spread"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["outcome"], "wrong");
  const std::string text = table(example());
  EXPECT_NE(text.find("wrong: lapack exact-factored (gtsv): backward error 1.0e-02"), std::string::npos);
}

TEST(Output, TheColumnsOfTheTableAreAligned) {
  std::istringstream text(table(example()));
  std::string line;
  std::getline(text, line);
  const std::size_t width = line.size();
  for (std::size_t i = 0; i < example().size(); ++i) {
    std::getline(text, line);
    EXPECT_EQ(line.size(), width) << line;
  }
}

TEST(Output, EveryRecordHasTheKeysThatAllBenchesShare) {
  for (const auto& json : to_json(example())) {
    for (const char* key : {"solver", "device", "method", "variant", "form", "scalar", "rows", "words_per_row",
                            "seconds", "rows_per_second", "share_of_stream", "error"}) {
      EXPECT_TRUE(json.contains(key)) << key;
    }
  }
}

TEST(Output, ARecordTakesALineOfAFile) {
  const nlohmann::ordered_json document{{"provenance", {{"commit", "0123"}, {"caches", {{"L2", 1}}}}},
                                        {"results", {{{"rows", 1}, {"seconds", {1, 2}}}, {{"rows", 2}}}},
                                        {"ratios", nlohmann::ordered_json::array()}};
  EXPECT_EQ(record_lines(document),
            "{\n\"provenance\": {\"commit\":\"0123\",\"caches\":{\"L2\":1}},\n"
            "\"results\": [\n{\"rows\":1,\"seconds\":[1,2]},\n{\"rows\":2}\n],\n\"ratios\": []\n}\n");
  EXPECT_EQ(nlohmann::ordered_json::parse(record_lines(document)), document);
}

TEST(Provenance, OnlyAReleaseBuildWithoutSanitizersIsTimed) {
  EXPECT_NO_THROW(require_release("Release", ""));
  for (const char* type : {"Debug", "RelWithDebInfo", ""}) EXPECT_THROW(require_release(type, ""), InvalidInput);
  EXPECT_THROW(require_release("Release", "address,undefined"), InvalidInput);
}

}  // namespace
}  // namespace oclspkt::bench

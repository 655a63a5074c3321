// SPDX-License-Identifier: BSD-2-Clause
#include "balance_simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include "oclspkt/error.hpp"

namespace oclspkt::bench {
namespace {

std::string machine_file(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path().parent_path() / "machines" / (name + ".json")).string();
}

constexpr std::size_t kCpu = 0, kGpu = 1, kFpga = 2;  // the order of paper.json
const std::vector<std::vector<std::size_t>> kCombinations{
    {kCpu, kFpga}, {kCpu, kGpu}, {kCpu, kGpu, kFpga}, {kGpu, kFpga}};  // the slowest first, as measured

TEST(MachineOfThePaper, OrdersTheFourCombinationsAsMeasured) {
  const Machine machine = read_machine(machine_file("paper"));
  double slower = std::numeric_limits<double>::infinity(), slower_measured = slower;
  for (const auto& members : kCombinations) {
    const Simulated set = simulate(machine, members, machine.rows.back());
    ASSERT_TRUE(set.measured);
    EXPECT_LT(set.by_rate, slower);
    EXPECT_LT(*set.measured, slower_measured);
    EXPECT_NEAR(*set.measured / set.by_rate, 1, 0.05);
    slower = set.by_rate;
    slower_measured = *set.measured;
  }
}

TEST(MachineOfThePaper, AloneDoesWhatWasMeasured) {
  const Machine machine = read_machine(machine_file("paper"));
  for (const std::size_t one : {kCpu, kGpu, kFpga}) {
    const Simulated set = simulate(machine, {one}, machine.rows.back());
    ASSERT_TRUE(set.measured);
    EXPECT_NEAR(set.ours.all_seconds / *set.measured, 1, 1e-6);
  }
}

TEST(MachineOfThePaper, OursIsNeverBelowTheBestAloneAndWhatWasMeasured) {
  const Machine machine = read_machine(machine_file("paper"));
  for (const Index rows : machine.rows) {
    for (const auto& members : kCombinations) {
      const Simulated set = simulate(machine, members, rows);
      EXPECT_LE(set.ours.all_seconds, set.best_single);
      EXPECT_LE(set.ours.all_seconds, set.by_rate * (1 + 1e-6));
      EXPECT_EQ(set.limit.name, "host memory");
    }
  }
  EXPECT_EQ(simulate(machine, kCombinations[2], machine.rows.back()).ours.rows[kCpu], 0);
}

TEST(Machines, AreAllAsTheyOughtToBe) {
  for (const char* name : {"paper", "node8", "cluster1000"}) {
    std::ostringstream out;
    EXPECT_EQ(simulate_balance(machine_file(name), out), 0) << out.str();
    EXPECT_NE(out.str().find("Assumption: "), std::string::npos);
    EXPECT_EQ(out.str().find("nan"), std::string::npos) << out.str();
  }
}

TEST(Machines, PrintResidualAndFittedConstants) {
  std::ostringstream out;
  simulate_balance(machine_file("paper"), out);
  for (const char* text : {"Fitted: ", "Largest residual of the 4 combinations: 4.4 %", "Their order is right"}) {
    EXPECT_NE(out.str().find(text), std::string::npos) << out.str();
  }
}

TEST(Machines, OfANodeUseManyProcessorsOnlyWhereRowsAreMany) {
  const Machine machine = read_machine(machine_file("node8"));
  std::vector<std::size_t> all(machine.models.size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  ASSERT_EQ(all.size(), 10U);
  const Simulated few = simulate(machine, all, 10000), many = simulate(machine, all, 1000000000);
  EXPECT_EQ(std::count(few.ours.rows.begin(), few.ours.rows.end(), 0), 9);
  EXPECT_LE(std::count(many.ours.rows.begin(), many.ours.rows.end(), 0), 1);  // one socket's rows fill the memory
  EXPECT_EQ(few.limit.name, "latency");
  EXPECT_EQ(many.limit.name, "host memory");
}

TEST(Machines, OfAClusterSendMoreToTheRootTheMoreNodesThereAre) {
  Cluster cluster = *read_machine(machine_file("cluster1000")).cluster;
  const MessageSeconds many = predict_messages(cluster);
  cluster.nodes = 2;
  const MessageSeconds two = predict_messages(cluster);
  cluster.nodes = 1;
  EXPECT_EQ(two.neighbours, many.neighbours);
  EXPECT_LT(two.root, many.root);
  EXPECT_EQ(predict_messages(cluster).neighbours, 0);
}

TEST(Machines, ThatAreNotDescribedAreRefused) {
  EXPECT_THROW(read_machine(machine_file("nowhere")), InvalidInput);
  const auto file = std::filesystem::temp_directory_path() / "oclspkt-machine-test.json";
  for (const char* text : {"{", "{}", R"({"name": "a", "source": "b", "processors": [{"rows_per_second": 0}]})"}) {
    std::ofstream(file) << text;
    EXPECT_THROW(read_machine(file.string()), InvalidInput) << text;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace oclspkt::bench

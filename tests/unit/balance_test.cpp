// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cstdlib>

#include "cost.hpp"
#include "oclspkt/error.hpp"
#include "processors.hpp"
#include "selection.hpp"
#include "thrown.hpp"

namespace oclspkt {
namespace {

std::vector<DeviceInfo> machine() {
  std::vector<DeviceInfo> devices(4);
  for (int i = 0; i < 4; ++i) devices[static_cast<std::size_t>(i)].index = i;
  devices[0].name = "pthread-haswell";
  devices[0].platform = "Portable Computing Language";
  devices[1].name = "AMD EPYC";
  devices[1].platform = "Intel(R) OpenCL";
  devices[2].name = "FPGA Emulation Device";
  devices[2].platform = "Intel(R) FPGA Emulation Platform";
  devices[2].type = DeviceType::fpga;
  devices[2].emulated = true;
  devices[3].name = "NVIDIA H200";
  devices[3].platform = "NVIDIA CUDA";
  devices[3].type = DeviceType::gpu;
  return devices;
}

std::vector<int> selected(const std::string& language) { return select_devices(language, machine(), {}).devices; }

TEST(Selection, TakesTypesNamesPlatformsAndIndices) {
  EXPECT_EQ(selected("cpu"), (std::vector<int>{0, 1}));
  EXPECT_EQ(selected("gpu"), (std::vector<int>{3}));
  EXPECT_EQ(selected("fpga"), (std::vector<int>{2}));
  EXPECT_EQ(selected("2"), (std::vector<int>{2}));
  EXPECT_EQ(selected("h200"), (std::vector<int>{3}));
  EXPECT_EQ(selected("portable"), (std::vector<int>{0}));
  EXPECT_EQ(selected(" gpu , intel"), (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(selected("0,cpu"), (std::vector<int>{0, 1}));
}

TEST(Selection, NeverTakesAnEmulatedDeviceUnnamed) {
  EXPECT_EQ(selected("all"), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(selected("auto"), (std::vector<int>{0, 1, 3}));
  EXPECT_TRUE(select_devices("auto", machine(), {}).host);
  EXPECT_FALSE(select_devices("all", machine(), {}).host);
  EXPECT_TRUE(select_devices("host,gpu", machine(), {}).host);
}

TEST(Processor, ThatIsEmulatedHasNoFiguresOfABoardOfTheSameName) {
  DeviceModule* const any = reinterpret_cast<DeviceModule*>(1);  // only told from null, which is the host
  Processor emulator{any, 2, machine()[2], {}}, board = emulator;
  board.info.emulated = false;
  EXPECT_EQ(emulator.name(), board.name());
  EXPECT_NE(emulator.known_as(), board.known_as());
  EXPECT_NE(emulator.figures_of(), board.figures_of());
  board.info.driver_version = "2";
  EXPECT_NE(board.figures_of(), (Processor{any, 2, machine()[2], {}}.figures_of()));
  EXPECT_EQ(Processor().known_as(), "host");
}

TEST(Selection, ListsWhatThereIsWhenAWordMatchesNothing) {
  for (const std::string word : {"tpu", "7", "", "cpu,,gpu", "-1", "host:2"}) {
    test::expect_refusal(
        [&] { select_devices(word, machine(), {"a platform that is broken"}); },
        {"NVIDIA H200", "a platform that is broken", "2: emulated fpga, FPGA Emulation Device", "auto, all, host"});
  }
  EXPECT_THROW(select_devices("all", {}, {}), InvalidInput);
  EXPECT_TRUE(select_devices("auto", {}, {}).devices.empty());
}

TEST(Selection, KnowsThatHostNeedsNoDevice) {
  EXPECT_TRUE(needs_no_device("host"));
  EXPECT_TRUE(needs_no_device("Host, host"));
  EXPECT_FALSE(needs_no_device("host,cpu"));
  EXPECT_FALSE(needs_no_device(""));
}

TEST(Selection, SharesGpusOutAmongTheRanksOfANodeInTurn) {
  std::vector<DeviceInfo> devices(5);
  for (const std::size_t gpu : {1, 3, 4}) devices[gpu].type = DeviceType::gpu;
  const std::vector<int> all{0, 1, 2, 3, 4};
  EXPECT_EQ(devices_of_rank(all, devices, {0, 1}), all);
  EXPECT_EQ(devices_of_rank(all, devices, {0, 3}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(devices_of_rank(all, devices, {2, 3}), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(devices_of_rank(all, devices, {0, 2}), (std::vector<int>{0, 1, 2, 4}));
  EXPECT_EQ(devices_of_rank(all, devices, {1, 2}), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(devices_of_rank(all, devices, {7, 8}), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(devices_of_rank({3}, devices, {5, 8}), (std::vector<int>{3}));
  EXPECT_EQ(devices_of_rank({0, 2}, devices, {5, 8}), (std::vector<int>{0, 2}));
}

/// Sets variables of the environment for as long as it lives.
class Environment {
 public:
  Environment(const char* variable, const char* value) : variable_(variable) { setenv(variable, value, 1); }
  ~Environment() { unsetenv(variable_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* variable_;
};

TEST(NodePlace, IsWhatTheLauncherWrote) {
  EXPECT_EQ(node_place().ranks, 1);
  {
    const Environment rank("MPI_LOCALRANKID", "3"), ranks("MPI_LOCALNRANKS", "4");
    EXPECT_EQ(node_place().rank, 3);
    EXPECT_EQ(node_place().ranks, 4);
  }
  const Environment rank("MPI_LOCALRANKID", "4"), ranks("MPI_LOCALNRANKS", "four");
  EXPECT_EQ(node_place().rank, 0);
  EXPECT_EQ(node_place().ranks, 1);
}

/// A scheme of so many words and launches.
class SomeScheme final : public SchemeOf<SomeScheme> {
 public:
  SomeScheme(double words, int launches) : words_(words), launches_(launches) {}
  const char* name() const override { return "some"; }
  std::string shape(const Plan&) const override { return {}; }
  double words(const Plan&) const override { return words_; }
  int launches(const Plan&) const override { return launches_; }
  template <typename T>
  Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey&) const {
    return {0};
  }

 private:
  double words_;
  int launches_;
};

double predict(const DeviceProfile& profile, Index rows, double words, int launches, int word) {
  Plan plan;
  plan.n = plan.m = rows;
  return predict_seconds(profile, SomeScheme(words, launches), plan, word);
}

TEST(Cost, CountsLaunchWordsAndTransfers) {
  const DeviceProfile profile{.launch_seconds = 1e-5, .rows_per_second = 1e9, .copy_bytes_per_second = 1e10};
  EXPECT_DOUBLE_EQ(predict(profile, 1000000, 7, 1, 8), 1e-5 + 1e-3 + 1.6e-3);
  EXPECT_DOUBLE_EQ(predict(profile, 1000000, 14, 2, 4), 2e-5 + 2e-3 + 0.8e-3);
  DeviceProfile by_length = profile;
  by_length.long_copy_seconds = 1e-4;
  by_length.long_copy_bytes_per_second = 4e10;
  EXPECT_DOUBLE_EQ(predict(by_length, 1000, 7, 1, 8), predict(profile, 1000, 7, 1, 8));
  EXPECT_DOUBLE_EQ(predict(by_length, 1000000, 7, 1, 8), 1e-5 + 1e-3 + 1e-4 + 0.4e-3);
}

TEST(Cost, OfTheHostIsMeasuredOnce) {
  for (const HostShape shape : {HostShape::line, HostShape::lines, HostShape::beside}) {
    for (const bool in_memory : {false, true}) {
      const double rate = host_rate<double>(shape, in_memory);
      EXPECT_EQ(rate, host_rate<double>(shape, in_memory));
      EXPECT_GT(rate, 1e5);
      EXPECT_LT(host_rate<float>(shape, in_memory), 1e11);
    }
  }
}

}  // namespace
}  // namespace oclspkt

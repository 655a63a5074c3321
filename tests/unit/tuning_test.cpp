// SPDX-License-Identifier: BSD-2-Clause
// Tuned figures of devices: what files say, what is refused, and what plans make of them.
#include "tuning.hpp"

#include <cstdlib>
#include <fstream>

#include "device_traits.hpp"
#include "schemes/scheme.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

const char* const kFile = "mine.conf";

Tuning mine(const std::string& lines) { return {kFile, "devices = Arc, MI300\n" + lines, &Tuning::built_in()}; }

TEST(Tuning, HasTheFiguresOfTheFilesInTheSourceTree) {
  const Tuning& all = Tuning::built_in();
  EXPECT_EQ(all.count("lanes.partition"), 496);
  EXPECT_EQ(all.count("lanes.streamed_partition", 1), 64);
  EXPECT_EQ(all.rows("tiles.shapes").size(), 2U);
  EXPECT_EQ(all.rows("tiles.kept_float").front(), (Tuning::Row{64, 12, 2, 2, 8}));
  EXPECT_EQ(all.number("cost.launch_by_groups"), 1.7e6);
  EXPECT_TRUE(Tuning::of_device("NVIDIA H200").names("NVIDIA H100 80GB HBM3"));
  EXPECT_EQ(&Tuning::of_device("a card of tomorrow"), &all);
}

TEST(Tuning, OfAUsersFileStandBeforeThoseOfTheLibrary) {
  const Tuning own = mine("# tried on Sunday\n\n  lanes.partition [lane_rows] = 1008\n");
  EXPECT_EQ(own.count("lanes.partition"), 1008);
  EXPECT_EQ(own.count("lanes.factored_partition"), 112) << "what the file leaves out";
  EXPECT_TRUE(own.names("Intel(R) Arc(TM) B580"));
  EXPECT_FALSE(own.names("NVIDIA H200"));
}

TEST(Tuning, ChangePlansAndTheirCosts) {
  const Tuning own = mine(
      "lanes.partition [lane_rows] = 144\n"
      "tiles.shapes [items item_rows rows] = 64 8 1000\n"
      "tiles.halo_shares [rows share share] = 0 1 0.5\n");
  DeviceTraits cpu = kTraits, gpu = kGpu;
  const Plan lanes = make_plan(Method::exact_twopass, 1'000'000, 0, 0, 8, cpu);
  const Plan tiles = make_plan(Method::truncated_halo, 1'000'000, 40, 0, 8, gpu);
  cpu.figures = gpu.figures = &own;
  const Plan own_lanes = make_plan(Method::exact_twopass, 1'000'000, 0, 0, 8, cpu);
  const Plan own_tiles = make_plan(Method::truncated_halo, 1'000'000, 40, 0, 8, gpu);
  EXPECT_EQ(lanes.m, 496);
  EXPECT_EQ(own_lanes.m, 144);
  EXPECT_EQ(tiles.items * tiles.item_rows, 128 * 16);
  EXPECT_EQ(own_tiles.items * own_tiles.item_rows, 64 * 8);
  Plan whole = own_tiles;
  whole.halo = 0;
  EXPECT_DOUBLE_EQ(scheme_of(whole).stream_words(whole, 8), 2 * scheme_of(whole).stream_words(whole, 4));
}

TEST(Tuning, ThatAreWrongAreRefusedWithTheirLineAndACure) {
  const auto refused = [](const std::string& line, const std::string& cure) {
    test::expect_refusal([&] { mine(line); }, "mine.conf, line 2: ");
    test::expect_refusal([&] { mine(line); }, cure);
  };
  refused("lanes.partition 112", "has no '=': write NAME [COLUMNS] = NUMBERS");
  refused("lanes.partition = 112", "has no columns: write NAME [COLUMNS] = NUMBERS");
  refused("lanes.partitions [lane_rows] = 112", "take names and columns from the files in tuning/");
  refused("lanes.partition [rows] = 112", "take names and columns from the files in tuning/");
  refused("lanes.partition [lane_rows] =", "at least one row of lane_rows");
  refused("lanes.partition [lane_rows] = 112 64", "takes 1 numbers a row (lane_rows), not 2");
  refused("lanes.partition [lane_rows] = 112;;64", "takes 1 numbers a row (lane_rows), not 0");
  for (const char* value : {"0", "-16", "100", "1e9", "nan", "inf", "many", "112x"}) {
    refused(std::string("lanes.partition [lane_rows] = ") + value, "a number from 16 to 65536, a multiple of 16");
  }
  refused("beside.bundle [bytes] = 0", "a number from 64");
  refused("grids.segment [down grid_rows lines bundle_bytes tiles] = 6 16 1 0 1",
          "a number from 1 to 64, a power of two");
  refused("tiles.run_shares [share share] = 0.9 0", "a number from 0.001 to 1000");
  test::expect_refusal([] { Tuning(kFile, "lanes.partition [lane_rows] = 112", &Tuning::built_in()); },
                       "give words of the names of the devices");
  test::expect_refusal([] { Tuning::use(kFile, "devices = ,"); }, "mine.conf has no line 'devices");
}

TEST(Tuning, OfTheFileThatTheEnvironmentNamesAreThoseOfItsDevices) {
  const std::string path = ::testing::TempDir() + "oclspkt-tuning-test.conf";
  std::ofstream(path) << "devices = card of tomorrow\nlanes.partition [lane_rows] = 48\n";
  ::setenv("OCLSPKT_TUNING", path.c_str(), 1);
  EXPECT_EQ(Tuning::of_device("the card of tomorrow").count("lanes.partition"), 48);
  EXPECT_EQ(Tuning::of_device("another one").count("lanes.partition"), 496);
  ::setenv("OCLSPKT_TUNING", "/nowhere/figures", 1);
  test::expect_refusal([] { Tuning::of_device("any"); }, "OCLSPKT_TUNING names /nowhere/figures, which cannot be read");
  ::unsetenv("OCLSPKT_TUNING");
  EXPECT_EQ(Tuning::of_device("another one").count("lanes.partition"), 496);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// The command `paper` on small systems, and the counts that its tables 1 to 3 are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "count_kernels.hpp"
#include "energy.hpp"
#include "kernel_clock.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "program.hpp"
#include "run.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::bench::test {
namespace {

using nlohmann::json;

TEST(Counted, IsWhatTheFormulasSay) {
  for (const paper::CountedScheme& s : paper::count_schemes()) {
    EXPECT_EQ(s.counted.operations.add, s.operations.add) << s.scheme << ' ' << s.m;
    EXPECT_EQ(s.counted.operations.mul, s.operations.mul) << s.scheme << ' ' << s.m;
    EXPECT_EQ(s.counted.operations.div, s.operations.div) << s.scheme << ' ' << s.m;
    EXPECT_DOUBLE_EQ(static_cast<double>(s.counted.words()), s.words) << s.scheme << ' ' << s.m;
  }
}

/// The flops that PETSc is told of. Two passes take 56 a row, the halos of a cut 16; they were said to take 80 and 18,
/// and elimination on an FPGA 5 where it takes 9.
TEST(Counted, IsWhatPetscIsTold) {
  int told = 0;
  for (const paper::CountedScheme& s : paper::count_schemes()) {
    if (s.flops == 0) continue;
    const auto& of = s.counted.operations;
    EXPECT_DOUBLE_EQ(static_cast<double>(of.add + of.mul + of.div), s.flops) << s.scheme << ' ' << s.m;
    ++told;
  }
  EXPECT_EQ(told, 16);
}

/// Of the table's schemes the host's own alone has no kernel.
TEST(Counted, IsEverySchemeThatHasAKernel) {
  std::set<std::string> counted;
  for (const paper::CountedScheme& s : paper::count_schemes()) counted.insert(s.scheme.substr(0, s.scheme.find(',')));
  for (const Scheme* scheme : all_schemes()) {
    for (const std::string form : scheme->forms()) {
      EXPECT_EQ(counted.count(form), form == "host-pivot" ? 0 : 1) << form;
    }
  }
}

/// Where a barrier is missing, work-items read what others have not written yet, or not any more.
TEST(Counted, ComputesTheSameWhicheverWorkItemRunsFirst) {
  for (const bool weak : {false, true}) {
    EXPECT_EQ(paper::hash_of_answers(true, weak), paper::hash_of_answers(false, weak)) << (weak ? "a weak row" : "");
  }
}

TEST(Counted, HasAsManySumsAsTable1) {
  for (const paper::CountedScheme& s : paper::count_schemes()) {
    const bool in_table1 = s.scheme == "fpga-spktrunc" || s.scheme == "fpga-tdma";
    if (in_table1) {
      EXPECT_EQ(s.counted.operations.add, s.table1.add) << s.scheme;
    }
  }
}

TEST(Marshalling, IsToldFromTheOtherKernels) {
  EXPECT_DOUBLE_EQ(
      paper::marshalling_share({{"paper_marshal", {1, 2}}, {"paper_spkfact", {1, 5}}, {"paper_unmarshal", {1, 1}}}),
      3.0 / 8);
  EXPECT_EQ(paper::marshalling_share({{"tile_halo", {1, 2}}}), 0);
}

TEST(Rated, WattsAreThoseGivenElseOfTheTable) {
  DeviceInfo card, board;
  card.type = DeviceType::gpu;
  card.name = "NVIDIA H200";
  board.type = DeviceType::cpu;
  board.cores = 4;
  EXPECT_DOUBLE_EQ(paper::joules_of({card}, parse_rated("gpu=700"), 2, {}).joules, 1400);
  EXPECT_DOUBLE_EQ(paper::joules_of({card, board}, parse_rated("gpu=500,cpu=10"), 2, {}).joules, 1080);
}

/// Records of a section that were measured, by who solved.
int timed(const json& section, const std::string& who) {
  int count = 0;
  for (const json& r : section) count += r.value("who", "") == who && r.contains("seconds");
  return count;
}

TEST(PaperCommand, WritesEverySection) {
  const JsonFile file;
  const Outcome run =
      run_program("paper " + file.path() + " --rows 2e4 --rounds 1 --devices host,cpu --scalars float --allow-debug");
  ASSERT_EQ(run.status, 0) << run.output;
  const json document = file.read();
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_EQ(timed(document.at("solves"), "ours"), 2);
  EXPECT_GE(timed(document.at("solves"), "peer"), 3);  // Thomas, LAPACK, the model's tdma
  bool marshals = false;
  for (const json& r : document["solves"]) {
    if (r["who"] != "paper" || r["kind"] != "CPU") continue;
    marshals = marshals || (r["marshalling_seconds"] > 0 && r["marshalling_seconds"] < r["seconds"]);
  }
  EXPECT_TRUE(marshals);
  for (const char* section : {"machine", "accuracy", "operations", "combinations", "energy", "roofline"}) {
    EXPECT_FALSE(document.at(section).empty()) << section;
  }
  std::map<std::string, double> sets;
  for (const json& r : document["combinations"]) sets[r["devices"]] = r["seconds"];
  for (const char* name : {"host", "cpu"}) {
    // A board that joins what was measured adds at most its own rate.
    const json* alone = nullptr;
    for (const json& r : document["combinations"]) {
      if (r["source"] == "measured" && (r["devices"] == "host") == (std::string(name) == "host")) alone = &r;
    }
    ASSERT_NE(alone, nullptr) << name;
    const double own = (*alone)["seconds"], with_board = sets.at((*alone)["devices"].get<std::string>() + " + A10PL4");
    EXPECT_LE(with_board, own * 1.001);
    EXPECT_GE(with_board, 0.999 / (1 / own + 1 / sets.at("A10PL4")));
  }
  for (const json& r : document["energy"]) EXPECT_GT(r["rows_per_joule"], 0) << r;
  const json& peak = document["roofline"][0];
  EXPECT_EQ(peak["what"], "peak");
  EXPECT_GT(peak["flops_per_second"], 1e8);
  EXPECT_LT(peak["flops_per_second"], 1e14);
  // Nothing but what is so marked comes from a model.
  for (const json& r : document["solves"]) EXPECT_EQ(r["kind"] == "FPGA", r.value("source", "") == "modelled") << r;
}

TEST(PaperCommand, GivesThePapersOrder) {
  const JsonFile file;
  ASSERT_EQ(run_program("paper " + file.path() + " --figures paper --devices host --rows 10 --allow-debug").status, 0);
  const json records = file.read().at("paper");
  ASSERT_EQ(records.size(), 7U);
  for (const char* figure : {"rows_per_second", "rows_per_joule"}) {
    // CPU + GPU and CPU + FPGA are within 8 % of each other by joules, as in the paper; the model has them the other
    // way round.
    const bool joules = std::string(figure) == "rows_per_joule";
    for (const json& a : records) {
      for (const json& b : records) {
        const double ratio =
            a["paper_" + std::string(figure)].get<double>() / b["paper_" + std::string(figure)].get<double>();
        if (ratio > (joules ? 1.1 : 1.01)) {
          EXPECT_GT(a[figure], b[figure]) << figure << a["kinds"] << b["kinds"];
        }
      }
    }
  }
}

TEST(PaperCommand, MarksWhatNoTimeIsLeftFor) {
  const JsonFile file;
  ASSERT_EQ(
      run_program("paper " + file.path() + " --rows 1e4 --seconds 0 --figures accuracy --devices host --allow-debug")
          .status,
      0);
  for (const json& r : file.read().at("accuracy")) {
    EXPECT_EQ(r["outcome"], "left out");
    EXPECT_NE(r["note"].get<std::string>().find("--seconds"), std::string::npos);
  }
}

/// Pieces that write a record each; the second one throws.
std::vector<paper::Piece> three_pieces() {
  const auto good = [](nlohmann::ordered_json& records, const paper::Share&) { records.push_back({{"seconds", 1}}); };
  const auto lost = [](nlohmann::ordered_json&, const paper::Share&) { throw DeviceError("the device is lost"); };
  return {{"solves", "a", 1, good, {{"device", "a"}}},
          {"solves", "b", 1, lost, {{"device", "b"}}},
          {"solves", "c", 1, good, {{"device", "c"}}}};
}

TEST(PaperRun, GoesOnBehindADeviceThatFails) {
  const auto document = paper::run({}, three_pieces(), [] { return false; });
  ASSERT_EQ(document["solves"].size(), 3U);
  EXPECT_EQ(document["solves"][1]["outcome"], "failed");
  EXPECT_EQ(document["solves"][1]["note"], "the device is lost");
  EXPECT_EQ(document["solves"][2]["seconds"], 1);
}

/// Of eight seconds "solves" may take 20 parts of 27; its pieces take nothing, which is left to "accuracy".
TEST(PaperRun, SectionsAndPiecesShareTheSeconds) {
  std::vector<double> shares;
  const auto note = [&](nlohmann::ordered_json&, const paper::Share& share) { shares.push_back(share.seconds()); };
  paper::Plan plan;
  plan.settings.seconds = 8;
  const auto document =
      paper::run(plan, {{"solves", "a", 1, note, {}}, {"solves", "b", 3, note, {}}, {"accuracy", "c", 5, note, {}}},
                 [] { return false; });
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_NEAR(shares[0], 8. * 20 / 27 / 4, 0.01);
  EXPECT_NEAR(shares[1], 8. * 20 / 27, 0.01);
  EXPECT_NEAR(shares[2], 8, 0.01);
  EXPECT_TRUE(document["seconds"].contains("accuracy"));
}

TEST(PaperRun, WhatIsMeasuredIsRepeatedAsTimeAllows) {
  int calls = 0;
  const auto call = [&] { return 1. + calls++; };
  EXPECT_EQ(paper::times(3, paper::Share(), call), (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(paper::times(3, paper::Share(0), call), std::vector<double>{5});
  EXPECT_EQ(paper::times(3, paper::Share(0), call, 7), std::vector<double>{7});
  EXPECT_EQ(calls, 5);
}

TEST(PaperRun, MarksWhatAnInterruptLeavesOut) {
  int asked = 0;
  const auto document = paper::run({}, three_pieces(), [&] { return ++asked > 1; });
  ASSERT_EQ(document["solves"].size(), 3U);
  EXPECT_EQ(document["solves"][0]["seconds"], 1);
  for (const int i : {1, 2}) EXPECT_EQ(document["solves"][i]["note"], "interrupted");
}

TEST(PaperCommand, TellsOfAFullDisk) {
  const Outcome run = run_program("paper /dev/full --figures paper --devices host --rows 10 --allow-debug");
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.output.find("is the disk full?"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace oclspkt::bench::test

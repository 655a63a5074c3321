// SPDX-License-Identifier: BSD-2-Clause
#include "fpga_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cost.hpp"
#include "fpga_operations.hpp"
#include "oclspkt/error.hpp"
#include "schemes/fpga/task_plan.hpp"
#include "schemes/scheme.hpp"
#include "thrown.hpp"

namespace oclspkt {
namespace {

constexpr Index kRowsOfThePaper = 256'000'000;
constexpr FpgaKernel kKernels[] = {FpgaKernel::spktrunc, FpgaKernel::spkboth,     FpgaKernel::spkjac,
                                   FpgaKernel::tdma,     FpgaKernel::tdma_stored, FpgaKernel::tdma_batch};
constexpr Form kForms[] = {Form::general, Form::symmetric, Form::shared};

FpgaTime predict(FpgaKernel kernel, Form form = Form::general, bool interleaved = false) {
  return predict_fpga({}, {kernel, form, kRowsOfThePaper, sizeof(float), interleaved});
}

/// Where a scheme has its arrays, as the model counts them.
FpgaBanks banks_of(const char* scheme, const std::vector<FpgaPass>& passes, Form form) {
  Plan plan;
  plan.made_by = scheme;
  plan.form = form;
  plan.add<LineBatch>();
  const SecondBank second = find_scheme(scheme)->second_bank(plan);
  FpgaBanks banks{second.lower, second.diag, second.upper, second.y, second.x, second.own};
  for (std::size_t i = 0; i < banks.size(); ++i) {
    if (std::none_of(passes.begin(), passes.end(), [&](const FpgaPass& pass) { return pass[i] > 0; })) banks[i] = -1;
  }
  return banks;
}

TEST(FpgaModel, PlacesArraysNoBetterThanTheSchemesDo) {
  const std::pair<const char*, FpgaKernel> schemes[] = {{"fpga-spktrunc", FpgaKernel::spktrunc},
                                                        {"fpga-spkboth", FpgaKernel::spkboth},
                                                        {"fpga-spkjac", FpgaKernel::spkjac},
                                                        {"fpga-tdma", FpgaKernel::tdma_stored},
                                                        {"fpga-batch", FpgaKernel::tdma_batch}};
  for (const auto& [scheme, kernel] : schemes) {
    ASSERT_NE(find_scheme(scheme), nullptr) << scheme;
    for (const Form form : {Form::general, Form::symmetric}) {
      const std::vector<FpgaPass> passes = fpga_passes(kernel, form);
      const FpgaBanks ours = banks_of(scheme, passes, form), best = place_fpga_arrays(passes, 2);
      EXPECT_EQ(fpga_bank_words(passes, ours), fpga_bank_words(passes, best))
          << scheme << " " << name(form) << ": " << placement_text(ours) << ", best " << placement_text(best);
    }
  }
  const std::vector<FpgaPass> passes = fpga_passes(FpgaKernel::spktrunc, Form::general);
  EXPECT_EQ(placement_text(banks_of("fpga-spktrunc", passes, Form::general)), "{L,D,U} / {Y,X}");
}

TEST(FpgaModel, GivesTheTimesOfThePaper) {
  const FpgaTime spike = predict(FpgaKernel::spktrunc), thomas = predict(FpgaKernel::tdma);
  EXPECT_NEAR(spike.kernel, 0.200, 0.0005);  // the efficiency is fitted to it
  EXPECT_EQ(spike.kernel_limit, FpgaTerm::memory);
  EXPECT_NEAR(spike.pipeline, 0.040, 0.0005);
  EXPECT_NEAR(thomas.memory, 0.333, 0.0005);  // nothing is fitted to it
  EXPECT_NEAR(thomas.memory / spike.memory, 1.67, 0.005);
  const double rows = static_cast<double>(kRowsOfThePaper);
  EXPECT_NEAR(rows / spike.solve, 280e6, 1e5);
  EXPECT_EQ(spike.solve_limit, FpgaTerm::bus_in);
  EXPECT_NEAR(spike.bus_in / spike.bus_out, 4, 1e-12);
}

TEST(FpgaModel, SaysThatThomasAlgorithmWaitsForDivisions) {
  for (const FpgaKernel kernel : {FpgaKernel::tdma, FpgaKernel::tdma_stored}) {
    const FpgaTime time = predict(kernel);
    EXPECT_EQ(time.kernel_limit, FpgaTerm::chain);
    EXPECT_NEAR(time.chain, 25.6, 0.05);
  }
  FpgaBoard fast;
  fast.clock_hz = fast.highest_clock_hz;
  EXPECT_NEAR(predict_fpga(fast, {FpgaKernel::tdma, Form::general, kRowsOfThePaper}).chain, 21.3, 0.05);
  const FpgaTime batch = predict(FpgaKernel::tdma_batch);
  EXPECT_EQ(batch.chain, 0);
  EXPECT_EQ(batch.kernel_limit, FpgaTerm::pipeline);
  EXPECT_NEAR(batch.kernel, 2.56, 0.005);
}

TEST(FpgaModel, GainsByAnEvenNumberOfStreams) {
  EXPECT_NEAR(predict(FpgaKernel::spktrunc, Form::general, true).kernel, 0.167, 0.0005);
  EXPECT_NEAR(predict(FpgaKernel::spktrunc, Form::symmetric).kernel, 0.133, 0.0005);
  EXPECT_NEAR(predict(FpgaKernel::spktrunc, Form::shared).kernel, 0.067, 0.0005);
}

TEST(FpgaModel, PlacesArraysBestByTryingAllPlacements) {
  const auto general = fpga_passes(FpgaKernel::spktrunc, Form::general),
             thomas = fpga_passes(FpgaKernel::tdma, Form::general);
  EXPECT_EQ(fpga_words(general), 5);
  EXPECT_EQ(fpga_words(thomas), 10);
  EXPECT_EQ(fpga_words(fpga_passes(FpgaKernel::tdma_stored, Form::general)), 9);
  EXPECT_EQ(fpga_bank_words(general, place_fpga_arrays(general, 2)), 3);
  EXPECT_EQ(fpga_bank_words(thomas, place_fpga_arrays(thomas, 2)), 5);
  EXPECT_EQ(fpga_bank_words(thomas, {1, 0, 0, 1, 1, -1}), 5);  // {D,U} / {L,Y,X}
  EXPECT_EQ(placement_text({1, 0, 0, 1, 1, -1}), "{D,U} / {L,Y,X}");
  EXPECT_EQ(fpga_bank_words(general, place_fpga_arrays(general, 1)), 5);
  EXPECT_EQ(fpga_bank_words(general, place_fpga_arrays(general, 6)), 1);
}

TEST(FpgaModel, NeverPredictsLessForMoreRows) {
  for (const FpgaKernel kernel : kKernels) {
    for (const Form form : kForms) {
      FpgaTime before;
      for (Index rows = 0; rows < 1 << 30; rows = rows * 3 / 2 + 1) {
        const FpgaTime time = predict_fpga({}, {kernel, form, rows, sizeof(double)});
        EXPECT_GE(time.kernel, before.kernel);
        EXPECT_GE(time.solve, before.solve);
        EXPECT_GE(time.solve, time.kernel);
        before = time;
      }
    }
  }
}

TEST(FpgaModel, RefusesFiguresWithoutMeaning) {
  for (const FpgaFigure& figure : fpga_figures()) {
    for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
      FpgaBoard board;
      board.*figure.member = bad;
      test::expect_refusal([&] { predict_fpga(board, {}); }, figure.name);
    }
    FpgaBoard none;
    none.*figure.member = 0;
    if (figure.may_be_zero) {
      EXPECT_NO_THROW(check_fpga_board(none)) << figure.name;
    } else {
      EXPECT_THROW(check_fpga_board(none), InvalidInput) << figure.name;
    }
  }
  EXPECT_THROW(predict_fpga({}, {.rows = -1}), InvalidInput);
  EXPECT_THROW(fpga_passes(FpgaKernel::tdma, Form::narrow), InvalidInput);
}

TEST(FpgaModel, GivesTheBalancerAProfile) {
  const FpgaBoard board;
  for (const int word : {4, 8}) {
    const DeviceProfile profile = board_profile(word == sizeof(double));
    const FpgaTime time = predict_fpga(board, {FpgaKernel::spktrunc, Form::general, kRowsOfThePaper, word});
    EXPECT_NEAR(profile.rows_per_second * time.kernel / static_cast<double>(kRowsOfThePaper), 1, 1e-12);
    EXPECT_EQ(profile.copy_bytes_per_second, board.bus_in_bytes_per_second + board.bus_out_bytes_per_second);
    EXPECT_EQ(profile.launch_seconds, board.launch_seconds);
  }
  EXPECT_NEAR(board_profile(false).rows_per_second, 1280e6, 1e6);
}

TEST(FpgaOperations, AreThoseOfTable1WhereTheKernelsAreThePapers) {
  for (const Index m : {2, 16, 32, 64}) {
    EXPECT_EQ(count_fpga_operations(FpgaKernel::tdma, m), paper_operations(FpgaKernel::tdma, m));
    for (const FpgaKernel kernel : {FpgaKernel::spktrunc, FpgaKernel::spkboth, FpgaKernel::spkjac}) {
      EXPECT_EQ(count_fpga_operations(kernel, m).div, 2 * m + 1);  // the paper: 3 m + 3
    }
    EXPECT_EQ(count_fpga_operations(FpgaKernel::tdma_stored, m), (Operations{3 * m, 5 * m, m}));
  }
  EXPECT_EQ(count_fpga_operations(FpgaKernel::spktrunc, 32).add, paper_operations(FpgaKernel::spktrunc, 32).add);
}

TEST(FpgaOperations, TakeAsManyMultiplyAddersAsThePaperSays) {
  const FpgaBoard board;
  const auto percent = [&](FpgaKernel kernel) { return 100 * dsp_of(paper_operations(kernel, 32)) / board.dsp_blocks; };
  EXPECT_NEAR(percent(FpgaKernel::spktrunc), 27, 0.5);
  EXPECT_NEAR(percent(FpgaKernel::tdma), 16, 0.5);
}

TEST(FpgaOperations, AreCountedOfRunsThatSolve) {
  constexpr Index m = 32, rows = 10 * m;
  const std::vector<double> ones(rows, 1), fives(rows, 5);
  FpgaRows<double> system{ones, fives, ones, std::vector<double>(rows)};
  system.lower.front() = system.upper.back() = 0;
  for (std::size_t i = 0; i < system.y.size(); ++i) {  // of x_i = i mod 7
    const auto x = [](std::size_t row) { return static_cast<double>(row % 7); };
    system.y[i] = 5 * x(i) + (i > 0 ? x(i - 1) : 0) + (i + 1 < system.y.size() ? x(i + 1) : 0);
  }
  for (const FpgaKernel kernel : kKernels) {
    const std::vector<double> x = run_fpga_kernel(kernel, system, m);
    // Truncation: the influence of a row decays by 4.79 from row to row, over half a block for spktrunc.
    const double tolerance = kernel == FpgaKernel::spktrunc ? 1e-9 : 1e-14;
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], static_cast<double>(i % 7), tolerance) << name(kernel);
  }
}

}  // namespace
}  // namespace oclspkt

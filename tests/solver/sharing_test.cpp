// SPDX-License-Identifier: BSD-2-Clause
// Several processors solve one set of lines: every subset of those that are there, by all methods, in all layouts.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "backward_error.hpp"
#include "every_device.hpp"
#include "faults.hpp"
#include "line_judge.hpp"
#include "matrices.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::Faults;

/// Every subset of two processors or more, as Options::devices takes it.
std::vector<std::string> subsets() {
  std::vector<std::string> words{"host"};
  for (const DeviceInfo& device : device_module(nullptr)->devices()) words.push_back(std::to_string(device.index));
  std::vector<std::string> all;
  for (std::size_t set = 0; set < (std::size_t{1} << words.size()); ++set) {
    std::string list;
    int count = 0;
    for (std::size_t k = 0; k < words.size(); ++k) {
      if ((set >> k & 1U) == 0) continue;
      list += (list.empty() ? "" : ",") + words[k];
      ++count;
    }
    if (count > 1) all.push_back(list);
  }
  return all;
}

Options shared_evenly(const std::string& devices) {
  Options options{.devices = devices};
  options.variant = "cpu";  // by every method, on a device that stands in for an FPGA as well
  options.balance = "even";
  options.profile = "none";
  options.use.timeout = 300;  // see with_every_device
  return options;
}

Options on_the_host() { return {.devices = "host"}; }

template <typename T>
class Sharing : public test::SolverFixture<T> {
 protected:
  static Index shares(const Solver<T>& solver) { return static_cast<Index>(solver.report().sharing.shares.size()); }
  /// Set up, and expect the right answer, by shares of all rows if there are any.
  void expect_right(Solver<T>& solver, const Bands<T>& bands, double most = 20) {
    this->set_up(solver, bands);
    Index rows = 0;
    for (const ShareReport& share : solver.report().sharing.shares) rows += share.rows;
    EXPECT_EQ(rows, shares(solver) > 0 ? solver.report().rows : 0);
    EXPECT_LE(this->backward_error(solver, bands), most);
  }
};

/// The set of all by every method, the others by two of them in turn.
SCALAR_TEST(Sharing, IsRightOnEverySubsetAndByEveryMethod) {
  constexpr MethodChoice kMethods[] = {MethodChoice::automatic, MethodChoice::truncated,
                                       MethodChoice::truncated_streamed, MethodChoice::exact,
                                       MethodChoice::exact_factored};
  const LineSet line = LineSet::one(50'000);
  const std::vector<std::string> sets = subsets();
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (std::size_t method = 0; method < std::size(kMethods); ++method) {
      if (set + 1 < sets.size() && (set + method) % std::size(kMethods) > 1) continue;
      SCOPED_TRACE(sets[set] + ", " + name(kMethods[method]));
      Options options = shared_evenly(sets[set]);
      options.method = kMethods[method];
      Solver<T> solver(options);
      this->expect_right(solver, test::constant<T>(line, -1, 3, -1));
      EXPECT_GT(this->shares(solver), 1) << solver.report().sharing.why;
      EXPECT_GT(solver.report().sharing.seconds, 0);
    }
  }
}

SCALAR_TEST(Sharing, IsRightInEveryLayout) {
  const std::string all = subsets().back();
  for (const LineSet& lines : {LineSet::one(40'000), LineSet::equal(400, 128),
                               LineSet::unequal({0, 10, 10, 30'000, 30'001, 50'000}), LineSet::grid_axis(1, 32, 64, 24),
                               LineSet::grid_axis(2, 32, 32, 48), LineSet::strided(64, 40, 33, 1, 9, 2600)}) {
    for (const double d : {2.5, 1.0}) {
      SCOPED_TRACE(lines.describe() + ", dominance " + std::to_string(d));
      const Bands<T> bands = d > 1 ? test::constant<T>(lines, -1, 2 * d, -1) : test::constant<T>(lines, -1, 2.001, -1);
      Solver<T> solver(shared_evenly(all));
      this->expect_right(solver, bands, 100);
      EXPECT_GT(this->shares(solver), 1) << solver.report().sharing.why;
      const Index extent = lines.extent(), columns = 3;
      const std::vector<T> y = test::random_vector<T>(columns * extent);
      std::vector<T> x(y.size(), T(7)), one(static_cast<std::size_t>(extent), T(7)), again(one);
      solver.apply(y.data(), extent, x.data(), extent, columns);
      solver.apply(y.data() + extent, one.data());
      EXPECT_TRUE(std::equal(one.begin(), one.end(), x.begin() + extent)) << "a column is another operator";
      Solver<T> second = test::solver_for(bands, shared_evenly(all));
      second.apply(y.data() + extent, again.data());
      EXPECT_EQ(again, one) << "even shares give other bits from run to run";
      Bands<T> transposed(lines);
      transpose(lines, bands.view(), transposed);
      solver.apply_transpose(y.data(), one.data());
      EXPECT_LE(componentwise_backward_error(lines, transposed.view(), one.data(), y.data()) / this->eps, 100);
    }
  }
}

SCALAR_TEST(Sharing, OfHardMatricesIsRightOrLeftToOne) {
  const std::string all = subsets().back();
  Solver<T> solver(shared_evenly(all));
  for (const LineSet& lines : {LineSet::one(20'011), LineSet::equal(7, 3001)}) {
    std::vector<Bands<T>> matrices;
    matrices.push_back(test::row_sums_zero<T>(lines));
    matrices.push_back(test::constant<T>(lines, -1, 2, -1));
    matrices.push_back(test::constant<T>(lines, 1, 0.6, 1.1));
    matrices.push_back(test::constant<T>(lines, -1.9, 2, -0.05));
    for (std::size_t m = 0; m < matrices.size(); ++m) {
      SCOPED_TRACE(lines.describe() + ", matrix " + std::to_string(m));
      Solver<T> single(on_the_host());
      try {
        this->set_up(single, matrices[m]);
      } catch (const Breakdown&) {
        EXPECT_THROW(this->set_up(solver, matrices[m]), Breakdown);
        continue;
      }
      this->set_up(solver, matrices[m]);
      const std::vector<T> y = test::random_vector<T>(lines.extent());
      std::vector<T> x = test::answer(solver, y);
      const test::LineJudge<T> judge(matrices[m], y);
      const auto wrong = judge.wrong(x.data());
      EXPECT_FALSE(wrong.has_value()) << *wrong << "; " << solver.report().sharing.why;
    }
  }
}

SCALAR_TEST(Sharing, FollowsWeightsAndLeavesOutWhoHasNone) {
  Options options = shared_evenly(subsets().back());
  const auto count = device_module(nullptr)->devices().size() + 1;
  options.balance = "3,1";
  for (std::size_t k = 2; k < count; ++k) options.balance += ",0";
  const Bands<T> bands = test::constant<T>(LineSet::one(1 << 20), -1, 3, -1);
  Solver<T> solver(options);
  this->expect_right(solver, bands);
  ASSERT_EQ(this->shares(solver), 2) << solver.report().sharing.why;
  EXPECT_NEAR(static_cast<double>(solver.report().sharing.shares[0].rows), 0.75 * (1 << 20), 8192);
  options.balance = "1";
  for (std::size_t k = 1; k < count; ++k) options.balance += ",0";
  solver.set_options(options);
  this->expect_right(solver, bands);
  EXPECT_EQ(this->shares(solver), 0) << "one has all rows";
}

SCALAR_TEST(Sharing, TwoDriversOfOneDeviceShareNothingByTime) {
  Options options = shared_evenly(subsets().back());
  options.balance = "time";
  Solver<T> solver(options);
  this->expect_right(solver, test::constant<T>(LineSet::one(1 << 20), -1, 3, -1));
  EXPECT_EQ(this->shares(solver), 0) << "all of them are one processor";
  EXPECT_FALSE(solver.report().sharing.why.empty());
}

SCALAR_TEST(Sharing, OfAFewRowsIsRight) {
  Solver<T> solver(shared_evenly(subsets().back()));
  for (const Index rows : {0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 200, 1000}) {
    SCOPED_TRACE(rows);
    this->expect_right(solver, test::constant<T>(LineSet::one(rows), -1, 3, -1));
  }
}

SCALAR_TEST(Sharing, GoesOnWhereADeviceFails) {
  const Faults faults;
  Options options = shared_evenly(subsets().back());
  options.on_device_failure = OnDeviceFailure::quiet;
  options.use.transfer = Transfer::copy;
  const Bands<T> bands = test::constant<T>(LineSet::one(30'000), -1, 3, -1);
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    for (const ocl::Place place : {ocl::Place::build, ocl::Place::allocate, ocl::Place::launch, ocl::Place::read}) {
      SCOPED_TRACE(device.name + ", " + name(place));
      Faults::none();
      Solver<T> solver(options);
      const bool at_apply = place == ocl::Place::launch || place == ocl::Place::read;
      if (!at_apply) Faults::at(place, device.index, 0, 1000);
      this->set_up(solver, bands);
      if (at_apply) Faults::at(place, device.index);
      EXPECT_LE(this->backward_error(solver, bands), 20);
      EXPECT_TRUE(Faults::fired() == 0 || solver.report().losses > 0);
      Faults::none();
      EXPECT_LE(this->backward_error(solver, bands), 20) << "the next apply";
      this->expect_right(solver, bands);  // by the next set-up
    }
  }
}

SCALAR_TEST(Sharing, StopsWhereItIsAskedTo) {
  const Faults faults;
  Options options = shared_evenly(subsets().back());
  options.on_device_failure = OnDeviceFailure::error;
  options.use.transfer = Transfer::copy;
  const Bands<T> bands = test::constant<T>(LineSet::one(30'000), -1, 3, -1);
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    Solver<T> solver = test::solver_for(bands, options);
    Faults::at(ocl::Place::launch, device.index);
    EXPECT_THROW(this->backward_error(solver, bands), DeviceError);
    Faults::none();
    EXPECT_LE(this->backward_error(solver, bands), 20);
  }
}

SCALAR_TEST(Sharing, ByTwoSolversInTwoThreadsIsRight) {
  const Bands<T> bands = test::constant<T>(LineSet::one(20'000), -1, 3, -1);
  std::vector<std::thread> threads;
  std::vector<double> worst(2, 0);
  for (std::size_t k = 0; k < 2; ++k) {
    threads.emplace_back([&, k] {
      Solver<T> solver = test::solver_for(bands, shared_evenly(subsets().back()));
      for (int i = 0; i < 150; ++i) worst[k] = std::max(worst[k], this->backward_error(solver, bands));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double error : worst) EXPECT_LE(error, 20);
}

TEST(SharingCalls, NameWhatDoesNotFit) {
  Options options = shared_evenly(subsets().back());
  options.balance = "1,2,3,4,5,6,7,8,9";
  Solver<double> solver(options);
  const Bands<double> bands = test::constant<double>(LineSet::one(1000), -1, 3, -1);
  const auto set_up = [&] { test::set_up(solver, bands); };
  test::expect_refusal(set_up, "9 weights");
  for (const char* balance : {"1,-2", "nan", "0,0", "fast", "", "1,,2", "inf,1"}) {
    test::expect_refused([&](Options& o) { o.balance = balance; }, "balance");
  }
  test::expect_refused([](Options& o) { o.use.chunk = -1; }, "chunk");
  solver.set_options(shared_evenly("host,0"));
  set_up();
  ASSERT_EQ(solver.report().sharing.shares.size(), 2u) << solver.report().sharing.why;
  int memory = 0;
  auto* const buffer = reinterpret_cast<_cl_mem*>(&memory);
  test::expect_refusal([&] { solver.apply_on_device(buffer, buffer); }, "several devices share");
}

TEST(SharingCalls, ADeviceThatIsNamedTwiceCountsOnce) {
  Solver<double> solver(shared_evenly("0,0,host,host"));
  const Bands<double> bands = test::constant<double>(LineSet::one(10'000), -1, 3, -1);
  test::set_up(solver, bands);
  EXPECT_EQ(solver.report().sharing.shares.size(), 2u);
  EXPECT_NE(solver.report().sharing.why.find("named twice"), std::string::npos) << solver.report().sharing.why;
}

TEST(SharingCalls, PartsOfADeviceShareWithEachOther) {
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    if (device.cores < 2) continue;
    const std::string part = std::to_string(device.index) + ":1";
    Solver<double> solver(shared_evenly(part + ",host"));
    const Bands<double> bands = test::constant<double>(LineSet::one(50'000), -1, 3, -1);
    const auto set_up = [&] { test::set_up(solver, bands); };
    set_up();
    ASSERT_EQ(solver.report().sharing.shares.size(), 2u) << solver.report().sharing.why;
    EXPECT_NE(solver.report().sharing.shares[0].device.find("(1 core)"), std::string::npos);
    const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
    std::vector<double> x = test::answer(solver, y);
    const double error = componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
    EXPECT_LE(error, 20 * std::numeric_limits<double>::epsilon());
    solver.set_options(shared_evenly(std::to_string(device.index) + ":999"));
    test::expect_refusal(set_up, "999");
  }
}

TEST(SharingCalls, ChunksAreAsShortAsAsked) {
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    Options options{.devices = std::to_string(device.index), .use = {.transfer = Transfer::copy}};
    for (const Index chunk : {1, 5000, 20'000, 1'000'000}) {
      options.use.chunk = chunk;
      for (const LineSet& lines : {LineSet::one(60'000), LineSet::grid_axis(1, 16, 64, 40)}) {
        const Bands<double> bands = test::constant<double>(lines, -1, 3, -1);
        Solver<double> solver = test::solver_for(bands, options);
        const std::vector<double> y = test::random_vector<double>(lines.extent());
        std::vector<double> x = test::answer(solver, y);
        const double error = componentwise_backward_error(lines, bands.view(), x.data(), y.data());
        EXPECT_LE(error, 20 * std::numeric_limits<double>::epsilon());
      }
    }
  }
}

SCALAR_TEST(Sharing, IsRightOverAllDevicesAndAnEmulatorByKernelsForFpgas) {
  if (test::emulated_devices().empty()) GTEST_SKIP() << "nothing is emulated here";
  Options options = shared_evenly("all,emulation");
  options.variant = "default";
  for (const double d : {3.0, 1.0}) {
    SCOPED_TRACE("dominance " + std::to_string(d));
    Solver<T> solver(options);
    this->expect_right(solver, test::constant<T>(LineSet::one(200'000), -1, 2 * d, -1));
    const std::vector<ShareReport>& shares = solver.report().sharing.shares;
    ASSERT_EQ(shares.size(), device_module(nullptr)->devices().size()) << solver.report().sharing.why;
    for (const ShareReport& share : shares) {
      EXPECT_EQ(share.emulated, share.shape.find("one work-item") != std::string::npos) << share.shape;
      EXPECT_GT(share.rows, 0);
      EXPECT_GT(share.predicted_seconds, 0);
      EXPECT_GT(share.seconds, 0);
    }
  }
}

/// 1e6 rows of 5 words at 8e9 bytes a second, of 2 where lines are alike, whatever the host and the devices are
/// measured at.
TEST(SharingCalls, TheProcessorIsChosenByNoMeasurementWhereRunsAreToBeReproducible) {
  Options options{.devices = "auto", .reproducible = true};
  Solver<double> solver(options);
  for (const auto& [lines, host] : {std::pair(LineSet::one(1'000'000), "host 5e+03 us"),
                                    std::pair(LineSet::grid_axis(1, 100, 100, 100), "host 2e+03 us")}) {
    test::set_up(solver, test::constant<double>(lines, -1, 3, -1));
    const std::string& costs = solver.report().device.costs;
    ASSERT_FALSE(costs.empty()) << solver.report().device.why;
    EXPECT_NE(costs.find(host), std::string::npos) << costs;
  }
}

/// The cost of what was taken, not of what was rejected before it.
TEST(SharingCalls, CostsAreThoseOfTheMethodThatSolves) {
  Options options{.devices = "auto", .reproducible = true};
  Solver<double> solver = test::solver_for(test::constant<double>(LineSet::one(1'000'000), -1, 2, -1), options);
  const std::vector<Candidate>& candidates = solver.report().candidates;
  ASSERT_GT(candidates.size(), 1U);
  ASSERT_TRUE(candidates.back().taken);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", 1e6 * candidates.back().seconds);
  EXPECT_NE(solver.report().device.costs.find(text), std::string::npos) << solver.report().device.costs;
}

TEST(SharingCalls, AnEmulatedDeviceDoesNotPassForABoard) {
  if (test::emulated_devices().empty()) GTEST_SKIP() << "nothing is emulated here";
  const Bands<double> bands = test::constant<double>(LineSet::one(1 << 18), -1, 3, -1);
  for (const DeviceInfo& device : test::emulated_devices()) {
    Options options{.devices = std::to_string(device.index) + ",host", .profile = "none", .reproducible = true};
    options.use.timeout = 300;  // see with_every_device
    for (const char* balance : {"kernel", "energy"}) {
      options.balance = balance;
      Solver<double> solver = test::solver_for(bands, options);
      EXPECT_EQ(solver.report().device.name, "host") << balance << ": " << solver.report().sharing.why;
    }
    options.balance = "even";
    Solver<double> solver = test::solver_for(bands, options);
    ASSERT_EQ(solver.report().sharing.shares.size(), 2u) << solver.report().sharing.why;
    EXPECT_TRUE(solver.report().sharing.shares[0].emulated) << ::testing::PrintToString(solver.report().degraded);
    EXPECT_FALSE(solver.report().sharing.shares[1].emulated);
    EXPECT_LT(solver.report().sharing.shares[1].predicted_seconds, solver.report().sharing.shares[0].predicted_seconds);
  }
}

}  // namespace
}  // namespace oclspkt

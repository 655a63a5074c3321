// SPDX-License-Identifier: BSD-2-Clause
// What solvers take from the process: contexts, builds, memory, threads.
#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "every_device.hpp"
#include "faults.hpp"
#include "node.hpp"
#include "process.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::Faults;

constexpr std::int64_t kMegabyte = 1 << 20;

class Resources : public test::SolverFixture<double> {
 protected:
  static void set_up_on_device(Solver<double>& solver, const Bands<double>& bands) {
    set_up(solver, bands);
    ASSERT_NE(solver.report().device.name, "host") << solver.report().device.why;
  }

  /// Call f(options) for each device, in place and copying, by the truncated method.
  template <typename F>
  static void with_every_transfer(const F& f) {
    test::with_every_transfer([&](Options options) {
      options.method = MethodChoice::truncated_halo;
      f(options);
    });
  }

  /// The first device, in place: most of the work is there. What would grow is ours, and the others take longer.
  static bool takes_most(const Options& options) {
    return options.devices == "0" && options.use.transfer == Transfer::automatic;
  }
};

TEST_F(Resources, AThousandSolversShareOneContextAndOneBuild) {
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(1000), 3);
  const Faults faults;
  with_every_transfer([&](const Options& options) {
    {
      Solver<double> first(options);  // measures the device
      set_up_on_device(first, bands);
    }
    release_devices();
    Faults::none();
    std::vector<Solver<double>> solvers;
    solvers.emplace_back(options);
    set_up_on_device(solvers.front(), bands);
    const std::int64_t before = test::resident_bytes();
    const std::size_t count = takes_most(options) ? 1000 : 100;
    while (solvers.size() < count) {
      solvers.emplace_back(options);
      set_up_on_device(solvers.back(), bands);
    }
    EXPECT_LE(backward_error(solvers.front(), bands), 100);
    EXPECT_LE(backward_error(solvers.back(), bands), 100);
    EXPECT_EQ(Faults::seen(ocl::Place::open), 1);
    EXPECT_EQ(Faults::seen(ocl::Place::build), 1);
    const std::int64_t each = (test::resident_bytes() - before) / static_cast<std::int64_t>(count - 1);
    std::cout << solvers.back().report().device.name << ": " << each << " bytes a solver in memory, "
              << solvers.back().bytes() << " by its own count, bands " << bands.bytes() << std::endl;
    EXPECT_LE(each, bands.bytes() + kMegabyte);
    EXPECT_GE(solvers.back().bytes(), bands.bytes());
    EXPECT_LE(solvers.back().bytes(), bands.bytes() + kMegabyte);
  });
}

TEST_F(Resources, DoNotGrowWithAppliesAndSetUps) {
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(200), 3);
  const std::vector<double> y = test::random_vector<double>(200);
  std::vector<double> x(y.size());
  with_every_transfer([&](const Options& options) {
    Solver<double> solver(options);
    const auto work = [&](int set_ups, int applies) {
      for (int i = 0; i < set_ups; ++i) {
        set_up(solver, bands);
        for (int k = 0; k < applies; ++k) solver.apply(y.data(), x.data());
      }
    };
    const int set_ups = takes_most(options) ? 1000 : 300, applies = takes_most(options) ? 100 : 10;
    work(100, applies);
    const std::int64_t before = test::resident_bytes();
    work(set_ups, applies);
    const std::int64_t growth = test::resident_bytes() - before;
    std::cout << solver.report().device.name << ": " << growth << " bytes more after " << set_ups << " set-ups of "
              << applies << " applies" << std::endl;
    EXPECT_EQ(solver.times().applies, (100 + set_ups) * applies);
    EXPECT_LE(growth, kMegabyte);  // ten bytes an apply in place
  });
}

TEST_F(Resources, TwoThreadsMayUseTwoSolvers) {
  const Index n = 20'000;
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(n), 3);
  const std::vector<double> y = test::random_vector<double>(n);
  std::vector<Options> ways;
  with_every_transfer([&](const Options& options) { ways.push_back(options); });
  const auto solve = [&](const Options& options, int rounds) {
    std::vector<double> x(y.size()), transposed(y.size());
    Solver<double> solver(options);
    for (int round = 0; round < rounds; ++round) {
      set_up(solver, bands);
      solver.apply(y.data(), x.data());
      solver.apply_transpose(y.data(), transposed.data());
    }
    return x;
  };
  std::vector<std::vector<double>> alone;
  for (const Options& options : ways) alone.push_back(solve(options, 1));
  for (std::size_t a = 0; a < ways.size(); ++a) {
    for (std::size_t b = a; b < ways.size(); ++b) {
      SCOPED_TRACE("devices " + ways[a].devices + " and " + ways[b].devices);
      std::vector<double> one, other;
      std::thread thread([&] { one = solve(ways[a], 3); });
      other = solve(ways[b], 3);
      thread.join();
      EXPECT_EQ(one, alone[a]);
      EXPECT_EQ(other, alone[b]);
    }
  }
}

/// Processes of their own: what one test opens stays open.
class FreshProcess : public Resources {};

TEST_F(FreshProcess, SmallSystemsTouchNoOpenCL) {
  const int threads = test::thread_count();
  std::vector<Solver<double>> solvers;
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(100), 3);
  for (int i = 0; i < 10; ++i) {
    solvers.emplace_back(Options{});
    set_up(solvers.back(), bands);
    EXPECT_LE(backward_error(solvers.back(), bands), 100);
    EXPECT_EQ(solvers.back().report().device.name, "host");
  }
  EXPECT_EQ(open_device_module(), nullptr);
  EXPECT_EQ(test::thread_count(), threads);
}

TEST_F(FreshProcess, DriversRunAsManyThreadsAsTheProcessHasProcessors) {
  // Ranks that are not bound share the machine.
  const int processors = test::allowed_processors();
  const bool bound = processors < sysconf(_SC_NPROCESSORS_ONLN);
  const int allowed = bound ? processors : std::max(1, processors / node_place().ranks);
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(200'000), 3);
  ASSERT_GE(allowed, 1);
  int before = test::thread_count(), most = 0;
  with_every_transfer([&](const Options& options) {
    Solver<double> solver(options);
    set_up_on_device(solver, bands);
    EXPECT_LE(backward_error(solver, bands), 100);
    const int started = test::thread_count() - before;
    before += started;
    most = std::max(most, started);
    std::cout << solver.report().device.name << ": " << started << " threads on " << allowed << " processors"
              << std::endl;
    // The emulator stands for a board: its kernels run at once, a thread each, and it has 32 unless the mask is narrow.
    // Other processors than the host's have threads of their driver's own to wait for them.
    const DeviceInfo& info = test::device_of(options);
    EXPECT_TRUE(info.emulated || info.type != DeviceType::cpu || started <= allowed);
  });
  EXPECT_GE(most, 1) << "no driver started a thread: nothing was seen";
}

/// Seconds that processors have worked for this process, or for the calling thread.
double processor_seconds(int whose) {
  rusage used{};
  getrusage(whose, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

TEST_F(Resources, APartOfAProcessorDoesNotBorrowTheCallersCore) {
  const Bands<double> bands = test::random_dominant<double>(LineSet::one(2'000'000), 3);
  const std::vector<double> y = test::random_vector<double>(bands.lines().extent());
  std::vector<double> x(y.size());
  for (const DeviceInfo& device : device_module(nullptr)->devices()) {
    if (device.type != DeviceType::cpu || device.cores < 2) continue;
    SCOPED_TRACE(device.name + " of " + device.platform);
    Options options{.devices = std::to_string(device.index) + ":1", .method = MethodChoice::truncated_halo};
    Solver<double> solver(options);
    set_up_on_device(solver, bands);
    solver.apply(y.data(), x.data());
    const double before = processor_seconds(RUSAGE_SELF), callers = processor_seconds(RUSAGE_THREAD);
    for (int i = 0; i < 50; ++i) solver.apply(y.data(), x.data());
    const double all = processor_seconds(RUSAGE_SELF) - before;
    EXPECT_LE(processor_seconds(RUSAGE_THREAD) - callers, 0.25 * all) << "of " << all << " s";
  }
}

}  // namespace
}  // namespace oclspkt

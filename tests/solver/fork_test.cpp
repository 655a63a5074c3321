// SPDX-License-Identifier: BSD-2-Clause
// Processes that fork after the first use of a device, as Python's multiprocessing does: the child has none of the
// drivers' threads, and what waits for them would wait for ever. The host answers there.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

constexpr std::chrono::seconds kLimit{60};
constexpr Index kRows = 200'000;

/// Run f in a child process, which must end by itself, exit handlers included, with no failure of a test.
void expect_good_child(const std::function<void()>& f) {
  std::cout.flush();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      f();
    } catch (const std::exception& e) {
      ADD_FAILURE() << "in the child: " << e.what();
    }
    std::cout.flush();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  const auto limit = std::chrono::steady_clock::now() + kLimit;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > limit) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      FAIL() << "the child hangs";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child ends with status " << status;
}

class Fork : public test::SolverFixture<double> {
 protected:
  const Bands<double> bands_ = test::random_dominant<double>(LineSet::one(kRows), 3);

  void solve_on_device(Solver<double>& solver) {
    set_up(solver, bands_);
    EXPECT_LE(backward_error(solver, bands_), 100);
    EXPECT_NE(solver.report().device.name, "host") << solver.report().device.why;
  }

  static void expect_taken_over(const Report& report) {
    EXPECT_EQ(report.device.name, "host") << report.device.why;
    ASSERT_FALSE(report.degraded.empty());
    for (const std::string& line : report.degraded) EXPECT_NE(line.find("forked"), std::string::npos) << line;
  }

  template <typename F>
  static void with_every_way(const F& f) {
    test::with_every_transfer([&](Options options) {
      options.on_device_failure = OnDeviceFailure::quiet;
      for (const MethodChoice method :
           {MethodChoice::truncated_halo, MethodChoice::truncated_streamed, MethodChoice::exact_factored}) {
        SCOPED_TRACE(name(method));
        options.method = method;
        f(options);
      }
    });
  }
};

TEST_F(Fork, TheHostTakesOverFromASolverThatWasSetUpBefore) {
  with_every_way([&](const Options& options) {
    Solver<double> used(options);
    auto destroyed = std::make_unique<Solver<double>>(options);
    solve_on_device(used);
    solve_on_device(*destroyed);
    const std::vector<double> y = test::random_vector<double>(kRows);
    std::vector<double> x(y.size());
    used.apply_transpose(y.data(), x.data());
    expect_good_child([&] {
      EXPECT_FALSE(used.device_handles());
      EXPECT_LE(backward_error(used, bands_), 100);
      expect_taken_over(used.report());
      EXPECT_EQ(used.report().losses, 1u);
      const std::vector<double> before = x;
      used.apply_transpose(y.data(), x.data());
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], before[i], 1e-13) << i;
      set_up(used, bands_);
      EXPECT_LE(backward_error(used, bands_), 100);
      destroyed.reset();
      release_devices();
    });
    EXPECT_LE(backward_error(used, bands_), 100);
    EXPECT_NE(used.report().device.name, "host");
  });
}

TEST_F(Fork, NewSolversAreRefusedDevices) {
  test::with_every_transfer([&](Options options) {
    Solver<double> before(options);
    solve_on_device(before);
    expect_good_child([&] {
      options.on_device_failure = OnDeviceFailure::quiet;
      for (const std::string& devices : {options.devices, std::string("auto"), std::string("all")}) {
        SCOPED_TRACE("devices " + devices);
        options.devices = devices;
        Solver<double> solver = test::solver_for(bands_, options);
        EXPECT_LE(backward_error(solver, bands_), 100);
        expect_taken_over(solver.report());
      }
    });
    expect_good_child([&] {
      options.on_device_failure = OnDeviceFailure::error;
      Solver<double> solver(options);
      EXPECT_THROW(set_up(solver, bands_), DeviceError);
      EXPECT_THROW(backward_error(before, bands_), DeviceError);
      EXPECT_THROW(before.apply_on_device(nullptr, nullptr), DeviceError);
    });
    EXPECT_LE(backward_error(before, bands_), 100);
  });
}

/// In a process of its own, which has not used a device.
TEST_F(Fork, BeforeTheFirstUseLeavesDevicesToBoth) {
  ASSERT_EQ(open_device_module(), nullptr) << "run this case alone";
  Options options{.devices = "cpu"};
  const auto solve = [&] {
    Solver<double> solver(options);
    solve_on_device(solver);
  };
  expect_good_child(solve);
  solve();
}

}  // namespace
}  // namespace oclspkt

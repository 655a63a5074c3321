// SPDX-License-Identifier: BSD-2-Clause
// Memory that runs out at any allocation of a solver's life: a clear error, nothing lost, and later calls work.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <optional>

#include "backward_error.hpp"
#include "every_device.hpp"
#include "failing_memory.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::FailingMemory;

enum class Moment { make, set_up, apply, transpose, set_up_again };
constexpr Moment kMoments[] = {Moment::make, Moment::set_up, Moment::apply, Moment::transpose, Moment::set_up_again};
constexpr const char* kMomentNames[] = {"make", "set_up", "apply", "transpose", "set_up_again"};

const char* name_of(Moment moment) { return kMomentNames[static_cast<int>(moment)]; }

class Memory : public ::testing::Test {
 protected:
  struct System {
    Bands<double> bands, transposed;
    std::vector<double> y;

    explicit System(Bands<double> of)
        : bands(test::closed(std::move(of))),
          transposed(test::transposed(bands)),
          y(test::random_vector<double>(bands.lines().extent())) {}
  };

  /// What a solver's life needs of memory is asked for before, or by the solver alone.
  void live(std::optional<Solver<double>>& solver, Moment moment, const Options& options, const System& system) {
    switch (moment) {
      case Moment::make:
        solver.emplace(options);
        return;
      case Moment::set_up:
      case Moment::set_up_again:
        test::set_up(*solver, system.bands);
        return;
      case Moment::apply:
        solver->apply(system.y.data(), x_.data());
        return;
      case Moment::transpose:
        solver->apply_transpose(system.y.data(), x_.data());
    }
  }

  /// The same, and look at the answer.
  void live_well(std::optional<Solver<double>>& solver, Moment moment, const Options& options, const System& system) {
    std::fill(x_.begin(), x_.end(), std::numeric_limits<double>::quiet_NaN());
    live(solver, moment, options, system);
    const bool transposed = moment == Moment::transpose;
    if (moment != Moment::apply && !transposed) return;
    EXPECT_LE(test::componentwise_error(transposed ? system.transposed : system.bands, x_, system.y), 100)
        << name_of(moment);
  }

  /// A solver's life in which memory runs out at one moment. @return false if the moment needed less memory
  bool survives(const Options& options, const System& system, Moment moment, int first, bool all) {
    std::optional<Solver<double>> solver;
    for (const Moment now : kMoments) {
      if (now == moment) break;
      live_well(solver, now, options, system);
    }
    int failed = 0;
    {
      const FailingMemory failing(first, all);
      try {
        live(solver, moment, options, system);
      } catch (const std::bad_alloc&) {
      } catch (const Error& error) {
        errors_ += std::string(error.what()) + "\n";
      }
      failed = FailingMemory::failed();
    }
    if (failed == 0) return false;
    for (const Moment now : kMoments) {
      if (now >= moment) live_well(solver, now, options, system);
      if (now != Moment::make && now >= moment) live_well(solver, Moment::apply, options, system);
    }
    EXPECT_TRUE(solver->report().degraded.empty()) << solver->report().degraded.front();
    return true;
  }

  /// @param step  of so many allocations one fails in a life
  void expect_survived(const Options& options, const System& system, int step = 1) {
    x_.resize(system.y.size());
    {
      std::optional<Solver<double>> solver;  // opens, measures and builds what later solvers share
      for (const Moment moment : kMoments) live_well(solver, moment, options, system);
    }
    int all_counts = 0;
    for (const Moment moment : kMoments) {
      for (const bool all : {false, true}) {
        SCOPED_TRACE(std::string("memory runs out at moment ") + name_of(moment) +
                     (all ? ", for all of it" : ", once"));
        int count = 0;
        while (!HasFailure() && survives(options, system, moment, count * step, all)) ++count;
        all_counts += count;
      }
    }
    std::cout << "survived " << all_counts << std::endl;
    EXPECT_GT(all_counts, 20) << "hardly an allocation was seen";
    EXPECT_EQ(errors_, "");
  }

  std::vector<double> x_;
  std::string errors_;
};

Options options_for(MethodChoice method, const std::string& devices = "host") {
  Options options{.devices = devices, .method = method, .on_device_failure = OnDeviceFailure::quiet};
  options.profile = "none";  // files have tests of their own
  return options;
}

/// How a process of its own ends that meets a failing allocation while drivers are looked for.
enum Ending { kSurvived = 0, kNoDevices = 1, kNeededLess = 2 };

[[noreturn]] void open_module_short_of_memory(int first) {
  if (dlopen(OCLSPKT_CL_MODULE, RTLD_NOW) == nullptr) _exit(kNoDevices);
  int failed = 0;
  {
    const FailingMemory failing(first, false);
    try {
      device_module(nullptr);
    } catch (const std::bad_alloc&) {
    }
    failed = FailingMemory::failed();
  }
  std::string why;
  DeviceModule* module = device_module(&why);
  const bool found = module != nullptr && !module->devices().empty();
  if (!found && module != nullptr && !module->problems().empty()) why = module->problems().front();
  if (!found) std::cout << "no device: " << why << std::endl;
  _exit(!found ? kNoDevices : failed > 0 ? kSurvived : kNeededLess);
}

/// Before the cases that open the module in this process.
TEST_F(Memory, MayRunOutWhileDriversAreLookedFor) {
  ASSERT_EQ(open_device_module(), nullptr) << "run this case first";
  constexpr int kStep = 19;  // a tenth of a second each
  int status = 0, count = 0;
  for (; count == 0 || status == kSurvived; ++count) {
    const pid_t child = fork();
    if (child == 0) open_module_short_of_memory(count * kStep);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "allocation " << count * kStep << " ends the process, status " << status;
    status = WEXITSTATUS(status);
  }
  std::cout << "survived " << count << std::endl;
  EXPECT_EQ(status, kNeededLess) << "allocation " << (count - 1) * kStep;
  EXPECT_GT(count, 5);
}

TEST_F(Memory, RunsOutOnTheHostByEveryMethod) {
  const System system(test::random_dominant<double>(LineSet::one(3001), 2.5));
  for (const MethodChoice method :
       {MethodChoice::automatic, MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
        MethodChoice::exact_twopass, MethodChoice::exact_factored, MethodChoice::pivot}) {
    SCOPED_TRACE(name(method));
    expect_survived(options_for(method), system);
  }
}

TEST_F(Memory, RunsOutWhereLinesFallBack) {
  const LineSet lines = LineSet::equal(40, 50);
  Bands<double> bands = test::random_dominant<double>(lines, 2.5);
  for (Index i = lines.first(7); i < lines.first(8); ++i) bands.diag()[i] *= i % 2 == 0 ? 1e-9 : 1;  // needs pivots
  const System system(std::move(bands));
  expect_survived(options_for(MethodChoice::automatic), system);
  // Six thousand allocations, of lives that take a hundredth of a second each.
  expect_survived(options_for(MethodChoice::automatic, "portable"), system, 7);
}

TEST_F(Memory, RunsOutOnADevice) {
  const System system(test::random_dominant<double>(LineSet::one(3001), 2.5));
  test::with_every_transfer([&](Options options) {
    if (test::device_of(options).platform.find("Portable") == std::string::npos)
      return;  // what asks for memory is ours
    for (const MethodChoice method : {MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
                                      MethodChoice::exact_twopass, MethodChoice::exact_factored}) {
      SCOPED_TRACE(name(method));
      options.method = method;
      options.on_device_failure = OnDeviceFailure::quiet;
      expect_survived(options, system);
    }
  });
}

}  // namespace
}  // namespace oclspkt

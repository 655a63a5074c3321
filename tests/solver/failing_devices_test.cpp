// SPDX-License-Identifier: BSD-2-Clause
// Every call that a device's driver can fail, at every moment of a solver's life: the answer is right all the same.
#include <algorithm>
#include <set>

#include "backward_error.hpp"
#include "device.hpp"
#include "every_device.hpp"
#include "faults.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::device_of;
using test::Faults;

/// Moments of a solver's life, in order.
enum class Moment { set_up, first_apply, second_apply, transpose };
constexpr Moment kMoments[] = {Moment::set_up, Moment::first_apply, Moment::second_apply, Moment::transpose};

std::string said(const Report& report) {
  std::string text = report.device.name + " (" + report.device.why + ")";
  for (const std::string& line : report.degraded) text += "; degraded " + line;
  return text;
}

/// A selection of every device that computes in T, by index.
template <typename T>
std::string all_devices() {
  std::string indices;
  for (const DeviceInfo& info : device_module(nullptr)->devices()) {
    if (sizeof(T) == sizeof(double) && !info.fp64) continue;
    indices += (indices.empty() ? "" : ",") + std::to_string(info.index);
  }
  return indices;
}

template <typename T>
class FailingDevices : public test::SolverFixture<T> {
 protected:
  static constexpr Index kRows = 3001;  // several tiles, the last of them short

  const Bands<T> bands_ = dominant_both_ways();

  /// Rows over their diagonal, so that the transposed rows are dominant as well.
  static Bands<T> dominant_both_ways() {
    Bands<T> bands = test::random_dominant<T>(LineSet::one(kRows), 2.5);
    for (Index i = 0; i < kRows; ++i) {
      bands.lower()[i] /= bands.diag()[i];
      bands.upper()[i] /= bands.diag()[i];
      bands.diag()[i] = 1;
    }
    return bands;
  }

  void live(Solver<T>& solver, Moment moment) {
    switch (moment) {
      case Moment::set_up:
        this->set_up(solver, bands_);
        return;
      case Moment::first_apply:
      case Moment::second_apply:
        EXPECT_LE(test::backward_error(solver, bands_), 100) << said(solver.report());
        return;
      case Moment::transpose:
        EXPECT_LE(test::transposed_error(solver, bands_), 100) << said(solver.transposed().report());
    }
  }

  /// A solver's whole life, in which the first call of one moment at one place fails.
  void expect_right(const Options& options, Moment moment, ocl::Place place) {
    SCOPED_TRACE("at moment " + std::to_string(static_cast<int>(moment)) + ", place " + name(place));
    Solver<T> solver(options);
    for (const Moment now : kMoments) {
      if (now == moment) Faults::at(place, device_of(options).index);
      live(solver, now);
      if (now == moment) Faults::none();
    }
    const Report& report = solver.report();
    EXPECT_EQ(report.losses, 1u);
    ASSERT_EQ(report.degraded.size(), 1u) << said(report);
    EXPECT_EQ(report.degraded[0].rfind(device_of(options).name + ": ", 0), 0u) << report.degraded[0];
    const std::string code = "(" + std::to_string(test::code_of(place)) + ")";
    EXPECT_NE(report.degraded[0].find(code), std::string::npos) << report.degraded[0];
    const Report& failed = moment == Moment::transpose ? solver.transposed().report() : report;
    EXPECT_EQ(failed.device.name, "host") << said(failed);
  }

  /// The places that a solver passes at a moment.
  std::set<ocl::Place> places(const Options& options, Moment moment) {
    Solver<T> solver(options);
    std::set<ocl::Place> passed;
    for (const Moment now : kMoments) {
      Faults::none();
      live(solver, now);
      for (const ocl::Place place : ocl::kPlaces) {
        if (now == moment && Faults::seen(place) > 0) passed.insert(place);
      }
    }
    return passed;
  }

  /// Call f(options) for each device, transfer and method; devices fail silently.
  template <typename F>
  void with_every_way(const F& f) {
    test::with_every_transfer([&](Options options) {
      options.on_device_failure = OnDeviceFailure::quiet;
      for (const MethodChoice method :
           {MethodChoice::truncated_halo, MethodChoice::exact_twopass, MethodChoice::exact_factored}) {
        options.method = method;
        SCOPED_TRACE(name(method));
        f(options);
      }
    });
  }
};

SCALAR_TEST(FailingDevices, EachPlaceIsPassedWhereItShouldBe) {
  const Faults faults;
  this->with_every_way([&](const Options& options) {
    const bool in_place = options.use.transfer == Transfer::automatic;
    const bool twopass = options.method == MethodChoice::exact_twopass,
               exact = twopass || options.method == MethodChoice::exact_factored;
    this->places(options, Moment::set_up);  // opens and builds what later solvers share
    std::set<ocl::Place> expected{ocl::Place::allocate, ocl::Place::argument, ocl::Place::launch, ocl::Place::wait};
    if (!in_place || (exact && !twopass)) expected.insert(ocl::Place::write);
    EXPECT_EQ(this->places(options, Moment::set_up), expected);
    expected = {ocl::Place::argument, ocl::Place::launch, ocl::Place::wait, ocl::Place::read};
    if (in_place) expected.insert(ocl::Place::allocate);
    if (!in_place || twopass) expected.insert(ocl::Place::write);
    EXPECT_EQ(this->places(options, Moment::first_apply), expected);
    EXPECT_EQ(this->places(options, Moment::second_apply), expected);
  });
}

SCALAR_TEST(FailingDevices, TheAnswerIsRightAndTheLossIsTold) {
  const Faults faults;
  this->with_every_way([&](const Options& options) {
    this->places(options, Moment::set_up);  // opens and builds what later solvers share
    for (const Moment moment : kMoments) {
      for (const ocl::Place place : this->places(options, moment)) this->expect_right(options, moment, place);
    }
  });
}

SCALAR_TEST(FailingDevices, StopTheSolverOnlyIfAskedTo) {
  const Faults faults;
  this->with_every_way([&](Options options) {
    options.on_device_failure = OnDeviceFailure::error;
    const int device = device_of(options).index;
    for (const Moment moment : kMoments) {
      Solver<T> solver(options);
      for (const Moment now : kMoments) {
        if (now == moment) {
          Faults::at(ocl::Place::launch, device);
          EXPECT_THROW(this->live(solver, now), DeviceError);
          break;
        }
        this->live(solver, now);
      }
      Faults::none();
      for (const Moment now : kMoments) this->live(solver, now);
      EXPECT_EQ(solver.report().device.name, device_of(options).name) << said(solver.report());
      EXPECT_TRUE(solver.report().degraded.empty());
    }
  });
}

/// One loss for each of `lost` devices, none of which solves.
void expect_lost(const Report& report, std::size_t lost, std::size_t devices) {
  EXPECT_EQ(report.losses, lost);
  EXPECT_EQ(report.degraded.size(), lost) << said(report);
  EXPECT_EQ(report.device.name == "host", lost == devices) << said(report);
  std::set<std::string> names;
  for (const std::string& line : report.degraded) names.insert(line.substr(0, line.find(": ")));
  EXPECT_EQ(names.size(), lost) << said(report);
  EXPECT_FALSE(names.contains(report.device.name)) << said(report);
}

SCALAR_TEST(FailingDevices, TheNextDeviceTakesOver) {
  const Faults faults;
  Options options{
      .devices = all_devices<T>(), .method = MethodChoice::exact_twopass, .on_device_failure = OnDeviceFailure::quiet};
  options.variant = "cpu";  // whose method a device that stands in for an FPGA has as well
  const auto devices = static_cast<int>(std::count(options.devices.begin(), options.devices.end(), ',')) + 1;
  for (int lost = 0; lost <= devices; ++lost) {
    SCOPED_TRACE(std::to_string(lost) + " of '" + options.devices + "' fail in set-up");
    Solver<T> solver(options);
    Faults::at(ocl::Place::launch, -1, 0, lost);
    for (const Moment now : kMoments) {
      this->live(solver, now);
      Faults::none();
    }
    expect_lost(solver.report(), static_cast<std::size_t>(lost), static_cast<std::size_t>(devices));
  }
  Solver<T> solver(options);
  this->live(solver, Moment::set_up);
  for (int lost = 1; lost <= devices; ++lost) {
    SCOPED_TRACE("apply " + std::to_string(lost) + " loses a device");
    Faults::at(ocl::Place::launch, -1);
    this->live(solver, Moment::first_apply);
    Faults::none();
    expect_lost(solver.report(), static_cast<std::size_t>(lost), static_cast<std::size_t>(devices));
  }
}

SCALAR_TEST(FailingDevices, OfAutoLeaveTheCheapestOfTheOthers) {
  const Faults faults;
  Options options{.on_device_failure = OnDeviceFailure::quiet};
  const Bands<T> bands = test::constant<T>(LineSet::one(300'000), -1, 2.5, -1);
  Solver<T> solver(options);
  Faults::at(ocl::Place::launch, -1, 0, 1000);
  this->set_up(solver, bands);
  EXPECT_EQ(solver.report().device.name, "host") << said(solver.report());
  EXPECT_LE(this->backward_error(solver, bands), 100);
  EXPECT_EQ(solver.report().losses, static_cast<std::size_t>(Faults::fired()));
}

SCALAR_TEST(FailingDevices, AreNotTriedAgainUntilSizeOrOptionsChange) {
  const Faults faults;
  test::with_every_true_device([&](Options options) {
    options.on_device_failure = OnDeviceFailure::quiet;
    options.method = MethodChoice::exact_twopass;
    const std::string device = device_of(options).name;
    Solver<T> solver(options);
    Faults::at(ocl::Place::allocate, device_of(options).index);
    this->live(solver, Moment::set_up);
    Faults::none();
    for (int again = 0; again < 3; ++again) {
      this->live(solver, Moment::set_up);
      EXPECT_EQ(solver.report().device.name, "host");
      EXPECT_EQ(solver.report().degraded.size(), 1u);
      EXPECT_EQ(solver.report().losses, 1u);
    }
    EXPECT_EQ(Faults::seen(), 0);
    this->set_up(solver, test::constant<T>(LineSet::one(2000), -1, 4, -1));
    EXPECT_EQ(solver.report().device.name, device);
    EXPECT_TRUE(solver.report().degraded.empty());

    Faults::at(ocl::Place::allocate, device_of(options).index);
    this->live(solver, Moment::set_up);
    Faults::none();
    solver.set_options(options);  // the same ones heal nothing
    this->live(solver, Moment::set_up);
    EXPECT_EQ(solver.report().device.name, "host");
    options.partition = 64;
    solver.set_options(options);
    this->live(solver, Moment::set_up);
    EXPECT_EQ(solver.report().device.name, device);
    EXPECT_EQ(solver.report().losses, 2u);
  });
}

// The last one: after it every kernel is built anew.
SCALAR_TEST(FailingDevices, MayFailToOpenAndToBuild) {
  const Faults faults;
  test::with_every_true_device([&](Options options) {
    options.on_device_failure = OnDeviceFailure::quiet;
    options.method = MethodChoice::exact_twopass;
    release_devices();
    this->expect_right(options, Moment::set_up, ocl::Place::open);
    this->expect_right(options, Moment::set_up, ocl::Place::build);
  });
}

/// Devices are measured once a process, at their first use: a suite that needs a process of its own.
template <typename T>
class FailingProbe : public FailingDevices<T> {};

SCALAR_TEST(FailingProbe, LosesTheDeviceForItsSolverOnly) {
  const Faults faults;
  test::with_every_true_device([&](Options options) {
    options.on_device_failure = OnDeviceFailure::quiet;
    for (const ocl::Place place : ocl::kPlaces) {
      if (place == ocl::Place::write) continue;  // measured in place
      if (place == ocl::Place::open) release_devices();
      this->expect_right(options, Moment::set_up, place);
    }
    Solver<T> solver(options);
    this->live(solver, Moment::set_up);
    EXPECT_EQ(solver.report().device.name, device_of(options).name) << said(solver.report());
    EXPECT_TRUE(solver.report().degraded.empty());
  });
}

/// Longer than the others: a suite of its own, in one precision. The other one makes the same calls.
class EveryFailure : public FailingDevices<double> {};

TEST_F(EveryFailure, OfAnyCallAtAnyMomentIsSurvived) {
  const Faults faults;
  with_every_way([&](const Options& options) {
    const int device = device_of(options).index;
    places(options, Moment::set_up);  // opens and builds what later solvers share
    for (const Moment moment : {Moment::set_up, Moment::first_apply, Moment::transpose}) {
      int calls = 0;
      for (bool fails = true; fails && !HasFailure(); ++calls) {
        Solver<double> solver(options);
        for (const Moment before : kMoments) {
          if (before == moment) break;
          live(solver, before);
        }
        Faults::anywhere(device, calls);
        live(solver, moment);
        fails = Faults::fired() > 0;
        Faults::none();
        EXPECT_EQ(solver.report().losses, fails ? 1u : 0u) << said(solver.report());
      }
      EXPECT_GT(calls, 3) << "hardly a call was seen at moment " << static_cast<int>(moment);
    }
  });
}

}  // namespace
}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Several solvers on one way to a device and back, against each of them by itself.
#include "oclspkt/device_visit.hpp"

#include "every_device.hpp"
#include "faults.hpp"
#include "reference.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

using test::Faults;

template <typename T>
using Order = typename DeviceVisit<T>::Order;

/// The lines of a box along its axes, each a system of its own, and a diagonal between them.
template <typename T>
class Box {
 public:
  static constexpr Index kX = 40, kY = 30, kZ = 21, kExtent = kX * kY * kZ;

  explicit Box(const Options& options, Index x = kX) : extent_(x * kY * kZ) {
    for (int axis = 0; axis < 3; ++axis) {
      const LineSet lines = axis == 0 ? LineSet::equal(kY * kZ, x) : LineSet::grid_axis(axis, x, kY, kZ);
      matrices_.push_back(test::random_dominant<T>(lines, 1.5, 7 + static_cast<std::uint32_t>(axis)));
      solvers_.emplace_back(options);
      set_up(static_cast<std::size_t>(axis), 1);
    }
    for (Index i = 0; i < extent_; ++i) between_.push_back(T(1 + 0.5 * std::sin(static_cast<double>(i))));
    y_ = test::random_vector<T>(extent_);
  }

  void set_up(std::size_t axis, T scale) {
    solvers_[axis].bands(matrices_[axis].lines()).copy_from(matrices_[axis].view());
    for (Index i = 0; i < extent_; ++i) solvers_[axis].bands(matrices_[axis].lines()).diag()[i] *= scale;
    solvers_[axis].set_up();
  }

  Order<T> order(std::vector<int> axes, bool sum, bool scaled) {
    Order<T> order{.solvers = {}, .sum = sum, .between = scaled ? between_.data() : nullptr};
    for (const int axis : axes) order.solvers.push_back(&solvers_[static_cast<std::size_t>(axis)]);
    return order;
  }

  /// What an order means. @param solve  (place of a solver, y, x) solves along that axis
  template <typename Solve>
  std::vector<T> apply(const Order<T>& order, const std::vector<T>& y, const Solve& solve) const {
    std::vector<T> from = y, to(y.size()), all(y.size());
    for (std::size_t k = 0; k < order.solvers.size(); ++k) {
      solve(static_cast<std::size_t>(order.solvers[k] - solvers_.data()), from, to);
      for (std::size_t i = 0; i < y.size(); ++i) {
        all[i] = order.sum && k > 0 ? all[i] + to[i] : to[i];
        if (!order.sum && order.between != nullptr && k + 1 < order.solvers.size()) all[i] *= between_[i];
      }
      if (!order.sum) from = all;
    }
    return all;
  }
  std::vector<T> one_by_one(const Order<T>& order, const std::vector<T>& y) {
    return apply(order, y, [&](std::size_t axis, const std::vector<T>& from, std::vector<T>& to) {
      solvers_[axis].apply(from.data(), to.data());
    });
  }
  std::vector<T> reference(const Order<T>& order) const {
    return apply(order, y_, [&](std::size_t axis, const std::vector<T>& from, std::vector<T>& to) {
      to = solve_by_reference(matrices_[axis], from);
    });
  }

  const std::vector<T>& y() const { return y_; }
  CutSolver<T>& solver(std::size_t axis) { return solvers_[axis]; }
  Times times() const { return solvers_[0].times() + solvers_[1].times() + solvers_[2].times(); }

 private:
  Index extent_;
  std::vector<Bands<T>> matrices_;
  std::vector<CutSolver<T>> solvers_;
  std::vector<T> between_, y_;
};

/// Axes in the order of their solvers, summed or not, with a diagonal between them or not.
struct Kind {
  const char* name;
  std::vector<int> axes;
  bool sum, scaled;
};
const Kind kKinds[] = {{"sum of two", {2, 0}, true, false},
                       {"sum", {0, 1, 2}, true, false},
                       {"product", {0, 1, 2}, false, false},
                       {"product that ends along x", {2, 1, 0}, false, false},
                       {"there and back", {0, 1, 2, 1, 0}, false, true}};

/// Call f(options) for each device, copying.
template <typename F>
void with_every_copying_device(const F& f) {
  test::with_every_true_device([&](Options options) {
    options.use.transfer = Transfer::copy;
    f(options);
  });
}

/// The same, and by the kernels for GPUs.
template <typename T, typename F>
void with_all_copying_kernels(const F& f) {
  with_every_copying_device(f);
  test::with_every_device_for_gpus<T>("gpu", [&](Options options) {
    SCOPED_TRACE("kernels for GPUs");
    options.use.transfer = Transfer::copy;
    f(options);
  });
}

template <typename T>
class OneWay : public test::SolverFixture<T> {};

SCALAR_TEST(OneWay, HasTheBitsOfEachSolverByItselfAndMovesEachVectorOnce) {
  constexpr std::int64_t kBytes = Box<T>::kExtent * static_cast<Index>(sizeof(T));
  with_all_copying_kernels<T>([&](const Options& options) {
    Box<T> box(options);
    for (const Kind& kind : kKinds) {
      SCOPED_TRACE(kind.name);
      const Order<T> order = box.order(kind.axes, kind.sum, kind.scaled);
      const std::vector<T> expected = box.one_by_one(order, box.y());
      DeviceVisit<T> visit;
      EXPECT_FALSE(visit.ready());
      visit.set_up(order);
      ASSERT_TRUE(visit.ready());
      EXPECT_EQ(visit.bytes(), kind.scaled ? kBytes : 0);
      const Times before = box.times();
      std::vector<T> x(box.y().size(), T(NAN));
      ASSERT_TRUE(visit.apply(box.y().data(), 0, x.data(), 0, 1));
      const Times spent = box.times() - before;
      EXPECT_EQ(x, expected);
      EXPECT_EQ(spent.bytes_to_device, kBytes);
      EXPECT_EQ(spent.bytes_from_device, kBytes);
      EXPECT_EQ(spent.applies, static_cast<std::int64_t>(kind.axes.size()));
      EXPECT_GT(spent.kernel_seconds, 0);
      const std::vector<T> reference = box.reference(order);
      T largest = 0, error = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        largest = std::max(largest, std::abs(reference[i]));
        error = std::max(error, std::abs(x[i] - reference[i]));
      }
      // Each of five solves has a condition of 5, see forward_limit() of the tests of devices.
      EXPECT_LE(error, 5 * 40 * this->eps * largest);
    }
  });
}

SCALAR_TEST(OneWay, TakesColumnsAndLeavesWhatLiesBetweenThem) {
  constexpr Index kColumns = 3, kStride = Box<T>::kExtent + 5;
  with_all_copying_kernels<T>([&](const Options& options) {
    Box<T> box(options);
    const Order<T> order = box.order({0, 1, 2, 1, 0}, false, true);
    const std::vector<T> y = test::random_vector<T>(kColumns * kStride, 3);
    std::vector<T> x(y.size(), T(-7)), expected = x;
    for (Index k = 0; k < kColumns; ++k) {
      const auto first = y.begin() + k * kStride;
      const std::vector<T> column = box.one_by_one(order, {first, first + Box<T>::kExtent});
      std::copy(column.begin(), column.end(), expected.begin() + k * kStride);
    }
    DeviceVisit<T> visit;
    visit.set_up(order);
    ASSERT_TRUE(visit.apply(y.data(), kStride, x.data(), kStride, kColumns));
    EXPECT_EQ(x, expected);
  });
}

/// Expect that there is no way for all, and that nothing is written.
template <typename T>
void expect_no_way(Box<T>& box, const Order<T>& order) {
  DeviceVisit<T> visit;
  visit.set_up(order);
  EXPECT_FALSE(visit.ready());
  std::vector<T> x(box.y().size(), T(-7));
  EXPECT_FALSE(visit.apply(box.y().data(), 0, x.data(), 0, 1));
  EXPECT_EQ(x, std::vector<T>(x.size(), T(-7)));
}

SCALAR_TEST(OneWay, IsForVectorsThatAreCopiedAsWholesToOneDevice) {
  test::with_every_device([&](Options options) {  // the host's memory
    if (options.devices != "host" && !test::device_of(options).host_unified) return;
    Box<T> box(options);
    expect_no_way(box, box.order({0, 1, 2}, false, false));
  });
  with_every_copying_device([&](Options options) {
    Box<T> box(options);
    {
      SCOPED_TRACE("a fallback line");
      CutSolver<T>& along_x = box.solver(0);
      std::fill_n(along_x.bands(along_x.lines()).diag(), Box<T>::kX, T(0));
      along_x.set_up();
      expect_no_way(box, box.order({0, 1}, true, false));
    }
    {
      SCOPED_TRACE("the host");
      Options host = options;
      host.devices = "host";
      box.solver(1).set_options(host);
      box.set_up(1, 1);
      expect_no_way(box, box.order({2, 1}, true, false));
    }
    SCOPED_TRACE("chunks");
    options.use.chunk = Box<T>::kExtent / 3;
    Box<T> cut(options);
    expect_no_way(cut, cut.order({0, 1, 2}, false, false));
  });
}

SCALAR_TEST(OneWay, EndsWithTheSetUpThatItWasMadeFor) {
  with_every_copying_device([&](const Options& options) {
    Box<T> box(options);
    const Order<T> order = box.order({0, 1}, false, true);
    DeviceVisit<T> visit;
    visit.set_up(order);
    EXPECT_TRUE(visit.ready());
    box.set_up(1, 2);
    std::vector<T> x(box.y().size());
    EXPECT_FALSE(visit.apply(box.y().data(), 0, x.data(), 0, 1));
    visit.set_up(order);
    ASSERT_TRUE(visit.apply(box.y().data(), 0, x.data(), 0, 1));
    EXPECT_EQ(x, box.one_by_one(order, box.y()));
    visit.forget();
    EXPECT_FALSE(visit.ready());
  });
}

/// Each call of the driver in a visit fails once.
SCALAR_TEST(OneWay, ThatFailsLeavesTheSolversRightByThemselves) {
  const Faults faults;
  with_every_copying_device([&](Options options) {
    options.on_device_failure = OnDeviceFailure::quiet;
    const int device = std::stoi(options.devices);
    int calls = 1;
    for (int call = 0; call < calls; ++call) {
      Box<T> box(options);
      const Order<T> order = box.order({0, 1}, call % 2 == 0, call % 2 != 0);
      DeviceVisit<T> visit;
      visit.set_up(order);
      std::vector<T> x(box.y().size());
      Faults::none();
      ASSERT_TRUE(visit.apply(box.y().data(), 0, x.data(), 0, 1));
      calls = Faults::seen();
      Faults::anywhere(device, call);
      EXPECT_FALSE(visit.apply(box.y().data(), 0, x.data(), 0, 1)) << "call " << call;
      EXPECT_EQ(Faults::fired(), 1);
      EXPECT_FALSE(visit.ready());
      x = box.one_by_one(order, box.y());
      EXPECT_EQ(box.solver(0).report().losses + box.solver(1).report().losses, 1u);
      const std::vector<T> reference = box.reference(order);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], reference[i], 1000 * this->eps) << "call " << call;
    }
    EXPECT_GT(calls, 8);
  });
}

SCALAR_TEST(OneWay, ThatFailsIsAnErrorOnlyIfAskedFor) {
  const Faults faults;
  with_every_copying_device([&](const Options& options) {  // they ask for it
    Box<T> box(options);
    const Order<T> order = box.order({0, 1}, true, false);
    DeviceVisit<T> visit;
    visit.set_up(order);
    std::vector<T> x(box.y().size());
    Faults::at(ocl::Place::launch, std::stoi(options.devices));
    EXPECT_THROW(visit.apply(box.y().data(), 0, x.data(), 0, 1), DeviceError);
    Faults::none();
    EXPECT_TRUE(visit.apply(box.y().data(), 0, x.data(), 0, 1));
    EXPECT_EQ(x, box.one_by_one(order, box.y()));
  });
}

/// A device that fails while the visit is made is the solvers' concern.
SCALAR_TEST(OneWay, ThatCannotBeMadeIsNone) {
  const Faults faults;
  with_every_copying_device([&](Options options) {
    for (const OnDeviceFailure action : {OnDeviceFailure::quiet, OnDeviceFailure::error}) {
      options.on_device_failure = action;
      Box<T> box(options);
      const Order<T> order = box.order({0, 1}, false, true);
      DeviceVisit<T> visit;
      Faults::at(ocl::Place::allocate, std::stoi(options.devices));
      if (action == OnDeviceFailure::error) {
        EXPECT_THROW(visit.set_up(order), DeviceError);
      } else {
        visit.set_up(order);
      }
      EXPECT_EQ(Faults::fired(), 1);
      EXPECT_FALSE(visit.ready());
      Faults::none();
      visit.set_up(order);
      EXPECT_TRUE(visit.ready());
    }
  });
}

TEST(ContextsOfAVisit, MayBeReleased) {
  with_every_copying_device([&](Options options) {
    options.on_device_failure = OnDeviceFailure::quiet;
    Box<double> box(options);
    const Order<double> order = box.order({0, 1}, false, true);
    DeviceVisit<double> visit;
    visit.set_up(order);
    release_devices();
    std::vector<double> x(box.y().size());
    EXPECT_FALSE(visit.apply(box.y().data(), 0, x.data(), 0, 1));
    box.set_up(0, 1);
    box.set_up(1, 1);
    visit.set_up(order);
    EXPECT_FALSE(visit.ready()) << "the release was a loss of the first solver's";
  });
}

}  // namespace
}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Vectors on every device, by its own kernels and by those for GPUs, against loops of the host.
#include "space.hpp"

#include <atomic>
#include <functional>

#include "fault.hpp"
#include "space_cases.hpp"

namespace oclspkt::test {
namespace {

SCALAR_TEST(SpaceOnDevice, ComesBackAsItWent) {
  this->on_every_space([](Space<T>& space) {
    for (const Index n : kLengths) {
      Vector<T> x = draw<T>(n, 1);
      if (n > 2) x[1] = kNaN<T>;
      const auto array = bring(space, x), other = space.make(n);
      expect_same(take(space, *array), x);
      space.copy(*array, *other);
      expect_same(take(space, *other), x);
      space.fill(*other, T(-0.25));
      expect_same(take(space, *other), Vector<T>(x.size(), T(-0.25)));
    }
  });
}

SCALAR_TEST(SpaceOnDevice, SaysHowMuchADeviceAllocatesAtOnce) {
  this->on_every_space([](Space<T>& space) {
    expect_refusal<DeviceError>([&] { space.make(Index{1} << 45); },
                                "it allocates " + std::to_string(space.device().max_allocation) + " bytes at once");
  });
}

/// More than a plain copy takes: see SpaceState::by_pipeline().
constexpr Index kLong = 2'500'003;

SCALAR_TEST(SpaceOnDevice, CopiesLongArraysByThreads) {
  on_every_device<T>([](const DeviceInfo& info) {
    const auto space = make_space<T>(info.index, Variant::by_type, true);
    const Vector<T> x = draw<T>(kLong, 1);
    const auto array = bring(*space, x), other = space->make(kLong);
    const SpaceCounts before = space->counts();
    space->combine(*other, T(0), std::vector<Term<T>>{{T(-2), array.get()}});
    space->fill(*array, T(7));
    space->bring(x.data(), *array);  // behind the filling
    expect_same(take(*space, *array), x);
    Vector<T> twice = x;
    for (T& number : twice) number *= -2;
    expect_same(take(*space, *other), twice);
    EXPECT_EQ(space->counts().bytes_up - before.bytes_up, kLong * static_cast<Index>(sizeof(T)));
    EXPECT_EQ(space->counts().bytes_down - before.bytes_down, 2 * kLong * static_cast<Index>(sizeof(T)));
  });
}

/// The product of ranks: messages leave while kernels run, and what they bring is used behind them.
SCALAR_TEST(SpaceOnDevice, NothingIsCopiedToAMessageAnyMoreWhereTheMeantimeFailed) {
  this->on_every_space([](Space<T>& space) {
    constexpr Index kMany = 4'000'000;  // the copy takes longer than the failure
    const Vector<T> x = draw<T>(kMany, 1);
    const auto array = bring(space, x);
    const auto message = space.make_message(kMany);
    std::fill_n(message->data(), kMany, T(0));
    const auto fail = [] { throw DeviceError("a kernel was not launched"); };
    EXPECT_THROW(space.take(*array, *message, fail), DeviceError);
    expect_same(Vector<T>(message->data(), message->data() + kMany), x);
  });
}

SCALAR_TEST(SpaceOnDevice, MessagesPassBesideTheKernels) {
  this->on_every_space([](Space<T>& space) {
    for (const Index n : kLengths) {
      const Vector<T> x = draw<T>(n, 1), y = draw<T>(n, 2);
      const auto array = bring(space, x), other = space.make(n);
      const auto sent = space.make_message(n), received = space.make_message(n);
      ASSERT_EQ(sent->data() == nullptr, n == 0);
      for (int round = 0; round < 3; ++round) {
        const SpaceCounts before = space.counts();
        space.copy(*array, *other);
        bool called = false;
        space.take(*other, *sent, [&] {
          space.combine(*array, T(2), {});
          called = true;
        });
        EXPECT_TRUE(called);
        expect_same(Vector<T>(sent->data(), sent->data() + n), x);
        std::copy(y.begin(), y.end(), received->data());
        space.bring(*received, *other);
        const SpaceCounts after = space.counts();
        EXPECT_EQ(after.bytes_down - before.bytes_down, n * static_cast<Index>(sizeof(T)));
        EXPECT_EQ(after.bytes_up - before.bytes_up, n * static_cast<Index>(sizeof(T)));
        std::fill_n(received->data(), n, kNaN<T>);  // the host may use it again
        expect_same(take(space, *other), y);
        space.combine(*array, T(0.5), {});
        expect_same(take(space, *array), x);
      }
      const auto longer = space.make(n + 1);
      EXPECT_THROW(space.take(*longer, *sent, [] {}), InvalidInput);
      EXPECT_THROW(space.bring(*sent, *longer), InvalidInput);
    }
  });
}

SCALAR_TEST(SpaceOnDevice, CombinesAnyNumberOfArrays) {
  this->on_every_space([](Space<T>& space) {
    for (const Index n : kLengths) {
      for (const int count : {0, 1, 3, 8, 11}) {
        for (const T keep : {T(0), T(1), T(-3)}) {
          std::vector<Array<T>> arrays;
          std::vector<Term<T>> terms;
          const Vector<T> before = keep == 0 ? Vector<T>(static_cast<std::size_t>(n), kNaN<T>) : draw_short<T>(n, 99);
          Vector<T> expected(before.size(), T(0));
          for (std::size_t i = 0; i < before.size() && keep != 0; ++i) expected[i] = keep * before[i];
          for (int k = 0; k < count; ++k) {
            const Vector<T> x = draw_short<T>(n, static_cast<unsigned>(k));
            arrays.push_back(bring(space, x));
            terms.push_back({static_cast<T>(k % 5 - 2), arrays.back().get()});
            for (std::size_t i = 0; i < x.size(); ++i) expected[i] += terms.back().factor * x[i];
          }
          const Array<T> z = bring(space, before);
          space.combine(*z, keep, terms);
          SCOPED_TRACE(std::to_string(n) + " places, " + std::to_string(count) + " terms");
          expect_same(take(space, *z), expected);
        }
      }
    }
  });
}

SCALAR_TEST(SpaceOnDevice, CombinesAnArrayWithItself) {
  this->on_every_space([](Space<T>& space) {
    const Vector<T> x = draw_short<T>(1000, 3);
    const Array<T> z = bring(space, x);
    space.combine(*z, T(2), std::vector<Term<T>>{{T(3), z.get()}, {T(-1), z.get()}});
    Vector<T> expected = x;
    for (T& number : expected) number *= 4;
    expect_same(take(space, *z), expected);
  });
}

SCALAR_TEST(SpaceOnDevice, KeepsTheSignOfZeroAndNaN) {
  this->on_every_space([](Space<T>& space) {
    const Array<T> x = bring(space, Vector<T>{T(-0.0), kNaN<T>, kInf<T>, T(1), T(2)}), z = space.make(5);
    space.combine(*z, T(0), std::vector<Term<T>>{{T(1), x.get()}});
    const Vector<T> copied = take(space, *z);
    EXPECT_TRUE(std::signbit(copied[0]));
    // A factor of 0 is a factor.
    space.combine(*z, T(0), std::vector<Term<T>>{{T(0), x.get()}});
    expect_same(take(space, *z), {T(0), kNaN<T>, kNaN<T>, T(0), T(0)});
  });
}

SCALAR_TEST(SpaceOnDevice, WorksPlaceByPlace) {
  const std::pair<Pointwise, std::function<T(T, T)>> operations[] = {
      {Pointwise::multiply, [](T x, T y) { return x * y; }},
      {Pointwise::divide, [](T x, T y) { return y != 0   ? x / y
                                                : x != 0 ? T(0)
                                                         : T(0.5); }},
      {Pointwise::greater, [](T x, T y) { return x < y ? y : x; }},
      {Pointwise::less, [](T x, T y) { return x < y ? x : y; }},
      {Pointwise::greater_magnitude, [](T x, T y) { return std::abs(x) < std::abs(y) ? std::abs(y) : std::abs(x); }},
      {Pointwise::ratio, [](T x, T y) { return y != 0 ? x / y : x; }},
      {Pointwise::reciprocal, [](T x, T) { return x != 0 ? 1 / x : T(0); }},
      {Pointwise::shift, [](T x, T) { return x + T(0.5); }},
      {Pointwise::magnitude, [](T x, T) { return std::abs(x); }},
      {Pointwise::root, [](T x, T) { return std::sqrt(std::abs(x)); }}};
  this->on_every_space([&](Space<T>& space) {
    for (const Index n : kLengths) {
      Vector<T> x = draw<T>(n, 5), y = draw<T>(n, 6);
      if (n > 4) x[0] = T(0), y[1] = T(0), x[2] = kNaN<T>, y[3] = kInf<T>, x[4] = y[4] = T(0);
      const Array<T> a = bring(space, x), b = bring(space, y), z = space.make(n);
      for (const auto& [what, function] : operations) {
        SCOPED_TRACE("operation " + std::to_string(static_cast<int>(what)));
        space.pointwise(what, *z, *a, takes_two(what) ? b.get() : nullptr, T(0.5));
        const Vector<T> seen = take(space, *z);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const T expected = function(x[i], y[i]);
          // Division, reciprocals and roots of a float may be off by some units in OpenCL.
          const double error = std::abs(static_cast<double>(seen[i]) - static_cast<double>(expected));
          ASSERT_TRUE(same_number(seen[i], expected) || error <= 3 * kEps<T> * std::abs(static_cast<double>(expected)))
              << "place " << i << ": " << seen[i] << " for " << expected;
        }
      }
      space.pointwise(Pointwise::multiply, *a, *a, a.get(), T(0));
      for (T& number : x) number *= number;
      expect_same(take(space, *a), x);
    }
  });
}

SCALAR_TEST(SpaceOnDevice, Gathers) {
  this->on_every_space([](Space<T>& space) {
    const Vector<T> x = draw<T>(1000, 11);
    const Array<T> array = bring(space, x);
    const std::vector<Index> places = {999, 0, 5, 5, 17};
    const auto indices = space.make_indices(places);
    const Array<T> out = space.make(5);
    space.gather(*array, *indices, *out);
    Vector<T> expected;
    for (const Index place : places) expected.push_back(x[static_cast<std::size_t>(place)]);
    expect_same(take(space, *out), expected);
    space.gather(*array, *space.make_indices({}), *space.make(0));
  });
}

SCALAR_TEST(SpaceOnDevice, AddsToPlaces) {
  this->on_every_space([](Space<T>& space) {
    Vector<T> x = draw_short<T>(1000, 1);
    const Array<T> array = bring(space, x), added = bring(space, Vector<T>{1, 2, 3, 4});
    const std::vector<Index> places = {999, 0, 5, 17};
    space.scatter_add(*added, *space.make_indices(places), *array);
    for (std::size_t i = 0; i < places.size(); ++i) x[static_cast<std::size_t>(places[i])] += static_cast<T>(i + 1);
    expect_same(take(space, *array), x);
    space.scatter_add(*space.make(0), *space.make_indices({}), *array);
    expect_same(take(space, *array), x);
  });
}

SCALAR_TEST(SpaceOnDevice, GivesMemoryBackThatItBroughtUp) {
  this->on_every_space([](Space<T>& space) {
    const Array<T> sum = bring(space, Vector<T>(1000, T(0))), array = space.make(1000);
    Vector<T> memory(1000);
    for (int k = 1; k <= 20; ++k) {
      std::fill(memory.begin(), memory.end(), static_cast<T>(k));
      space.bring(memory.data(), *array);
      std::fill(memory.begin(), memory.end(), kNaN<T>);
      space.combine(*sum, T(1), std::vector<Term<T>>{{T(1), array.get()}});
    }
    expect_same(take(space, *sum), Vector<T>(1000, T(210)));
  });
}

SCALAR_TEST(SpaceOnDevice, PutsPlacesIntoOthers) {
  this->on_every_space([](Space<T>& space) {
    const Vector<T> x = draw<T>(3000, 31), z = draw<T>(1100, 32);
    const Array<T> a = bring(space, x);
    const std::pair<Merge, std::function<T(T, T)>> ways[] = {
        {Merge::insert, [](T, T of_x) { return of_x; }},
        {Merge::add, [](T of_z, T of_x) { return of_z + of_x; }},
        {Merge::greater, [](T of_z, T of_x) { return std::max(of_z, of_x); }}};
    for (const auto& [how, merged] : ways) {
      const Array<T> b = bring(space, z);
      space.put(how, *a, {2, 3}, *b, {5, 1}, 999);
      space.put(how, *a, {0, 1}, *b, {1005, 10}, 10);
      space.put(how, *a, {0, 1}, *b, {0, 1}, 0);
      Vector<T> expected = z;
      for (std::size_t i = 0; i < 999; ++i) expected[5 + i] = merged(expected[5 + i], x[2 + 3 * i]);
      for (std::size_t i = 0; i < 10; ++i) expected[1005 + 10 * i] = merged(expected[1005 + 10 * i], x[i]);
      expect_same(take(space, *b), expected);
      EXPECT_THROW(space.put(how, *a, {2, 3}, *b, {5, 1}, 1001), InvalidInput);
      EXPECT_THROW(space.put(how, *a, {0, 1}, *b, {1090, 10}, 2), InvalidInput);
      EXPECT_THROW(space.put(how, *a, {-1, 1}, *b, {0, 1}, 1), InvalidInput);
      EXPECT_THROW(space.put(how, *a, {0, 1}, *a, {10, 1}, 1), InvalidInput);
    }
  });
}

SCALAR_TEST(SpaceOnDevice, TakesMemoryOfTheHostFromAnywhere) {
  on_every_device<T>([](const DeviceInfo& info) {
    const auto space = make_space<T>(info.index);
    Vector<T> memory(1100, kNaN<T>);
    if (!info.host_unified) {
      EXPECT_THROW(space->wrap(memory.data(), 10), InvalidInput);
      return;
    }
    for (const Index offset : {0, 1, 3}) {
      std::fill(memory.begin(), memory.end(), kNaN<T>);
      std::fill_n(memory.begin() + offset, 1001, T(2));
      const Array<T> x = space->wrap(memory.data() + offset, 1001), y = bring(*space, Vector<T>(1001, T(1)));
      space->combine(*x, T(1), std::vector<Term<T>>{{T(3), y.get()}});
      SumValue<T> value;
      space->sums(std::vector<SumOf<T>>{{SumKind::sum, x.get()}}, {&value, 1});
      space->finish();
      EXPECT_EQ(value.value, 5005);
      EXPECT_EQ(memory[static_cast<std::size_t>(offset) + 1000], 5);
      EXPECT_TRUE(std::isnan(memory[static_cast<std::size_t>(offset) + 1001]));
    }
  });
}

SCALAR_TEST(SpaceOnDevice, RefusesArraysThatDoNotFit) {
  this->on_every_space([](Space<T>& space) {
    const Array<T> x = space.make(10), y = space.make(11);
    SumValue<T> value;
    EXPECT_THROW(space.copy(*x, *y), InvalidInput);
    EXPECT_THROW(space.combine(*x, T(1), std::vector<Term<T>>{{T(1), y.get()}}), InvalidInput);
    EXPECT_THROW(space.pointwise(Pointwise::multiply, *x, *x, y.get(), T(0)), InvalidInput);
    EXPECT_THROW(space.pointwise(Pointwise::multiply, *x, *x, nullptr, T(0)), InvalidInput);
    EXPECT_THROW(space.sums(std::vector<SumOf<T>>{{SumKind::dot, x.get(), y.get()}}, {&value, 1}), InvalidInput);
  });
}

SCALAR_TEST(SpaceOnDevice, RefusesArraysOfAnotherSpace) {
  on_every_device_for_gpus<T>([](const DeviceInfo& info) {
    const auto one = make_space<T>(info.index, Variant::gpu), other = make_space<T>(info.index, Variant::no_task);
    const Array<T> x = one->make(10), y = other->make(10);
    EXPECT_THROW(one->copy(*x, *y), InvalidInput);
  });
}

/// Whether the next call of a driver at some place fails.
std::atomic<int> failing{-1};
cl_int fail_once(ocl::Place place, int /*device*/, cl_command_queue /*queue*/) {
  int expected = static_cast<int>(place);
  return failing.compare_exchange_strong(expected, -1) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

SCALAR_TEST(SpaceOnDevice, TellsOfFailuresAndGoesOn) {
  on_every_device<T>([](const DeviceInfo& info) {
    for (const auto& [copies, n] : {std::pair{false, Index{5000}}, {true, Index{5000}}, {true, kLong}}) {
      const auto space = make_space<T>(info.index, Variant::by_type, copies);
      const Array<T> x = bring(*space, Vector<T>(static_cast<std::size_t>(n), T(1)));
      SumValue<T> sum;
      Vector<T> numbers(static_cast<std::size_t>(n));
      const auto work = [&] {
        const Array<T> y = space->make(n);
        space->bring(numbers.data(), *y);
        space->combine(*y, T(1), std::vector<Term<T>>{{T(2), x.get()}});
        space->sums(std::vector<SumOf<T>>{{SumKind::sum, y.get()}}, {&sum, 1});
      };
      ocl::fault_hook = fail_once;
      for (const ocl::Place place : {ocl::Place::allocate, ocl::Place::argument, ocl::Place::launch, ocl::Place::write,
                                     ocl::Place::wait, ocl::Place::read}) {
        failing = static_cast<int>(place);
        EXPECT_THROW(work(), DeviceError) << ocl::name(place);
        EXPECT_EQ(failing, -1) << ocl::name(place);
        work();
        EXPECT_EQ(sum.value, 2 * n) << "after a failure to " << ocl::name(place);
      }
      ocl::fault_hook = nullptr;
    }
  });
}

SCALAR_TEST(SpaceOnDevice, EndsWithItsDevice) {
  on_every_device<T>([](const DeviceInfo& info) {
    const auto space = make_space<T>(info.index);
    EXPECT_EQ(make_space<T>(info.index), space);
    const Array<T> x = bring(*space, Vector<T>(10, T(1)));
    module().release();
    EXPECT_FALSE(space->usable());
    EXPECT_THROW(space->fill(*x, T(1)), DeviceError);
    EXPECT_THROW(space->make(1), DeviceError);
    const auto anew = make_space<T>(info.index);
    EXPECT_NE(anew, space);
    const Array<T> y = bring(*anew, Vector<T>(10, T(1)));
    EXPECT_THROW(anew->copy(*x, *y), InvalidInput);
    expect_same(take(*anew, *y), Vector<T>(10, T(1)));
  });
}

}  // namespace
}  // namespace oclspkt::test

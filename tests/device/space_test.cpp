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
      const auto work = [&, n = n] {
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

// Numbers of vectors on every device: sums, norms, extremes.

template <typename T>
class SumsOnDevice : public SpaceOnDevice<T> {};

SCALAR_TEST(SumsOnDevice, AddsUp) {
  this->on_every_space([](Space<T>& space) {
    for (const Index n : kLengths) {
      const Vector<T> x = draw<T>(n, 7), y = draw<T>(n, 8);
      const Array<T> a = bring(space, x), b = bring(space, y);
      long double dot = 0, sum = 0, norm1 = 0, square = 0, products = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const long double of_x = x[i], of_y = y[i];
        dot += of_x * of_y;
        products += std::abs(of_x * of_y);
        sum += of_x;
        norm1 += std::abs(of_x);
        square += of_x * of_x;
      }
      const std::vector<SumOf<T>> wanted = {{SumKind::dot, a.get(), b.get()},
                                            {SumKind::sum, a.get()},
                                            {SumKind::norm1, a.get()},
                                            {SumKind::norm2, a.get()}};
      std::vector<SumValue<T>> values(wanted.size());
      space.sums(wanted, values);
      const double few = 64 * kEps<T>;
      EXPECT_NEAR(values[0].value, static_cast<double>(dot), few * static_cast<double>(products)) << n;
      EXPECT_NEAR(values[1].value, static_cast<double>(sum), few * static_cast<double>(norm1)) << n;
      EXPECT_NEAR(values[2].value, static_cast<double>(norm1), few * static_cast<double>(norm1)) << n;
      EXPECT_NEAR(values[3].value, static_cast<double>(std::sqrt(square)), few * static_cast<double>(std::sqrt(square)))
          << n;
    }
  });
}

SCALAR_TEST(SumsOnDevice, FindsExtremesAndTheirFirstPlaces) {
  this->on_every_space([&](Space<T>& space) {
    for (const Index n : kLengths) {
      if (n == 0) continue;
      Vector<T> x = draw<T>(n, 9);
      const auto size = static_cast<std::size_t>(n);
      if (n > 300) x[size / 2] = x[size - 2] = T(2), x[size / 3] = x[size / 3 + 1] = T(-3);
      const auto least = std::min_element(x.begin(), x.end()), greatest = std::max_element(x.begin(), x.end());
      const SumValue<T> low = this->sum(space, SumKind::least, x), high = this->sum(space, SumKind::greatest, x);
      EXPECT_EQ(low.value, *least) << n;
      EXPECT_EQ(low.place, least - x.begin()) << n;
      EXPECT_EQ(high.value, *greatest) << n;
      EXPECT_EQ(high.place, greatest - x.begin()) << n;
      EXPECT_EQ(this->sum(space, SumKind::largest_magnitude, x).value, std::max(-*least, *greatest)) << n;
    }
  });
}

SCALAR_TEST(SumsOnDevice, ExtremesPassNaNOverUnlessItIsTheFirst) {
  this->on_every_space([&](Space<T>& space) {
    Vector<T> x = draw<T>(5000, 10);
    x[700] = kNaN<T>;
    x[4000] = T(-7);
    EXPECT_EQ(this->sum(space, SumKind::least, x).place, 4000);
    EXPECT_TRUE(std::isnan(this->sum(space, SumKind::largest_magnitude, x).value));
    x[0] = kNaN<T>;
    EXPECT_TRUE(std::isnan(this->sum(space, SumKind::least, x).value));
    EXPECT_EQ(this->sum(space, SumKind::least, x).place, 0);
    EXPECT_TRUE(std::isnan(this->sum(space, SumKind::greatest, x).value));
    EXPECT_EQ(this->sum(space, SumKind::least, Vector<T>(3000, kInf<T>)).place, 0);
    Vector<T> late(3000, kNaN<T>);
    late[0] = late[2998] = -kInf<T>;
    EXPECT_EQ(this->sum(space, SumKind::greatest, late).place, 0);
    EXPECT_EQ(this->sum(space, SumKind::greatest, late).value, -kInf<T>);
    Vector<T> zeros(3000, T(1));
    zeros[1999] = T(-0.), zeros[2000] = T(0);
    EXPECT_EQ(this->sum(space, SumKind::least, zeros).place, 1999);
    EXPECT_TRUE(std::signbit(this->sum(space, SumKind::least, zeros).value));
    EXPECT_EQ(this->sum(space, SumKind::least, {}).place, -1);
    EXPECT_EQ(this->sum(space, SumKind::least, {}).value, kInf<T>);
    EXPECT_EQ(this->sum(space, SumKind::greatest, {}).value, -kInf<T>);
  });
}

SCALAR_TEST(SumsOnDevice, NormsNeitherOverflowNorUnderflow) {
  const bool is_double = sizeof(T) == sizeof(double);
  const T large = static_cast<T>(is_double ? 1e200 : 1e30), small = static_cast<T>(is_double ? 1e-200 : 1e-30);
  this->on_every_space([&](Space<T>& space) {
    for (const Index n : {1, 100, 4096, 50001}) {
      const auto size = static_cast<std::size_t>(n);
      const T root = static_cast<T>(std::sqrt(static_cast<double>(n)));
      const auto norm = [&](Vector<T> x) { return this->sum(space, SumKind::norm2, x).value; };
      // The others' squares are near the ends of the range, where sums of them are and sums of those sums.
      for (const double of : is_double ? std::vector{1e200, 1e153, 1e149, 1e-145, 1e-150, 1e-158, 1e-200}
                                       : std::vector{1e30, 1e18, 1e16, 1e-14, 1e-16, 1e-20, 1e-22, 1e-30}) {
        const T every = static_cast<T>(of);
        // Registers of four numbers add every fourth square, so a sum errs by at most n / 4 eps / 2, its root by half.
        const double most = std::max(64., static_cast<double>(n) / 16) * kEps<T>;
        EXPECT_NEAR(norm(Vector<T>(size, every)) / every / root, 1, most) << n << " times " << of;
      }
      Vector<T> mixed(size, small);
      mixed[size / 2] = T(3);
      EXPECT_NEAR(norm(mixed), 3, 24 * kEps<T>) << n;
      mixed[0] = large;
      EXPECT_NEAR(norm(mixed) / large, 1, 8 * kEps<T>) << n;
      mixed[size / 2] = kInf<T>;
      EXPECT_EQ(norm(mixed), kInf<T>) << n;
      mixed[size - 1] = kNaN<T>;
      EXPECT_TRUE(std::isnan(norm(mixed))) << n;
      EXPECT_TRUE(std::isnan(norm(Vector<T>(size, kNaN<T>)))) << n;
      EXPECT_EQ(norm(Vector<T>(size, T(0))), 0) << n;
    }
  });
}

SCALAR_TEST(SumsOnDevice, SumsHaveTheSameBitsAloneTogetherAndAgain) {
  this->on_every_space([](Space<T>& space) {
    const Index n = 70001;
    std::vector<Array<T>> arrays;
    std::vector<SumOf<T>> wanted;
    const Array<T> y = bring(space, draw<T>(n, 20));
    for (unsigned k = 0; k < 19; ++k) {
      arrays.push_back(bring(space, draw<T>(n, k)));
      wanted.push_back({SumKind::dot, arrays.back().get(), y.get()});
    }
    wanted.push_back({SumKind::norm2, y.get()});
    wanted.push_back({SumKind::least, y.get()});
    std::vector<SumValue<T>> together(wanted.size()), again(wanted.size());
    const std::int64_t waits = space.counts().waits;
    space.sums(wanted, together);
    EXPECT_EQ(space.counts().waits, waits + 1);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      SumValue<T> alone;
      space.sums({&wanted[k], 1}, {&alone, 1});
      EXPECT_EQ(alone.value, together[k].value) << k;
    }
    for (int run = 0; run < 20; ++run) {
      space.sums(wanted, again);
      for (std::size_t k = 0; k < wanted.size(); ++k) ASSERT_EQ(again[k].value, together[k].value) << k;
    }
  });
}

}  // namespace
}  // namespace oclspkt::test

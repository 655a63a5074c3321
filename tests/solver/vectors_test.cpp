// SPDX-License-Identifier: BSD-2-Clause
// Vectors as programs have them: anywhere in memory, of any length, larger than a device.
#include <limits>
#include <string>

#include "every_device.hpp"
#include "residual.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Vectors : public test::SolverFixture<T> {
 protected:
  /// Rows of a partition where nothing decides.
  static constexpr Index kPartition = 16 * 31;
  static constexpr MethodChoice kMethods[] = {MethodChoice::automatic, MethodChoice::truncated_halo,
                                              MethodChoice::exact};

  /// A vector in the middle of memory that is watched.
  class Placed {
   public:
    Placed(const std::vector<T>& values, Index offset)
        : memory_(static_cast<Index>(values.size()) + 2 * kAround),
          size_(static_cast<Index>(values.size())),
          begin_(kAround + offset) {
      std::fill_n(memory_.data(), memory_.size(), kMark);
      std::copy(values.begin(), values.end(), data());
    }
    T* data() { return memory_.data() + begin_; }
    std::vector<T> values() { return {data(), data() + size_}; }
    bool untouched_around() const {
      const T *first = memory_.data(), *end = first + memory_.size();
      const auto marked = [](T value) { return value == kMark; };
      return std::all_of(first, first + begin_, marked) && std::all_of(first + begin_ + size_, end, marked);
    }

   private:
    static constexpr Index kAround = 64;  ///< scalars; begins at a cache line
    static constexpr T kMark = T(-12345);
    AlignedArray<T> memory_;
    Index size_, begin_;
  };

  /// Call f(solver, bands) for every device, method and layout.
  template <typename F>
  static void with_every_way(const std::vector<LineSet>& sets, const F& f) {
    for (const LineSet& lines : sets) {
      SCOPED_TRACE(lines.describe());
      const Bands<T> bands = test::random_dominant<T>(lines, 3);
      test::with_every_device([&](Options options) {
        for (const MethodChoice method : kMethods) {
          SCOPED_TRACE(name(method));
          options.method = method;
          f(options, bands);
        }
      });
    }
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Vectors, Scalars);

TYPED_TEST(Vectors, MayBeginAtAnyScalar) {
  using T = TypeParam;
  const std::vector<LineSet> sets{LineSet::one(9001), LineSet::equal(91, 101), LineSet::grid_axis(1, 37, 60, 3)};
  TestFixture::with_every_way(sets, [&](const Options& options, const Bands<T>& bands) {
    Solver<T> solver(options);
    this->set_up(solver, bands);
    const std::vector<T> y = test::random_vector<T>(bands.lines().extent()), nothing(y.size(), T(7));
    typename TestFixture::Placed right(y, 0), aligned(nothing, 0);
    solver.apply(right.data(), aligned.data());
    const std::vector<T> expected = aligned.values();
    EXPECT_LE(this->backward_error(solver, bands), 100);
    for (Index offset = 1; offset < 16; ++offset) {
      typename TestFixture::Placed from(y, offset), to(nothing, (5 * offset + 3) % 16);
      solver.apply(from.data(), to.data());
      EXPECT_EQ(to.values(), expected) << offset;
      EXPECT_TRUE(to.untouched_around()) << offset;
    }
  });
}

TYPED_TEST(Vectors, MayHaveAnyLength) {
  using T = TypeParam;
  constexpr Index m = TestFixture::kPartition;
  std::vector<LineSet> sets;
  for (Index n = 1; n <= 70; ++n) sets.push_back(LineSet::one(n));
  for (const Index edge : {m, 2 * m, 4 * m, 8 * m, 16 * m}) {
    for (Index n = edge - 1; n <= edge + 1; ++n) sets.push_back(LineSet::one(n));
  }
  for (const Index lines : {1, 3, 8, 17}) {
    for (const Index length : {1, 2, 15, 33}) sets.push_back(LineSet::grid_axis(1, lines, length, 2));
  }
  TestFixture::with_every_way(sets, [&](const Options& options, const Bands<T>& bands) {
    Solver<T> solver(options);
    this->set_up(solver, bands);
    EXPECT_LE(this->backward_error(solver, bands), 100);
  });
}

TYPED_TEST(Vectors, MayBeLargerThanTheMemoryOfTheDevice) {
  using T = TypeParam;
  const std::vector<LineSet> sets{LineSet::one(200'003), LineSet::grid_axis(1, 50, 40, 97)};
  TestFixture::with_every_way(sets, [&](Options options, const Bands<T>& bands) {
    if (options.devices == "host") return;
    const std::vector<T> y = test::random_vector<T>(bands.lines().extent());
    std::vector<T> whole(y.size()), chunks(y.size());
    Method method{};
    const auto solve = [&](std::vector<T>& x) {
      Solver<T> solver(options);
      this->set_up(solver, bands);
      solver.apply(y.data(), x.data());
      method = solver.report().method;
      return solver.bytes();
    };
    options.transfer = Transfer::copy;
    std::int64_t bytes = solve(whole);
    const std::int64_t least = bands.bytes() / 4;
    if (method == Method::exact_factored && bands.lines().contiguous()) {
      // Its two passes want all rows at once; where they do not fit, the other exact method takes them.
      options.device_memory = least;
      solve(chunks);
      EXPECT_EQ(method, Method::exact_twopass);
      options.device_memory = 0;
      options.method = MethodChoice::exact_twopass;
      bytes = solve(whole);
    }
    options.device_memory = least;
    EXPECT_LT(solve(chunks), bytes - bands.bytes() / 2);
    EXPECT_EQ(chunks, whole);
  });
}

}  // namespace
}  // namespace oclspkt

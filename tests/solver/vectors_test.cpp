// SPDX-License-Identifier: BSD-2-Clause
// Vectors larger than the memory of a device.

#include "every_device.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Vectors : public test::SolverFixture<T> {};

SCALAR_TEST(Vectors, MayBeLargerThanTheMemoryOfTheDevice) {
  const auto expect_the_bits_of_the_whole = [&](Options options, const Bands<T>& bands) {
    const std::vector<T> y = test::random_vector<T>(bands.lines().extent());
    std::vector<T> whole(y.size()), chunks(y.size());
    Method method{};
    const auto solve = [&](std::vector<T>& x) {
      Solver<T> solver = test::solver_for(bands, options);
      solver.apply(y.data(), x.data());
      method = solver.report().method;
      return solver.bytes();
    };
    options.use.transfer = Transfer::copy;
    std::int64_t bytes = solve(whole);
    const std::int64_t least = bands.bytes() / 4;
    if (method == Method::exact_factored && bands.lines().contiguous()) {
      // Its two passes want all rows at once; where they do not fit, the other exact method takes them.
      options.use.device_memory = least;
      solve(chunks);
      EXPECT_EQ(method, Method::exact_twopass);
      options.use.device_memory = 0;
      options.method = MethodChoice::exact_twopass;
      bytes = solve(whole);
    }
    options.use.device_memory = least;
    EXPECT_LT(solve(chunks), bytes - bands.bytes() / 2);
    EXPECT_EQ(chunks, whole);
  };
  for (const LineSet& lines : {LineSet::one(200'003), LineSet::grid_axis(1, 50, 40, 97)}) {
    const Bands<T> bands = test::random_dominant<T>(lines, 3);
    test::with_every_device([&](Options options) {
      for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::truncated_halo, MethodChoice::exact}) {
        SCOPED_TRACE(lines.describe() + ", " + name(method));
        options.method = method;
        if (options.devices != "host") expect_the_bits_of_the_whole(options, bands);
      }
    });
  }
}

}  // namespace
}  // namespace oclspkt

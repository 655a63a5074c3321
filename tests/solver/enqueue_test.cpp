// SPDX-License-Identifier: BSD-2-Clause
// Vectors in buffers of a context that the caller made, solved by a queue of the caller: the answers.
#include <cmath>
#include <limits>

#include "queues.hpp"

namespace oclspkt::test {
namespace {

SCALAR_TEST(Queues, OfAForeignContextGiveTheBitsOfVectorsOnTheHost) {
  with_systems<T>(sets_of_every_layout(), 3, [&](const auto& system) {
    this->with_every_kind([&](const Options& kind) {
      with_methods(kind, methods_for(system.lines, kind), [&](const Options& options) {
        const bool two_passes = options.method == MethodChoice::exact_twopass && system.lines.count() == 1;
        const bool seldom = options.method != MethodChoice::automatic && !two_passes;
        if (builds_quickly(options) || !seldom) this->expect_the_same(options, system);
      });
    });
  });
}

SCALAR_TEST(Queues, SolveByTheOperatorOfASolverWithoutAQueue) {
  with_systems<T>({LineSet::one(9001), LineSet::grid_axis(1, 37, 60, 3)}, 3, [&](const auto& system) {
    this->with_every_kind([&](const Options& options) {
      if (!builds_quickly(options) && system.lines.count() > 1) return;
      const DeviceQueue queue = caller_of(options).device_queue();
      Solver<T> without(options), with(options);
      this->set_up(without, system.bands);
      this->set_up(with, system.bands, queue);
      EXPECT_EQ(answer(with, system.y), answer(without, system.y));
      EXPECT_TRUE(without.report().device.vectors.empty());
      expect_refusal([&] { this->enqueue(without, queue, nullptr, nullptr); }, "told of no queue");
    });
  });
}

SCALAR_TEST(Queues, ServeASystemLargerThanTheRestOfTheMemory) {
  const RandomSystem<T> system(LineSet::one(200'003), 3);
  this->with_every_kind([&](Options kind) {
    kind.device_memory = system.bands.bytes() / 4;
    with_methods(kind, kMethodsInChunks, [&](const Options& options) {
      if (!builds_quickly(options) && options.method == MethodChoice::truncated_halo) return;
      this->expect_the_same(options, system);
    });
  });
}

SCALAR_TEST(Queues, ServeTheTransposedSystem) {
  with_systems<T>({LineSet::one(3001), LineSet::grid_axis(1, 37, 60, 3)}, 30, [&](const auto& system) {
    this->with_every_kind([&](const Options& options) {
      const Caller& caller = caller_of(options);
      const DeviceQueue queue = caller.device_queue();
      Solver<T> solver(options);
      EXPECT_FALSE(solver.takes_transpose(queue));
      expect_refusal([&] { solver.enqueue_transpose(queue, nullptr, nullptr); }, "set_up");
      this->set_up(solver, system.bands, queue);
      EXPECT_FALSE(solver.takes_transpose(queue)) << "a question sets nothing up";
      solver.set_up_transpose();
      ASSERT_TRUE(solver.takes_transpose(queue));
      std::vector<T> expected(system.y.size());
      solver.apply_transpose(system.y.data(), expected.data());
      const DeviceVector<T> from(caller.handles(), system.y), to(caller.handles(), system.y);
      solver.enqueue_transpose(queue, from.get(), to.get());
      EXPECT_EQ(to.values(), expected);
      EXPECT_NE(expected, answer(solver, system.y));
    });
  });
}

SCALAR_TEST(Queues, TakeMemoryOfTheHostThatIsNotAligned) {
  with_systems<T>({LineSet::one(3001), LineSet::strided(50, 40, 33, 1, 2, 50 * 40)}, 3, [&](const auto& system) {
    const std::vector<T>& y = system.y;
    const auto extent = static_cast<Index>(y.size());
    const std::size_t bytes = y.size() * sizeof(T);
    this->with_every_kind([&](const Options& options) {
      const Caller& caller = caller_of(options);
      Solver<T> solver = test::solver_for(system.bands, options, {.queue = caller.device_queue()});
      AlignedArray<T> memory(2 * (extent + 1));
      T *from = memory.data() + 1, *to = from + extent;
      std::copy(y.begin(), y.end(), from);
      std::fill_n(to, extent, T(7));
      cl_int error = CL_SUCCESS;
      constexpr cl_mem_flags kFlags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
      const cl::Buffer y_there(clCreateBuffer(caller.context()(), kFlags, bytes, from, &error));
      ASSERT_EQ(error, CL_SUCCESS);
      const cl::Buffer x_there(clCreateBuffer(caller.context()(), kFlags, bytes, to, &error));
      ASSERT_EQ(error, CL_SUCCESS);
      this->enqueue(solver, caller.device_queue(), y_there(), x_there());
      std::vector<T> x(y.size());
      caller.queue().enqueueReadBuffer(x_there, CL_TRUE, 0, bytes, x.data());
      EXPECT_EQ(x, answer(solver, y));
    });
  });
}

}  // namespace
}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "every_device.hpp"
#include "opencl_vectors.hpp"
#include "solver_fixture.hpp"

// What tests of vectors in buffers loop over and expect, whether the buffers are of a solver's context or of a
// caller's.
namespace oclspkt::test {

/// A random system and a right-hand side.
template <typename T>
struct RandomSystem {
  RandomSystem(const LineSet& set, double dominance)
      : lines(set), bands(random_dominant<T>(set, dominance)), y(random_vector<T>(set.extent())) {}

  LineSet lines;
  Bands<T> bands;
  std::vector<T> y;
};

/// Call f(system) for each line set.
template <typename T, typename F>
void with_systems(const std::vector<LineSet>& sets, double dominance, const F& f) {
  for (const LineSet& lines : sets) {
    SCOPED_TRACE(lines.describe());
    f(RandomSystem<T>(lines, dominance));
  }
}
/// The last one has rows that are in no line.
inline std::vector<LineSet> sets_of_every_layout() {
  return {LineSet::one(9001), LineSet::equal(91, 101), LineSet::grid_axis(1, 37, 60, 3),
          LineSet::strided(50, 40, 33, 1, 2, 50 * 40)};
}

/// Forty lines of fifty rows, the second of which is singular: a fallback line.
template <typename T>
Bands<T> with_a_singular_line() {
  const Index length = 50;
  Bands<T> bands = random_dominant<T>(LineSet::equal(40, length), 3);
  replace_line(bands, 1, -1, 2, -1);
  bands.diag()[length] = bands.diag()[2 * length - 1] = T(1);
  return bands;
}

/// Call f(options) for each method.
template <typename F>
void with_methods(Options options, const std::vector<MethodChoice>& methods, const F& f) {
  for (const MethodChoice method : methods) {
    SCOPED_TRACE(name(method));
    options.method = method;
    f(options);
  }
}
/// The methods that a device has for these lines. The host solves by stored factors where kernels for GPUs do not.
inline std::vector<MethodChoice> methods_for(const LineSet& lines, const Options& options) {
  std::vector<MethodChoice> methods{MethodChoice::automatic, MethodChoice::truncated_halo};
  if (lines.contiguous()) {
    methods.insert(methods.end(), {MethodChoice::truncated_streamed, MethodChoice::exact_twopass});
  }
  if (!lines.contiguous() || options.variant != "gpu") methods.push_back(MethodChoice::exact_factored);
  return methods;
}

/// The methods that cut a line in chunks where a device does not hold it.
inline const std::vector<MethodChoice> kMethodsInChunks{MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
                                                        MethodChoice::exact_twopass};

/// Call f(options) for each variant.
template <typename F>
void with_variants(Options options, const std::vector<std::string>& variants, const F& f) {
  for (const std::string& variant : variants) {
    SCOPED_TRACE("variant " + variant);
    options.variant = variant;
    f(options);
  }
}

/// The answer for y in buffers is that for vectors of the host, to the bit, what is in no line stays, and nothing is
/// copied.
/// @param handles  where the buffers are
/// @param solve    (cl_mem y, cl_mem x)
template <typename T, typename Solve>
void expect_bits_of_the_host(Solver<T>& solver, const DeviceHandles& handles, const std::vector<T>& y,
                             const Solve& solve) {
  const std::vector<T> expected = answer(solver, y);
  const DeviceVector<T> from(handles, y), to(handles, std::vector<T>(y.size(), T(7)));
  const Times before = solver.times();
  for (int again = 0; again < 2; ++again) {
    solve(from.get(), to.get());
    EXPECT_EQ(to.values(), expected);
  }
  const Times spent = solver.times() - before;
  EXPECT_EQ(spent.applies, 2);
  EXPECT_EQ(spent.bytes_from_device, 0);
  EXPECT_EQ(from.values(), y);
}

/// Both vectors may be parts of one buffer, which do not overlap.
/// @param handles, solve  see expect_bits_of_the_host()
template <typename T, typename Solve>
void expect_parts_taken(Solver<T>& solver, const DeviceHandles& handles, const Solve& solve) {
  const Index n = solver.lines().extent();
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  const std::vector<T> first = random_vector<T>(n);
  std::vector<T> both = first;
  both.resize(2 * first.size(), T(7));
  const DeviceVector<T> vector(handles, both);
  cl_mem y = part_of(vector.get(), 0, bytes), x = part_of(vector.get(), bytes, bytes);
  solve(y, x);
  const std::vector<T> values = vector.values();
  EXPECT_EQ(std::vector<T>(values.begin() + n, values.end()), answer(solver, first));
  EXPECT_EQ(std::vector<T>(values.begin(), values.begin() + n), first);
  expect_refusal([&] { solve(y, y); }, "overlap");
  expect_refusal([&] { solve(vector.get(), x); }, "overlap");
  clReleaseMemObject(y);
  clReleaseMemObject(x);
}

/// Buffers that do not fit are refused by name and cure; those that may only be read, or written, do where that is
/// enough.
/// @param handles, solve  see expect_bits_of_the_host()
/// @param stranger        of another context
template <typename T, typename Solve>
void expect_unfit_refused(Solver<T>& solver, const DeviceHandles& handles, const DeviceHandles& stranger,
                          const Solve& solve) {
  const std::vector<T> ones(static_cast<std::size_t>(solver.lines().extent()), T(1)), few(ones.begin() + 1, ones.end());
  const DeviceVector<T> y(handles, ones), x(handles, ones), small(handles, few),
      write_only(handles, ones, CL_MEM_WRITE_ONLY), read_only(handles, ones, CL_MEM_READ_ONLY), strange(stranger, ones);
  const auto refused = [&](cl_mem from, cl_mem to, const char* word) {
    expect_refusal([&] { solve(from, to); }, word);
  };
  refused(strange.get(), x.get(), "another context");
  refused(y.get(), strange.get(), "another context");
  refused(nullptr, x.get(), "null handle");
  refused(y.get(), nullptr, "null handle");
  refused(small.get(), x.get(), "bytes");
  refused(y.get(), small.get(), "bytes");
  refused(y.get(), y.get(), "overlap");
  refused(write_only.get(), x.get(), "WRITE_ONLY");
  refused(y.get(), read_only.get(), "READ_ONLY");
  for (const DeviceVector<T>* to : {&x, &write_only}) {
    solve(read_only.get(), to->get());
    EXPECT_EQ(to->values(), answer(solver, ones));
  }
}

}  // namespace oclspkt::test

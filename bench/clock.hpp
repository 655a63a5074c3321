// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>

namespace oclspkt::bench {

/// Seconds of wall clock that f takes.
template <typename F>
double seconds_of(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds of one of `repeats` calls of f, which are timed together.
template <typename F>
double seconds_of(int repeats, const F& f) {
  return seconds_of([&] {
           for (int i = 0; i < repeats; ++i) f();
         }) /
         repeats;
}

/// Seconds of one of `repeats` calls of f, which destroys what prepare() makes. Only f is timed, call by call, so that
/// the clock itself is in the figure with some 20 ns.
template <typename Prepare, typename F>
double seconds_of(int repeats, const Prepare& prepare, const F& f) {
  double seconds = 0;
  for (int i = 0; i < repeats; ++i) {
    prepare();
    seconds += seconds_of(f);
  }
  return seconds / repeats;
}

}  // namespace oclspkt::bench

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

}  // namespace oclspkt::bench

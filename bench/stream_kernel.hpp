// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

/// x = (a + b) + (c + y) on n rows by one thread, compiled once for each instruction set.
#define OCLSPKT_STREAM_KERNELS(isa)                                                                           \
  namespace oclspkt::bench::isa {                                                                             \
  void stream(const float* a, const float* b, const float* c, const float* y, float* x, std::int64_t n);      \
  void stream(const double* a, const double* b, const double* c, const double* y, double* x, std::int64_t n); \
  }

OCLSPKT_STREAM_KERNELS(baseline)
#if defined(__x86_64__)
OCLSPKT_STREAM_KERNELS(avx)
OCLSPKT_STREAM_KERNELS(avx512)
#endif

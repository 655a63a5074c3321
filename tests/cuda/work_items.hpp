// SPDX-License-Identifier: BSD-2-Clause
// What CUDA gives to kernels, on the host: the work-items of a group are threads, groups run one after the other.
// Kernels as NVRTC gets them are compiled with this in front.
#pragma once

#include <math.h>
#include <string.h>

#include <cfloat>
#include <climits>
#include <cstddef>
#include <functional>

namespace oclspkt::test {

struct Place {
  unsigned x, y, z;
};

/// Run `kernel` for every work-item of some groups, in one dimension.
/// @param local  bytes of the __local argument
void run_groups(unsigned groups, unsigned items, std::size_t local, const std::function<void()>& kernel);

}  // namespace oclspkt::test

extern thread_local oclspkt::test::Place threadIdx, blockIdx;
extern oclspkt::test::Place blockDim, gridDim;
extern unsigned char* oclspkt_local_memory;
void __syncthreads();
void __threadfence();
void __threadfence_block();

#define __global__
#define __device__
#define __shared__ static
#define OPENCL_LOCAL_MEMORY
// NVIDIA's instructions: kernels that reach them fail.
#pragma clang diagnostic ignored "-Wkeyword-macro"
#define asm(...) throw "PTX"

#define OCLSPKT_ATOMICS(type)                                                                                \
  inline type atomicAdd(type* p, type a) { return __atomic_fetch_add(p, a, __ATOMIC_RELAXED); }              \
  inline type atomicSub(type* p, type a) { return __atomic_fetch_sub(p, a, __ATOMIC_RELAXED); }              \
  inline type atomicExch(type* p, type a) { return __atomic_exchange_n(p, a, __ATOMIC_RELAXED); }            \
  inline type atomicAnd(type* p, type a) { return __atomic_fetch_and(p, a, __ATOMIC_RELAXED); }              \
  inline type atomicOr(type* p, type a) { return __atomic_fetch_or(p, a, __ATOMIC_RELAXED); }                \
  inline type atomicXor(type* p, type a) { return __atomic_fetch_xor(p, a, __ATOMIC_RELAXED); }              \
  inline type atomicCAS(type* p, type a, type b) {                                                           \
    __atomic_compare_exchange_n(p, &a, b, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                        \
    return a;                                                                                                \
  }                                                                                                          \
  inline type atomicMin(type* p, type a) {                                                                   \
    type old = *p;                                                                                           \
    while (a < old && !__atomic_compare_exchange_n(p, &old, a, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
    }                                                                                                        \
    return old;                                                                                              \
  }                                                                                                          \
  inline type atomicMax(type* p, type a) {                                                                   \
    type old = *p;                                                                                           \
    while (a > old && !__atomic_compare_exchange_n(p, &old, a, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
    }                                                                                                        \
    return old;                                                                                              \
  }
OCLSPKT_ATOMICS(int)
OCLSPKT_ATOMICS(unsigned)
#undef OCLSPKT_ATOMICS

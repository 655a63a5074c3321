// SPDX-License-Identifier: BSD-2-Clause
// The parts of OpenCL C 1.2 that CUDA C++17 lacks. NVRTC compiles this text in front of each kernel text, with the
// option -default-device. plugin/cuda/translate.cpp puts the kernel text into namespace opencl::program. It also
// rewrites the constructs that neither macros nor functions can define.
#ifndef OCLSPKT_CUDA_PRELUDE_CUH
#define OCLSPKT_CUDA_PRELUDE_CUH

#define OPENCL_SIZE_T decltype(sizeof(int))
#include "cuda/vectors.cuh"

namespace opencl {

#ifndef OPENCL_LOCAL_MEMORY  // tests on the host define it themselves
#define OPENCL_LOCAL_MEMORY extern __shared__ __align__(128) unsigned char oclspkt_local_memory[];
#endif

// A __local argument of a kernel is the dynamic shared memory of the launch. A kernel has at most one such argument.
template <typename T>
struct LocalArgument {
  int unused;
  operator T*() const {
    OPENCL_LOCAL_MEMORY
    return (T*)oclspkt_local_memory;
  }
  template <typename U>
  explicit operator U*() const {
    OPENCL_LOCAL_MEMORY
    return (U*)oclspkt_local_memory;
  }
};

// A kernel's table begins with its required work-group size (x, y, z; zeros: any size). A number for each argument
// follows: its ParameterKind of plugin/cuda/translate.hpp.
template <typename A>
struct KindOf {
  static constexpr int value = 0;
};
template <typename A>
struct KindOf<A*> {
  static constexpr int value = 1;
};
template <typename A>
struct KindOf<LocalArgument<A>> {
  static constexpr int value = 2;
};

template <int count>
struct KernelTable {
  int numbers[3 + count];
};
template <typename F>
struct KernelTableOf;
template <typename... A>
struct KernelTableOf<void(A...)> {
  static_assert(((KindOf<A>::value == 2 ? 1 : 0) + ... + 0) <= 1, "a kernel has at most one __local argument");
  static constexpr KernelTable<sizeof...(A)> make(int x, int y, int z) { return {{x, y, z, KindOf<A>::value...}}; }
};
#define OPENCL_KERNEL_TABLE(kernel, x, y, z) \
  extern "C" __device__ auto oclspkt_parameters_##kernel = ::opencl::KernelTableOf<decltype(kernel)>::make(x, y, z);

// Work-item functions for up to three dimensions. No launch has a global offset.
inline size_t get_local_id(uint d) { return d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : d == 2 ? threadIdx.z : 0; }
inline size_t get_local_size(uint d) { return d == 0 ? blockDim.x : d == 1 ? blockDim.y : d == 2 ? blockDim.z : 1; }
inline size_t get_group_id(uint d) { return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : d == 2 ? blockIdx.z : 0; }
inline size_t get_num_groups(uint d) { return d == 0 ? gridDim.x : d == 1 ? gridDim.y : d == 2 ? gridDim.z : 1; }
inline size_t get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }
inline size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
inline size_t get_global_offset(uint) { return 0; }

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
inline void barrier(uint) { __syncthreads(); }
inline void mem_fence(uint flags) { flags& CLK_GLOBAL_MEM_FENCE ? __threadfence() : __threadfence_block(); }
inline void read_mem_fence(uint flags) { mem_fence(flags); }
inline void write_mem_fence(uint flags) { mem_fence(flags); }

#define OPENCL_ATOMICS(type)                                                            \
  inline type atomic_add(volatile type* p, type a) { return atomicAdd((type*)p, a); }   \
  inline type atomic_sub(volatile type* p, type a) { return atomicSub((type*)p, a); }   \
  inline type atomic_inc(volatile type* p) { return atomicAdd((type*)p, (type)1); }     \
  inline type atomic_dec(volatile type* p) { return atomicSub((type*)p, (type)1); }     \
  inline type atomic_xchg(volatile type* p, type a) { return atomicExch((type*)p, a); } \
  inline type atomic_min(volatile type* p, type a) { return atomicMin((type*)p, a); }   \
  inline type atomic_max(volatile type* p, type a) { return atomicMax((type*)p, a); }   \
  inline type atomic_and(volatile type* p, type a) { return atomicAnd((type*)p, a); }   \
  inline type atomic_or(volatile type* p, type a) { return atomicOr((type*)p, a); }     \
  inline type atomic_xor(volatile type* p, type a) { return atomicXor((type*)p, a); }   \
  inline type atomic_cmpxchg(volatile type* p, type a, type b) { return atomicCAS((type*)p, a, b); }
OPENCL_ATOMICS(int)
OPENCL_ATOMICS(uint)
#undef OPENCL_ATOMICS

}  // namespace opencl

// Macros that NVIDIA's compiler for OpenCL C defines.
#define __OPENCL_VERSION__ 120
#define __OPENCL_C_VERSION__ 120
#define CL_VERSION_1_2 120
#define __NV_CL_C_VERSION 120
#define __ENDIAN_LITTLE__ 1
#define cl_khr_fp64 1

#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffu
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 0xffffffffffffffffUL
#define FLT_EPSILON 0x1p-23f
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define DBL_EPSILON 0x1p-52
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1p-1022
#define NAN (::opencl::as_float(0x7fffffff))
#define INFINITY (::opencl::as_float(0x7f800000))

// CUDA's pointers have no address space. translate.cpp handles __local and __constant.
#define __global
#define __private
#define restrict __restrict__
// reqd_work_group_size(x, y, z) becomes CUDA's launch_bounds(most threads of a block, least blocks of a
// multiprocessor).
#define reqd_work_group_size(x, y, z) launch_bounds((x) * (y) * (z), CORE_GROUPS)
// Minimum number of work-groups whose registers must fit into a multiprocessor together; 0: no minimum. A kernel's -D
// options follow this text. If they define a macro CORE_GROUPS, the macro replaces this constant.
constexpr int CORE_GROUPS = 0;

#endif

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime.hpp"

namespace oclspkt::ocl {

/// The place of a buffer in its parent buffer. A buffer without a parent counts as its own parent.
struct BufferPlace {
  cl_mem whole;
  std::size_t first, end;  ///< bytes [first, end) of `whole`
  std::uintptr_t address;  ///< address of the memory that the buffer wraps; 0: none
};

BufferPlace place_of(const Buffer& buffer);

/// True if the memory that a buffer wraps begins at a multiple of `alignment` bytes. Also true if it wraps no memory.
bool aligned(const Buffer& buffer, std::size_t alignment);
struct MemoryNeeds {
  const cl::Context& context;
  const char* of;  ///< words for errors: the owner of the context, and the calls that change it
  std::int64_t bytes;
  const std::function<std::string()>& wanted;  ///< returns words for errors: the data that needs the bytes
};

/// Check that a caller's buffer meets `needs`.
/// @param unfit  flag that the buffer must not have
/// @throws InvalidInput that names the unmet need
void check_memory(const MemoryNeeds& needs, const char* name, const Buffer& buffer, cl_mem_flags unfit);

struct VectorNames {
  const char *both, *y, *x;
};

/// Check that both vectors of a call fit the system, and do not overlap.
/// @param bytes  bytes of a vector
/// @param names  for errors; they are pointers, because an apply without error then allocates no strings
/// @throws InvalidInput that names the unmet need, cl::Error
void check_vectors(const cl::Context& context, const LineSet& lines, std::int64_t bytes, const VectorNames& names,
                   const Buffer& y, const Buffer& x);

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime.hpp"

namespace oclspkt::ocl {

/// The place of a buffer in the buffer that it is a part of, or in itself.
struct BufferPlace {
  cl_mem whole;
  std::size_t first, end;  ///< bytes
  std::uintptr_t address;  ///< of memory of the host or of a caller; else 0
};

BufferPlace place_of(const Buffer& buffer);

/// True if memory of the host, or of a caller, begins where kernels can read whole vectors.
bool aligned(const Buffer& buffer, std::size_t alignment);
struct MemoryNeeds {
  const cl::Context& context;
  const char* of;  ///< owner of the context, in words, and what changes it
  std::int64_t bytes;
  const std::function<std::string()>& wanted;  ///< the data that needs the bytes, in words
};

/// Check that a caller's buffer meets its requirements.
/// @param unfit  flag that the buffer must not have
/// @throws InvalidInput that names what does not fit
void check_memory(const MemoryNeeds& needs, const char* name, const Buffer& buffer, cl_mem_flags unfit);

struct VectorNames {
  const char *both, *y, *x;
};

/// Check that both vectors of a call fit the system, and do not overlap.
/// @param bytes  of a vector
/// @param names  for errors, so that an apply without error makes no text
/// @throws InvalidInput that names what does not fit, cl::Error
void check_vectors(const cl::Context& context, const LineSet& lines, std::int64_t bytes, const VectorNames& names,
                   const Buffer& y, const Buffer& x);

}  // namespace oclspkt::ocl

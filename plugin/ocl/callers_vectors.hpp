// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime.hpp"

namespace oclspkt::ocl {

/// A buffer as a part of another one, or as all of itself.
struct BufferPlace {
  cl_mem whole;
  std::size_t first, end;  ///< bytes
  std::uintptr_t address;  ///< of memory of the host, or of a caller; else 0
};

BufferPlace place_of(const Buffer& buffer);

/// Whether memory of the host, or of a caller, begins where kernels can read whole vectors.
bool aligned(const Buffer& buffer, std::size_t alignment);

/// What memory of a caller has to fit.
struct MemoryNeeds {
  const cl::Context& context;
  const char* of;  ///< whose context that is, in words, and what changes it
  std::int64_t bytes;
  const std::function<std::string()>& wanted;  ///< what needs as many, in words
};

/// Check that a buffer of the caller fits.
/// @param unfit  flag that it must not have
/// @throws InvalidInput that names what does not fit
void check_memory(const MemoryNeeds& needs, const char* name, const Buffer& buffer, cl_mem_flags unfit);

/// The vectors of a call in words.
struct VectorNames {
  const char *both, *y, *x;
};

/// What buffers of a call have to fit.
struct VectorNeeds {
  const cl::Context& context;
  const LineSet& lines;
  std::int64_t bytes;
};

struct CallersVectors {
  Buffer y, x;
};

/// The vectors of a call, both as buffers of the solver's context.
/// @param named      both and each, for errors: no text is made in an apply that goes well
/// @param buffer_of  gives that of a name, for errors, and a handle
/// @throws InvalidInput that names what does not fit, cl::Error
CallersVectors callers_vectors(const VectorNeeds& needs, const VectorNames& named, const void* y, void* x,
                               const std::function<Buffer(const char* name, void* handle)>& buffer_of);

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does with vectors in buffers of the device only.
#include <cstdint>

#include "cl_solver.hpp"
#include "error_name.hpp"

namespace oclspkt::ocl {
namespace {

/// A buffer as a part of another one, or as all of itself.
struct BufferPlace {
  cl_mem whole;
  std::size_t first, end;  ///< bytes
};

BufferPlace place_of(const Buffer& buffer) {
  cl_mem whole = nullptr;
  std::size_t offset = 0;
  clGetMemObjectInfo(buffer(), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(cl_mem), &whole, nullptr);
  clGetMemObjectInfo(buffer(), CL_MEM_OFFSET, sizeof offset, &offset, nullptr);
  if (whole == nullptr) whole = buffer();
  return {whole, offset, offset + buffer.getInfo<CL_MEM_SIZE>()};
}

/// Of two parts of a buffer that overlap nothing is defined, whatever kernels touch of them.
bool overlap(const BufferPlace& a, const BufferPlace& b) {
  return a.whole == b.whole && a.first < b.end && b.first < a.end;
}

}  // namespace

template <typename T>
DeviceHandles ClSolver<T>::handles() const {
  if (Registry::instance().forked()) return {};
  const std::lock_guard lock(holding_->mutex);
  const State& s = holding_->state;
  if (!s.device) return {};
  return {s.device->context()(), found_.handle(), s.for_calls->queue()()};
}

/// A buffer of the caller that fits the system.
/// @param unfit  flag that it must not have
/// @throws InvalidInput that names what does not fit
template <typename T>
Buffer ClSolver<T>::checked(const State& s, const char* name, _cl_mem* handle, cl_mem_flags unfit) const {
  const auto refuse = [&](const std::string& why) {
    throw InvalidInput(std::string("buffer ") + name + " of apply_on_device " + why);
  };
  if (handle == nullptr) refuse("is a null handle: give a buffer of the context of device_handles()");
  cl_mem_object_type type = 0;
  const cl_int error = clGetMemObjectInfo(handle, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (error != CL_SUCCESS) refuse("is no memory object, " + error_name(error) + ": give one that clCreateBuffer made");
  if (type != CL_MEM_OBJECT_BUFFER) refuse("is an image or a pipe: give one that clCreateBuffer made");
  Buffer buffer(handle, true);
  if (buffer.getInfo<CL_MEM_CONTEXT>()() != s.device->context()()) {
    refuse(
        "belongs to another context: make it in the context of device_handles(), which a set_up for another device "
        "and release_devices() change");
  }
  const std::int64_t need = lines_.extent() * static_cast<Index>(sizeof(T));
  const auto bytes = static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>());
  if (bytes < need) {
    refuse("holds " + std::to_string(bytes) + " bytes, " + lines_.describe() + " need " + std::to_string(need) +
           ": make it larger");
  }
  if ((buffer.getInfo<CL_MEM_FLAGS>() & unfit) != 0) {
    refuse(unfit == CL_MEM_READ_ONLY ? "is CL_MEM_READ_ONLY, but kernels write it: make it with CL_MEM_READ_WRITE"
                                     : "is CL_MEM_WRITE_ONLY, but kernels read it: make it with CL_MEM_READ_WRITE");
  }
  const std::size_t alignment = s.part->alignment();
  if (reinterpret_cast<std::uintptr_t>(buffer.getInfo<CL_MEM_HOST_PTR>()) % alignment != 0) {
    refuse("uses host memory that is not aligned to " + std::to_string(alignment) +
           " bytes: align it, or make the buffer without CL_MEM_USE_HOST_PTR");
  }
  return buffer;
}

template <typename T>
void ClSolver<T>::apply_on_device(_cl_mem* y, _cl_mem* x) {
  Vectors<T> vectors;
  Registry::instance().require_usable(index_);
  {
    const std::lock_guard lock(holding_->mutex);
    const State& s = holding_->state;
    if (!ready_ || !s.device) {
      throw DeviceError(describe(found_.info) + " has no set-up, or was released since: set the solver up again");
    }
    if (plan_.n == 0) return;
    vectors.y_buffer = checked(s, "y", y, CL_MEM_WRITE_ONLY);
    vectors.x_buffer = checked(s, "x", x, CL_MEM_READ_ONLY);
    if (overlap(place_of(vectors.y_buffer), place_of(vectors.x_buffer))) {
      throw InvalidInput("buffers x and y of apply_on_device overlap: use two separate buffers");
    }
  }
  solve(vectors);
}

/// The part of a vector that goes with a chunk.
template <typename T>
Buffer ClSolver<T>::piece(const Buffer& vector, const Chunk& chunk) const {
  if (layout_.chunks.size() == 1 && chunk.first == 0) return vector;
  const BufferPlace place = place_of(vector);
  const cl_buffer_region region{place.first + static_cast<std::size_t>(chunk.first) * sizeof(T),
                                static_cast<std::size_t>(chunk.rows()) * sizeof(T)};
  if (region.origin % found_.base_alignment != 0) {
    throw InvalidInput("device memory cuts the system into " + std::to_string(layout_.chunks.size()) +
                       " chunks, and the chunk of row " + std::to_string(chunk.first) +
                       " does not begin at a multiple of " + std::to_string(found_.base_alignment) +
                       " bytes of the buffer: raise device_memory, or use apply() with host vectors");
  }
  cl_int error = CL_SUCCESS;
  cl_mem made = clCreateSubBuffer(place.whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  if (error != CL_SUCCESS) throw cl::Error(error, "a part of a buffer");
  return Buffer(made);
}

#define OCLSPKT_INSTANTIATE(T)                                                                   \
  template DeviceHandles ClSolver<T>::handles() const;                                           \
  template Buffer ClSolver<T>::checked(const State&, const char*, _cl_mem*, cl_mem_flags) const; \
  template void ClSolver<T>::apply_on_device(_cl_mem*, _cl_mem*);                                \
  template Buffer ClSolver<T>::piece(const Buffer&, const Chunk&) const;
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl

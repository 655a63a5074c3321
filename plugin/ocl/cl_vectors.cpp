// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does with vectors in buffers of the device only.
#include <cstdint>

#include "cl_borders.hpp"
#include "cl_solver.hpp"
#include "cl_visit.hpp"
#include "error_name.hpp"
#include "native.hpp"

namespace oclspkt::ocl {
namespace {

/// A buffer as a part of another one, or as all of itself.
struct BufferPlace {
  cl_mem whole;
  std::size_t first, end;  ///< bytes
  std::uintptr_t address;  ///< of memory of the host, or of a caller; else 0
};

BufferPlace place_of(const Buffer& buffer) {
  cl_mem whole = nullptr;
  std::size_t offset = 0;
  clGetMemObjectInfo(buffer(), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(cl_mem), &whole, nullptr);
  clGetMemObjectInfo(buffer(), CL_MEM_OFFSET, sizeof offset, &offset, nullptr);
  if (whole == nullptr) whole = buffer();
  // Intel's driver tells an address of buffers that only began as a copy of it.
  const bool over_memory = (buffer.getInfo<CL_MEM_FLAGS>() & CL_MEM_USE_HOST_PTR) != 0;
  const void* address = over_memory ? buffer.getInfo<CL_MEM_HOST_PTR>() : nullptr;
  return {whole, offset, offset + buffer.getInfo<CL_MEM_SIZE>(), reinterpret_cast<std::uintptr_t>(address)};
}

/// Of two parts of a buffer that overlap nothing is defined, whatever kernels touch of them, nor of two buffers over
/// memory that overlaps.
bool overlap(const BufferPlace& a, const BufferPlace& b) {
  if (a.whole == b.whole) return a.first < b.end && b.first < a.end;
  const auto end = [](const BufferPlace& of) { return of.address + (of.end - of.first); };
  return a.address != 0 && b.address != 0 && a.address < end(b) && b.address < end(a);
}

/// Whether memory of the host, or of a caller, begins where kernels can read whole vectors.
bool aligned(const Buffer& buffer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(buffer.getInfo<CL_MEM_HOST_PTR>()) % alignment == 0;
}

}  // namespace

cl::Buffer memory_object(const char* what, cl_mem handle) {
  const auto refuse = [&](const std::string& why) { throw InvalidInput(std::string(what) + " " + why); };
  if (handle == nullptr) refuse("is a null handle: give a buffer of the context of device_handles()");
  cl_mem_object_type type = 0;
  const cl_int error = clGetMemObjectInfo(handle, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (error != CL_SUCCESS) refuse("is no memory object, " + error_name(error) + ": give one that clCreateBuffer made");
  if (type != CL_MEM_OBJECT_BUFFER) refuse("is an image or a pipe: give one that clCreateBuffer made");
  return cl::Buffer(handle, true);
}

template <typename T>
DeviceHandles ClSolver<T>::handles() const {
  if (Registry::instance().forked() || found_.info.cuda) return {};
  const std::lock_guard lock(holding_->mutex);
  const State& s = holding_->state;
  if (!s.device) return {};
  return {s.device->context()(), found_.handle(), s.for_calls->queue()()};
}

/// Check that a buffer of the caller fits the system.
/// @param unfit  flag that it must not have
/// @throws InvalidInput that names what does not fit
template <typename T>
void ClSolver<T>::check_buffer(const State& s, const char* name, const Buffer& buffer, cl_mem_flags unfit) const {
  const auto refuse = [&](const std::string& why) { throw InvalidInput(std::string(name) + " " + why); };
  const std::int64_t need = vector_bytes();
  if (buffer.getInfo<CL_MEM_CONTEXT>()() != s.device->context()()) {
    refuse(
        "belongs to another context: make it in the context of device_handles(), which a set_up for another device "
        "and release_devices() change");
  }
  const auto bytes = static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>());
  if (bytes < need) {
    refuse("holds " + std::to_string(bytes) + " bytes, " + lines_.describe() + " need " + std::to_string(need) +
           ": make it larger");
  }
  if ((buffer.getInfo<CL_MEM_FLAGS>() & unfit) != 0) {
    refuse(unfit == CL_MEM_READ_ONLY ? "is CL_MEM_READ_ONLY, but kernels write it: make it with CL_MEM_READ_WRITE"
                                     : "is CL_MEM_WRITE_ONLY, but kernels read it: make it with CL_MEM_READ_WRITE");
  }
}

/// The vectors of a call, both as buffers of the solver's context.
/// @param named      both and each, for errors: no text is made in an apply that goes well
/// @param buffer_of  gives that of a name, for errors, and a handle
/// @throws InvalidInput
template <typename T>
template <typename BufferOf>
Vectors<T> ClSolver<T>::checked_vectors(const State& s, const VectorNames& named, const void* y, void* x,
                                        const BufferOf& buffer_of) const {
  Vectors<T> vectors;
  vectors.y_buffer = buffer_of(named.y, const_cast<void*>(y));
  check_buffer(s, named.y, vectors.y_buffer, CL_MEM_WRITE_ONLY);
  vectors.x_buffer = buffer_of(named.x, x);
  check_buffer(s, named.x, vectors.x_buffer, CL_MEM_READ_ONLY);
  if (overlap(place_of(vectors.y_buffer), place_of(vectors.x_buffer))) {
    throw InvalidInput(std::string(named.both) + " overlap: use two separate buffers");
  }
  return vectors;
}

template <typename T>
void ClSolver<T>::require_set_up(const State& s) const {
  if (ready_ && s.device) return;
  throw DeviceError(describe(found_.info) + " has no set-up, or was released since: set the solver up again");
}

template <typename T>
void ClSolver<T>::apply_on_device(_cl_mem* y, _cl_mem* x) {
  Vectors<T> vectors;
  Registry::instance().require_usable(index_);
  {
    const std::lock_guard lock(holding_->mutex);
    const State& s = holding_->state;
    require_set_up(s);
    if (plan_.n == 0) return;
    constexpr VectorNames kNames{"buffers x and y of apply_on_device", "buffer y of apply_on_device",
                                 "buffer x of apply_on_device"};
    vectors = checked_vectors(s, kNames, y, x, [](const char* name, void* handle) {
      return memory_object(name, static_cast<cl_mem>(handle));
    });
    for (const Buffer* buffer : {&vectors.y_buffer, &vectors.x_buffer}) {
      if (aligned(*buffer, s.part->alignment())) continue;
      throw InvalidInput(std::string(buffer == &vectors.y_buffer ? kNames.y : kNames.x) +
                         " uses host memory that is not aligned to " + std::to_string(s.part->alignment()) +
                         " bytes: align it, or make the buffer without CL_MEM_USE_HOST_PTR");
    }
  }
  solve(vectors);
}

template <typename T>
bool ClSolver<T>::takes(const DeviceQueue& queue) const {
  if (Registry::instance().forked()) return false;
  const std::lock_guard lock(holding_->mutex);
  const State& s = holding_->state;
  if (!ready_ || (!s.device && plan_.n > 0)) return false;
  if (plan_.n == 0 || (s.callers && s.queue == queue)) return true;
  if (s.imported) return s.imported->takes(queue);
  try {
    s.device->by_queue(queue);
  } catch (const InvalidInput&) {
    return false;
  } catch (const cl::Error&) {
    return false;
  }
  return true;
}

/// Work by a caller's queue from now on.
/// @throws InvalidInput if it is of another device or context
template <typename T>
void ClSolver<T>::take_queue(State& s, const DeviceQueue& queue) const {
  if (s.callers && s.queue == queue) return;
  auto callers = s.device->by_queue(queue);
  settle(s);  // the solver's own memory is used by one queue at a time
  s.callers = std::move(callers);
  s.queue = queue;
}

template <typename T>
void ClSolver<T>::enqueue(const DeviceQueue& queue, const void* y, void* x) {
  if (settings_.queues_of != nullptr) return enqueue_on_card(queue, y, x);
  Vectors<T> vectors;
  Registry::instance().require_usable(index_);
  {
    const std::lock_guard lock(holding_->mutex);
    State& s = holding_->state;
    require_set_up(s);
    if (plan_.n == 0) return;
    try {
      take_queue(s, queue);
      constexpr VectorNames kNames{"buffers x and y of enqueue", "buffer y of enqueue", "buffer x of enqueue"};
      vectors = checked_vectors(s, kNames, y, x, [&](const char* name, void* handle) {
        return callers_memory(s.device->context(), name, handle, vector_bytes());
      });
    } catch (const cl::Error& error) {
      throw device_error(found_.info, "taking a caller's queue and vectors", error);
    }
    vectors.enqueued = true;
    const std::size_t alignment = s.part->alignment();
    vectors.unaligned = !aligned(vectors.y_buffer, alignment) || !aligned(vectors.x_buffer, alignment);
    if (vectors.unaligned && in_place_) {
      throw InvalidInput("a buffer of enqueue uses host memory that is not aligned to " + std::to_string(alignment) +
                         " bytes: align it, or make the buffer without CL_MEM_USE_HOST_PTR");
    }
    s.enqueued = true;
  }
  solve(vectors);
}

template <typename T>
std::unique_ptr<Borders<T>> ClSolver<T>::borders(const BorderLayout<T>& layout) {
  Registry::instance().require_usable(index_);
  const std::lock_guard lock(holding_->mutex);
  const State& s = holding_->state;
  require_set_up(s);
  return make_borders(index_, s.device, layout, s.imported, vector_bytes());
}

template <typename T>
std::int64_t ClSolver<T>::kept_vector_bytes() const {
  const std::lock_guard lock(holding_->mutex);
  const State& s = holding_->state;
  const bool whole = ready_ && s.device && plan_.n > 0 && layout_.resident && layout_.chunks.size() == 1;
  if (!whole || in_place_ || s.placed || lines_.rows() != lines_.extent()) return 0;
  return round_up(layout_.longest, s.part->block_rows(plan_)) * static_cast<Index>(sizeof(T));
}

template <typename T>
void ClSolver<T>::keep_vectors(std::int64_t bytes) {
  const std::lock_guard lock(holding_->mutex);
  State& s = holding_->state;
  require_set_up(s);
  bytes_ -= bytes_of(s.y) + bytes_of(s.x);
  bytes_ += ensure(*s.device, s.y, Access::read, bytes) + ensure(*s.device, s.x, Access::read_write, bytes);
}

template <typename T>
Buffer ClSolver<T>::right() const {
  const std::lock_guard lock(holding_->mutex);
  return holding_->state.y;
}

template <typename T>
Buffer ClSolver<T>::solution() const {
  const std::lock_guard lock(holding_->mutex);
  return holding_->state.x;
}

template <typename T>
Buffer ClSolver<T>::bring_vector(const T* values) {
  const std::lock_guard lock(holding_->mutex);
  State& s = holding_->state;
  require_set_up(s);
  const std::int64_t bytes = lines_.extent() * static_cast<Index>(sizeof(T));
  Buffer buffer = make_buffer(*s.device, Access::read, bytes);
  const Waiter waiter(*s.device, !in_place_, time_limit());
  try {
    s.pipeline->bring(values, bytes, buffer, waiter, times_);
  } catch (...) {
    drain(s, waiter);
    throw;
  }
  return buffer;
}

template <typename T>
std::unique_ptr<Visit<T>> ClSolver<T>::visit(const VisitSteps<T>& steps) {
  Registry::instance().require_usable(index_);
  const std::int64_t vector = kept_vector_bytes();
  if (vector == 0 || (steps.between != nullptr && bytes_ + vector > limits().memory)) return nullptr;
  std::shared_ptr<OpenDevice> open;
  {
    const std::lock_guard lock(holding_->mutex);
    open = holding_->state.device;
  }
  if (!open) return nullptr;
  return make_visit(index_, open, steps);
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

#define OCLSPKT_INSTANTIATE(T)                                                       \
  template DeviceHandles ClSolver<T>::handles() const;                               \
  template void ClSolver<T>::apply_on_device(_cl_mem*, _cl_mem*);                    \
  template bool ClSolver<T>::takes(const DeviceQueue&) const;                        \
  template void ClSolver<T>::enqueue(const DeviceQueue&, const void*, void*);        \
  template std::unique_ptr<Borders<T>> ClSolver<T>::borders(const BorderLayout<T>&); \
  template std::int64_t ClSolver<T>::kept_vector_bytes() const;                      \
  template void ClSolver<T>::keep_vectors(std::int64_t);                             \
  template Buffer ClSolver<T>::right() const;                                        \
  template Buffer ClSolver<T>::solution() const;                                     \
  template Buffer ClSolver<T>::bring_vector(const T*);                               \
  template std::unique_ptr<Visit<T>> ClSolver<T>::visit(const VisitSteps<T>&);       \
  template Buffer ClSolver<T>::piece(const Buffer&, const Chunk&) const;
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
// How ClSolver handles vectors in buffers of the device.
#include <cstdint>
#include <functional>

#include "callers_vectors.hpp"
#include "cl_borders.hpp"
#include "cl_solver.hpp"
#include "cl_visit.hpp"
#include "error_name.hpp"
#include "native.hpp"

namespace oclspkt::ocl {

template <typename T>
DeviceHandles ClSolver<T>::handles() const {
  if (Registry::instance().forked() || found_.info.cuda) return {};
  const std::lock_guard lock(holding_->mutex);
  const State& s = holding_->state;
  if (!s.device) return {};
  return {s.device->context()(), found_.handle(), s.for_calls->queue()()};
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
    const auto buffer_of = [](const char* name, void* handle) {
      return memory_object(name, static_cast<cl_mem>(handle));
    };
    const CallersVectors given =
        callers_vectors({s.device->context(), lines_, vector_bytes()}, kNames, y, x, std::ref(buffer_of));
    vectors = {.y_buffer = given.y, .x_buffer = given.x};
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

/// Use a caller's queue from now on.
/// @throws InvalidInput if it is of another device or context
template <typename T>
void ClSolver<T>::take_queue(State& s, const DeviceQueue& queue) const {
  if (s.callers && s.queue == queue) return;
  auto callers = s.device->by_queue(queue);
  settle(s);  // only one queue at a time may use the solver's memory
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
      const auto buffer_of = [&](const char* name, void* handle) {
        return callers_memory(s.device->context(), name, handle, vector_bytes());
      };
      const CallersVectors given =
          callers_vectors({s.device->context(), lines_, vector_bytes()}, kNames, y, x, std::ref(buffer_of));
      vectors = {.y_buffer = given.y, .x_buffer = given.x, .enqueued = true};
    } catch (const cl::Error& error) {
      throw device_error(found_.info, "taking a caller's queue and vectors", error);
    }
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
bool ClSolver<T>::in_units(const T* units) {
  if (plan_.n == 0) return true;
  const Limits most = limits();
  const std::int64_t bytes = in_place_ ? 0 : vector_bytes();
  if (bytes > most.allocation || bytes > most.memory - bytes_) return false;
  try {
    Buffer brought = in_place_ ? Buffer() : bring_vector(units);
    const std::lock_guard lock(holding_->mutex);
    State& s = holding_->state;
    require_set_up(s);
    s.scale = s.device->kernel("change_rows", sizeof(T) == sizeof(double), 1, " -D MULTIPLY");
    s.units = in_place_ ? wrap(*s.device, units, vector_bytes()) : std::move(brought);
  } catch (const cl::Error& error) {
    throw device_error(found_.info, "bringing units of columns", error);
  }
  bytes_ += bytes;
  return true;
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
  template bool ClSolver<T>::in_units(const T*);                                     \
  template std::unique_ptr<Visit<T>> ClSolver<T>::visit(const VisitSteps<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl

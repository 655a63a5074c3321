// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does with vectors of another run-time on the same card: it copies them on the card, and the host waits
// wherever one run-time goes on with what the other has written.
#include "cl_solver.hpp"
#include "error_name.hpp"

namespace oclspkt::ocl {

/// How the plan lies in memory that has room for both vectors, all rows at once.
/// @throws VectorsNotShared
template <typename T>
Layout ClSolver<T>::layout_beside_vectors() const {
  Limits left = limits();
  left.memory -= 2 * vector_bytes();
  try {
    Layout layout = layout_within(left);
    if (layout.chunks.size() == 1) return layout;
  } catch (const InvalidInput&) {  // not even a tile fits
  }
  throw VectorsNotShared(describe(found_.info) + ": its memory, or the chunk that was asked for, does not hold " +
                         lines_.describe() + " at once and two vectors more");
}

/// Share memory with the run-time of the callers' queues: that of the last set-up, if it is large enough.
/// @throws VectorsNotShared
template <typename T>
void ClSolver<T>::import_vectors(State& s, const Waiter& waiter) {
  try {
    if (!s.imported || s.imported->room() < vector_bytes()) {
      s.imported.reset();
      s.imported = std::make_shared<ImportedVectors>(
          *s.device, settings_.queues_of->make_card_vectors(found_.info.physical, vector_bytes()), vector_bytes());
    }
    s.imported->check(*s.device, waiter);
  } catch (const DeviceError& error) {
    throw VectorsNotShared(error.what());
  } catch (const cl::Error& error) {
    throw VectorsNotShared(device_error(found_.info, "importing memory of CUDA", error).what());
  }
}

/// Have the caller's vectors where the device sees them.
template <typename T>
Vectors<T> ClSolver<T>::bring_vectors(State& s, const CardVectors::Call& call) const {
  require_set_up(s);
  s.imported->bring(call, lines_.rows() != lines_.extent());
  s.imported->acquire(*s.for_calls);
  Vectors<T> vectors;
  vectors.y_buffer = s.imported->y();
  vectors.x_buffer = s.imported->x();
  return vectors;
}

/// Wait for the device, and give the caller x.
template <typename T>
void ClSolver<T>::take_vectors(State& s, const CardVectors::Call& call) const {
  require_set_up(s);
  s.imported->release(*s.for_calls, Waiter(*s.for_calls, true, time_limit()));
  s.imported->take(call);
}

template <typename T>
void ClSolver<T>::enqueue_on_card(const DeviceQueue& queue, const void* y, void* x) {
  Registry::instance().require_usable(index_);
  if (plan_.n == 0) return;
  const CardVectors::Call call{queue, y, x, vector_bytes()};
  const auto locked = [&](const auto& work) {
    const std::lock_guard lock(holding_->mutex);
    try {
      return work(holding_->state);
    } catch (const cl::Error& error) {
      throw device_error(found_.info, "handing vectors over", error);
    }
  };
  solve(locked([&](State& s) { return bring_vectors(s, call); }));
  locked([&](State& s) { take_vectors(s, call); });
}

#define OCLSPKT_INSTANTIATE(T)                                                            \
  template Layout ClSolver<T>::layout_beside_vectors() const;                             \
  template void ClSolver<T>::import_vectors(State&, const Waiter&);                       \
  template Vectors<T> ClSolver<T>::bring_vectors(State&, const CardVectors::Call&) const; \
  template void ClSolver<T>::take_vectors(State&, const CardVectors::Call&) const;        \
  template void ClSolver<T>::enqueue_on_card(const DeviceQueue&, const void*, void*);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl

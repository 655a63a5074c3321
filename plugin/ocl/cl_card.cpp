// SPDX-License-Identifier: BSD-2-Clause
// How ClSolver handles vectors of another run-time on the same card. It copies them on the card, and the host waits
// wherever one run-time continues with data that the other has written.
#include "cl_solver.hpp"
#include "error_name.hpp"

namespace oclspkt::ocl {

/// Share memory with the run-time of the callers' queues: the memory of the last set-up, if it is large enough.
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

template <typename T>
void ClSolver<T>::enqueue_on_card(const DeviceQueue& queue, const void* y, void* x) {
  Registry::instance().require_usable(index_);
  if (plan_.n == 0) return;
  const CardVectors::Call call{queue, y, x, vector_bytes()};
  const auto locked = [&](const auto& work) {
    const std::lock_guard lock(holding_->mutex);
    require_set_up(holding_->state);
    try {
      return work(holding_->state);
    } catch (const cl::Error& error) {
      throw device_error(found_.info, "handing vectors over", error);
    }
  };
  solve(locked([&](State& s) {
    s.imported->bring(call, lines_.rows() != lines_.extent());
    s.imported->acquire(*s.for_calls);
    return Vectors<T>{.y_buffer = s.imported->y(), .x_buffer = s.imported->x()};
  }));
  locked([&](State& s) {
    s.imported->release(*s.for_calls, Waiter(*s.for_calls, true, time_limit()));
    s.imported->take(call);
  });
}

#define OCLSPKT_INSTANTIATE(T)                                      \
  template void ClSolver<T>::import_vectors(State&, const Waiter&); \
  template void ClSolver<T>::enqueue_on_card(const DeviceQueue&, const void*, void*);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl

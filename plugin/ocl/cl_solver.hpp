// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device.hpp"
#include "device_state.hpp"
#include "layout.hpp"
#include "registry.hpp"
#include "schemes/part.hpp"

namespace oclspkt::ocl {

/// True if kernels work in the caller's memory. Kernels for GPUs need an alignment of 16 bytes, and those for FPGAs
/// whole blocks of aligned rows, which a caller's memory may lack.
inline bool works_in_place(const FoundDevice& found, const DeviceSettings& settings) {
  return found.info.host_unified && !settings.copy_vectors && !found.by_groups(settings.variant) &&
         !found.by_task(settings.variant);
}

/// A scheme on a device: its chunks and memory, the transfer of vectors, time limits.
template <typename T>
class ClSolver final : public DeviceSolver<T> {
 public:
  ClSolver(int device, const DeviceSettings& settings);
  ~ClSolver() override;
  ClSolver(const ClSolver&) = delete;
  ClSolver& operator=(const ClSolver&) = delete;

  void set_up(const Plan& plan, const Bands<T>& bands) override;
  bool in_units(const T* units) override;
  void apply(const T* y, T* x) override;
  DeviceHandles handles() const override;
  void apply_on_device(_cl_mem* y, _cl_mem* x) override;
  bool takes(const DeviceQueue& queue) const override;
  void enqueue(const DeviceQueue& queue, const void* y, void* x) override;
  std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& layout) override;
  std::unique_ptr<Visit<T>> visit(const VisitSteps<T>& steps) override;

  // Functions that a visit calls on the solvers that take part.
  /// Bytes of a vector in this solver's memory, including those that kernels read behind it; 0 if vectors do not stay
  /// there as wholes.
  std::int64_t kept_vector_bytes() const;
  /// Make its own vectors as long as another solver's kernels need them. @throws DeviceError, cl::Error
  void keep_vectors(std::int64_t bytes);
  /// The solver's own vectors y and x; null after a release.
  Buffer right() const;
  Buffer solution() const;
  /// Copy a vector to a new buffer. @throws DeviceError, cl::Error
  Buffer bring_vector(const T* values);
  /// @throws DeviceError; x is then undefined
  void solve(const Vectors<T>& vectors);

  Times times() const override { return times_; }
  double rounding() const override { return part() != nullptr ? part()->rounding() : 0; }
  std::int64_t bytes() const override { return bytes_ + (part() != nullptr ? part()->host_bytes() : 0); }
  const Factors<T>* factors() const override { return part() != nullptr ? part()->factors() : nullptr; }

 private:
  using State = DeviceState<T>;

  const Part<T>* part() const { return holding_->state.part.get(); }
  std::int64_t vector_bytes() const { return lines_.extent() * static_cast<std::int64_t>(sizeof(T)); }
  Limits limits() const;
  Layout make_layout() const;
  double time_limit() const;

  // Steps of a set-up.
  void cut_chunks();
  void take_part(State& s, const BandsView<T>& bands);
  void open(State& s);
  void place_buffers(State& s) const;
  void make_buffers(State& s, const Waiter& waiter);
  void import_vectors(State& s, const Waiter& waiter);

  Site site(State& s, const Waiter& waiter);
  void drain(State& s, const Waiter& waiter) const noexcept;
  void require_set_up(const State& s) const;
  void take_queue(State& s, const DeviceQueue& queue) const;
  void enqueue_on_card(const DeviceQueue& queue, const void* y, void* x);

  const int index_;
  const FoundDevice& found_;
  const DeviceSettings settings_;
  const bool in_place_;  ///< kernels work in the caller's memory
  std::shared_ptr<DeviceHolding<T>> holding_;
  bool watched_ = false;
  bool ready_ = false;  ///< the last set-up succeeded

  Plan plan_;
  Layout layout_;
  std::vector<Pieces> pieces_;  ///< of each chunk; empty if kernels work in place
  LineSet lines_;
  bool nan_safe_ = true;  ///< see Part::nan_safe_at_once()
  Times times_;
  std::int64_t bytes_ = 0;  ///< on the device, and of associated host memory
};

}  // namespace oclspkt::ocl

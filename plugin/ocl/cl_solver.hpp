// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "imported_vectors.hpp"
#include "layout.hpp"
#include "non_finite.hpp"
#include "pipeline.hpp"
#include "registry.hpp"
#include "schemes/part.hpp"
#include "schemes/scheme.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {

/// True if kernels work in the caller's memory. Those for GPUs want 16 bytes of alignment, and those for FPGAs whole
/// blocks of aligned rows, which callers need not have.
inline bool works_in_place(const FoundDevice& found, const DeviceSettings& settings) {
  return found.info.host_unified && !settings.copy_vectors && !found.by_groups(settings.variant) &&
         !found.by_task(settings.variant);
}

/// Rows of a vector that tell whether the device copied what the host sees.
inline constexpr std::size_t kLookedAt = 2;

/// Everything of a solver that a device may touch, host memory included: it has to outlive a device that was lost.
template <typename T>
struct DeviceState {
  std::shared_ptr<OpenDevice> device;     ///< null before the first set-up and after a release
  std::shared_ptr<OpenDevice> for_calls;  ///< by which apply_on_device() works: the same device
  std::shared_ptr<OpenDevice> callers;    ///< by which enqueue() works: the same device, by a caller's queue
  DeviceQueue queue;                      ///< that of `callers`
  bool enqueued = false;                  ///< it may hold commands that work in what is below
  std::optional<SecondBank> placed;       ///< where buffers lie; none: wherever the run-time puts them
  std::string carries;                    ///< name of the scheme that `part` is of
  std::unique_ptr<Part<T>> part;
  std::vector<ChunkBands> bands;       ///< of each chunk; of one that is refilled where they are not resident
  Buffer y, x;                         ///< of one chunk; in place: wrappers of the caller's memory, in an apply only
  Buffer scratch;                      ///< of Layout::scratch_bytes
  std::unique_ptr<Pipeline> pipeline;  ///< none in place
  NonFinite non_finite;
  std::vector<Event> earlier;                     ///< launches of a pass but the last, until their times are known
  std::vector<std::shared_ptr<void>> band_locks;  ///< of bands that every apply brings
  std::array<T, kLookedAt> looked_at{};           ///< rows of a vector as the device has them
  std::shared_ptr<ImportedVectors> imported;      ///< where callers' queues are of another run-time

  const ChunkBands& bands_of(std::size_t chunk) const { return bands[std::min(chunk, bands.size() - 1)]; }
  /// The bank of an array.
  Bank bank(bool SecondBank::*array) const { return placed ? ((*placed).*array ? 2 : 1) : 0; }
};

/// The vectors of an apply: of the host, in buffers of the device, or in a visit (see Visit).
template <typename T>
struct Vectors {
  const T* y = nullptr;
  T* x = nullptr;
  Buffer y_buffer{}, x_buffer{};
  bool enqueued = false;   ///< nobody waits for the apply
  bool unaligned = false;  ///< the buffers begin where kernels cannot read whole vectors
  /// In a visit: enqueue what is done to the rows that a launch solved, behind it. x stays in the solver's own memory,
  /// and comes from there where there is an x of the host; y goes to y_buffer, or is there if the host has none.
  std::function<Event(const Chunk& tiles)> then{};
  bool on_device() const { return x_buffer() != nullptr; }
};

/// Wait for what enqueue() left in a caller's queue.
template <typename T>
void settle(DeviceState<T>& state) noexcept {
  if (state.enqueued && state.callers) clFinish(state.callers->queue()());
  state.enqueued = false;
}

template <typename T>
class DeviceHolding final : public Holding {
 public:
  std::mutex mutex;
  DeviceState<T> state;
  void drop() override {
    const std::lock_guard lock(mutex);
    settle(state);
    state = {};
  }
};

/// A scheme at work on a device: chunks, memory, the way of the vectors, time limits.
template <typename T>
class ClSolver final : public DeviceSolver<T> {
 public:
  ClSolver(int device, const DeviceSettings& settings);
  ~ClSolver() override;
  ClSolver(const ClSolver&) = delete;
  ClSolver& operator=(const ClSolver&) = delete;

  void set_up(const Plan& plan, const Bands<T>& bands) override;
  void apply(const T* y, T* x) override;
  DeviceHandles handles() const override;
  void apply_on_device(_cl_mem* y, _cl_mem* x) override;
  bool takes(const DeviceQueue& queue) const override;
  void enqueue(const DeviceQueue& queue, const void* y, void* x) override;
  std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& layout) override;
  std::unique_ptr<Visit<T>> visit(const VisitSteps<T>& steps) override;

  // What a visit needs of the solvers that take part.
  /// Bytes of a vector in this solver's memory, what kernels read behind it included; 0 where vectors do not stay there
  /// as wholes.
  std::int64_t kept_vector_bytes() const;
  /// Have its own vectors be as long as another solver's kernels want them. @throws DeviceError, cl::Error
  void keep_vectors(std::int64_t bytes);
  /// Its own vectors; null after a release.
  Buffer right() const;
  Buffer solution() const;
  /// Bring a vector to a buffer of its own. @throws DeviceError, cl::Error
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
  Limits limits() const;
  double time_limit() const;
  void check(const Plan& plan, const Bands<T>& bands) const;
  void take_part(State& s, const BandsView<T>& bands);
  void open(State& s);
  Site site(State& s, const Waiter& waiter);
  void cut_chunks();
  void place_buffers(State& s) const;
  void make_buffers(State& s, const Waiter& waiter);
  void make_pipeline(State& s);
  void set_up_bands(State& s, const Waiter& waiter);
  void upload_bands(State& s, const Waiter& waiter, const ChunkBands& to, const Chunk& chunk);
  Layout layout_within(const Limits& limits) const;
  Layout layout_beside_vectors() const;
  void import_vectors(State& s, const Waiter& waiter);

  void drain(State& s, const Waiter& waiter) const noexcept;
  void run(State& s, const Waiter& waiter, const Vectors<T>& vectors);
  /// Which of the passes of a scheme.
  enum class Step { begin, finish };
  Event launch(const Site& site, const Tiles& tiles, Step step) const;
  void pass(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, Step step);
  void pass_in_place(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, Step step);
  void pass_on_device(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, Step step);
  void pass_on_blocks(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, Step step);
  void lock_bands(State& s) const;
  void pass_through(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, Step step);
  const ChunkBands& give_bands(State& s, const Waiter& waiter, std::size_t chunk);
  void take_in_place(State& s, const Waiter& waiter, const Chunk& chunk);
  void require_set_up(const State& s) const;
  void take_queue(State& s, const DeviceQueue& queue) const;
  Vectors<T> bring_vectors(State& s, const CardVectors::Call& call) const;
  void take_vectors(State& s, const CardVectors::Call& call) const;
  void enqueue_on_card(const DeviceQueue& queue, const void* y, void* x);
  std::int64_t vector_bytes() const { return lines_.extent() * static_cast<std::int64_t>(sizeof(T)); }
  /// The vectors of a call in words.
  struct VectorNames {
    const char *both, *y, *x;
  };
  template <typename BufferOf>
  Vectors<T> checked_vectors(const State& s, const VectorNames& named, const void* y, void* x,
                             const BufferOf& buffer_of) const;
  void check_buffer(const State& s, const char* name, const Buffer& buffer, cl_mem_flags unfit) const;
  Buffer piece(const Buffer& vector, const Chunk& chunk) const;

  const int index_;
  const FoundDevice& found_;
  const DeviceSettings settings_;
  const bool in_place_;  ///< kernels work in the caller's memory
  std::shared_ptr<DeviceHolding<T>> holding_;
  bool watched_ = false;
  bool ready_ = false;  ///< the last set-up succeeded

  Plan plan_;
  Layout layout_;
  std::vector<Pieces> pieces_;  ///< of each chunk; none in place
  LineSet lines_;
  bool nan_safe_ = true;  ///< see Part::nan_safe_at_once()
  Resident resident_;     ///< what goes with the chunks
  Times times_;
  std::int64_t bytes_ = 0;  ///< on the device, and of host memory that goes with it
};

}  // namespace oclspkt::ocl

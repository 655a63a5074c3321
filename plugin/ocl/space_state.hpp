// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "error_name.hpp"
#include "native.hpp"
#include "pipeline.hpp"
#include "runtime.hpp"
#include "space.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

/// The most vectors that one launch adds up, or multiplies with another vector (kernels/common/terms.clh).
inline constexpr std::size_t kMostTerms = 8;

/// Work-items of a work-group on GPUs.
inline constexpr Index kGroupItems = 256;
/// Work-groups of a reduction for each compute unit of a GPU.
inline constexpr Index kGroupsOfUnit = 8;
/// Work-groups for each core of a processor, of one work-item each. They are many so that the last one to end is short.
inline constexpr Index kGroupsACore = 16;
/// The most work-groups of a launch, because launch() refuses 2^31 work-items and more.
inline constexpr Index kMostGroups = std::numeric_limits<std::int32_t>::max() / kGroupItems;

enum class VectorKernel { combine, pointwise, dots, sum, extreme, put, gather, scatter_add, cg_step, cg_direction };

/// The objects of a space on its device (see Holding).
struct SpaceState final : Holding {
  /// @param by_groups  use kernels for GPUs
  SpaceState(std::shared_ptr<OpenDevice> open, bool is_double, bool by_groups);
  void drop() override;

  /// Returns a kernel in one of its forms, built at first use.
  /// @param form  number of terms, or number of the operation
  /// @param keep  for combine: z itself is a term
  Kernel& kernel(VectorKernel text, int form, bool keep = false);
  /// The work-groups of a launch of kernels/common/wide.clh. A work-group takes `run` elements of vectors.
  struct Runs {
    Geometry geometry;
    Index run;
  };
  Runs runs(Index n, Index most_groups = kMostGroups) const;
  /// The work-groups of a reduction. Groups of processors keep sums short, because rounding grows with the number of
  /// successive additions.
  Runs runs_of_sums(Index n) const;
  /// The most work-groups of a launch whose partial sums each work-group of a later launch adds up.
  Index most_parts() const { return (by_groups ? kGroupsOfUnit : kGroupsACore) * units; }
  /// Set the first arguments of a kernel over n elements: `first`, then n and the elements of a work-group.
  template <typename... First>
  void set(Kernel& kernel, const Runs& runs, Index n, const First&... first) const {
    set_arguments(*device, kernel, first..., Long{n}, Long{runs.run});
  }
  void launch(const Kernel& kernel, const Geometry& geometry) {
    enqueue_kernel(*device, kernel, geometry, {}, nullptr);
    ++counts.launches;
  }
  /// Launch a kernel over n elements. @param first  its arguments before n
  template <typename... First>
  void run(VectorKernel text, int form, Index n, const First&... first) {
    Kernel& kernel = this->kernel(text, form);
    const Runs all = runs(n);
    set(kernel, all, n, first...);
    launch(kernel, all.geometry);
  }

  Waiter waiter() const { return {*device, limited, time_limit}; }
  /// Copy a long host array by threads and pinned memory, after the commands already enqueued.
  /// @param made  threads make the array's numbers during the copy
  /// @param work  calls the pipeline
  /// @return false if a plain copy is as good: the array is short, or in memory of the device
  /// @throws DeviceError, cl::Error
  bool by_pipeline(std::int64_t bytes, bool made,
                   const std::function<void(Pipeline& pipeline, const Waiter& waiter, Times& times)>& work);
  /// Wait for a copy of host memory. If the wait fails, wait for the whole queue before throwing the error, because the
  /// caller may then free the memory.
  /// @param queue  the queue of the copy
  void wait_for_copy(const Event& copied, const cl::CommandQueue& queue) const;
  void wait_for_copy(const Event& copied) const { wait_for_copy(copied, device->queue()); }
  /// Add a finished copy to `counts`: its bytes to and from the device, and the wait for it.
  void count(std::int64_t up, std::int64_t down);
  /// Copy a host array to the beginning of a buffer, after the commands already enqueued. Add the copy to `counts`.
  void write(const Buffer& to, const void* from, std::int64_t bytes);
  /// Make room for partial sums and indices of extremes, on the device and in host memory for their copies.
  void make_room(std::int64_t bytes);

  std::mutex mutex;
  std::shared_ptr<OpenDevice> device;  ///< null after a release
  const bool is_double, by_groups;
  const std::int64_t word;    ///< bytes of a scalar
  const Index units;          ///< compute units of the device
  bool limited = true;        ///< waits have a time limit; false if the device works in host memory
  double time_limit = 60;     ///< seconds that enqueued commands may take
  Kernel kernels[10][16][2];  ///< kernels by text, form and keep
  Buffer partial;
  std::unique_ptr<Staging> numbers;
  /// Pinned memory for short arrays on their way to the device. The host need not wait for earlier commands.
  std::unique_ptr<Staging> going_up;
  Event went_up;                       ///< the last copy from `going_up`
  std::unique_ptr<Pipeline> pipeline;  ///< made at first use
  std::set<Holding*> parts;            ///< other objects of the space (SpacePart)
  SpaceCounts counts;
};

/// A value on the device of a space (see Held).
template <typename V>
class SpacePart {
 public:
  /// @pre the state's lock is held
  SpacePart(int index, std::shared_ptr<SpaceState> state, V value)
      : index_(index), state_(std::move(state)), held_(std::make_shared<Held<V>>(std::move(value))) {
    state_->parts.insert(held_.get());
  }
  ~SpacePart() {
    Registry& registry = Registry::instance();
    std::unique_lock<std::mutex> lock;
    if (!registry.forked()) {  // in a forked process the lock may be held for ever
      lock = std::unique_lock(state_->mutex);
      state_->parts.erase(held_.get());
    }
    registry.retire(std::move(held_), index_);
  }
  SpacePart& operator=(SpacePart&&) = delete;
  SpaceState* state() const { return state_.get(); }
  int index() const { return index_; }
  V& value() const { return held_->value; }

 private:
  int index_;
  std::shared_ptr<SpaceState> state_;
  std::shared_ptr<Held<V>> held_;
};

template <typename T>
class ClArray final : public SpaceArray<T> {
 public:
  ClArray(int index, std::shared_ptr<SpaceState> state, Buffer buffer, Index size)
      : SpaceArray<T>(size), part_(index, std::move(state), std::move(buffer)) {}
  void* memory() const override { return this->size() > 0 ? native_memory(part_.value()) : nullptr; }
  const SpacePart<Buffer>& part() const { return part_; }

 private:
  SpacePart<Buffer> part_;
};

/// Returns the buffer of an array, for an operation on arrays of `size` scalars.
/// @throws InvalidInput if the array is of another space or size
template <typename T>
const Buffer& buffer_of(const SpaceState& state, const SpaceArray<T>& array, Index size) {
  const SpacePart<Buffer>& part = static_cast<const ClArray<T>&>(array).part();
  if (part.state() != &state) throw InvalidInput("an array is of another device, or of one that was released");
  if (array.size() != size) {
    throw InvalidInput("arrays of " + std::to_string(size) + " and of " + std::to_string(array.size()) +
                       " scalars in one operation: give arrays of one size");
  }
  return part.value();
}

/// Call work(state) under the state's lock, which prevents a release meanwhile.
/// @param index  number of the device
/// @param what   the work in words, for errors
template <typename Work>
auto work_on(int index, SpaceState& state, const char* what, const Work& work) {
  Registry::instance().require_usable(index);
  const std::lock_guard lock(state.mutex);
  if (!state.device) throw DeviceError("the device was released, and with it all vectors that it held");
  try {
    return work(state);
  } catch (const cl::Error& error) {
    throw device_error(state.device->info(), what, error);
  }
}

// Space's functions sums(), slice_rows() and make_matrix(), called under the state's lock. They also throw cl::Error.
template <typename T>
void add_up(SpaceState& state, std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values);
Index slice_rows(const SpaceState& state);
template <typename T>
std::unique_ptr<SpaceMatrix<T>> make_matrix(int index, const std::shared_ptr<SpaceState>& state,
                                            const SparseForm& form);

/// Enqueue z = A x, or z = y + A x if y is not null. Add it to the counts.
/// @param x     columns() numbers; a null buffer if there are none; must not be z
/// @param y, z  rows() numbers each; null buffers if there are none; y may be z
template <typename T>
void enqueue_product(SpaceState& state, const SpaceMatrix<T>& a, const Buffer& x, const Buffer* y, const Buffer& z);

/// Enqueue w = A p, and partial sums of p . w. @return how many parts there are, at most 2 most_parts()
/// @pre A is square and has rows
template <typename T>
Index enqueue_product_with_dot(SpaceState& state, const SpaceMatrix<T>& a, const Buffer& p, const Buffer& w,
                               const Buffer& partial);

/// Enqueue partial sums of dot products with one vector y: part g of product k is element first + k groups + g of
/// `partial`, for the groups of runs_of_sums().
/// @param products  at most kMostTerms
template <typename T>
void enqueue_dots(SpaceState& state, std::span<const SumOf<T>> products, const Buffer& partial, std::int64_t first);

/// See Space::make_cg().
template <typename T>
std::unique_ptr<SpaceCg<T>> make_cg(int index, const std::shared_ptr<SpaceState>& state, CgForm form, CgNorm norm,
                                    Index rows, int kept);

/// Makes the space of DeviceModule::space_double() or space_float().
/// @throws DeviceError, BuildError
template <typename T>
std::shared_ptr<Space<T>> make_space(int device, const DeviceSettings& settings);

}  // namespace oclspkt::ocl

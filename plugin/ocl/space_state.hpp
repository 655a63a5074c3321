// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "pipeline.hpp"
#include "runtime.hpp"
#include "space.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

/// Memory of an array on the device.
struct ArrayMemory final : Holding {
  explicit ArrayMemory(Buffer made) : buffer(std::move(made)) {}
  Buffer buffer;
  void drop() override { buffer = Buffer(); }
};

/// Vectors that one launch adds up, or multiplies with another (kernels/common/terms.clh).
inline constexpr std::size_t kMostTerms = 8;

/// Kernels over vectors, by their texts.
enum class VectorKernel { combine, pointwise, dots, sum, extreme, put, gather, scatter_add };

/// What a space has of its device, see Holding.
struct SpaceState final : Holding {
  /// @param by_groups  kernels for GPUs are used
  SpaceState(std::shared_ptr<OpenDevice> open, bool is_double, bool by_groups);
  void drop() override;

  /// A kernel in one of its forms, built at first use.
  /// @param form  how many terms, or which operation
  /// @param keep  of combine
  Kernel& kernel(VectorKernel text, int form, bool keep = false);
  /// Work-groups for n places by kernels of the common texts, and the places of each (common/wide.clh).
  struct Runs {
    Geometry geometry;
    Index run;
  };
  /// @param most  work-groups
  Runs runs(Index n, Index most) const;
  /// As many work-groups as a launch may have.
  Runs runs(Index n) const;
  /// Copy a long array of the host by threads and pinned memory, behind what is enqueued.
  /// @param made  threads have to make it first
  /// @param work  calls the pipeline
  /// @return false where a plain copy is as good: the array is short, or lies in memory of the device
  /// @throws DeviceError, cl::Error
  bool by_pipeline(std::int64_t bytes, bool made, const Waiter& waiter,
                   const std::function<void(Pipeline& pipeline, Times& times)>& work);
  /// Wait for a copy of memory of the host, which the caller may free as soon as this ends: also where waiting fails.
  void wait_for_copy(const Event& copied, const Waiter& waiter) const {
    wait_for_copy(copied, device->queue(), waiter);
  }
  /// @param queue  the one that copies
  void wait_for_copy(const Event& copied, const cl::CommandQueue& queue, const Waiter& waiter) const;
  /// Copy an array of the host to the beginning of a buffer, behind what is enqueued, and count it.
  void write(const Buffer& to, const void* from, std::int64_t bytes, const Waiter& waiter);
  /// Room for partial sums and the places of extremes, on the device and in memory that it copies to.
  void make_room(std::int64_t bytes);

  std::mutex mutex;
  std::shared_ptr<OpenDevice> device;  ///< null after a release
  const bool is_double, by_groups;
  const std::int64_t word;  ///< bytes of a scalar
  const Index units;        ///< compute units of the device
  bool limited = true;      ///< waits look at the clock: the device is not the host's processor, or is treated so
  double time_limit = 60;   ///< seconds that what is enqueued may take
  std::vector<Kernel> kernels;
  Buffer partial;
  std::unique_ptr<Staging> numbers;
  /// Few numbers on their way up, so that the host need not wait for what is enqueued before them.
  std::unique_ptr<Staging> going_up;
  Event went_up;                       ///< the last that did
  std::unique_ptr<Pipeline> pipeline;  ///< made at first use
  std::set<Holding*> parts;            ///< what else lives there, see SpacePart
  SpaceCounts counts;
};

/// See DeviceModule::space_double().
/// @throws DeviceError, BuildError
template <typename T>
std::shared_ptr<Space<T>> make_space(int device, const DeviceSettings& settings);

}  // namespace oclspkt::ocl

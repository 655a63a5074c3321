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

/// The most vectors that one launch adds up, or multiplies with another (kernels/common/terms.clh).
inline constexpr std::size_t kMostTerms = 8;

/// Kernels over vectors, by their texts.
enum class VectorKernel { combine, pointwise, dots, sum, extreme, put, gather, scatter_add };

/// The objects of a space on its device, see Holding.
struct SpaceState final : Holding {
  /// @param by_groups  kernels for GPUs are used
  SpaceState(std::shared_ptr<OpenDevice> open, bool is_double, bool by_groups);
  void drop() override;

  /// A kernel in one of its forms, built at first use.
  /// @param form  how many terms, or which operation
  /// @param keep  for combine: z is kept as a term
  Kernel& kernel(VectorKernel text, int form, bool keep = false);
  /// Work-groups for n places by the kernels of kernels/common/wide.clh, and the places of each group.
  struct Runs {
    Geometry geometry;
    Index run;
  };
  /// @param most  most work-groups
  Runs runs(Index n, Index most) const;
  /// As many work-groups as a launch may have.
  Runs runs(Index n) const;
  /// Copy a long host array by threads and pinned memory, after the commands already enqueued.
  /// @param made  threads must make the array first
  /// @param work  calls the pipeline
  /// @return false if a plain copy is as good: the array is short, or in memory of the device
  /// @throws DeviceError, cl::Error
  bool by_pipeline(std::int64_t bytes, bool made, const Waiter& waiter,
                   const std::function<void(Pipeline& pipeline, Times& times)>& work);
  /// Wait for a copy of host memory, even if waiting fails, because the caller may free the memory when this ends.
  void wait_for_copy(const Event& copied, const Waiter& waiter) const {
    wait_for_copy(copied, device->queue(), waiter);
  }
  /// @param queue  the one that copies
  void wait_for_copy(const Event& copied, const cl::CommandQueue& queue, const Waiter& waiter) const;
  /// Copy a host array to the beginning of a buffer, after the commands already enqueued, and count it.
  void write(const Buffer& to, const void* from, std::int64_t bytes, const Waiter& waiter);
  /// Make room for partial sums and the places of extremes, on the device and in the host memory that it copies to.
  void make_room(std::int64_t bytes);

  std::mutex mutex;
  std::shared_ptr<OpenDevice> device;  ///< null after a release
  const bool is_double, by_groups;
  const std::int64_t word;  ///< bytes of a scalar
  const Index units;        ///< compute units of the device
  bool limited = true;      ///< waits have a time limit: the device is not the host's processor, or treated so
  double time_limit = 60;   ///< seconds that enqueued commands may take
  std::vector<Kernel> kernels;
  Buffer partial;
  std::unique_ptr<Staging> numbers;
  /// Short arrays on their way up, so that the host need not wait for commands enqueued before them.
  std::unique_ptr<Staging> going_up;
  Event went_up;                       ///< the last such copy
  std::unique_ptr<Pipeline> pipeline;  ///< made at first use
  std::set<Holding*> parts;            ///< other objects of the space, see SpacePart
  SpaceCounts counts;
};

/// See DeviceModule::space_double().
/// @throws DeviceError, BuildError
template <typename T>
std::shared_ptr<Space<T>> make_space(int device, const DeviceSettings& settings);

}  // namespace oclspkt::ocl

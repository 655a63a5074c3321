// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "imported_vectors.hpp"
#include "page_locks.hpp"
#include "pipeline.hpp"
#include "registry.hpp"
#include "schemes/scheme.hpp"
#include "schemes/worker.hpp"

namespace oclspkt::ocl {

/// The arrays that a scheme puts into the second of two memory banks. Empty: the run-time chooses the banks.
using Placed = std::optional<SecondBank>;

inline Bank bank_of(const Placed& placed, bool SecondBank::*array) { return placed ? ((*placed).*array ? 2 : 1) : 0; }

/// Buffers of each chunk's bands. If kernels work in place, the buffers wrap the host's arrays. Otherwise they are
/// copies. If the copies of all chunks do not fit at once, there is one copy, which every pass refills chunk by chunk.
class DeviceBands {
 public:
  /// Prepare for the release of the host's arrays of the last set-up.
  void forget(bool in_place) {
    if (in_place) chunks_.clear();  // the buffers wrap host memory
    locks_.clear();
  }

  void clear() { chunks_.clear(); }

  /// Take over the host's arrays. They must not move until forget(), or until fill() has copied them.
  void take(const Stored& arrays) { arrays_ = arrays; }
  /// Make the buffers, unless the present buffers are large enough.
  /// @return bytes of the buffers on the device
  /// @throws cl::Error
  std::int64_t make(const Site& site, const Placed& placed) {
    chunks_.resize(refilled(site) ? 1 : site.layout.band_chunks.size());
    if (in_place(site)) return 0;
    std::int64_t made = 0;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const Index rows = refilled(site) ? site.layout.longest : site.layout.band_chunks[i].rows();
      const auto fit = [&](Buffer& buffer, bool SecondBank::*array) {
        made += ensure(site.device, buffer, Access::read, round_up(rows, site.layout.needs.block_rows) * arrays_.word,
                       bank_of(placed, array));
      };
      ChunkBands& bands = chunks_[i];
      fit(bands.diag, &SecondBank::diag);
      fit(bands.upper, &SecondBank::upper);
      if (site.plan.symmetric()) {
        bands.lower = bands.upper;
      } else {
        if (same(bands.lower, bands.upper)) bands.lower = Buffer();
        fit(bands.lower, &SecondBank::lower);
      }
    }
    return made;
  }

  /// Copy the arrays to the device. If every pass copies them, lock their pages instead.
  /// @throws DeviceError, cl::Error; commands may then still run
  void fill(const Site& site) {
    if (refilled(site)) return lock(site);
    for (std::size_t i = 0; i < site.layout.band_chunks.size(); ++i) {
      const Chunk& places = site.layout.band_chunks[i];
      if (in_place(site)) {
        const auto wrapped = [&](const void* array) {
          const auto bytes = bytes_of(array, arrays_.word, places);
          return wrap(site.device, bytes.data(), static_cast<Index>(bytes.size()));
        };
        const Buffer upper = wrapped(arrays_.upper);
        chunks_[i] = {site.plan.symmetric() ? upper : wrapped(arrays_.lower), wrapped(arrays_.diag), upper};
      } else {
        upload(site, chunks_[i], places);
      }
    }
    if (!in_place(site)) arrays_ = {.word = arrays_.word};
  }

  /// Returns the buffers of each chunk; a single set of buffers if every pass refills them.
  const std::vector<ChunkBands>& chunks() const { return chunks_; }
  /// Returns the buffers of a chunk. If every pass refills them, the function copies the chunk first.
  /// @throws DeviceError, cl::Error; commands may then still run
  const ChunkBands& give(const Site& site, std::size_t chunk) {
    const std::vector<Chunk>& places = site.layout.band_chunks;
    if (refilled(site)) upload(site, chunks_.front(), places[std::min(chunk, places.size() - 1)]);
    return chunks_[std::min(chunk, chunks_.size() - 1)];
  }

 private:
  /// Returns the part of an array that `places` describes, as bytes.
  static std::span<const std::byte> bytes_of(const void* array, std::int64_t word, const Chunk& places) {
    return {static_cast<const std::byte*>(array) + places.first * word, size(places.rows() * word)};
  }

  static bool in_place(const Site& site) { return site.pipeline == nullptr; }

  /// True if every pass copies the bands of its chunk again.
  static bool refilled(const Site& site) { return !in_place(site) && !site.layout.resident; }

  void upload(const Site& site, const ChunkBands& to, const Chunk& places) const {
    const auto bring = [&](const Buffer& buffer, const void* array) {
      const auto bytes = bytes_of(array, arrays_.word, places);
      site.pipeline->bring(bytes.data(), static_cast<std::int64_t>(bytes.size()), buffer, site.waiter, site.times);
    };
    if (!site.plan.symmetric()) bring(to.lower, arrays_.lower);
    bring(to.diag, arrays_.diag);
    bring(to.upper, arrays_.upper);
  }

  void lock(const Site& site) {
    Index places = 0;
    for (const Chunk& chunk : site.layout.band_chunks) places = std::max(places, chunk.end);
    for (const void* array : {site.plan.symmetric() ? nullptr : arrays_.lower, arrays_.diag, arrays_.upper}) {
      if (array == nullptr) continue;
      locks_.push_back(lock_pages(site.device.info().index, array, places * arrays_.word));
    }
  }

  Stored arrays_;
  std::vector<ChunkBands> chunks_;
  std::vector<std::shared_ptr<void>> locks_;  ///< page locks of arrays that every apply copies
};

/// All objects of a solver that a device may use, including host memory. If the device is lost, they are never freed.
template <typename T>
struct DeviceState {
  std::shared_ptr<OpenDevice> device;     ///< null before the first set-up and after a release
  std::shared_ptr<OpenDevice> for_calls;  ///< the device with our own queue, for vectors in device buffers
  std::shared_ptr<OpenDevice> callers;    ///< the device with a caller's queue
  DeviceQueue queue;                      ///< the queue of `callers`
  bool enqueued = false;                  ///< `queue` may hold commands that use the objects below
  Placed placed;                          ///< memory banks of the buffers
  std::string carries;                    ///< name of the scheme of `worker`
  std::unique_ptr<Worker<T>> worker;
  DeviceBands bands;
  Buffer y, x;                                ///< vectors of one chunk; empty if kernels work in place
  Buffer scratch;                             ///< Layout::scratch_bytes long
  std::unique_ptr<Pipeline> pipeline;         ///< null if kernels work in place
  Buffer units;                               ///< scale factors of the solution, one for each row; empty: none
  Kernel scale;                               ///< kernel that multiplies by `units`
  Int last_number = 0;                        ///< the number that Site::last_number refers to
  std::vector<Event> earlier;                 ///< launches of a pass except the last, until their times are read
  std::shared_ptr<ImportedVectors> imported;  ///< null unless callers' queues belong to another run-time
};

/// Wait for the commands of enqueue() that are still in a caller's queue.
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

/// Rows that a launch solved, and the vector z that changes them.
struct ChangedRows {
  const Buffer& x;
  const Buffer& z;
  Index first, end;  ///< rows [first, end) of x
  Index ahead = 0;   ///< element of z that changes row 0 of x (kernels/common/change_rows.cl)
};

/// Enqueue kernel change_rows, after the launch that solved the rows.
template <typename T>
Event change_rows(OpenDevice& device, Kernel& kernel, const ChangedRows& rows) {
  constexpr Index kItems = 128, kWord = sizeof(T);
  const Index count = rows.end - rows.first;
  return launch(device, kernel, {std::max<Index>(1, quotient_up(count, kItems)), kItems},
                BufferNeed{"x", &rows.x, rows.end * kWord, kWord},
                BufferNeed{"z", &rows.z, (rows.ahead + rows.end) * kWord, kWord}, Long{rows.first}, Long{count},
                Long{rows.ahead});
}

/// The vectors of an apply: on the host, in buffers of the device, or in a visit (see Visit).
template <typename T>
struct Vectors {
  const T* y = nullptr;
  T* x = nullptr;
  Buffer y_buffer{}, x_buffer{};
  bool enqueued = false;   ///< the caller does not wait for the apply
  bool unaligned = false;  ///< the buffers lack the alignment that kernels' vector loads need
  /// In a visit: enqueues kernel change_rows for the tiles of a launch. The solution stays in the solver's memory; if
  /// `x` is not null, it is also copied there. If `y` is null, y_buffer already holds the right-hand side.
  std::function<Event(const Chunk& tiles)> then{};
  bool on_device() const { return x_buffer() != nullptr; }
};

/// After a failure, wait for the enqueued commands. They use memory that the caller or the solver then frees.
void drain(const Site& site) noexcept;

/// Run the passes of a scheme over the chunks: in host memory, in buffers of the device, or through the pipeline.
/// Returns when the apply is complete. For enqueued vectors, returns when all commands are in the queue.
/// @param pieces  the pieces of each chunk; empty if kernels work in place
/// @throws DeviceError, InvalidInput; no commands run then
template <typename T>
void run_passes(const Site& site, DeviceState<T>& state, const std::vector<Pieces>& pieces, const Vectors<T>& vectors);

}  // namespace oclspkt::ocl

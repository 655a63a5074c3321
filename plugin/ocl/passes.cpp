// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstring>
#include <functional>

#include "callers_vectors.hpp"
#include "device_state.hpp"
#include "fault.hpp"
#include "past_caches.hpp"
#include "scalars.hpp"

namespace oclspkt::ocl {
namespace {

/// Copy rows [first, end) of a chunk's solution to x. Elements of x between lines keep their values.
template <typename T>
void copy_out(const LineSet& lines, const Chunk& chunk, Index first, Index end, const std::byte* solved, T* x) {
  constexpr auto kWord = static_cast<Index>(sizeof(T));
  const auto copy = [&](Index begin, Index behind) {
    const std::byte* from = solved + (begin - first) * kWord;
    std::memcpy(x + begin, from, static_cast<std::size_t>((behind - begin) * kWord));
  };
  if (lines.rows() == lines.extent()) {
    if (lines.extent() * kWord < kPastCaches) {
      copy(first, end);
    } else {
      copy_past_caches(solved, (end - first) * kWord, reinterpret_cast<std::byte*>(x + first));
      order_stores();
    }
    return;
  }
  for (Index block = chunk.tile_begin; block < chunk.tile_end; ++block) {
    const Index begin = block * lines.block_stride();
    const Index row = std::max<Index>(0, first - begin) / lines.row_stride();
    for (Index i = row; i < lines.length(0); ++i) {
      const Index at = begin + i * lines.row_stride();
      if (at >= end) break;
      const Index from = std::max(first, at), behind = std::min(end, at + lines.block_lines());
      if (from < behind) copy(from, behind);
    }
  }
}

/// One apply: the passes of a scheme over the chunks.
template <typename T>
class Passes {
 public:
  Passes(const Site& site, DeviceState<T>& state, const std::vector<Pieces>& pieces, const Vectors<T>& vectors)
      : site_(site), state_(state), pieces_(pieces), vectors_(vectors) {}

  void run() {
    for (pass_ = 0; pass_ < site_.layout.needs.passes; ++pass_) {
      for (std::size_t i = 0; i < site_.layout.chunks.size(); ++i) pass(i);
    }
  }

 private:
  /// True in the last pass, which writes x.
  bool last() const { return pass_ + 1 == site_.layout.needs.passes; }
  bool in_place() const { return site_.pipeline == nullptr; }

  Event launch(const ChunkBands& bands, const Buffer& y, const Buffer& x, const Chunk& chunk) const {
    const Tiles tiles{bands, y, x, chunk, pass_};
    Event event = state_.worker->enqueue(site_, tiles);
    if (!last() || state_.units() == nullptr) return event;
    state_.earlier.push_back(event);
    const Index first = tiles.chunk.kept_first - first_, end = tiles.chunk.kept_end - first_;
    return change_rows<T>(site_.device, state_.scale, {tiles.x, state_.units, first, end, first_});
  }

  void pass(std::size_t chunk) {
    first_ = site_.layout.chunks[chunk].first;
    if (vectors_.on_device()) {
      const bool blocks = site_.layout.needs.block_rows > 1 || vectors_.unaligned;
      blocks ? pass_on_blocks(chunk) : pass_on_device(chunk);
    } else if (in_place()) {
      pass_in_place(chunk);
    } else {
      pass_through(chunk);
    }
  }

  void pass_in_place(std::size_t i) {
    const Chunk& chunk = site_.layout.chunks[i];
    const auto wrapped = [&](const T* vector) {
      return wrap(site_.device, vector + chunk.first, chunk.rows() * static_cast<Index>(sizeof(T)));
    };
    state_.y = wrapped(vectors_.y);
    if (last()) state_.x = wrapped(vectors_.x);
    const Event event = launch(state_.bands.give(site_, i), state_.y, state_.x, chunk);
    // Mapping the rows would wait as well, but in the driver, which may then occupy a core: see sleep_until_ended().
    if (!last() || site_.device.info().whole >= 0) site_.waiter.wait(event);
    if (last()) take_in_place(chunk);
    site_.times.kernel_seconds += seconds(event);
    state_.y = state_.x = Buffer();
  }

  /// Map the solved rows of a chunk, so that the host sees them; returns when the device has finished them.
  void take_in_place(const Chunk& chunk) {
    const cl::CommandQueue& queue = site_.device.queue();
    const std::size_t offset = size(chunk.kept_first - chunk.first) * sizeof(T);
    const std::size_t bytes = size(chunk.kept_end - chunk.kept_first) * sizeof(T);
    fault_point(Place::read, site_.device.info(), queue());
    Event event;
    void* mapped = queue.enqueueMapBuffer(state_.x, CL_TRUE, CL_MAP_READ, offset, bytes);
    queue.enqueueUnmapMemObject(state_.x, mapped, nullptr, &event);
    site_.waiter.wait(event);
  }

  void pass_on_device(std::size_t i) {
    const Chunk& chunk = site_.layout.chunks[i];
    const ChunkBands& bands = state_.bands.give(site_, i);
    const Buffer y = piece(vectors_.y_buffer, chunk), x = piece(vectors_.x_buffer, chunk);
    // Wait for the kernels if bands of another chunk, or the host's own writes, may come next.
    const bool leaves = vectors_.enqueued && site_.layout.resident && !in_place();
    if (site_.layout.needs.begins_show && !in_place()) {  // cut launches as for host vectors
      if (leaves) {
        for (const Pieces::Launch& next : pieces_[i].launches) this->launch(bands, y, x, next.tiles);
        return;
      }
      const auto launch = [&](const Chunk& tiles) {
        Event event = this->launch(bands, y, x, tiles);
        site_.device.queue().flush();  // with host vectors the pipeline flushes
        return event;
      };
      state_.pipeline->run({.pieces = pieces_[i], .launch = std::ref(launch)}, site_.waiter, site_.times);
      return;
    }
    const Event event = launch(bands, y, x, chunk);
    if (leaves) return;
    site_.waiter.wait(event);
    site_.times.kernel_seconds += seconds(event);
  }

  /// One pass by the solver's own buffers, for kernels that access whole blocks. A caller's buffer may end inside one.
  void pass_on_blocks(std::size_t i) {
    constexpr auto kWord = static_cast<Index>(sizeof(T));
    const Chunk& chunk = site_.layout.chunks[i];
    const ChunkBands& bands = state_.bands.give(site_, i);
    const cl::CommandQueue& queue = site_.device.queue();
    const Index kept = chunk.kept_first - chunk.first;
    fault_point(Place::write, site_.device.info(), queue());
    queue.enqueueCopyBuffer(vectors_.y_buffer, state_.y, size(chunk.first * kWord), 0, size(chunk.rows() * kWord));
    if (site_.lines.rows() != site_.lines.extent()) {  // elements between the lines keep their values
      queue.enqueueCopyBuffer(vectors_.x_buffer, state_.x, size(chunk.first * kWord), 0, size(chunk.rows() * kWord));
    }
    const Event event = launch(bands, state_.y, state_.x, chunk);
    Event copied;
    queue.enqueueCopyBuffer(state_.x, vectors_.x_buffer, size(kept * kWord), size(chunk.kept_first * kWord),
                            size((chunk.kept_end - chunk.kept_first) * kWord), nullptr, &copied);
    if (vectors_.enqueued && site_.layout.resident) return;
    site_.waiter.wait(copied);
    site_.times.kernel_seconds += seconds(event);
  }

  /// One pass by the pipeline: copy up, solve and copy down. A visit leaves out copies that it does not need.
  void pass_through(std::size_t i) {
    const Chunk& chunk = site_.layout.chunks[i];
    const ChunkBands& bands = state_.bands.give(site_, i);
    // If there is only one chunk, the first pass has already brought y.
    const bool there = pass_ > 0 && site_.layout.chunks.size() == 1;
    const Buffer& right = vectors_.y_buffer() != nullptr ? vectors_.y_buffer : state_.y;
    const auto launch = [&](const Chunk& tiles) {
      Event event = this->launch(bands, right, state_.x, tiles);
      if (!last() || !vectors_.then) return event;
      state_.earlier.push_back(event);
      return vectors_.then(tiles);
    };
    const auto put = [&](Index first, Index end, const std::byte* solved) {
      copy_out(site_.lines, chunk, first, end, solved, vectors_.x);
    };
    Passage passage{.pieces = pieces_[i],
                    .first = chunk.first,
                    .word = sizeof(T),
                    .from = there ? nullptr : vectors_.y,
                    .up = &right,
                    .down = &state_.x,
                    .launch = std::ref(launch)};
    if (last() && vectors_.x != nullptr) passage.put = std::ref(put);
    state_.pipeline->run(passage, site_.waiter, site_.times);
  }
  Buffer piece(const Buffer& vector, const Chunk& chunk) const {
    if (site_.layout.chunks.size() == 1 && chunk.first == 0) return vector;
    const BufferPlace place = place_of(vector);
    const cl_buffer_region region{place.first + static_cast<std::size_t>(chunk.first) * sizeof(T),
                                  static_cast<std::size_t>(chunk.rows()) * sizeof(T)};
    if (region.origin % site_.device.found().base_alignment != 0) {
      throw InvalidInput("device memory cuts the system into " + std::to_string(site_.layout.chunks.size()) +
                         " chunks, and the chunk of row " + std::to_string(chunk.first) +
                         " does not begin at a multiple of " + std::to_string(site_.device.found().base_alignment) +
                         " bytes of the buffer: raise device_memory, or use apply() with host vectors");
    }
    cl_int error = CL_SUCCESS;
    cl_mem made = clCreateSubBuffer(place.whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (error != CL_SUCCESS) throw cl::Error(error, "a part of a buffer");
    return Buffer(made);
  }

  const Site& site_;
  DeviceState<T>& state_;
  const std::vector<Pieces>& pieces_;
  const Vectors<T>& vectors_;
  int pass_ = 0;     ///< number of the pass, less than Needs::passes
  Index first_ = 0;  ///< row of element 0 of the vectors that the pass uses
};

}  // namespace

template <typename T>
void run_passes(const Site& site, DeviceState<T>& state, const std::vector<Pieces>& pieces, const Vectors<T>& vectors) {
  Passes<T>(site, state, pieces, vectors).run();
}

#define OCLSPKT_INSTANTIATE(T) \
  template void run_passes(const Site&, DeviceState<T>&, const std::vector<Pieces>&, const Vectors<T>&);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl

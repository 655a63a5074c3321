// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "callers_vectors.hpp"
#include "device_state.hpp"
#include "error_name.hpp"
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

/// The vectors of an apply on the device, during one pass over one chunk.
template <typename T>
class Passes {
 public:
  Passes(const Site& site, DeviceState<T>& state, const std::vector<Pieces>& pieces, const Vectors<T>& vectors)
      : site_(site), state_(state), pieces_(pieces), vectors_(vectors) {}

  /// Begin a pass over a chunk: make its vectors accessible to kernels.
  void begin(int pass, std::size_t chunk) {
    pass_ = pass;
    chunk_ = &site_.layout.chunks[chunk];
    pieces_of_ = in_place() ? nullptr : &pieces_[chunk];
    bands_ = &state_.bands.give(site_, chunk);
    y_ = state_.y;
    x_ = state_.x;
    if (!vectors_.on_device()) {
      if (vectors_.y_buffer() != nullptr) y_ = vectors_.y_buffer;
      if (in_place()) y_ = wrapped(vectors_.y);
      if (in_place() && last()) x_ = wrapped(vectors_.x);
    } else if (on_blocks()) {
      fault_point(Place::write, site_.device.info(), site_.device.queue()());
      copy(vectors_.y_buffer, chunk_->first, y_, 0, chunk_->rows());
      const bool gaps = site_.lines.rows() != site_.lines.extent();  // elements between the lines keep their values
      if (gaps) copy(vectors_.x_buffer, chunk_->first, x_, 0, chunk_->rows());
    } else {
      y_ = piece(vectors_.y_buffer);
      x_ = piece(vectors_.x_buffer);
    }
  }

  /// True if the pipeline transfers the vectors and starts the launches.
  bool through_pipeline() const { return !vectors_.on_device() && !in_place(); }
  /// With the pipeline: transfer the vectors to the device, solve, and transfer the solution back. A visit omits
  /// transfers that it does not need. The functions capture only `this`, which needs no memory allocation.
  Passage passage() const {
    // If there is only one chunk, the first pass has already brought y.
    const bool there = pass_ > 0 && site_.layout.chunks.size() == 1;
    Passage passage{.pieces = *pieces_of_,
                    .first = chunk_->first,
                    .word = sizeof(T),
                    .from = there ? nullptr : vectors_.y,
                    .up = &y_,
                    .down = &x_};
    passage.launch = [this](const Chunk& some) {
      const Tiles tiles{*bands_, y_, x_, some, pass_};
      Event event = in_units(state_.worker->enqueue(site_, tiles), tiles);
      if (!last() || !vectors_.then) return event;
      state_.earlier.push_back(event);
      return vectors_.then(some);
    };
    if (!last() || vectors_.x == nullptr) return passage;
    passage.put = [this](Index first, Index end, const std::byte* solved) {
      copy_out(site_.lines, *chunk_, first, end, solved, vectors_.x);
    };
    return passage;
  }

  /// Without the pipeline: the number of launches, and the tiles of each launch.
  std::size_t launches() const { return cuts_launches() ? pieces_of_->launches.size() : 1; }
  Tiles tiles(std::size_t launch) const {
    return {*bands_, y_, x_, cuts_launches() ? pieces_of_->launches[launch].tiles : *chunk_, pass_};
  }
  /// Multiply the solution of a launch by the units, if there are units. @return the last event
  Event in_units(const Event& solved, const Tiles& tiles) const {
    if (!last() || state_.units() == nullptr) return solved;
    state_.earlier.push_back(solved);
    const Index base = chunk_->first, first = tiles.chunk.kept_first - base, end = tiles.chunk.kept_end - base;
    return change_rows<T>(site_.device, state_.scale, {tiles.x, state_.units, first, end, base});
  }
  /// Without the pipeline: wait for the solution of the last launch. For enqueued vectors, the caller waits.
  void end(const Event& solved) {
    const Index kept = chunk_->kept_first - chunk_->first, kept_rows = chunk_->kept_end - chunk_->kept_first;
    Event done = solved;
    if (vectors_.on_device()) {
      if (on_blocks()) copy(x_, kept, vectors_.x_buffer, chunk_->kept_first, kept_rows, &done);
      // Wait for the kernels if bands of another chunk, or writes of the host, may come next.
      if (vectors_.enqueued && site_.layout.resident && !in_place()) return;
    } else if (last()) {
      // Mapping the rows also waits, but in the driver, which may then occupy a core (see sleep_until_ended()).
      if (site_.device.info().whole >= 0) site_.waiter.wait(solved);
      done = map(kept, kept_rows);
    }
    site_.waiter.wait(done);
    site_.times.kernel_seconds += seconds(solved);
  }

 private:
  /// True in the last pass, which writes x.
  bool last() const { return pass_ + 1 == site_.layout.needs.passes; }
  bool in_place() const { return site_.pipeline == nullptr; }
  /// True if kernels access whole blocks in the solver's own buffers, because a caller's buffer may end inside a block.
  bool on_blocks() const { return site_.layout.needs.block_rows > 1 || vectors_.unaligned; }
  /// True if launches must begin where they begin for host vectors, because the bits of the solution depend on this.
  bool cuts_launches() const { return site_.layout.needs.begins_show && !in_place() && !on_blocks(); }

  Buffer wrapped(const T* vector) const {
    return wrap(site_.device, vector + chunk_->first, chunk_->rows() * static_cast<Index>(sizeof(T)));
  }
  void copy(const Buffer& from, Index from_row, const Buffer& to, Index to_row, Index rows,
            Event* copied = nullptr) const {
    constexpr std::size_t kWord = sizeof(T);
    site_.device.queue().enqueueCopyBuffer(from, to, size(from_row) * kWord, size(to_row) * kWord, size(rows) * kWord,
                                           nullptr, copied);
  }
  /// Map solved rows for the host, once the device has finished them. @return the event of the unmapping
  Event map(Index first, Index rows) const {
    const cl::CommandQueue& queue = site_.device.queue();
    fault_point(Place::read, site_.device.info(), queue());
    Event event;
    void* mapped = queue.enqueueMapBuffer(x_, CL_TRUE, CL_MAP_READ, size(first) * sizeof(T), size(rows) * sizeof(T));
    queue.enqueueUnmapMemObject(x_, mapped, nullptr, &event);
    return event;
  }
  Buffer piece(const Buffer& vector) const {
    if (site_.layout.chunks.size() == 1 && chunk_->first == 0) return vector;
    const BufferPlace place = place_of(vector);
    const cl_buffer_region region{place.first + static_cast<std::size_t>(chunk_->first) * sizeof(T),
                                  static_cast<std::size_t>(chunk_->rows()) * sizeof(T)};
    if (region.origin % site_.device.found().base_alignment != 0) {
      throw InvalidInput("device memory cuts the system into " + std::to_string(site_.layout.chunks.size()) +
                         " chunks, and the chunk of row " + std::to_string(chunk_->first) +
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
  int pass_ = 0;  ///< number of the pass, less than Needs::passes
  const Chunk* chunk_ = nullptr;
  const Pieces* pieces_of_ = nullptr;  ///< pieces of the chunk; null if kernels work in place
  const ChunkBands* bands_ = nullptr;
  /// In place: the caller's memory. Otherwise: rows of the caller's buffers, or the solver's own buffers.
  Buffer y_, x_;
};

}  // namespace

void drain(const Site& site) noexcept {
  if (site.pipeline == nullptr) {
    clFinish(site.device.queue()());
    return;
  }
  if (Registry::instance().is_lost(site.device.info().index)) return;
  try {
    site.pipeline->drain(site.waiter);
    site.waiter.drain(site.device.queue());
  } catch (...) {
    // The device may still use the memory. If the wait took too long, the waiter has abandoned the device already.
    Registry::instance().abandon(site.device, "an error left commands that cannot be waited for");
  }
}

template <typename T>
void run_passes(const Site& site, DeviceState<T>& state, const std::vector<Pieces>& pieces, const Vectors<T>& vectors) {
  const auto start = std::chrono::steady_clock::now();
  Passes<T> passes(site, state, pieces, vectors);  // its buffers must outlive drain()
  state.earlier.clear();                           // a failed apply may have left events
  try {
    for (int pass = 0; pass < site.layout.needs.passes; ++pass) {
      for (std::size_t chunk = 0; chunk < site.layout.chunks.size(); ++chunk) {
        passes.begin(pass, chunk);
        if (passes.through_pipeline()) {
          site.pipeline->run(passes.passage(), site.waiter, site.times);
          continue;
        }
        Event solved;
        for (std::size_t k = 0; k < passes.launches(); ++k) {
          if (k > 0) state.earlier.push_back(solved);
          const Tiles tiles = passes.tiles(k);
          solved = passes.in_units(state.worker->enqueue(site, tiles), tiles);
        }
        passes.end(solved);
      }
    }
  } catch (const cl::Error& error) {
    drain(site);
    throw device_error(site.device.info(), "solving " + std::to_string(site.plan.n) + " rows", error);
  } catch (...) {
    drain(site);
    throw;
  }
  for (const Event& launch : state.earlier) site.times.kernel_seconds += seconds(launch);
  state.earlier.clear();
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool of_caller = &site.device != state.device.get();
  if (of_caller && !vectors.enqueued) site.times.kernel_seconds += spent;
  site.times.total_seconds += spent;
  ++site.times.applies;
}

#define OCLSPKT_INSTANTIATE(T) \
  template void run_passes(const Site&, DeviceState<T>&, const std::vector<Pieces>&, const Vectors<T>&);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl

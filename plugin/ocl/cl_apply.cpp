// SPDX-License-Identifier: BSD-2-Clause
// An apply of ClSolver: passes over the chunks, in memory that is shared with the host, in buffers of the device, or
// through the pipeline.
#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

#include "cl_solver.hpp"
#include "error_name.hpp"
#include "fault.hpp"
#include "page_locks.hpp"
#include "past_caches.hpp"

namespace oclspkt::ocl {
namespace {

using Clock = std::chrono::steady_clock;

/// For as long as it lives, an apply in buffers of the device works by the queue that the caller was given, or gave.
class CallersQueue {
 public:
  template <typename T>
  CallersQueue(DeviceState<T>& state, const Vectors<T>& vectors)
      : device_(state.device),
        for_calls_(vectors.enqueued ? state.callers : state.for_calls),
        on_(vectors.on_device()) {
    if (on_) std::swap(device_, for_calls_);
  }
  ~CallersQueue() {
    if (on_) std::swap(device_, for_calls_);
  }
  CallersQueue(const CallersQueue&) = delete;
  CallersQueue& operator=(const CallersQueue&) = delete;
  bool takes_times() const { return !on_ || device_ == for_calls_; }

 private:
  std::shared_ptr<OpenDevice>&device_, &for_calls_;
  bool on_;
};

/// Copy rows [first, end) of a chunk's solution to x, and nothing that stands between its lines.
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

/// Where a chunk's rows lie in vectors of the host.
template <typename T>
struct HostRows {
  const T *y, *x;    ///< the first row that must be there, and that is solved; null: no such vector
  Index rows, kept;  ///< from there on
  HostRows(const Chunk& chunk, const Vectors<T>& vectors)
      : y(vectors.y != nullptr ? vectors.y + chunk.first : nullptr),
        x(vectors.x != nullptr ? vectors.x + chunk.kept_first : nullptr),
        rows(chunk.rows()),
        kept(chunk.kept_end - chunk.kept_first) {}
  std::int64_t y_bytes() const { return rows * static_cast<Index>(sizeof(T)); }
  std::int64_t x_bytes() const { return kept * static_cast<Index>(sizeof(T)); }
};

/// False if the device copied from, or to, other memory than that which the host sees at the same place: its pages were
/// locked, then given back and taken anew. Looks at a few rows, others in every apply.
/// @param copy   in memory of the device, from row `first` on
/// @param there  the same rows of the host's vector, shape [rows]
template <typename T>
bool same_memory(DeviceState<T>& s, const Waiter& waiter, const Buffer& copy, Index first, const T* there, Index rows,
                 std::int64_t applies) {
  std::array<Index, kLookedAt> looked_at{};
  Event event;
  for (std::size_t k = 0; k < kLookedAt; ++k) {
    const auto draw = (static_cast<std::uint64_t>(applies) * kLookedAt + k + 1) * 0x9E3779B97F4A7C15U >> 11U;
    looked_at[k] = static_cast<Index>(draw % static_cast<std::uint64_t>(rows));
    event = enqueue_read(*s.device, copy, &s.looked_at[k], (first + looked_at[k]) * sizeof(T), sizeof(T));
  }
  waiter.wait(event);
  for (std::size_t k = 0; k < kLookedAt; ++k) {
    const auto bytes = [](const T& value) { return std::as_bytes(std::span(&value, 1)); };  // NaN are equal, too
    if (!std::ranges::equal(bytes(s.looked_at[k]), bytes(there[looked_at[k]]))) return false;
  }
  return true;
}

}  // namespace

template <typename T>
void ClSolver<T>::apply(const T* y, T* x) {
  solve({y, x});
}

template <typename T>
void ClSolver<T>::solve(const Vectors<T>& vectors) {
  const auto start = Clock::now();
  Registry::instance().require_usable(index_);
  const std::lock_guard lock(holding_->mutex);
  State& s = holding_->state;
  if (!ready_) throw DeviceError(describe(found_.info) + " has no set-up that succeeded: set the solver up first");
  if (plan_.n == 0) return;
  if (!s.device) {
    throw DeviceError(describe(found_.info) + " was released since the last set-up: set the solver up again");
  }
  if (!vectors.enqueued) settle(s);  // the memory that both use
  const CallersQueue queue(s, vectors);
  const Waiter waiter(*s.device, !in_place_, time_limit());
  s.earlier.clear();  // an apply that failed may have left some
  try {
    try {
      run(s, waiter, vectors);
    } catch (...) {
      drain(s, waiter);
      throw;
    }
  } catch (const cl::Error& error) {
    throw device_error(found_.info, "solving " + std::to_string(plan_.n) + " rows", error);
  }
  for (const Event& launch : s.earlier) times_.kernel_seconds += seconds(launch);
  s.earlier.clear();
  const double spent = std::chrono::duration<double>(Clock::now() - start).count();
  if (!queue.takes_times() && !vectors.enqueued) times_.kernel_seconds += spent;
  times_.total_seconds += spent;
  ++times_.applies;
}

/// After a failure: wait for what has been enqueued. It works in memory that the caller or this solver gives back.
template <typename T>
void ClSolver<T>::drain(State& s, const Waiter& waiter) const noexcept {
  if (in_place_) {
    clFinish(s.device->queue()());
    s.y = s.x = Buffer();
    return;
  }
  if (Registry::instance().is_lost(index_) || !s.pipeline) return;
  try {
    s.pipeline->drain(waiter);
    waiter.drain(s.device->queue());
  } catch (...) {
    // Whether the device still works on the memory cannot be known. A wait that was too long has said so already.
    Registry::instance().abandon(*s.device, "an error left commands that cannot be waited for");
  }
}

template <typename T>
void ClSolver<T>::run(State& s, const Waiter& waiter, const Vectors<T>& vectors) {
  if (s.part->two_passes()) {
    for (std::size_t i = 0; i < layout_.chunks.size(); ++i) pass(s, waiter, i, vectors, Step::begin);
    s.part->join(site(s, waiter));
  }
  for (std::size_t i = 0; i < layout_.chunks.size(); ++i) pass(s, waiter, i, vectors, Step::finish);
}

template <typename T>
Event ClSolver<T>::launch(const Site& site, const Tiles& tiles, Step step) const {
  Part<T>& part = *holding_->state.part;
  return step == Step::begin ? part.begin(site, tiles) : part.finish(site, tiles);
}

template <typename T>
void ClSolver<T>::pass(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, Step step) {
  if (vectors.on_device()) {
    const bool blocks = s.part->block_rows(plan_) > 1 || vectors.unaligned;
    blocks ? pass_on_blocks(s, waiter, chunk, vectors, step) : pass_on_device(s, waiter, chunk, vectors, step);
  } else if (in_place_) {
    pass_in_place(s, waiter, chunk, vectors, step);
  } else {
    pass_through(s, waiter, chunk, vectors, step);
  }
}

template <typename T>
void ClSolver<T>::pass_in_place(State& s, const Waiter& waiter, std::size_t i, const Vectors<T>& vectors, Step step) {
  const Chunk& chunk = layout_.chunks[i];
  const auto wrapped = [&](const T* vector) {
    return wrap(*s.device, vector + chunk.first, chunk.rows() * static_cast<Index>(sizeof(T)));
  };
  s.y = wrapped(vectors.y);
  if (step == Step::finish) s.x = wrapped(vectors.x);
  const Event event = launch(site(s, waiter), {s.bands_of(i), s.y, s.x, chunk}, step);
  if (step == Step::begin) {
    waiter.wait(event);
  } else {
    take_in_place(s, waiter, chunk);
  }
  times_.kernel_seconds += seconds(event);
  s.y = s.x = Buffer();
}

/// Make the solved rows of a chunk visible in memory of the host; returns when the device is through with it.
template <typename T>
void ClSolver<T>::take_in_place(State& s, const Waiter& waiter, const Chunk& chunk) {
  const cl::CommandQueue& queue = s.device->queue();
  const std::size_t offset = size(chunk.kept_first - chunk.first) * sizeof(T);
  const std::size_t bytes = size(chunk.kept_end - chunk.kept_first) * sizeof(T);
  fault_point(Place::read, s.device->info(), queue());
  Event event;
  void* mapped = queue.enqueueMapBuffer(s.x, CL_TRUE, CL_MAP_READ, offset, bytes);
  queue.enqueueUnmapMemObject(s.x, mapped, nullptr, &event);
  waiter.wait(event);
}

template <typename T>
void ClSolver<T>::pass_on_device(State& s, const Waiter& waiter, std::size_t i, const Vectors<T>& vectors, Step step) {
  const Chunk& chunk = layout_.chunks[i];
  const ChunkBands& bands = give_bands(s, waiter, i);
  const Buffer y = piece(vectors.y_buffer, chunk), x = piece(vectors.x_buffer, chunk);
  const Site site = this->site(s, waiter);
  // Bands of another chunk, or the host's next words, must not come while kernels are at work.
  const bool leaves = vectors.enqueued && layout_.resident && !in_place_;
  if (s.part->begins_show() && !in_place_) {  // launches begin where they do for vectors of the host
    if (leaves) {
      for (const Pieces::Launch& next : pieces_[i].launches) this->launch(site, {bands, y, x, next.tiles}, step);
      return;
    }
    const auto launch = [&](const Chunk& tiles) {
      Event event = this->launch(site, {bands, y, x, tiles}, step);
      site.device.queue().flush();  // the pipeline flushes that of the solver
      return event;
    };
    s.pipeline->run({.pieces = pieces_[i], .launch = std::ref(launch)}, waiter, times_);
    return;
  }
  const Event event = launch(site, {bands, y, x, chunk}, step);
  if (leaves) return;
  waiter.wait(event);
  times_.kernel_seconds += seconds(event);
}

/// The same for kernels that take whole blocks, which the caller's buffers need not hold: through the solver's own.
template <typename T>
void ClSolver<T>::pass_on_blocks(State& s, const Waiter& waiter, std::size_t i, const Vectors<T>& vectors, Step step) {
  constexpr auto kWord = static_cast<Index>(sizeof(T));
  const Chunk& chunk = layout_.chunks[i];
  const ChunkBands& bands = give_bands(s, waiter, i);
  const cl::CommandQueue& queue = s.device->queue();
  const Index kept = chunk.kept_first - chunk.first;
  fault_point(Place::write, s.device->info(), queue());
  queue.enqueueCopyBuffer(vectors.y_buffer, s.y, size(chunk.first * kWord), 0, size(chunk.rows() * kWord));
  if (lines_.rows() != lines_.extent()) {  // what stands between the lines stays
    queue.enqueueCopyBuffer(vectors.x_buffer, s.x, size(chunk.first * kWord), 0, size(chunk.rows() * kWord));
  }
  const Event event = launch(site(s, waiter), {bands, s.y, s.x, chunk}, step);
  Event copied;
  queue.enqueueCopyBuffer(s.x, vectors.x_buffer, size(kept * kWord), size(chunk.kept_first * kWord),
                          size((chunk.kept_end - chunk.kept_first) * kWord), nullptr, &copied);
  if (vectors.enqueued && layout_.resident) return;
  waiter.wait(copied);
  times_.kernel_seconds += seconds(event);
}

/// Through the pipeline: copy up, solve and copy down; in a visit what there is of that.
template <typename T>
void ClSolver<T>::pass_through(State& s, const Waiter& waiter, std::size_t i, const Vectors<T>& vectors, Step step) {
  const Chunk& chunk = layout_.chunks[i];
  const ChunkBands& bands = give_bands(s, waiter, i);
  // With one chunk y came for the first pass.
  const bool there = s.part->two_passes() && step == Step::finish && layout_.chunks.size() == 1;
  const Buffer& right = vectors.y_buffer() != nullptr ? vectors.y_buffer : s.y;
  const Site site = this->site(s, waiter);
  const auto launch = [&](const Chunk& tiles) {
    Event event = this->launch(site, {bands, right, s.x, tiles}, step);
    if (step == Step::begin || !vectors.then) return event;
    s.earlier.push_back(event);
    return vectors.then(tiles);
  };
  const auto put = [&](Index first, Index end, const std::byte* solved) {
    copy_out(lines_, chunk, first, end, solved, vectors.x);
  };
  Passage passage{.pieces = pieces_[i],
                  .first = chunk.first,
                  .word = sizeof(T),
                  .from = there ? nullptr : vectors.y,
                  .up = &right,
                  .down = &s.x,
                  .launch = std::ref(launch)};
  const HostRows<T> host(chunk, vectors);
  passage.from_locked = passage.from != nullptr && pages_locked(host.y, host.y_bytes());
  if (step == Step::finish && vectors.x != nullptr) {
    const bool gapless = lines_.rows() == lines_.extent();
    if (gapless && pages_locked(host.x, host.x_bytes())) passage.into = reinterpret_cast<std::byte*>(vectors.x);
    passage.put = std::ref(put);
  }
  s.pipeline->run(passage, waiter, times_);
  if ((!passage.from_locked || same_memory(s, waiter, right, 0, host.y, host.rows, times_.applies)) &&
      (passage.into == nullptr ||
       same_memory(s, waiter, s.x, chunk.kept_first - chunk.first, host.x, host.kept, times_.applies))) {
    return;
  }
  distrust_locks(host.y, host.y_bytes());
  distrust_locks(host.x, host.x_bytes());
  passage.from_locked = false;
  passage.into = nullptr;
  s.pipeline->run(passage, waiter, times_);
}

/// The bands of a chunk, which every apply brings where the device does not hold all of them.
template <typename T>
const ChunkBands& ClSolver<T>::give_bands(State& s, const Waiter& waiter, std::size_t chunk) {
  if (in_place_ || layout_.resident) return s.bands_of(chunk);
  upload_bands(s, waiter, s.bands.front(), layout_.band_chunks[std::min(chunk, layout_.band_chunks.size() - 1)]);
  return s.bands.front();
}

/// Cut the chunks into the pieces of the pipeline.
template <typename T>
void ClSolver<T>::cut_chunks() {
  pieces_.clear();
  if (in_place_) return;
  constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));
  const Index rows = piece_bytes(layout_.longest * kWord) / kWord;
  const bool whole = !lines_.contiguous() || plan_.cut().whole;
  for (const Chunk& chunk : layout_.chunks) pieces_.push_back(make_pieces(plan_, chunk, rows, whole));
}

template <typename T>
void ClSolver<T>::make_pipeline(State& s) {
  const std::int64_t longest = layout_.longest * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t slot = std::min(longest, piece_bytes(longest));
  const auto slots = static_cast<int>(std::min<std::int64_t>(Pipeline::kSlots, quotient_up(longest, slot)));
  if (s.pipeline && s.pipeline->slot_bytes() >= slot && s.pipeline->slots() >= slots) return;
  s.pipeline.reset();
  s.pipeline = std::make_unique<Pipeline>(*s.device, slot, slots);
}

#define OCLSPKT_INSTANTIATE(T)                                            \
  template void ClSolver<T>::apply(const T*, T*);                         \
  template void ClSolver<T>::solve(const Vectors<T>&);                    \
  template void ClSolver<T>::drain(State&, const Waiter&) const noexcept; \
  template void ClSolver<T>::cut_chunks();                                \
  template void ClSolver<T>::make_pipeline(State&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "fault.hpp"
#include "node.hpp"
#include "page_locks.hpp"
#include "past_caches.hpp"
#include "plan.hpp"

namespace oclspkt::ocl {
namespace {

/// Bytes of a part, which one thread copies at once. The copy takes tens of microseconds, much longer than taking the
/// number of a part from the counter.
constexpr std::int64_t kPartBytes = 256 << 10;

/// Each additional thread needs at least so many bytes to copy.
constexpr std::int64_t kBytesAThread = std::int64_t{2} << 20;

/// Add the seconds of the first `count` commands to `sum`, and release these events.
void take_seconds(std::vector<cl::Event>& events, std::size_t count, double& sum) {
  for (std::size_t i = 0; i < count; ++i) {
    sum += seconds(events[i]);
    events[i] = cl::Event();
  }
}

}  // namespace

CopyThreads::CopyThreads() : room_(std::make_unique<Room>()), process_(getpid()) {}

CopyThreads::~CopyThreads() {
  if (getpid() != process_) {
    for (std::thread& thread : threads_) thread.detach();
    // The condition variable's destructor would wait for threads that do not exist in this process.
    static_cast<void>(room_.release());
    return;
  }
  {
    const std::lock_guard lock(room_->mutex);
    room_->over = true;
  }
  room_->called.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CopyThreads::call(Index helpers, const std::function<void()>& f) {
  if (getpid() != process_) return;
  {
    const std::lock_guard lock(room_->mutex);
    room_->f = &f;
    room_->places = helpers;
  }
  room_->called.notify_all();
  try {
    while (size() < helpers) threads_.emplace_back(serve, std::ref(*room_));
  } catch (const std::exception&) {
    // No more threads can be started. The existing threads help.
  }
}

void CopyThreads::dismiss() {
  if (getpid() != process_) return;
  std::unique_lock lock(room_->mutex);
  room_->places = 0;
  room_->done.wait(lock, [this] { return room_->helping == 0; });
}

void CopyThreads::serve(Room& room) {
  std::unique_lock lock(room.mutex);
  for (;;) {
    room.called.wait(lock, [&room] { return room.places > 0 || room.over; });
    if (room.over) return;
    --room.places;
    ++room.helping;
    const std::function<void()>& f = *room.f;
    lock.unlock();
    f();
    lock.lock();
    if (--room.helping == 0) room.done.notify_one();
  }
}

Staging::Staging(const OpenDevice& device, const cl::CommandQueue& queue, std::int64_t bytes)
    : queue_(queue),
      buffer_(device.buffer(CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_WRITE, bytes)),
      data_(queue_.enqueueMapBuffer(buffer_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size(bytes))),
      bytes_(bytes) {}

Staging::~Staging() {
  // If unmapping fails, the context keeps the memory and frees it later.
  clEnqueueUnmapMemObject(queue_(), buffer_(), data_, 0, nullptr, nullptr);
}

std::int64_t piece_bytes(std::int64_t vector_bytes) { return std::clamp(vector_bytes / 4, kLeastPiece, kMostPiece); }

Pipeline::Pipeline(OpenDevice& device, std::int64_t slot_bytes, int slots)
    : device_(device),
      queues_(device.transfer_queues()),
      slot_bytes_(slot_bytes),
      slots_(std::clamp(slots, 1, kSlots)),
      parts_(static_cast<int>(quotient_up(slot_bytes, kPartBytes))),
      up_{.ring{device, queues_.up, slots_ * slot_bytes}},
      down_{.ring{device, queues_.down, slots_ * slot_bytes}} {}

std::int64_t Pipeline::Copies::take() {
  std::int64_t number = next.load(std::memory_order_relaxed);
  while (number < limit.load(std::memory_order_acquire)) {
    if (next.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) return number;
  }
  return -1;
}

void Pipeline::Copies::release(std::size_t piece, int slots, int parts) {
  left[piece % static_cast<std::size_t>(slots)].store(parts, std::memory_order_relaxed);
  limit.store(static_cast<std::int64_t>(piece + 1) * parts, std::memory_order_release);
}

auto Pipeline::part_of(std::int64_t piece_bytes, std::int64_t part) const -> Part {
  const std::int64_t each = round_up(quotient_up(piece_bytes, parts_), 64);
  return {std::min(piece_bytes, part * each), std::min(piece_bytes, (part + 1) * each)};
}

void Pipeline::Way::begin(std::size_t pieces) {
  copies.next.store(0, std::memory_order_relaxed);
  copies.limit.store(0, std::memory_order_relaxed);
  if (events.size() < pieces) events.resize(pieces);
  sent = come = done = 0;
}

void Pipeline::begin(const Passage& passage) {
  passage_ = &passage;
  up_.begin(ups());
  down_.begin(downs());
  if (launch_events_.size() < launches()) launch_events_.resize(launches());
  launched_ = 0;
  launches_done_ = launches() == 0;
  if (!passage.from_locked) {
    for (std::size_t i = 0; i < std::min(ups(), size(slots_)); ++i) up_.copies.release(i, slots_, parts_);
  }
  over_.store(false, std::memory_order_release);
}

void Pipeline::run(const Passage& passage, const Waiter& waiter, Times& times) {
  begin(passage);
  std::int64_t up = 0, down = 0;
  for (std::size_t i = 0; i < ups(); ++i) up += (passage.pieces.ups[i].end - passage.pieces.ups[i].first);
  for (std::size_t i = 0; i < downs(); ++i) down += (passage.pieces.downs[i].end - passage.pieces.downs[i].first);
  up *= passage.word;
  down *= passage.word;
  const Index worth = ((passage.from_locked ? 0 : up) + down) / kBytesAThread;
  const Index helpers = worth > 1 ? std::min<Index>(worth, processor_share()) - 1 : 0;
  const std::function<void()> help_out = [this] { help(); };
  if (helpers > 0) copy_threads_.call(helpers, help_out);
  std::exception_ptr failure;
  try {
    for (Pause pause; !through();) {
      bool moved = send_up();
      moved = launch() || moved;
      moved = send_down() || moved;
      moved = look(waiter) || moved;
      moved || copy_one() ? pause.over() : pause();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  over_.store(true, std::memory_order_release);
  if (helpers > 0) copy_threads_.dismiss();
  if (failure) std::rethrow_exception(failure);
  times.bytes_to_device += up;
  times.bytes_from_device += down;
  take_seconds(up_.events, ups(), times.transfer_seconds);
  take_seconds(launch_events_, launches(), times.kernel_seconds);
  take_seconds(down_.events, downs(), times.transfer_seconds);
}

void Pipeline::help() {
  for (Pause pause; !over_.load(std::memory_order_acquire);) copy_one() ? pause.over() : pause();
}

/// Copy a part, if one is waiting. Parts on the way to the host come first, because they free slots.
bool Pipeline::copy_one() {
  std::int64_t number = down_.copies.take();
  if (number >= 0) {
    copy_down(number);
    return true;
  }
  number = up_.copies.take();
  if (number >= 0) copy_up(number);
  return number >= 0;
}

void Pipeline::copy_up(std::int64_t number) {
  const auto piece = size(number / parts_);
  const Pieces::Up& rows = passage_->pieces.ups[piece];
  const std::int64_t word = passage_->word;
  const Part part = part_of((rows.end - rows.first) * word, number % parts_);
  std::byte* const to = slot_of(up_.ring, piece) + part.first;
  if (passage_->fill) {
    passage_->fill(rows.first + part.first / word, rows.first + part.end / word, to);
  } else {
    // The device reads the slot next, so the processor's caches need not hold it.
    copy_past_caches(static_cast<const std::byte*>(passage_->from) + rows.first * word + part.first,
                     part.end - part.first, to);
    order_stores();
  }
  up_.copies.left[slot(piece)].fetch_sub(1, std::memory_order_acq_rel);
}

void Pipeline::copy_down(std::int64_t number) {
  const auto piece = size(number / parts_);
  const Pieces::Down& rows = passage_->pieces.downs[piece];
  const Index count = rows.end - rows.first, each = quotient_up(count, parts_);
  const Index first = rows.first + std::min(count, number % parts_ * each), end = std::min(rows.end, first + each);
  passage_->put(first, end, slot_of(down_.ring, piece) + (first - rows.first) * passage_->word);
  down_.copies.left[slot(piece)].fetch_sub(1, std::memory_order_acq_rel);
}

/// Send one piece. Before the next piece, run() enqueues launches and transfers to the host. NVIDIA's queues share a
/// channel to the card. In it, a transfer to the host waits for all earlier transfers to the device. With 32 pieces of
/// 8 MB sent at once, an apply of 1e8 rows took 21.6 ms; with one piece at a time 17.5 ms (H100, locked pages).
bool Pipeline::send_up() {
  const bool direct = passage_->from_locked;
  if (up_.sent == ups() || up_.sent >= up_.done + (direct ? kDirectPieces : size(slots_))) return false;
  if (!direct && up_.copies.left[slot(up_.sent)].load(std::memory_order_acquire) > 0) return false;
  const Pieces::Up& rows = passage_->pieces.ups[up_.sent];
  const std::byte* from = direct ? static_cast<const std::byte*>(passage_->from) + rows.first * passage_->word
                                 : slot_of(up_.ring, up_.sent);
  fault_point(Place::write, device_.info(), queues_.up());
  queues_.up.enqueueWriteBuffer(*passage_->up, CL_FALSE, size((rows.first - passage_->first) * passage_->word),
                                size((rows.end - rows.first) * passage_->word), from, nullptr, &up_.events[up_.sent]);
  queues_.up.flush();
  ++up_.sent;
  return true;
}

bool Pipeline::launch() {
  const std::size_t before = launched_;
  for (; launched_ < launches(); ++launched_) {
    const Pieces::Launch& next = passage_->pieces.launches[launched_];
    if (ups() > 0 && next.ups > up_.sent) break;
    if (ups() > 0) {
      const cl_event come = up_.events[next.ups - 1]();
      const cl_int error = clEnqueueBarrierWithWaitList(device_.queue()(), 1, &come, nullptr);
      if (error != CL_SUCCESS) throw cl::Error(error, "a barrier");
    }
    launch_events_[launched_] = passage_->launch(next.tiles);
    device_.queue().flush();
  }
  return launched_ > before;
}

bool Pipeline::send_down() {
  const std::size_t before = down_.sent;
  for (; down_.sent < downs() && down_.sent < down_.done + size(slots_); ++down_.sent) {
    const Pieces::Down& rows = passage_->pieces.downs[down_.sent];
    if (launches() > 0 && rows.launches > launched_) break;
    const cl_event solved = launches() > 0 ? launch_events_[rows.launches - 1]() : nullptr;
    fault_point(Place::read, device_.info(), queues_.down());
    cl_event event = nullptr;
    const cl_int error = clEnqueueReadBuffer(
        queues_.down(), (*passage_->down)(), CL_FALSE, size((rows.first - passage_->first) * passage_->word),
        size((rows.end - rows.first) * passage_->word), slot_of(down_.ring, down_.sent), solved != nullptr ? 1 : 0,
        solved != nullptr ? &solved : nullptr, &event);
    if (error != CL_SUCCESS) throw cl::Error(error, "reading a buffer");
    down_.events[down_.sent] = cl::Event(event);
    queues_.down.flush();
  }
  return down_.sent > before;
}

/// Check which commands the device has finished, and release their slots.
bool Pipeline::look(const Waiter& waiter) {
  bool moved = false;
  for (; up_.done < up_.sent && ended(waiter, up_.events[up_.done]); ++up_.done, moved = true) {
    const std::size_t next = up_.done + size(slots_);
    if (next < ups() && !passage_->from_locked) up_.copies.release(next, slots_, parts_);
  }
  for (; down_.come < down_.sent && ended(waiter, down_.events[down_.come]); ++down_.come, moved = true) {
    down_.copies.release(down_.come, slots_, parts_);
  }
  while (down_.done < down_.come && down_.copies.left[slot(down_.done)].load(std::memory_order_acquire) == 0) {
    ++down_.done;
    moved = true;
  }
  // Launches end in order, and each launch ends before the transfer of its rows to the host.
  if (!launches_done_ && launched_ == launches() && down_.done == downs() &&
      ended(waiter, launch_events_[launched_ - 1])) {
    launches_done_ = moved = true;
  }
  return moved;
}

bool Pipeline::ended(const Waiter& waiter, const cl::Event& event) const {
  if (!waiter.done(event)) return false;
  fault_point(Place::wait, device_.info(), device_.queue()());
  return true;
}

bool Pipeline::through() const { return up_.done == ups() && launches_done_ && down_.done == downs(); }

void Pipeline::bring(const void* from, std::int64_t bytes, const cl::Buffer& to, const Waiter& waiter, Times& times) {
  make_pieces(plain_, bytes, std::min(slot_bytes_, piece_bytes(bytes)), true, false);
  run({.pieces = plain_, .word = 1, .from = from, .up = &to, .from_locked = pages_locked(from, bytes)}, waiter, times);
}

void Pipeline::bring_made(const decltype(Passage::fill)& fill, Index words, std::int64_t word, const cl::Buffer& to,
                          const Waiter& waiter, Times& times) {
  make_pieces(plain_, words, std::min(slot_bytes_, piece_bytes(words * word)) / word, true, false);
  run({.pieces = plain_, .word = word, .fill = fill, .up = &to}, waiter, times);
}

void Pipeline::take(const cl::Buffer& from, void* to, std::int64_t bytes, const Waiter& waiter, Times& times) {
  const auto put = [to](Index first, Index end, const std::byte* come) {
    copy_past_caches(come, end - first, static_cast<std::byte*>(to) + first);
    order_stores();
  };
  make_pieces(plain_, bytes, std::min(slot_bytes_, piece_bytes(bytes)), false, true);
  run({.pieces = plain_, .word = 1, .down = &from, .put = put}, waiter, times);
}

void Pipeline::drain(const Waiter& waiter) const {
  for (const cl::CommandQueue* queue : {&queues_.up, &device_.queue(), &queues_.down}) waiter.drain(*queue);
}

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "layout.hpp"
#include "oclspkt/report.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

/// Host memory that a device copies from and to. It stays mapped as long as the object lives.
class Staging {
 public:
  /// @param queue  the in-order queue of all commands that use the memory. The destructor enqueues the unmap command in
  ///        it. The memory is therefore freed after these commands, even on a lost device.
  Staging(const OpenDevice& device, const cl::CommandQueue& queue, std::int64_t bytes);
  ~Staging();
  Staging& operator=(Staging&&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::int64_t bytes() const { return bytes_; }

 private:
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  void* data_ = nullptr;
  std::int64_t bytes_;
};

/// Threads that sleep until they are called to help. Waking a thread takes a few microseconds, starting a thread about
/// 20. Only one thread at a time may use the object.
class CopyThreads {
 public:
  CopyThreads();
  ~CopyThreads();
  CopyThreads& operator=(CopyThreads&&) = delete;

  /// Let `helpers` threads call f beside the caller; fewer if no more can be started. Returns at once.
  /// @param f  does not throw, and lives until dismiss()
  void call(Index helpers, const std::function<void()>& f);
  /// Wait for the helpers that have begun. Other helpers no longer begin.
  void dismiss();
  Index size() const { return static_cast<Index>(threads_.size()); }

 private:
  struct Room {
    std::mutex mutex;
    std::condition_variable called, done;
    const std::function<void()>* f = nullptr;
    Index places = 0;   ///< helpers that may still begin
    Index helping = 0;  ///< helpers at work
    bool over = false;
  };
  static void serve(Room& room);

  std::unique_ptr<Room> room_;
  std::vector<std::thread> threads_;
  pid_t process_;  ///< a forked child has none of the threads
};

/// The least and the most bytes of a piece. Between them, a piece is a quarter of a vector, because transfers to and
/// from the device then overlap. On an H200 each piece costs about 60 us besides its transfer: each of its three
/// commands waits for another queue. The bus carries 5 MB in that time. Fewer pieces save such costs, but nothing
/// overlaps with the first transfer to the device and the last transfer to the host.
inline constexpr std::int64_t kLeastPiece = std::int64_t{2} << 20, kMostPiece = std::int64_t{8} << 20;
std::int64_t piece_bytes(std::int64_t vector_bytes);

/// A passage of vectors through the pipeline: rows go to the device, kernels solve tiles of them, rows come back. If
/// the members of a step are null, the step is omitted.
struct Passage {
  const Pieces& pieces;
  Index first = 0;             ///< row that element 0 of the buffers holds
  std::int64_t word = 0;       ///< bytes of one element of a vector
  const void* from = nullptr;  ///< address of row 0 of a host vector
  /// Make rows [first, end) for the transfer to the device, as an alternative to `from`. Several threads call it at
  /// once.
  std::function<void(Index first, Index end, std::byte* rows)> fill{};
  const cl::Buffer* up = nullptr;
  const cl::Buffer* down = nullptr;
  /// Enqueue the kernels of some tiles in the device's queue, which already waits for the transfer of their rows.
  std::function<cl::Event(const Chunk& tiles)> launch{};
  /// Copy rows [first, end) from a slot to the host's vector. Several threads call it at once.
  std::function<void(Index first, Index end, const std::byte* solved)> put{};
  bool from_locked = false;  ///< the pages of `from` are locked, so its rows need no slots
};

/// Copies vectors of the host to a device and back while the device solves. It has two rings of pinned slots. It uses
/// three queues: for transfers to the device, for kernels and for transfers back. The queues wait for each other by
/// events.
///
/// One thread makes all OpenCL calls. This thread and its helpers copy between the caller's memory and the slots. The
/// number of helpers depends on the bytes; threads share only counters. Only one thread at a time may use the pipeline.
class Pipeline {
 public:
  /// @param slot_bytes bytes of the largest piece
  /// @param slots      number of slots of each ring: one for each piece, at most kSlots
  /// @throws cl::Error
  Pipeline(OpenDevice& device, std::int64_t slot_bytes, int slots);

  static constexpr int kSlots = 4;
  /// Most pieces in flight from locked pages, which need no slots. The number keeps the queues from running empty.
  static constexpr std::size_t kDirectPieces = 8;

  std::int64_t bytes() const { return up_.ring.bytes() + down_.ring.bytes(); }
  std::int64_t slot_bytes() const { return slot_bytes_; }
  int slots() const { return slots_; }

  /// Run a passage; returns when it is complete.
  /// @param[in,out] times  receives the bytes, and the seconds of kernels and transfers by the device's clock
  /// @throws DeviceError, cl::Error; commands may then still run. They use slots and buffers, and the caller's memory
  ///         only if its pages are locked
  void run(const Passage& passage, const Waiter& waiter, Times& times);

  /// Copy an array of the host to the beginning of a buffer.
  OCLSPKT_API void bring(const void* from, std::int64_t bytes, const cl::Buffer& to, const Waiter& waiter,
                         Times& times);
  /// Let threads make the words of an array, and copy the array to the beginning of a buffer.
  void bring_made(const decltype(Passage::fill)& fill, Index words, std::int64_t word, const cl::Buffer& to,
                  const Waiter& waiter, Times& times);
  /// Copy the beginning of a buffer to an array of the host.
  void take(const cl::Buffer& from, void* to, std::int64_t bytes, const Waiter& waiter, Times& times);

  /// @throws the errors of Waiter::drain()
  void drain(const Waiter& waiter) const;

 private:
  /// The copies between the slots of a ring and the caller's memory. The unit is a part of a piece. Threads may take
  /// parts [next, limit).
  struct Copies {
    alignas(64) std::atomic<std::int64_t> next{0};
    alignas(64) std::atomic<std::int64_t> limit{0};
    std::array<std::atomic<int>, kSlots> left{};  ///< number of parts that are still to be copied, for each slot
    /// Take the number of the next part; -1: no part is waiting.
    std::int64_t take();
    void release(std::size_t piece, int slots, int parts);
  };
  /// One direction, to the device or to the host: its slots, and the progress of the passage.
  struct Way {
    /// @param pieces  number of pieces of the passage
    void begin(std::size_t pieces);
    Staging ring;
    Copies copies{};
    std::vector<cl::Event> events{};
    /// Numbers of pieces: with an enqueued transfer, with a finished transfer, and with a slot that is free again.
    std::size_t sent = 0, come = 0, done = 0;
  };

  void begin(const Passage& passage);
  void help();
  bool copy_one();
  void copy_up(std::int64_t number);
  void copy_down(std::int64_t number);

  // Steps of the thread that calls OpenCL. A step does what is possible now, and returns true if it did anything.
  bool send_up();
  bool launch();
  bool send_down();
  bool look(const Waiter& waiter);
  bool through() const;
  bool ended(const Waiter& waiter, const cl::Event& event) const;

  std::size_t ups() const { return passage_->from != nullptr || passage_->fill ? passage_->pieces.ups.size() : 0; }
  std::size_t downs() const { return passage_->put ? passage_->pieces.downs.size() : 0; }
  std::size_t launches() const { return passage_->launch ? passage_->pieces.launches.size() : 0; }
  std::size_t slot(std::size_t piece) const { return piece % static_cast<std::size_t>(slots_); }
  std::byte* slot_of(const Staging& ring, std::size_t piece) const {
    return ring.data() + static_cast<std::int64_t>(slot(piece)) * slot_bytes_;
  }
  /// The bytes [first, end) of part `part` of a piece.
  struct Part {
    std::int64_t first, end;
  };
  Part part_of(std::int64_t piece_bytes, std::int64_t part) const;

  OpenDevice& device_;
  const OpenDevice::TransferQueues& queues_;
  const std::int64_t slot_bytes_;
  const int slots_;
  const int parts_;  ///< number of parts of a piece
  Way up_, down_;

  const Passage* passage_ = nullptr;
  std::atomic<bool> over_{true};
  std::vector<cl::Event> launch_events_;
  std::size_t launched_ = 0;
  bool launches_done_ = false;
  Pieces plain_;  ///< pieces for bring() and take()
  CopyThreads copy_threads_;
};

}  // namespace oclspkt::ocl

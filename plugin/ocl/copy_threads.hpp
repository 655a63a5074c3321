// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "oclspkt/line_set.hpp"

namespace oclspkt::ocl {

/// Threads that sleep until they are called to help: waking one takes a few microseconds, starting one some 20. Used by
/// one thread at a time.
class CopyThreads {
 public:
  CopyThreads();
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  /// Let `helpers` threads call f beside the caller, fewer if no more can be started. Returns at once.
  /// @param f  does not throw, and lives until dismiss()
  void call(Index helpers, const std::function<void()>& f);
  /// Wait for the helpers that have begun; the others no longer begin.
  void dismiss();
  /// Threads that exist, asleep or helping.
  Index size() const { return static_cast<Index>(threads_.size()); }

 private:
  /// Data that the threads share.
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

}  // namespace oclspkt::ocl

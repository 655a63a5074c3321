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

/// Threads that sleep between calls for help: to wake one takes a few microseconds, to start one some 20. Used by one
/// thread at a time.
class CopyThreads {
 public:
  CopyThreads();
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  /// Have `helpers` threads call f beside the caller, fewer where no more are to be had. Returns at once.
  /// @param f  does not throw, and lives until dismiss()
  void call(Index helpers, const std::function<void()>& f);
  /// Wait for those that began; the others no longer do.
  void dismiss();
  /// Threads that sleep or help.
  Index size() const { return static_cast<Index>(threads_.size()); }

 private:
  /// What the threads share.
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
  pid_t process_;  ///< a child of it has none of the threads
};

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#include "copy_threads.hpp"

#include <unistd.h>

#include <exception>

namespace oclspkt::ocl {

CopyThreads::CopyThreads() : room_(std::make_unique<Room>()), process_(getpid()) {}

CopyThreads::~CopyThreads() {
  if (getpid() != process_) {
    for (std::thread& thread : threads_) thread.detach();
    // The condition variable's destructor would wait for threads that this process does not have.
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
    // No more threads can be started: those that exist help.
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

}  // namespace oclspkt::ocl

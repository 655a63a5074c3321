// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt::test {

/// Several processes as threads of one program. A process that waits for more than kPatience has hung, and throws.
class ThreadHub {
 public:
  static constexpr std::chrono::seconds kPatience{60};

  explicit ThreadHub(int size) : size_(size) {}
  int size() const { return size_; }

  void send(int from, int to, std::vector<char> message) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].push_back(std::move(message));
    changed_.notify_all();
  }
  std::vector<char> receive(int from, int to) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{from, to}];
    wait(lock, [&] { return !box.empty(); });
    std::vector<char> message = std::move(box.front());
    box.pop_front();
    return message;
  }
  void largest(std::span<double> values) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return leaving_ == 0; });
    if (arrived_ == 0) reduced_.assign(values.size(), -std::numeric_limits<double>::infinity());
    if (reduced_.size() != values.size()) throw std::logic_error("processes reduce different numbers of values");
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i]) || values[i] > reduced_[i]) reduced_[i] = values[i];
    }
    if (++arrived_ == size_) {
      leaving_ = size_;
      changed_.notify_all();
    }
    wait(lock, [&] { return leaving_ > 0; });
    std::copy(reduced_.begin(), reduced_.end(), values.begin());
    if (--leaving_ == 0) arrived_ = 0;
    changed_.notify_all();
  }

 private:
  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    if (!changed_.wait_for(lock, kPatience, ready)) throw std::logic_error("a process waits for another in vain");
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> boxes_;
  std::vector<double> reduced_;
  int arrived_ = 0, leaving_ = 0;
};

class ThreadExchange final : public Exchange {
 public:
  ThreadExchange(ThreadHub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  void largest(std::span<double> values) override {
    ++reductions;
    hub_.largest(values);
  }
  std::unique_ptr<Channel> open(std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes) override {
    ++opened;
    return std::make_unique<ThreadChannel>(*this, std::move(out), std::move(in), scalar_bytes);
  }

  int reductions = 0, opened = 0;  ///< calls
  Index sent = 0;                  ///< scalars
  int messages = 0;

 private:
  class ThreadChannel final : public Channel {
   public:
    ThreadChannel(ThreadExchange& exchange, std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes)
        : exchange_(exchange), out_(std::move(out)), in_(std::move(in)), bytes_(scalar_bytes) {}
    void start(const void* out, void* in) override {
      to_ = static_cast<char*>(in);
      const char* from = static_cast<const char*>(out);
      for (const Leg& leg : out_) {
        const auto size = static_cast<std::size_t>(leg.count) * bytes_;
        exchange_.hub_.send(exchange_.rank_, leg.process, std::vector<char>(from, from + size));
        from += size;
        exchange_.sent += leg.count;
        ++exchange_.messages;
      }
    }
    void finish() override {
      char* to = to_;
      for (const Leg& leg : in_) {
        const std::vector<char> message = exchange_.hub_.receive(leg.process, exchange_.rank_);
        if (message.size() != static_cast<std::size_t>(leg.count) * bytes_) {
          throw std::logic_error("a message of " + std::to_string(message.size()) + " bytes, expected " +
                                 std::to_string(static_cast<std::size_t>(leg.count) * bytes_));
        }
        std::memcpy(to, message.data(), message.size());
        to += message.size();
      }
    }

   private:
    ThreadExchange& exchange_;
    std::vector<Leg> out_, in_;
    std::size_t bytes_;
    char* to_ = nullptr;
  };

  ThreadHub& hub_;
  int rank_;
};

/// Run f(rank, exchange) on every process. @return what each threw, null if nothing
inline std::vector<std::exception_ptr> run_processes(
    int size, const std::function<void(int, const std::shared_ptr<ThreadExchange>&)>& f) {
  ThreadHub hub(size);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        f(rank, std::make_shared<ThreadExchange>(hub, rank));
      } catch (...) {
        thrown[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

inline std::string text_of(const std::exception_ptr& thrown) {
  if (!thrown) return "";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace oclspkt::test

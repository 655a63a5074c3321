// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/team.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace oclspkt {
namespace {

/// Thrown in a member that waits for a member that ended with an error.
struct Left : std::runtime_error {
  Left() : std::runtime_error("another member of the team left") {}
};

/// Room for one message from one member to another.
struct Slot {
  int from, to;
  std::vector<char> message;
  bool full = false;
};

/// The messages and reductions of all members, under one lock.
class Hub {
 public:
  explicit Hub(int size) : left_(static_cast<std::size_t>(size), 0) {}
  int size() const { return static_cast<int>(left_.size()); }

  /// Open one end of a slot. The n-th calls of sender and receiver get the same slot.
  std::shared_ptr<Slot> open(int from, int to, bool sends, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const int number = opened_[{from, to, sends}]++;
    const auto [half, is_new] = half_open_.try_emplace({from, to, number});
    if (is_new) {
      half->second = std::make_shared<Slot>(Slot{from, to, std::vector<char>(bytes), false});
      return half->second;
    }
    std::shared_ptr<Slot> slot = std::move(half->second);
    half_open_.erase(half);
    if (slot->message.size() != bytes) throw std::logic_error("two members open a channel with different counts");
    return slot;
  }
  void put(Slot& slot, const char* message) {
    std::unique_lock lock(mutex_);
    wait(lock, slot.to, [&] { return !slot.full; });
    std::memcpy(slot.message.data(), message, slot.message.size());
    slot.full = true;
    changed_.notify_all();
  }
  void take(Slot& slot, char* message) {
    std::unique_lock lock(mutex_);
    wait(lock, slot.from, [&] { return slot.full; });
    std::memcpy(message, slot.message.data(), slot.message.size());
    slot.full = false;
    changed_.notify_all();
  }
  void largest(std::span<double> values) {
    std::unique_lock lock(mutex_);
    wait(lock, -1, [&] { return leaving_ == 0; });
    if (arrived_ == 0) reduced_.assign(values.size(), -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i]) || values[i] > reduced_[i]) reduced_[i] = values[i];
    }
    if (++arrived_ == size()) {
      leaving_ = size();
      changed_.notify_all();
    }
    wait(lock, -1, [&] { return leaving_ > 0; });
    std::copy(reduced_.begin(), reduced_.end(), values.begin());
    if (--leaving_ == 0) arrived_ = 0;
    changed_.notify_all();
  }
  void leave(int member) {
    const std::lock_guard lock(mutex_);
    left_[static_cast<std::size_t>(member)] = 1;
    changed_.notify_all();
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    std::fill(left_.begin(), left_.end(), char(0));
  }
  bool out_of_step() const { return out_of_step_; }

 private:
  /// Wait until `ready()` is true. @param other  the member to wait for; -1: all members
  /// @throws Left if it has left, or for -1 if any member has
  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, int other, const Ready& ready) {
    const auto gone = [&] {
      return other >= 0 ? left_[static_cast<std::size_t>(other)] != 0
                        : std::any_of(left_.begin(), left_.end(), [](char left) { return left != 0; });
    };
    changed_.wait(lock, [&] { return ready() || gone(); });
    if (ready()) return;
    out_of_step_ = true;
    throw Left();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::tuple<int, int, bool>, int> opened_;
  std::map<std::tuple<int, int, int>, std::shared_ptr<Slot>> half_open_;
  std::vector<char> left_;  ///< shape [members]; 1: the member has left the present run
  std::vector<double> reduced_;
  int arrived_ = 0, leaving_ = 0;
  bool out_of_step_ = false;  ///< a member left, so that slots may hold old messages
};

class MemberChannel final : public Exchange::Channel {
 public:
  MemberChannel(std::shared_ptr<Hub> hub, int member, const std::vector<Exchange::Leg>& out,
                const std::vector<Exchange::Leg>& in, std::size_t bytes)
      : hub_(std::move(hub)) {
    const auto size = [&](const Exchange::Leg& leg) { return static_cast<std::size_t>(leg.count) * bytes; };
    for (const Exchange::Leg& leg : out) out_.push_back(hub_->open(member, leg.process, true, size(leg)));
    for (const Exchange::Leg& leg : in) in_.push_back(hub_->open(leg.process, member, false, size(leg)));
  }
  void start(const void* out, void* in) override {
    to_ = static_cast<char*>(in);
    const char* from = static_cast<const char*>(out);
    for (const auto& slot : out_) {
      hub_->put(*slot, from);
      from += slot->message.size();
    }
  }
  void finish() override {
    char* to = to_;
    for (const auto& slot : in_) {
      hub_->take(*slot, to);
      to += slot->message.size();
    }
  }

 private:
  std::shared_ptr<Hub> hub_;
  std::vector<std::shared_ptr<Slot>> out_, in_;
  char* to_ = nullptr;
};

class MemberExchange final : public Exchange {
 public:
  MemberExchange(std::shared_ptr<Hub> hub, int member) : hub_(std::move(hub)), member_(member) {}
  int rank() const override { return member_; }
  int size() const override { return hub_->size(); }
  void largest(std::span<double> values) override { hub_->largest(values); }
  std::unique_ptr<Channel> open(std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes) override {
    return std::make_unique<MemberChannel>(hub_, member_, out, in, scalar_bytes);
  }

 private:
  std::shared_ptr<Hub> hub_;
  int member_;
};

/// True if a member threw only because another member failed.
bool is_told(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Left&) {
    return true;
  } catch (const std::exception& error) {
    return std::string(error.what()).starts_with("process ");
  } catch (...) {
    return false;
  }
}

}  // namespace

struct Team::State {
  explicit State(int members)
      : hub(std::make_shared<Hub>(members)), thrown(static_cast<std::size_t>(members)), process(getpid()) {}

  void work(int member) {
    try {
      (*job)(member);
    } catch (...) {
      thrown[static_cast<std::size_t>(member)] = std::current_exception();
      hub->leave(member);
    }
  }
  /// The loop of a thread until the team ends.
  void serve(int member) {
    for (std::int64_t done = 0;; ++done) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ending || runs > done; });
        if (ending) return;
      }
      work(member);
      const std::lock_guard lock(mutex);
      if (--working == 0) changed.notify_all();
    }
  }
  void end() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  std::shared_ptr<Hub> hub;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::thread> threads;
  const std::function<void(int)>* job = nullptr;
  std::int64_t runs = 0;
  int working = 0;
  bool ending = false;
  std::vector<std::exception_ptr> thrown;  ///< shape [members]
  pid_t process;
};

Team::Team(int members) : state_(std::make_unique<State>(members)) {
  try {
    for (int member = 1; member < members; ++member) {
      state_->threads.emplace_back([state = state_.get(), member] { state->serve(member); });
    }
  } catch (...) {
    state_->end();
    throw;
  }
}

Team::~Team() {
  if (state_->process == getpid()) {
    state_->end();
  } else {
    static_cast<void>(state_.release());  // in a forked process, the threads do not exist and cannot be joined
  }
}

int Team::members() const { return state_->hub->size(); }

void Team::run(const std::function<void(int)>& f) {
  State& state = *state_;
  if (state.process != getpid())
    throw DeviceError("the process was forked, and its threads are not there: set up again");
  if (state.hub->out_of_step()) throw DeviceError("members of the team are out of step since one failed: set up again");
  state.hub->begin();
  std::fill(state.thrown.begin(), state.thrown.end(), nullptr);
  state.job = &f;
  {
    const std::lock_guard lock(state.mutex);
    state.working = members() - 1;
    ++state.runs;
  }
  state.changed.notify_all();
  state.work(0);
  {
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.working == 0; });
  }
  const auto failed = [](const std::exception_ptr& thrown) { return thrown != nullptr; };
  const auto first = std::find_if(state.thrown.begin(), state.thrown.end(), failed);
  if (first == state.thrown.end()) return;
  const auto own = std::find_if(first, state.thrown.end(),
                                [&](const std::exception_ptr& thrown) { return failed(thrown) && !is_told(thrown); });
  std::rethrow_exception(own == state.thrown.end() ? *first : *own);
}

std::shared_ptr<Exchange> Team::exchange(int member) { return std::make_shared<MemberExchange>(state_->hub, member); }

}  // namespace oclspkt

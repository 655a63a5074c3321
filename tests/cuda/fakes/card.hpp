// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <stdexcept>

#include "device.hpp"
#include "fake.hpp"
#include "solver_fixture.hpp"

// A program that uses a fake card by itself.
namespace oclspkt::test {

using namespace cuda;

inline constexpr Index kRows = 20'000;
inline constexpr CUresult kIllegalAddress = 700, kLaunchFailed = 719;

/// By the method whose kernels the fake card computes.
inline Options on_cards(const std::string& devices, OnDeviceFailure on_failure = OnDeviceFailure::error) {
  Options options;
  options.devices = devices;
  options.method = MethodChoice::truncated_halo;
  options.on_device_failure = on_failure;
  return options;
}

inline DeviceModule& opened() {
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw std::runtime_error(why);
  return *module;
}

inline std::string all_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

inline int calls_of(const std::vector<std::string>& functions) {
  int all = 0;
  for (const std::string& function : functions) all += fake::calls(function);
  return all;
}

/// Nothing is left behind on the cards, and nothing was used wrongly.
inline void expect_clean_cards() {
  fake::fail("", 0, kSuccess, 0);
  release_devices();
  EXPECT_EQ(fake::alive(), fake::Alive{}) << fake::describe(fake::alive());
  EXPECT_EQ(all_of(fake::mistakes()), "");
}

/// The primary context of a card is current for as long as this lives.
class InContext {
 public:
  explicit InContext(int card) {
    CUcontext context = nullptr;
    EXPECT_EQ(cuInit(0), kSuccess);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, card), kSuccess);
    EXPECT_EQ(cuCtxPushCurrent_v2(context), kSuccess);
  }
  ~InContext() {
    CUcontext context = nullptr;
    cuCtxPopCurrent_v2(&context);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
};

/// A program's stream, of the context that is current.
class Stream {
 public:
  Stream() { EXPECT_EQ(cuStreamCreate(&stream_, 0), kSuccess); }
  ~Stream() { cuStreamDestroy_v2(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  DeviceQueue queue() const { return {DeviceQueue::Kind::cuda, stream_}; }
  CUstream get() const { return stream_; }

 private:
  CUstream stream_ = nullptr;
};

/// A stream of a card whose context is current as long.
class StreamInContext : InContext, public Stream {
 public:
  explicit StreamInContext(int card) : InContext(card) {}
};

/// A program's vector in the memory of the card whose context is current.
template <typename T>
class CardVector {
 public:
  explicit CardVector(Index rows) : rows_(rows) {
    EXPECT_EQ(cuMemAlloc_v2(&address_, static_cast<std::size_t>(rows) * sizeof(T)), kSuccess);
  }
  explicit CardVector(const std::vector<T>& values) : CardVector(static_cast<Index>(values.size())) {
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(address_, values.data(), values.size() * sizeof(T), nullptr), kSuccess);
    EXPECT_EQ(cuStreamSynchronize(nullptr), kSuccess);
  }
  ~CardVector() { cuMemFree_v2(address_); }
  CardVector(const CardVector&) = delete;
  CardVector& operator=(const CardVector&) = delete;
  T* get() const { return reinterpret_cast<T*>(address_); }
  /// As they are now, whatever still works on them.
  std::vector<T> values() const {
    std::vector<T> all(static_cast<std::size_t>(rows_));
    EXPECT_EQ(cuMemcpyDtoH_v2(all.data(), address_, all.size() * sizeof(T)), kSuccess);
    return all;
  }

 private:
  Index rows_;
  CUdeviceptr address_ = 0;
};

template <typename AnySolver, typename T>
void enqueue(AnySolver& solver, const DeviceQueue& queue, const CardVector<T>& y, const CardVector<T>& x) {
  solver.enqueue(queue, y.get(), kRows, x.get(), kRows, 1);
}

/// What tests of solvers on fake cards share.
template <typename T>
class OnCards : public SolverFixture<T> {
 protected:
  using SolverFixture<T>::set_up;
  void set_up(Solver<T>& solver, const DeviceQueue& queue) const { set_up(solver, bands_, {.queue = queue}); }
  /// A solver that is set up for vectors of a queue.
  Solver<T> ready(const Options& options, const DeviceQueue& queue) const {
    Solver<T> solver(options);
    set_up(solver, queue);
    return solver;
  }

  const Bands<T> bands_ = random_dominant<T>(LineSet::one(kRows), 3);
};

/// Vectors of the current card that do not fit are refused by name and cure.
/// @param y, x  two that do
template <typename T>
void expect_unfit_refused(Solver<T>& solver, const DeviceQueue& queue, const CardVector<T>& y, const CardVector<T>& x) {
  std::vector<T> host(kRows);
  const CardVector<T> small(kRows - 1);
  const auto refused = [&](const T* from, T* to, const char* word) {
    expect_refusal([&] { solver.enqueue(queue, from, kRows, to, kRows, 1); }, word);
  };
  refused(nullptr, x.get(), "buffer y of enqueue is a null pointer");
  refused(y.get(), host.data(), "buffer x of enqueue is no memory of a card: give");
  refused(y.get(), small.get(), "needed: make it larger");
  refused(y.get(), y.get(), "overlap");
}

}  // namespace oclspkt::test

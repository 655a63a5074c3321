// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "device.hpp"
#include "fake.hpp"
#include "solver_fixture.hpp"

// A program that uses a fake card by itself.
namespace oclspkt::test {

using namespace cuda;

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

/// Vectors of the current card that do not fit are refused by name and cure.
/// @param y, x  two that do, of the solver's rows
template <typename T>
void expect_unfit_refused(Solver<T>& solver, const DeviceQueue& queue, const CardVector<T>& y, const CardVector<T>& x) {
  const Index rows = solver.lines().rows();
  std::vector<T> host(static_cast<std::size_t>(rows));
  const CardVector<T> small(rows - 1);
  const auto refused = [&](const T* from, T* to, const char* word) {
    expect_refusal([&] { solver.enqueue(queue, from, rows, to, rows, 1); }, word);
  };
  refused(nullptr, x.get(), "buffer y of enqueue is a null pointer");
  refused(y.get(), host.data(), "buffer x of enqueue is no memory of a card: give");
  refused(y.get(), small.get(), "needed: make it larger");
  refused(y.get(), y.get(), "overlap");
}

}  // namespace oclspkt::test

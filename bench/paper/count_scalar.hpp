// SPDX-License-Identifier: BSD-2-Clause
// Kernels as they lie on disk, compiled for the host with scalars that count: what kernels/common/scalar.clh gives them
// is here by numbers that note each operation, and each load and store of an array of the device. A work-group has one
// work-item, so that barriers are none.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "count_kernels.hpp"

namespace oclspkt::bench::paper::counting {

/// What is counted now. Operations count whose result reaches an array of the device: compilers leave out the others,
/// such as spikes of which only some kernels that share a sweep make use.
class Book {
 public:
  enum class Kind { add, mul, div };
  static constexpr int kGiven = -1;  ///< the result of no operation

  std::vector<std::pair<const void*, const void*>> arrays;  ///< whose loads and stores count
  Index reads = 0, writes = 0;

  bool holds(const void* place) const {
    return std::any_of(arrays.begin(), arrays.end(),
                       [&](const auto& array) { return place >= array.first && place < array.second; });
  }
  int note(Kind kind, int a, int b) {
    nodes_.push_back({kind, a, b, false});
    return static_cast<int>(nodes_.size()) - 1;
  }
  void store(int node) {
    ++writes;
    if (node != kGiven) stored_.push_back(node);
  }
  /// All since the last call.
  Counts take() {
    Counts counts{{}, std::exchange(reads, 0), std::exchange(writes, 0)};
    while (!stored_.empty()) {
      Node& node = nodes_[static_cast<std::size_t>(stored_.back())];
      stored_.pop_back();
      if (std::exchange(node.counted, true)) continue;
      ++(node.kind == Kind::add   ? counts.operations.add
         : node.kind == Kind::mul ? counts.operations.mul
                                  : counts.operations.div);
      for (const int from : {node.a, node.b}) {
        if (from != kGiven) stored_.push_back(from);
      }
    }
    return counts;
  }

 private:
  struct Node {
    Kind kind;
    int a, b;
    bool counted;
  };
  std::vector<Node> nodes_;
  std::vector<int> stored_;
};
inline Book book;

class Scalar {
 public:
  Scalar() = default;
  Scalar(double value) : value_(value) {}  // NOLINT(google-explicit-constructor): as numbers become scalars in OpenCL
  Scalar(int value) : value_(value) {}     // NOLINT(google-explicit-constructor)
  Scalar(double value, int node) : value_(value), node_(node) {}
  Scalar(const Scalar& from) : value_(from.value_), node_(from.node_) { book.reads += book.holds(&from); }
  Scalar& operator=(const Scalar& from) {
    book.reads += book.holds(&from);
    value_ = from.value_;
    node_ = from.node_;
    if (book.holds(this)) book.store(node_);
    return *this;
  }
  Scalar operator-() const { return {-value_, node_}; }
  double value() const { return value_; }
  int node() const { return node_; }

 private:
  double value_ = 0;
  int node_ = Book::kGiven;
};

// The places of a launch with one work-item a group.
inline long group = 0, groups = 1;
inline long get_group_id(int) { return group; }
inline long get_num_groups(int) { return groups; }
inline long get_global_id(int) { return group; }
inline long get_local_id(int) { return 0; }
inline void barrier(int) {}
template <typename N>
N min(N a, N b) {
  return std::min(a, b);
}
template <typename N>
N max(N a, N b) {
  return std::max(a, b);
}

// scalar.clh, with lanes_t a scalar.
using scalar_t = Scalar;
using lanes_t = Scalar;
inline lanes_t add(lanes_t a, lanes_t b) {
  return {a.value() + b.value(), book.note(Book::Kind::add, a.node(), b.node())};
}
inline lanes_t sub(lanes_t a, lanes_t b) {
  const bool negation = a.node() == Book::kGiven && a.value() == 0;
  return {a.value() - b.value(), negation ? b.node() : book.note(Book::Kind::add, a.node(), b.node())};
}
inline lanes_t mul(lanes_t a, lanes_t b) {
  return {a.value() * b.value(), book.note(Book::Kind::mul, a.node(), b.node())};
}
inline lanes_t mul_add(lanes_t a, lanes_t b, lanes_t c) { return add(a, mul(b, c)); }
inline lanes_t mul_sub(lanes_t a, lanes_t b, lanes_t c) { return sub(a, mul(b, c)); }
inline lanes_t reciprocal(lanes_t a) { return {1 / a.value(), book.note(Book::Kind::div, a.node(), Book::kGiven)}; }
inline bool is_zero(lanes_t a) { return a.value() == 0; }
inline lanes_t choose(bool condition, lanes_t yes, lanes_t no) { return condition ? yes : no; }
inline lanes_t take_off(bool, lanes_t y, lanes_t coupling, lanes_t unknown) {
  const lanes_t coupled = mul_sub(y, coupling, unknown);
  return {is_zero(coupling) ? y.value() : coupled.value(), coupled.node()};
}
inline lanes_t from_storage(const scalar_t* p) { return *p; }
inline void to_storage(lanes_t v, scalar_t* p) { *p = v; }
// block.clh
inline void store_lanes_past_cache(lanes_t v, lanes_t* p) { *p = v; }
inline long run_begin(long begin, long end, long run, long runs) { return begin + run * (end - begin) / runs; }

}  // namespace oclspkt::bench::paper::counting

// What OpenCL's words mean here. The headers that this one stands for are not read.
#define OCLSPKT_SCALAR_CLH
#define OCLSPKT_BLOCK_CLH
#define LANES 1
#define ZERO Scalar(0)
#define ONE Scalar(1)
#define CLK_LOCAL_MEM_FENCE 0
#define __kernel inline
#define __global
#define __local
#define restrict __restrict
#define __attribute__(list)
#define uint unsigned
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

// SPDX-License-Identifier: BSD-2-Clause
// Kernels as they lie on disk, compiled for the host with scalars that count: what kernels/common/scalar.clh gives them
// is here by numbers that note each operation, and each load and store of an array of the device. The work-items of a
// work-group are contexts of one thread: each runs until a barrier, then the next one does. With COUNTED_LANES a
// lanes_t has eight scalars, else one.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "count_kernels.hpp"

namespace oclspkt::bench::paper::counting {

/// What is counted now. Operations count whose result reaches an array of the device: compilers leave out the others,
/// such as spikes of which only some kernels that share a sweep make use.
class Book {
 public:
  enum class Kind { add, mul, div };
  static constexpr int kGiven = -1;   ///< the result of no operation
  static constexpr int kLoaded = -2;  ///< the same, of an array of the device; else a constant of the kernel's text

  std::vector<std::pair<const void*, const void*>> arrays;  ///< whose loads and stores count
  Index reads = 0, writes = 0;
  bool folds = true;  ///< what is taken off a 0 of the kernel's text does not count

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
    if (node >= 0) stored_.push_back(node);
  }
  /// All since the last call, those included whose results reach nothing: work-items in step run the same text, and
  /// what one of them does not need another one does.
  Counts take_executed() {
    Counts counts{{}, std::exchange(reads, 0), std::exchange(writes, 0)};
    for (const Node& node : nodes_) count(node.kind, counts);
    nodes_.clear();
    stored_.clear();
    return counts;
  }
  /// All since the last call.
  Counts take() {
    Counts counts{{}, std::exchange(reads, 0), std::exchange(writes, 0)};
    while (!stored_.empty()) {
      Node& node = nodes_[static_cast<std::size_t>(stored_.back())];
      stored_.pop_back();
      if (std::exchange(node.counted, true)) continue;
      count(node.kind, counts);
      for (const int from : {node.a, node.b}) {
        if (from >= 0) stored_.push_back(from);
      }
    }
    return counts;
  }

 private:
  static void count(Kind kind, Counts& counts) {
    ++(kind == Kind::add ? counts.operations.add : kind == Kind::mul ? counts.operations.mul : counts.operations.div);
  }
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
  Scalar(const Scalar& from) : value_(from.value_), node_(from.node_) { load(from); }
  /// The value of an assignment is in a register: to use it is no load.
  Scalar operator=(const Scalar& from) {  // NOLINT(misc-unconventional-assign-operator)
    value_ = from.value_;
    node_ = from.node_;
    load(from);
    if (book.holds(this)) book.store(node_);
    return {value_, node_};
  }
  Scalar operator-() const { return {-value_, node_}; }
  /// True of a 0 that stands in the kernel's text: what is taken off it is a negation.
  bool constant_zero() const { return book.folds && node_ == Book::kGiven && value_ == 0; }
  double value() const { return value_; }
  int node() const { return node_; }
  explicit operator long() const { return static_cast<long>(value_); }

 private:
  void load(const Scalar& from) {
    if (!book.holds(&from)) return;
    ++book.reads;
    node_ = Book::kLoaded;
  }
  double value_ = std::numeric_limits<double>::quiet_NaN();  // what nobody wrote: local memory of work-groups
  int node_ = Book::kGiven;
};

using Array = std::vector<Scalar>;

/// See hash_of_answers().
struct Emulation {
  bool backwards = false, weak = false;
  std::uint64_t hash = 0;
};
inline Emulation emulation;

/// Arrays of a device, filled as [1 4 1] with ones is.
class Memory {
 public:
  /// @param folds  see Book::folds
  explicit Memory(bool folds = true) {
    book = {};
    book.folds = folds;
  }
  ~Memory() {
    book.arrays.clear();
    for (const Array& array : arrays_) {
      for (const Scalar& number : array) {
        emulation.hash = (emulation.hash ^ std::bit_cast<std::uint64_t>(number.value())) * 0x9e3779b97f4a7c15U;
        emulation.hash ^= emulation.hash >> 29;
      }
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Scalar* make(Index size, double value = 0) {
    Array& array = arrays_.emplace_back(static_cast<std::size_t>(size), Scalar(value));
    if (emulation.weak && value == 4 && size > 0) array[static_cast<std::size_t>(size / 3)] = 1;
    book.arrays.emplace_back(array.data(), array.data() + array.size());
    return array.data();
  }
  /// Let loads and stores count of another array.
  void watch(const Scalar* begin, const Scalar* end) { book.arrays.emplace_back(begin, end); }
  /// What was counted since the last call.
  static Counts take() { return book.take(); }

 private:
  std::vector<Array> arrays_;
};

// The places of a launch.
inline long group = 0, groups = 1, item_now = 0, items_now = 1;
inline long get_group_id(int) { return group; }
inline long get_num_groups(int) { return groups; }
inline long get_global_id(int) { return group * items_now + item_now; }
inline long get_local_id(int) { return item_now; }

/// The work-items of a group, by turns.
class Group {
 public:
  /// Run one group: `work` once for each work-item.
  static void run(long count, const std::function<void()>& work) {
    Group all(count, work);
    items_now = count;
    for (bool left = true; left;) {
      left = false;
      for (long turn = 0; turn < count; ++turn) {
        item_now = emulation.backwards ? count - 1 - turn : turn;
        Context& own = all.contexts_[static_cast<std::size_t>(item_now)];
        if (own.done) continue;
        swapcontext(&all.main_, &own.context);
        left = left || !own.done;
      }
    }
    item_now = 0;
    items_now = 1;
  }
  static void wait() {
    if (present_ == nullptr) return;
    Context& own = present_->contexts_[static_cast<std::size_t>(item_now)];
    swapcontext(&own.context, &present_->main_);
  }

 private:
  static constexpr std::size_t kStack = 1 << 18;
  struct Context {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool done = false;
  };
  Group(long count, const std::function<void()>& work) : contexts_(static_cast<std::size_t>(count)), work_(work) {
    present_ = this;
    for (Context& own : contexts_) {
      own.stack = std::make_unique<char[]>(kStack);
      getcontext(&own.context);
      own.context.uc_stack.ss_sp = own.stack.get();
      own.context.uc_stack.ss_size = kStack;
      own.context.uc_link = &main_;
      makecontext(&own.context, enter, 0);
    }
  }
  ~Group() { present_ = nullptr; }
  static void enter() {
    present_->work_();
    present_->contexts_[static_cast<std::size_t>(item_now)].done = true;
  }
  static inline Group* present_ = nullptr;
  ucontext_t main_{};
  std::vector<Context> contexts_;
  const std::function<void()>& work_;
};
inline void barrier(int) { Group::wait(); }
inline int atomic_xchg(int* at, int value) { return std::exchange(*at, value); }
template <typename N>
N min(N a, N b) {
  return std::min(a, b);
}
template <typename N>
N max(N a, N b) {
  return std::max(a, b);
}

// scalar.clh: first what is of one scalar.
using scalar_t = Scalar;
inline Scalar add(Scalar a, Scalar b) {
  return {a.value() + b.value(), book.note(Book::Kind::add, a.node(), b.node())};
}
inline Scalar sub(Scalar a, Scalar b) {
  if (a.constant_zero()) return {-b.value(), b.node()};
  return {a.value() - b.value(), book.note(Book::Kind::add, a.node(), b.node())};
}
inline Scalar mul(Scalar a, Scalar b) {
  return {a.value() * b.value(), book.note(Book::Kind::mul, a.node(), b.node())};
}
inline Scalar operator/(Scalar a, Scalar b) {
  return {a.value() / b.value(), book.note(Book::Kind::div, a.node(), b.node())};
}
inline Scalar operator+(Scalar a, Scalar b) { return add(a, b); }
inline Scalar operator-(Scalar a, Scalar b) { return sub(a, b); }
inline Scalar operator*(Scalar a, Scalar b) { return mul(a, b); }
inline Scalar& operator+=(Scalar& a, Scalar b) {
  a = add(a, b);
  return a;
}
inline Scalar& operator-=(Scalar& a, Scalar b) {
  a = sub(a, b);
  return a;
}
inline bool operator==(Scalar a, Scalar b) { return a.value() == b.value(); }
inline bool operator<(Scalar a, Scalar b) { return a.value() < b.value(); }
inline bool operator>=(Scalar a, Scalar b) { return a.value() >= b.value(); }
inline Scalar fma(Scalar a, Scalar b, Scalar c) { return add(c, mul(a, b)); }
inline bool isfinite(Scalar a) { return std::isfinite(a.value()); }
inline bool is_zero(Scalar a) { return a.value() == 0; }
inline bool is_negative(Scalar a) { return a.value() < 0; }
inline Scalar magnitude(Scalar a) { return {std::fabs(a.value()), a.node()}; }
inline Scalar with_sign(Scalar a, Scalar b) { return {b.value() < 0 ? -a.value() : a.value(), a.node()}; }
inline Scalar choose(bool condition, Scalar yes, Scalar no) { return condition ? yes : no; }
inline Scalar rough_reciprocal(Scalar a) { return Scalar(1) / a; }
inline Scalar scaled_reciprocal(Scalar a) { return Scalar(1) / a; }
inline int remainder_of(int a, int quotient, int b) { return a - quotient * b; }

#ifdef COUNTED_LANES
constexpr int kLanes = 8;
template <typename Of>
struct Eight {
  Of of[kLanes];
  /// @param lane  what stands in a lane, of its number
  template <typename Lane>
  static Eight each(const Lane& lane) {
    return {{lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7)}};
  }
};
struct Lanes : Eight<Scalar> {
  Lanes() = default;
  Lanes(const Eight& all) : Eight(all) {}                              // NOLINT(google-explicit-constructor)
  Lanes(const Scalar& all) : Eight(each([&](int) { return all; })) {}  // NOLINT(google-explicit-constructor)
  Lanes(double all) : Lanes(Scalar(all)) {}                            // NOLINT(google-explicit-constructor)
  Lanes(const Lanes&) = default;
  Lanes operator=(Lanes from) {  // NOLINT(misc-unconventional-assign-operator): see Scalar
    std::copy(std::begin(from.of), std::end(from.of), of);
    return from;
  }
  Lanes operator-() const {
    return each([&](int i) { return -of[i]; });
  }
};
using lanes_t = Lanes;
using native_t = Lanes;
using mask_t = Eight<bool>;
#define OF_LANES(result, name)                                          \
  inline result name(Lanes a, Lanes b) {                                \
    return result::each([&](int i) { return name(a.of[i], b.of[i]); }); \
  }
OF_LANES(Lanes, add)
OF_LANES(Lanes, sub)
OF_LANES(Lanes, mul)
OF_LANES(Lanes, with_sign)
OF_LANES(Lanes, operator+)
OF_LANES(Lanes, operator-)
OF_LANES(Lanes, operator*)
OF_LANES(Lanes, operator/)
OF_LANES(mask_t, operator<)
OF_LANES(mask_t, operator>=)
#undef OF_LANES
#define OF_LANES(result, name)                                 \
  inline result name(Lanes a) {                                \
    return result::each([&](int i) { return name(a.of[i]); }); \
  }
OF_LANES(Lanes, magnitude)
OF_LANES(mask_t, is_zero)
OF_LANES(mask_t, is_negative)
OF_LANES(mask_t, isfinite)
#undef OF_LANES
inline mask_t operator~(mask_t a) {
  return mask_t::each([&](int i) { return !a.of[i]; });
}
inline mask_t operator&(mask_t a, mask_t b) {
  return mask_t::each([&](int i) { return a.of[i] && b.of[i]; });
}
inline mask_t& operator&=(mask_t& a, mask_t b) { return a = a & b; }
inline bool any_negative(const Lanes& a) {
  return std::any_of(std::begin(a.of), std::end(a.of), [](const Scalar& s) { return is_negative(s); });
}
inline bool all_finite(const Lanes& a) {
  return std::all_of(std::begin(a.of), std::end(a.of), [](const Scalar& s) { return isfinite(s); });
}
/// Asked whether nothing is left to do: what counts is the most that a kernel does.
inline bool all(mask_t) { return false; }
inline Lanes choose(mask_t m, Lanes yes, Lanes no) {
  return Lanes::each([&](int i) { return m.of[i] ? yes.of[i] : no.of[i]; });
}
inline Lanes drop_below(Scalar, Lanes product) { return product; }
inline Lanes drop_tiny(Lanes product) { return product; }
inline Lanes smaller(Lanes a, Lanes b) { return choose(a < b, a, b); }
inline Lanes vload8(int, const Scalar* from) {
  return Lanes::each([&](int i) -> const Scalar& { return from[i]; });
}
inline void vstore8(const Lanes& v, int, Scalar* to) { std::copy(std::begin(v.of), std::end(v.of), to); }
inline Lanes from_storage(const Scalar* p) { return vload8(0, p); }
inline void to_storage(const Lanes& v, Scalar* p) { vstore8(v, 0, p); }
inline Lanes native_from_storage(const Scalar* p) { return vload8(0, p); }
inline void native_to_storage(const Lanes& v, Scalar* p) { vstore8(v, 0, p); }
// memory.clh: all arrays are aligned
inline int scalars_to_alignment(const Scalar*) { return 0; }
inline bool is_lanes_aligned(const Scalar*) { return true; }
inline long clamp(long value, long least, long most) { return std::clamp(value, least, most); }
#else
struct Vector4 {
  Scalar s0, s1, s2, s3;
  Vector4() = default;
  Vector4(const Scalar& all) : Vector4(all, all, all, all) {}  // NOLINT(google-explicit-constructor): as in OpenCL
  Vector4(const Scalar& a, const Scalar& b, const Scalar& c, const Scalar& d) : s0(a), s1(b), s2(c), s3(d) {}
};
using vector_t = Vector4;
inline Vector4 vload4(int, const Scalar* from) { return {from[0], from[1], from[2], from[3]}; }
using lanes_t = Scalar;
using mask_t = long;  // of a scalar: its sign
inline lanes_t from_storage(const scalar_t* p) { return *p; }
inline void to_storage(lanes_t v, scalar_t* p) { *p = v; }
inline long run_begin(long begin, long end, long run, long runs) { return begin + run * (end - begin) / runs; }
#endif

// What is the same for both.
inline lanes_t mul_add(lanes_t a, lanes_t b, lanes_t c) { return add(a, mul(b, c)); }
inline lanes_t mul_sub(lanes_t a, lanes_t b, lanes_t c) { return sub(a, mul(b, c)); }
inline lanes_t reciprocal(lanes_t a) { return lanes_t(1) / a; }
inline lanes_t take_off(bool, lanes_t y, lanes_t coupling, lanes_t unknown) {
  const lanes_t coupled = mul_sub(y, coupling, unknown);
#ifdef COUNTED_LANES
  return coupled;
#else
  return {is_zero(coupling) ? y.value() : coupled.value(), coupled.node()};
#endif
}
inline void store_lanes_past_cache(lanes_t v, lanes_t* p) { *p = v; }

}  // namespace oclspkt::bench::paper::counting

// What OpenCL's words mean here. The headers that this one stands for are not read.
#define OCLSPKT_SCALAR_CLH
#define OCLSPKT_VECTOR_CLH
#define OCLSPKT_MEMORY_CLH
#ifdef COUNTED_LANES
#define LANES 8
#define NATIVE_LANES 8
#define PLAIN_TRANSPOSE
#define PREFETCH(p) ((void)(p))
#define STORE_PAST_CACHE(v, p) to_storage(v, p)
#else
#define OCLSPKT_BLOCK_CLH
#define LANES 1
#endif
#define VECTOR 4
#define SCALAR_FLOAT 1
#define SCALAR_DOUBLE 2
#define SCALAR SCALAR_DOUBLE
#define SCALAR_EPSILON DBL_EPSILON
#define MOST_INVERTED 0x1p900
#define AS_MASK(v) (is_negative(v) ? -1L : 0L)
#define LEAST_PRODUCT 0x1p-900
#define PRODUCT_ROWS 4
#define OCLSPKT_JOIN_(a, b) a##b
#define OCLSPKT_JOIN(a, b) OCLSPKT_JOIN_(a, b)
#define SPECIALISED
#define ZERO lanes_t(Scalar(0))
#define ONE lanes_t(Scalar(1))
#define TWO lanes_t(Scalar(2))
#define CLK_LOCAL_MEM_FENCE 0
#define __kernel inline
#define __global
#define __local
#define restrict __restrict
#define __attribute__(list)
#define uint unsigned
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

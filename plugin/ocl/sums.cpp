// SPDX-License-Identifier: BSD-2-Clause
// Sums. Work-groups compute partial sums, which the host adds in order. The number of work-groups depends only on the
// device and the length. Every run therefore gives the same bits, without atomics and without a second kernel.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "fault.hpp"
#include "scalars.hpp"
#include "space_state.hpp"

namespace oclspkt::ocl {
namespace {

/// A norm uses one sum of squares, or three sums by the size of the numbers (kernels/common/vector_sum.cl).
enum class Squares { plain, by_size };

/// The factors by which kernels/common/vector_sum.cl multiplies small and large numbers.
template <typename T>
struct Scales {
  double of_small, of_large;
};
template <typename T>
constexpr Scales<T> kScales = sizeof(T) == sizeof(double) ? Scales<T>{0x1p537, 0x1p-538} : Scales<T>{0x1p75, 0x1p-76};

/// True if a plain sum of n squares is as accurate as three sums. No square may overflow. A square that underflows
/// loses at most the least normal number. All these losses must be smaller than the rounding errors of the sum.
template <typename T>
bool is_accurate(double squares, Index n) {
  using Limits = std::numeric_limits<T>;
  constexpr double kLeast = static_cast<double>(Limits::min()) / static_cast<double>(Limits::epsilon());
  return squares >= kLeast * static_cast<double>(n) && squares <= static_cast<double>(Limits::max());
}

/// The kernel of a kind of sum, and the value of its macro SUM or EXTREME.
struct SumKernel {
  VectorKernel text;
  int form;
  int numbers = 1;  ///< numbers that each group writes
  bool has_place = false;
};

/// The kernels by SumKind. Norms use plain squares.
constexpr SumKernel kSumKernels[] = {{VectorKernel::dots, 0},
                                     {VectorKernel::sum, 0},
                                     {VectorKernel::sum, 1},
                                     {VectorKernel::sum, 2},
                                     {VectorKernel::extreme, 2},
                                     {VectorKernel::extreme, 0, 1, true},
                                     {VectorKernel::extreme, 1, 1, true}};

constexpr SumKernel kernel_of(SumKind kind, Squares squares) {
  if (kind == SumKind::norm2 && squares == Squares::by_size) return {VectorKernel::sum, 3, 3};
  return kSumKernels[static_cast<std::size_t>(kind)];
}

/// The place of a sum's parts in the data from the device. The numbers begin at scalar `first`, the indices of an
/// extreme at Long `first_place`.
struct SumPlace {
  Index groups;
  std::int64_t first, first_place;
};

/// Returns the place of each sum's parts, and the end of all parts. All indices follow all numbers.
template <typename T>
std::vector<SumPlace> parts_of(const SpaceState& s, std::span<const SumOf<T>> sums, Squares squares) {
  std::vector<SumPlace> parts;
  std::int64_t numbers = 0, places = 0;
  for (const SumOf<T>& sum : sums) {
    const Index groups = sum.x->size() > 0 ? s.runs_of_sums(sum.x->size()).geometry.groups : 0;
    parts.push_back({groups, numbers, places});
    const SumKernel kernel = kernel_of(sum.kind, squares);
    numbers += groups * kernel.numbers;
    places += kernel.has_place ? groups : 0;
  }
  parts.push_back({0, numbers, places});
  const std::int64_t begin = quotient_up(numbers * s.word, sizeof(Long));
  for (SumPlace& part : parts) part.first_place += begin;
  return parts;
}

/// Returns the number of leading sums that a single launch can compute: dot products with the same vector.
template <typename T>
std::size_t alike(std::span<const SumOf<T>> sums) {
  std::size_t count = 1;
  while (sums.front().kind == SumKind::dot && count < std::min(kMostTerms, sums.size()) &&
         sums[count].kind == SumKind::dot && sums[count].y == sums.front().y) {
    ++count;
  }
  return count;
}

/// Add up numbers in four separate sums. In a single sum, each addition would wait for the previous addition.
template <typename T>
double sum_of(const T* numbers, Index count) {
  double sums[4] = {};
  Index g = 0;
  for (; g + 4 <= count; g += 4) {
    for (int k = 0; k < 4; ++k) sums[k] += static_cast<double>(numbers[g + k]);
  }
  for (; g < count; ++g) sums[0] += static_cast<double>(numbers[g]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Returns the norm from sums of squares of small, medium and large numbers (vector_sum.cl).
template <typename T>
double norm_of(double small, double medium, double large) {
  const Scales<T> scale = kScales<T>;
  const bool has_medium = medium > 0 || std::isnan(medium);
  if (large > 0 || std::isnan(large)) {
    if (has_medium) large += medium * scale.of_large * scale.of_large;
    return std::sqrt(large) / scale.of_large;
  }
  if (small > 0) {
    const double of_small = std::sqrt(small) / scale.of_small;
    if (!has_medium) return of_small;
    const double of_medium = std::sqrt(medium);
    if (std::isnan(of_medium)) return of_medium;
    const double greater = std::max(of_small, of_medium), less = std::min(of_small, of_medium);
    return greater * std::sqrt(1 + (less / greater) * (less / greater));
  }
  return std::sqrt(medium);
}

/// Returns the greatest magnitude of all groups, or NaN if a group has NaN.
template <typename T>
T largest_of(const T* magnitudes, Index groups) {
  T largest = 0;
  for (Index g = 0; g < groups; ++g) {
    if (std::isnan(magnitudes[g]) || magnitudes[g] > largest) largest = magnitudes[g];
  }
  return largest;
}

/// Returns the best extreme of all groups; of equal extremes the first. Groups are in the order of their elements.
template <typename T>
SumValue<T> best_of(SumKind kind, const T* numbers, const Long* places, Index groups) {
  const auto is_better = [&](T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    return kind == SumKind::least ? a < b : a > b;
  };
  SumValue<T> best{numbers[0], places[0]};
  for (Index g = 1; g < groups; ++g) {
    const bool is_first = best.place == std::numeric_limits<Long>::max();
    if (places[g] == std::numeric_limits<Long>::max() || (!is_first && !is_better(numbers[g], best.value))) continue;
    best = {numbers[g], places[g]};
  }
  return best;
}

/// Returns the value of a sum over an empty array, as PETSc defines it.
template <typename T>
SumValue<T> of_nothing(SumKind kind) {
  if (kind == SumKind::least) return {std::numeric_limits<T>::infinity(), -1};
  if (kind == SumKind::greatest) return {-std::numeric_limits<T>::infinity(), -1};
  return {T(0), -1};
}

/// Returns the value of a sum from the groups' numbers.
/// @param[out] again  true if the norm must be computed again, by the size of the numbers
template <typename T>
SumValue<T> value_of(const SumOf<T>& sum, const SumPlace& part, Squares squares, const T* numbers, const Long* places,
                     bool* again) {
  *again = false;
  if (part.groups == 0) return of_nothing<T>(sum.kind);
  const T* const own = numbers + part.first;
  if (sum.kind == SumKind::largest_magnitude) return {largest_of(own, part.groups), -1};
  if (kernel_of(sum.kind, squares).has_place) return best_of(sum.kind, own, places + part.first_place, part.groups);
  const double first = sum_of(own, part.groups);
  if (sum.kind != SumKind::norm2) return {static_cast<T>(first), -1};
  *again = squares == Squares::plain && !is_accurate<T>(first, sum.x->size());
  if (squares == Squares::plain) return {static_cast<T>(std::sqrt(first)), -1};
  const double medium = sum_of(own + part.groups, part.groups), large = sum_of(own + 2 * part.groups, part.groups);
  return {static_cast<T>(norm_of<T>(first, medium, large)), -1};
}

/// Returns a number that no device writes: a signalling NaN. No arithmetic gives its bits.
template <typename T>
T unread() {
  using Bits = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
  return std::bit_cast<T>(static_cast<Bits>(sizeof(T) == sizeof(double) ? 0x7ff4'6f63'6c73'706b : 0x7fa4'6f63));
}

/// Wait until the numbers have arrived on the host, by looking at them. This ends about 5 us before the driver reports
/// their arrival (H200). A number may equal unread(), or the device may hang, so the function also asks the driver. It
/// asks less and less often, because an answer takes about 4 us.
/// @param numbers  each was set to unread() before the copy
template <typename T>
void wait_for_all(const OpenDevice& device, const Waiter& waiter, const Event& read, std::span<const T> numbers) {
  constexpr std::int64_t kMostLooks = 1 << 19;  // so many looks take a few ms
  std::int64_t looks_to_ask = 4096;
  using Bits = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
  const auto unread_bits = std::bit_cast<Bits>(unread<T>());
  fault_point(Place::wait, device.info(), device.queue()());
  device.queue().flush();
  std::size_t left = numbers.size();
  for (std::int64_t looks = 1; left > 0; ++looks) {
    const volatile Bits* const bits = reinterpret_cast<const volatile Bits*>(numbers.data());
    while (left > 0 && bits[left - 1] != unread_bits) --left;
    if (left == 0 || looks < looks_to_ask) continue;
    if (waiter.done(read)) break;
    looks_to_ask += std::min(looks_to_ask, kMostLooks);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
}

template <typename T>
void enqueue_sum(SpaceState& s, const SumOf<T>& sum, const SumPlace& place, Squares squares) {
  const Index n = sum.x->size();
  const SpaceState::Runs runs = s.runs_of_sums(n);
  const SumKernel of_sum = kernel_of(sum.kind, squares);
  Kernel& kernel = s.kernel(of_sum.text, of_sum.form);
  const Buffer& x = buffer_of(s, *sum.x, n);
  if (of_sum.text == VectorKernel::extreme) {
    s.set(kernel, runs, n, x, s.partial, s.partial, Long{place.first}, Long{place.first_place});
  } else {
    s.set(kernel, runs, n, x, s.partial, Long{place.first});
  }
  s.launch(kernel, runs.geometry);
}

template <typename T>
void wait_for_numbers(SpaceState& s, std::int64_t bytes) {
  const Waiter waiter = s.waiter();
  const std::span<T> numbers(reinterpret_cast<T*>(s.numbers->data()), static_cast<std::size_t>(bytes) / sizeof(T));
  if (s.limited) std::fill(numbers.begin(), numbers.end(), unread<T>());
  const Event read = enqueue_read(*s.device, s.partial, numbers.data(), bytes);
  if (s.limited) {
    wait_for_all<T>(*s.device, waiter, read, numbers);
  } else {
    waiter.wait(read);
  }
  s.count(0, bytes);
}

/// @return indices of norms that must be computed again, by the size of the numbers
template <typename T>
std::vector<std::size_t> make_sums(SpaceState& s, std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values,
                                   Squares squares) {
  const std::vector<SumPlace> parts = parts_of<T>(s, wanted, squares);
  const std::int64_t bytes = parts.back().first_place * static_cast<std::int64_t>(sizeof(Long));
  if (bytes > 0) {
    s.make_room(bytes);
    for (std::size_t i = 0, count = 1; i < wanted.size(); i += count) {
      count = alike(wanted.subspan(i));
      if (wanted[i].x->size() == 0) continue;  // nothing to add
      if (wanted[i].kind == SumKind::dot) {
        enqueue_dots<T>(s, wanted.subspan(i, count), s.partial, parts[i].first);
      } else {
        enqueue_sum(s, wanted[i], parts[i], squares);
      }
    }
    wait_for_numbers<T>(s, bytes);
  }
  const std::byte* const come = s.numbers ? s.numbers->data() : nullptr;
  const T* const numbers = reinterpret_cast<const T*>(come);
  const Long* const places = reinterpret_cast<const Long*>(come);
  std::vector<std::size_t> again;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    bool has_to = false;
    values[i] = value_of(wanted[i], parts[i], squares, numbers, places, &has_to);
    if (has_to) again.push_back(i);
  }
  return again;
}

}  // namespace

template <typename T>
void enqueue_dots(SpaceState& s, std::span<const SumOf<T>> products, const Buffer& partial, std::int64_t first) {
  const SpaceArray<T>& y = *products.front().y;
  const SpaceState::Runs runs = s.runs_of_sums(y.size());
  Kernel& kernel = s.kernel(VectorKernel::dots, static_cast<int>(products.size()));
  s.set(kernel, runs, y.size(), buffer_of(s, y, y.size()), partial, Long{first});
  cl_uint argument = 5;
  for (const SumOf<T>& product : products) kernel.handle.setArg(argument++, buffer_of(s, *product.x, y.size()));
  s.launch(kernel, runs.geometry);
}

template <typename T>
void add_up(SpaceState& s, std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values) {
  const std::vector<std::size_t> again = make_sums(s, wanted, values, Squares::plain);
  if (again.empty()) return;
  std::vector<SumOf<T>> norms;
  norms.reserve(again.size());
  for (const std::size_t i : again) norms.push_back(wanted[i]);
  std::vector<SumValue<T>> found(norms.size());
  make_sums<T>(s, norms, found, Squares::by_size);
  for (std::size_t k = 0; k < again.size(); ++k) values[again[k]] = found[k];
}

#define OCLSPKT_INSTANTIATE(T)                                                                     \
  template void enqueue_dots(SpaceState&, std::span<const SumOf<T>>, const Buffer&, std::int64_t); \
  template void add_up(SpaceState&, std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// An uninitialised array, aligned to cache lines (64 bytes); large arrays are aligned to huge pages. It never shrinks,
/// so refilling it allocates nothing.
template <typename T>
class AlignedArray {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  /// The largest size in bytes. Rounding it up to whole pages cannot overflow.
  static constexpr Index kMostBytes = Index{1} << 62;

  AlignedArray() = default;
  explicit AlignedArray(Index size) { resize(size); }

  /// Change the size. If the array grows, its contents are lost.
  void resize(Index size) {
    if (size > capacity_) {
      if (size > kMostBytes / static_cast<Index>(sizeof(T))) throw std::bad_alloc();
      const std::size_t wanted = static_cast<std::size_t>(size) * sizeof(T);
      const std::size_t alignment = wanted >= kHugePage ? kHugePage : kAlignment;
      const std::size_t bytes = (wanted + alignment - 1) / alignment * alignment;
      data_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes)));
      if (data_ && alignment == kHugePage)
        madvise(data_.get(), bytes, MADV_HUGEPAGE);  // the system may refuse huge pages
      if (!data_) {
        capacity_ = size_ = 0;
        throw std::bad_alloc();
      }
      capacity_ = size;
    }
    size_ = size;
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  Index size() const { return size_; }
  std::int64_t bytes() const { return capacity_ * static_cast<std::int64_t>(sizeof(T)); }
  T& operator[](Index i) { return data_.get()[i]; }
  const T& operator[](Index i) const { return data_.get()[i]; }
  std::span<T> span() { return {data(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data(), static_cast<std::size_t>(size_)}; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  Index size_ = 0, capacity_ = 0;
};

/// Read-only bands of a line set, each of shape [lines.extent()], in the layout of the vectors.
template <typename T>
struct BandsView {
  const T* lower = nullptr;
  const T* diag = nullptr;
  const T* upper = nullptr;
};

/// The bands of a line set, with their memory.
template <typename T>
class Bands {
 public:
  Bands() = default;
  explicit Bands(const LineSet& lines) { reshape(lines); }

  /// @throws std::bad_alloc; the bands then have no lines
  void reshape(const LineSet& lines) {
    if (lines == lines_) return;
    try {
      LineSet wanted = lines;
      lower_.resize(lines.extent());
      diag_.resize(lines.extent());
      upper_.resize(lines.extent());
      lines_ = std::move(wanted);
    } catch (const std::bad_alloc&) {
      *this = {};
      throw;
    }
  }
  /// Use the same numbers as the bands of other lines.
  /// @pre both sets are of equal extent
  void relabel(const LineSet& lines) { lines_ = lines; }
  /// Set the couplings that lead out of each line to 0. Contiguous lines may then be treated as a single line.
  void close_lines() {
    for (Index l = 0; l < lines_.count(); ++l) {
      if (lines_.length(l) == 0) continue;
      lower_[lines_.first(l)] = T(0);
      upper_[lines_.first(l) + (lines_.length(l) - 1) * lines_.row_stride()] = T(0);
    }
  }
  /// @param from  bands of the same line set
  void copy_from(const BandsView<T>& from) {
    std::copy_n(from.lower, lines_.extent(), lower());
    std::copy_n(from.diag, lines_.extent(), diag());
    std::copy_n(from.upper, lines_.extent(), upper());
  }
  const LineSet& lines() const { return lines_; }
  T* lower() { return lower_.data(); }
  T* diag() { return diag_.data(); }
  T* upper() { return upper_.data(); }
  BandsView<T> view() const { return {lower_.data(), diag_.data(), upper_.data()}; }
  std::int64_t bytes() const { return lower_.bytes() + diag_.bytes() + upper_.bytes(); }

 private:
  LineSet lines_;
  AlignedArray<T> lower_, diag_, upper_;
};

/// Pointers to memory for consecutive places of the bands. Index 0 belongs to the first of these places.
template <typename T>
struct BandsPart {
  T* lower = nullptr;
  T* diag = nullptr;
  T* upper = nullptr;
};

/// A function that writes place i of the bands, first <= i < end, to index i - first of `to`. Several threads call it
/// at once, in any order. Each place belongs to one call. The places of one call fit in the first-level cache.
template <typename T>
using BandsFill = std::function<void(const BandsPart<T>& to, Index first, Index end)>;

}  // namespace oclspkt

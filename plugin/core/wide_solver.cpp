// SPDX-License-Identifier: BSD-2-Clause
#include "wide_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace oclspkt {

template <typename T>
void WideSolver<T>::set_up(const Plan& /*plan*/, const Bands<T>& bands) {
  lines_ = bands.lines();
  rows_.clear();
  singular_.clear();
  rows_.reserve(static_cast<std::size_t>(lines_.rows()));
  const BandsView<T> b = bands.view();
  Index longest = 0;
  for (Index l = 0; l < lines_.count(); ++l) {
    const Index length = lines_.length(l), stride = lines_.row_stride();
    longest = std::max(longest, length);
    Row row{};
    bool regular = true;
    for (Index i = 0, at = lines_.first(l); i < length; ++i, at += stride) {
      const bool last = i + 1 == length;
      if (i == 0) row = {b.diag[at], last ? T(0) : b.upper[at], 0, 0, false};
      if (last) {
        regular = regular && row.diag != 0 && std::isfinite(row.diag);
        rows_.push_back(row);
        break;
      }
      Row next{b.diag[at + stride], i + 2 < length ? b.upper[at + stride] : T(0), 0, 0, false};
      Wide lower = b.lower[at + stride];
      if (std::abs(lower) > std::abs(row.diag)) {
        std::swap(row.diag, lower);
        std::swap(row.upper, next.diag);
        std::swap(row.upper2, next.upper);
        row.swapped = true;
      }
      if (lower != 0) {
        row.multiplier = lower / row.diag;
        next.diag -= row.multiplier * row.upper;
        next.upper -= row.multiplier * row.upper2;
      }
      regular = regular && row.diag != 0 && std::isfinite(row.diag);
      rows_.push_back(row);
      row = next;
    }
    if (!regular) singular_.push_back(l);
  }
  work_.resize(static_cast<std::size_t>(longest));
}

template <typename T>
void WideSolver<T>::apply(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  const Row* row = rows_.data();
  for (Index l = 0; l < lines_.count(); row += lines_.length(l), ++l) {
    const Index length = lines_.length(l), stride = lines_.row_stride(), first = lines_.first(l);
    Wide* b = work_.data();
    for (Index i = 0; i < length; ++i) b[i] = y[first + i * stride];
    for (Index i = 0; i + 1 < length; ++i) {
      if (row[i].swapped) std::swap(b[i], b[i + 1]);
      if (row[i].multiplier != 0) b[i + 1] -= row[i].multiplier * b[i];
    }
    Wide below = 0, below2 = 0;
    for (Index i = length - 1; i >= 0; --i) {
      const Wide value = (b[i] - row[i].upper * below - row[i].upper2 * below2) / row[i].diag;
      below2 = std::exchange(below, value);
      x[first + i * stride] = static_cast<T>(value);
    }
  }
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

template <typename T>
std::int64_t WideSolver<T>::bytes() const {
  return static_cast<std::int64_t>(rows_.capacity() * sizeof(Row) + work_.capacity() * sizeof(Wide));
}

template class WideSolver<float>;
template class WideSolver<double>;

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "wide_solver.hpp"

#include <chrono>
#include <cmath>

namespace oclspkt {

template <typename T>
void WideSolver<T>::set_up(const Plan& /*plan*/, const Bands<T>& bands) {
  lines_ = bands.lines();
  systems_.clear();
  singular_.clear();
  const BandsView<T> b = bands.view();
  std::vector<PivotedRow<Wide>> rows;
  for (Index l = 0; l < lines_.count(); ++l) {
    rows.clear();
    for (Index i = 0, at = lines_.first(l); i < lines_.length(l); ++i, at += lines_.row_stride()) {
      rows.push_back({b.lower[at], b.diag[at], b.upper[at], std::abs(b.diag[at])});
    }
    systems_.add(rows);
    const bool regular = smallest_pivot(rows) > 0;
    if (!regular) singular_.push_back(l);
  }
  systems_.make_room();
  work_.resize(static_cast<std::size_t>(lines_.rows()));
}

template <typename T>
void WideSolver<T>::apply(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  const auto for_rows = [&](const auto& f) {
    Wide* work = work_.data();
    for (Index l = 0; l < lines_.count(); ++l) {
      for (Index i = 0, at = lines_.first(l); i < lines_.length(l); ++i, at += lines_.row_stride()) f(at, *work++);
    }
  };
  for_rows([&](Index at, Wide& number) { number = y[at]; });
  systems_.solve(work_.data());
  for_rows([&](Index at, Wide& number) { x[at] = static_cast<T>(number); });
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

template <typename T>
std::int64_t WideSolver<T>::bytes() const {
  return systems_.bytes() + static_cast<std::int64_t>(work_.capacity() * sizeof(Wide));
}

template class WideSolver<float>;
template class WideSolver<double>;

}  // namespace oclspkt

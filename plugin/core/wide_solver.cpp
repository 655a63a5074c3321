// SPDX-License-Identifier: BSD-2-Clause
#include "wide_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace oclspkt {
namespace {

/// Largest error by component that a trial solve may have, in eps of T: a few of the wider numbers are expected.
constexpr double kMostEps = 100;

/// Right-hand side of a trial in the units of its rows, which are found with those of the columns: where x_j is about
/// 1 / unit_j, all terms of a row are about as large. So the verdict does not depend on a scaling of rows or columns.
template <typename Wide>
std::vector<Wide> trial_of(const std::vector<PivotedRow<Wide>>& rows) {
  const Wide far = std::sqrt(std::numeric_limits<Wide>::max());  // units that drift further begin anew
  std::vector<Wide> unit(rows.size(), 1), y(rows.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Wide jump =
        std::sqrt(std::abs(rows[i - 1].upper / rows[i].lower)) * std::sqrt(std::abs(rows[i].diag / rows[i - 1].diag));
    const Wide here = unit[i - 1] * jump;
    unit[i] = here * far >= 1 && here <= far ? here : 1;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Wide above = i > 0 ? std::abs(rows[i].lower) / unit[i - 1] : 0;
    const Wide below = i + 1 < rows.size() ? std::abs(rows[i].upper) / unit[i + 1] : 0;
    y[i] = (i % 2 == 0 ? 1 : -1) * std::max({above, std::abs(rows[i].diag) / unit[i], below});
  }
  return y;
}

/// Whether the error of x is within rounding of T by component. @param x, y shape [rows]
template <typename T, typename Wide>
bool holds(const std::vector<PivotedRow<Wide>>& rows, const Wide* x, const Wide* y) {
  bool good = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Wide above = i > 0 ? rows[i].lower * x[i - 1] : 0, here = rows[i].diag * x[i];
    const Wide below = i + 1 < rows.size() ? rows[i].upper * x[i + 1] : 0;
    const Wide size = std::abs(above) + std::abs(here) + std::abs(below) + std::abs(y[i]);
    const Wide most = kMostEps * std::numeric_limits<T>::epsilon() * size;
    good = good && std::isfinite(size) && std::abs(y[i] - above - here - below) <= most;
  }
  return good;
}

}  // namespace

template <typename T>
void WideSolver<T>::set_up(const Plan& /*plan*/, const Bands<T>& bands) {
  lines_ = bands.lines();
  systems_.clear();
  singular_.clear();
  lost_.clear();
  const BandsView<T> b = bands.view();
  std::vector<PivotedRow<Wide>> rows;
  const auto read = [&](Index l) {
    rows.clear();
    for (Index i = 0, at = lines_.first(l); i < lines_.length(l); ++i, at += lines_.row_stride()) {
      rows.push_back({b.lower[at], b.diag[at], b.upper[at], std::abs(b.diag[at])});
    }
  };
  std::vector<Wide> trial;
  for (Index l = 0; l < lines_.count(); ++l) {
    read(l);
    const std::vector<Wide> y = trial_of(rows);
    trial.insert(trial.end(), y.begin(), y.end());
    systems_.add(rows);
    const bool regular = smallest_pivot(rows) > 0;
    if (!regular) singular_.push_back(l);
  }
  systems_.make_room();
  work_ = trial;
  systems_.solve(work_.data());
  for (Index l = 0, at = 0; l < lines_.count(); at += lines_.length(l++)) {
    read(l);
    if (!holds<T>(rows, work_.data() + at, trial.data() + at)) lost_.push_back(l);
  }
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

// SPDX-License-Identifier: BSD-2-Clause
#include "interface.hpp"

#include <algorithm>
#include <limits>

namespace oclspkt {

template <typename T>
void ReducedSystem<T>::resize(Index segments) {
  pivot_.resize(2 * segments);
  coupling_.resize(2 * segments);
  f_.resize(2 * segments);
}

template <typename T>
void ReducedSystem<T>::solve(const SchurSegment<T>* segment, T* x_top, T* x_bottom) {
  const Index p = segments();
  ExcessRow<double> previous;  // initially a row of zeros, for the first row
  previous.excess = 1;
  bool finite = true;
  growth_ = 0;
  const auto forward = [&](Index slot, const ExcessRow<T>& given) {
    const ExcessRow<double> row{given.lower, given.upper, given.excess, given.f, given.sign};
    const double t = row.lower / previous.diag(), filled = t * previous.upper;
    previous = eliminate_above(previous, t, row).as_pivot();
    const double pivot = previous.diag();
    finite = finite && std::abs(pivot) > 0 && std::isfinite(pivot);
    growth_ = std::max(growth_, (std::abs(filled) + std::abs(pivot)) / std::abs(row.magnitude()));
    pivot_[slot] = pivot;
    coupling_[slot] = row.upper;
    f_[slot] = previous.f;
  };
  for (Index k = 0; k < p; ++k) {
    if (!segment[k].single) forward(2 * k, segment[k].top);
    forward(2 * k + 1, segment[k].bottom);
  }
  if (!finite) growth_ = std::numeric_limits<double>::quiet_NaN();

  double below = 0;
  for (Index k = p - 1; k >= 0; --k) {
    below = (f_[2 * k + 1] - coupled(coupling_[2 * k + 1], below)) / pivot_[2 * k + 1];
    x_bottom[k] = static_cast<T>(below);
    if (!segment[k].single) below = (f_[2 * k] - coupled(coupling_[2 * k], below)) / pivot_[2 * k];
    x_top[k] = static_cast<T>(below);
  }
}

#define OCLSPKT_INSTANTIATE(T) template class ReducedSystem<T>;
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt

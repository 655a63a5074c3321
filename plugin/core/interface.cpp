// SPDX-License-Identifier: BSD-2-Clause
#include "interface.hpp"

#include <algorithm>
#include <limits>

namespace oclspkt {
namespace {

/// a - b and the rounding error of that difference.
template <typename T>
void two_difference(T a, T b, T& difference, T& error) {
  difference = a - b;
  const T b_virtual = a - difference;
  const T a_virtual = difference + b_virtual;
  error = (a - a_virtual) + (b_virtual - b);
}

}  // namespace

template <typename T>
T row_excess(T lower, T diag, T upper) {
  T first, first_error, second, second_error;
  two_difference(std::abs(diag), std::abs(lower), first, first_error);
  two_difference(first, std::abs(upper), second, second_error);
  const T excess = second + (first_error + second_error);
  const T one_rounding = 2 * std::numeric_limits<T>::epsilon() * std::abs(diag);
  return excess < 0 && excess >= -one_rounding ? T(0) : excess;
}

template <typename T>
T eliminate(ExcessRow<T>& q, T t, const ExcessRow<T>& p, T p_to_q, T p_far) {
  // Couplings that point against each other (after scaling both diagonals positive) add to the diagonal of q instead of
  // subtracting from it; the excess takes that up twice, since the coupling p_to_q is counted in magnitude(p).
  // The signs of t and p's diagonal make up that of the coupling of q to p.
  const bool against = (std::signbit(t) != std::signbit(p_to_q)) != std::signbit(q.sign);
  q.excess += std::abs(t) * (p.excess + (against ? 2 * std::abs(p_to_q) : T(0)));
  q.f -= coupled(t, p.f);
  return -t * p_far;
}

template <typename T>
ExcessRow<T> eliminate_above(const ExcessRow<T>& above, T t, ExcessRow<T> row) {
  row.lower = eliminate(row, t, above, above.upper, above.lower);
  return row;
}

template <typename T>
void append_row(SchurSegment<T>& s, const ExcessRow<T>& row) {
  if (s.single) {
    s.bottom = row;  // top.upper and bottom.lower couple the two rows directly
    s.single = false;
    return;
  }
  const ExcessRow<T> inner = s.bottom.as_pivot();
  const T pivot = inner.diag();
  s.top.upper = eliminate(s.top, s.top.upper / pivot, inner, inner.lower, inner.upper);
  s.bottom = eliminate_above(inner, row.lower / pivot, row);
}

template <typename T>
SchurSegment<T> compose(const SchurSegment<T>& a, const SchurSegment<T>& b) {
  SchurSegment<T> c = a;
  append_row(c, b.single ? b.bottom : b.top);
  if (!b.single) append_row(c, b.bottom);
  return c;
}

template <typename T>
void ReducedSystem<T>::resize(Index segments) {
  pivot_.resize(2 * segments);
  coupling_.resize(2 * segments);
  f_.resize(2 * segments);
}

template <typename T>
void ReducedSystem<T>::solve(const SchurSegment<T>* segment, T* x_top, T* x_bottom) {
  const Index p = segments();
  ExcessRow<T> previous;  // a row of zeros: the first row has nothing to eliminate
  previous.excess = 1;
  bool finite = true;
  growth_ = 0;
  const auto forward = [&](Index slot, const ExcessRow<T>& row) {
    const T t = row.lower / previous.diag(), filled = t * previous.upper;
    previous = eliminate_above(previous, t, row).as_pivot();
    const T pivot = previous.diag();
    finite = finite && std::abs(pivot) > 0 && std::isfinite(pivot);
    growth_ = std::max(growth_, static_cast<double>((std::abs(filled) + std::abs(pivot)) / std::abs(row.magnitude())));
    pivot_[slot] = pivot;
    coupling_[slot] = row.upper;
    f_[slot] = previous.f;
  };
  for (Index k = 0; k < p; ++k) {
    if (!segment[k].single) forward(2 * k, segment[k].top);
    forward(2 * k + 1, segment[k].bottom);
  }
  if (!finite) growth_ = std::numeric_limits<double>::quiet_NaN();

  T below = 0;
  for (Index k = p - 1; k >= 0; --k) {
    below = x_bottom[k] = (f_[2 * k + 1] - coupled(coupling_[2 * k + 1], below)) / pivot_[2 * k + 1];
    if (!segment[k].single) below = (f_[2 * k] - coupled(coupling_[2 * k], below)) / pivot_[2 * k];
    x_top[k] = below;
  }
}

#define OCLSPKT_INSTANTIATE(T)                                                      \
  template T row_excess(T, T, T);                                                   \
  template T eliminate(ExcessRow<T>&, T, const ExcessRow<T>&, T, T);                \
  template ExcessRow<T> eliminate_above(const ExcessRow<T>&, T, ExcessRow<T>);      \
  template void append_row(SchurSegment<T>&, const ExcessRow<T>&);                  \
  template SchurSegment<T> compose(const SchurSegment<T>&, const SchurSegment<T>&); \
  template class ReducedSystem<T>;
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt

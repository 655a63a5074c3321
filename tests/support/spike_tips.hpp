// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt {

/// The boundary behaviour of a segment in six numbers:
///     x_top    = f_t - w_t x_above - v_t x_below
///     x_bottom = f_b - w_b x_above - v_b x_below
/// @source docs/design.md, "One algorithm, at every level"; Polizzi and Sameh 2006, eq. for the reduced system
template <typename T>
struct SpikeTips {
  T f_t = 0, f_b = 0;
  T w_t = 0, w_b = 0;  ///< left spike
  T v_t = 0, v_b = 0;  ///< right spike
};

/// Compose two neighbouring segments into one.
/// @pre |1 - v_b(upper) w_t(lower)| well away from 0; composing is unstable near d = 1, see SchurSegment
/// @cost 1 division, 16 multiply-adds
template <typename T>
SpikeTips<T> compose(const SpikeTips<T>& a, const SpikeTips<T>& b) {
  const T r = T(1) / (T(1) - a.v_b * b.w_t);
  // Unknowns between the two: x_b of a and x_t of b, each as value, coefficient of above and of below.
  const T p_f = (a.f_b - a.v_b * b.f_t) * r, p_w = a.w_b * r, p_v = -a.v_b * b.v_t * r;
  const T q_f = (b.f_t - b.w_t * a.f_b) * r, q_w = -b.w_t * a.w_b * r, q_v = b.v_t * r;
  SpikeTips<T> c;
  c.f_t = a.f_t - a.v_t * q_f;
  c.w_t = a.w_t - a.v_t * q_w;
  c.v_t = -a.v_t * q_v;
  c.f_b = b.f_b - b.w_b * p_f;
  c.w_b = -b.w_b * p_w;
  c.v_b = b.v_b - b.w_b * p_v;
  return c;
}

/// Solve one truncated interface: the 2x2 system between the bottom of one segment and the top of the next.
template <typename T>
void solve_interface(T f_b, T v_b, T f_t, T w_t, T& x_bottom, T& x_top) {
  const T r = T(1) / (T(1) - v_b * w_t);
  x_bottom = (f_b - v_b * f_t) * r;
  x_top = (f_t - w_t * f_b) * r;
}

}  // namespace oclspkt

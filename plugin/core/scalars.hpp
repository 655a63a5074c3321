// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

/// The real scalars: X(T) for each T. Bounds and plans are computed for these alone, see System::judged().
#define OCLSPKT_REALS(X) \
  X(float)               \
  X(double)

/// The scalars that templates are instantiated for: X(T) for each T.
#define OCLSPKT_SCALARS(X) \
  OCLSPKT_REALS(X)         \
  X(std::complex<float>)   \
  X(std::complex<double>)

namespace oclspkt {

template <typename T>
struct RealOf {
  using type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
};
/// The type of the real and imaginary parts of a complex T; a real T itself.
template <typename T>
using Real = typename RealOf<T>::type;

template <typename T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

/// The scalar in which precision narrow stores numbers of T.
template <typename T>
using Narrow = std::conditional_t<kIsComplex<T>, std::complex<float>, float>;

/// The type that holds numbers of T in parts of type Wide.
template <typename Wide, typename T>
using Widened = std::conditional_t<kIsComplex<T>, std::complex<Wide>, Wide>;

template <typename Wide, typename T>
Widened<Wide, T> widened(T number) {
  return Widened<Wide, T>(number);
}

/// The type in which equations between parts of a line are solved: double, or its complex.
template <typename T>
using Doubled = Widened<double, T>;

/// eps of the scalar T.
template <typename T>
inline constexpr Real<T> kEpsOf = std::numeric_limits<Real<T>>::epsilon();

/// How many times as large as for real numbers a bound on rounding is in complex arithmetic. Bounds add errors of
/// single operations; u is the unit of rounding, sizes are moduli. A sum of two numbers errs by at most u, a product by
/// at most sqrt(5) u (Brent, Percival, Zimmermann 2007), reciprocal_of() by at most 3 u.
template <typename T>
inline constexpr double kOfArithmetic = kIsComplex<T> ? 3 : 1;
/// kOfArithmetic for bounds that also add errors of quotients. A quotient is a product with the conjugate of the
/// divisor, divided by the square of its modulus, which errs by 2 u: together by at most (sqrt(5) + 3) u.
template <typename T>
inline constexpr double kWithQuotients = kIsComplex<T> ? 5.3 : 1;

template <typename R>
R reciprocal_of(R number) {
  return R(1) / number;
}
/// 1 / z as conj(z) / |z|^2, scaled by a power of two so that the square stays in the range. To first order, each part
/// has a relative error of 3 u: the square errs by 2 u, because nothing cancels in it, and the quotient by u.
template <typename R>
std::complex<R> reciprocal_of(std::complex<R> z) {
  const R size = std::max(std::abs(z.real()), std::abs(z.imag()));
  if (!(size > 0) || !(size <= std::numeric_limits<R>::max())) return std::complex<R>(R(1)) / z;
  const int exponent = -std::ilogb(size);
  const R re = std::ldexp(z.real(), exponent), im = std::ldexp(z.imag(), exponent), square = re * re + im * im;
  return {std::ldexp(re / square, exponent), std::ldexp(-im / square, exponent)};
}

template <typename R>
R modulus(R number) {
  return std::abs(number);
}
/// |z|, by std::abs() only where the square leaves the range of R.
template <typename R>
R modulus(std::complex<R> z) {
  // From kLeast on, the smaller square is lost only where it does not count.
  constexpr R kMost = std::numeric_limits<R>::max() / 4, kLeast = 0x1p32F / kMost;
  const R square = z.real() * z.real() + z.imag() * z.imag();
  return square > kLeast && square < kMost ? std::sqrt(square) : std::abs(z);
}

template <typename R>
bool is_finite(R number) {
  return std::isfinite(number);
}
template <typename R>
bool is_finite(std::complex<R> z) {
  return std::isfinite(z.real()) && std::isfinite(z.imag());
}

/// number * 2^exponent.
template <typename R>
R times_power(R number, int exponent) {
  return std::ldexp(number, exponent);
}
template <typename R>
std::complex<R> times_power(std::complex<R> z, int exponent) {
  return {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
}

/// 0, or NaN if the number is not finite.
template <typename T>
Real<T> spoilt_by(T number) {
  if constexpr (kIsComplex<T>) {
    return 0 * number.real() + 0 * number.imag();
  } else {
    return 0 * number;
  }
}

}  // namespace oclspkt

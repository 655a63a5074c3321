// SPDX-License-Identifier: BSD-2-Clause
// Functions of PivotedLines for lines without a rounding bound. They measure and refine each solution, and set-up runs
// trial solves. No step depends on the units of rows or columns.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "evidence.hpp"
#include "interface.hpp"
#include "pivoted_lines.hpp"
#include "residual.hpp"
#include "wide.hpp"

namespace oclspkt {
namespace {

template <typename Number>
using Limits = std::numeric_limits<Real<Number>>;

/// Compute r = y - A x, and the largest |r_i| / (|A| |x| + |y|)_i of each system over the rows without underflow.
/// @param[out] worst shape [width]; the largest ratio; NaN if a number is not finite
template <Index kWidth, typename Number>
[[gnu::always_inline]] inline void residual_bundle(Index rows, const BandsView<Number>& b, const Number* y,
                                                   const Number* x, Number* r, Real<Number>* worst) {
  using R = Real<Number>;
  constexpr R kNothing = 8 * Limits<Number>::denorm_min();  // largest rounding error of four subnormal numbers
  R largest[kWidth] = {}, sound[kWidth];
  std::fill_n(sound, kWidth, R(1));
  for (Index i = 0; i < rows; ++i) {
    const Index at = i * kWidth, above = i > 0 ? at - kWidth : at, below = i + 1 < rows ? at + kWidth : at;
#pragma omp simd
    for (Index j = 0; j < kWidth; ++j) {
      const Number f = y[at + j], own = b.diag[at + j] * x[at + j];
      const Number a = coupled(b.lower[at + j], x[above + j]), c = coupled(b.upper[at + j], x[below + j]);
      const Number left = ((f - own) - a) - c;
      const R size = ((modulus(f) + modulus(own)) + modulus(a)) + modulus(c);
      const R error = modulus(left) <= kNothing ? R(0) : modulus(left) / size;
      largest[j] = error > largest[j] ? error : largest[j];
      const R sound_x = modulus(x[at + j]) <= Limits<Number>::max() ? sound[j] : R(0);
      sound[j] = modulus(left) <= Limits<Number>::max() ? sound_x : R(0);
      r[at + j] = left;
    }
  }
  for (Index j = 0; j < kWidth; ++j) worst[j] = sound[j] != 0 ? largest[j] : Limits<Number>::quiet_NaN();
}

constexpr Index kMany = PivotedLines<double>::kLanes;

#define OCLSPKT_INSTANTIATE(Number)                                                                                    \
  OCLSPKT_WIDE void residual_many(Index rows, const BandsView<Number>& b, const Number* y, const Number* x, Number* r, \
                                  Real<Number>* worst) {                                                               \
    residual_bundle<kMany>(rows, b, y, x, r, worst);                                                                   \
  }
OCLSPKT_PIVOTED(OCLSPKT_INSTANTIATE)
#undef OCLSPKT_INSTANTIATE

/// The binary exponent of a number, plus a constant; the least int for 0.
int exponent_of(double number) {
  const int biased = static_cast<int>(std::bit_cast<std::uint64_t>(number) >> 52 & 0x7ff);
  return biased > 0 ? biased : number == 0 ? std::numeric_limits<int>::min() : std::ilogb(number) + 1023;
}
int exponent_of(long double number) { return number == 0 ? std::numeric_limits<int>::min() : std::ilogb(number); }
template <typename R>
int exponent_of(std::complex<R> number) {
  return exponent_of(std::max(std::abs(number.real()), std::abs(number.imag())));
}

/// 2^exponent. @pre the result is a normal number
void set_power(int exponent, double& power) {
  power = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}
void set_power(int exponent, long double& power) { power = std::ldexp(1.0L, exponent); }

/// Infer the unit of each unknown from the couplings and diagonals. Units are powers of two, relative to the first
/// unit.
/// @param[out] size shape [rows][width]; the unit of each unknown
template <typename Number>
void find_sizes(Index rows, Index width, const BandsView<Number>& b, Real<Number>* size) {
  constexpr int kNone = std::numeric_limits<int>::min(), kFarthest = 480;
  for (Index j = 0; j < width; ++j) {
    int above = 0, here = 0, diag = exponent_of(b.diag[j]);  // exponents: units above and here, this diagonal
    for (Index i = 0; i < rows; ++i) {
      const Index at = i * width + j;
      set_power(-here, size[at]);
      if (i + 1 == rows) break;
      const int upper = exponent_of(b.upper[at]), lower = exponent_of(b.lower[at + width]);
      const int next = exponent_of(b.diag[at + width]), own_lower = exponent_of(b.lower[at]);
      int below = here;
      if (upper != kNone && lower != kNone && diag != kNone && next != kNone) {
        below = here + (((upper - lower) + (next - diag)) >> 1);
      } else if (upper != kNone && diag != kNone) {
        below = here + (upper - diag);
      } else if (upper != kNone && own_lower != kNone) {
        below = above + (upper - own_lower);
      }
      above = std::exchange(here, std::clamp(below, -kFarthest, kFarthest));
      diag = next;
    }
  }
}

/// Make a right-hand side of a trial solve, see TrialKind.
/// @param[in] x shape [rows][width]; the smooth solution, with unknowns of 1 or 2 in their units
template <typename Number>
void trial_side(TrialKind kind, Index rows, Index width, const BandsView<Number>& b, const Real<Number>* x, Number* y) {
  using R = Real<Number>;
  TrialCoin coin;
  for (Index i = 0; i < rows; ++i) {
    const R sign = kind == TrialKind::rough && coin.toss() ? R(-1) : R(1);
    const Index above = i > 0 ? width : 0, below = i + 1 < rows ? width : 0;
    for (Index at = i * width; at < (i + 1) * width; ++at) {
      const Number own = b.diag[at] * x[at], a = b.lower[at] * x[at - above], c = b.upper[at] * x[at + below];
      y[at] = kind == TrialKind::smooth ? (own + a) + c : sign * ((modulus(own) + modulus(a)) + modulus(c));
    }
  }
}

}  // namespace

/// Measure the solutions of lines without a bound.
/// @param[out] errors  errors in eps; 0 for lines with a bound
template <typename Number>
void PivotedLines<Number>::measure(const Bundle& b, const Number* y, const Number* x, Number* r, double* errors) const {
  const Index size = b.rows * b.width;
  const Number* const bands = b.kept.data();
  const BandsView<Number> view{bands, bands + size, bands + 2 * size};
  Real<Number> worst[kLanes];
  b.width == 1 ? residual_bundle<1>(b.rows, view, y, x, r, worst) : residual_many(b.rows, view, y, x, r, worst);
  for (Index j = 0; j < b.width; ++j) {
    errors[j] =
        b.is_measured[static_cast<std::size_t>(j)] != 0 ? static_cast<double>(worst[j] / Limits<Number>::epsilon()) : 0;
  }
}

/// Solve a measured bundle, and refine its solutions as long as errors decrease.
/// @param[out] work  shape [3][rows][width]; begins with a copy of the right-hand sides
/// @param[out] errors  errors in eps; NaN if a solution is not finite
template <typename Number>
void PivotedLines<Number>::solve_refined(const Bundle& b, Number* x, Number* work, double* errors) const {
  constexpr int kMostSteps = 4;
  const Index size = b.rows * b.width;
  Number *const y = work, *const r = work + size, *const refined = work + 2 * size;
  std::copy_n(x, size, y);
  substitute(b, x);
  measure(b, y, x, r, errors);
  const auto asks = [&](double error) { return error > b.limits.refined; };  // false if the error is NaN
  bool better = true;
  for (int k = 0; k < kMostSteps && better && std::any_of(errors, errors + b.width, asks); ++k) {
    double after[kLanes];
    substitute(b, r);
    for (Index at = 0; at < size; ++at) refined[at] = x[at] + r[at];
    measure(b, y, refined, r, after);
    better = false;
    for (Index j = 0; j < b.width; ++j) {
      if (!(asks(errors[j]) && after[j] < errors[j])) continue;
      for (Index at = j; at < size; at += b.width) x[at] = refined[at];
      errors[j] = after[j];
      better = true;
    }
  }
}

/// Solve one system of a bundle again in wider numbers, if the platform has some, and keep the better solution.
template <typename Number>
void PivotedLines<Number>::widen(const Bundle& b, Index lane, const Number* y, Number* x, double& error) const {
  if constexpr (Limits<long double>::digits > Limits<Number>::digits) {
    using Wide = Widened<long double, Number>;
    constexpr auto kOfWide = static_cast<double>(Limits<long double>::epsilon() / Limits<Number>::epsilon());
    const auto rows = static_cast<std::size_t>(b.rows);
    std::vector<Wide> bands(3 * rows), wide(rows), work(3 * rows);
    const auto place = [&](std::size_t i) {
      return i * static_cast<std::size_t>(b.width) + static_cast<std::size_t>(lane);
    };
    for (std::size_t i = 0; i < 3 * rows; ++i) bands[i] = Wide(b.kept[place(i)]);
    for (std::size_t i = 0; i < rows; ++i) wide[i] = Wide(y[place(i)]);
    PivotedLines<Wide> systems;
    systems.place(b.rows, 1);
    systems.make_room();
    const BandsView<Wide> view{bands.data(), &bands[rows], &bands[2 * rows]};
    PivotFacts facts;
    systems.factor(0, view, &facts);
    if (facts.bad >= 0) return;
    const double most = b.limits.refined / kOfWide;
    systems.watch(0, view, {most, most, most, Limits<double>::infinity()}, &facts);
    double wide_error = 0;
    systems.solve(0, wide.data(), work.data(), &wide_error);
    if (!systems.measured(0)) wide_error = facts.bound;
    const double after = kOfWide * wide_error + 1;
    const auto in_range = [](Wide number) { return std::abs(number) <= Limits<Number>::max(); };
    if (!(after < error || std::isnan(error)) || !std::all_of(wide.begin(), wide.end(), in_range)) return;
    for (std::size_t i = 0; i < rows; ++i) x[place(i)] = static_cast<Number>(wide[i]);
    error = after;
  }
}

template <typename Number>
void PivotedLines<Number>::solve(Index index, Number* x, Number* work, double* errors) const {
  const Bundle& b = bundles_[static_cast<std::size_t>(index)];
  std::fill_n(errors, b.width, 0.0);
  if (b.kept.empty()) {
    substitute(b, x);
    return;
  }
  solve_refined(b, x, work, errors);
  for (Index j = 0; j < b.width; ++j) {
    if (errors[j] <= b.limits.widened) continue;
    bool given = true;  // whether the right-hand side is finite
    for (Index at = j; at < b.rows * b.width; at += b.width) given = given && is_finite(work[at]);
    errors[j] = given ? errors[j] : 0;
    if (given) widen(b, j, work, x, errors[j]);
  }
}

/// Solve trial systems of a measured bundle like solve(). Lines with a lost pivot are not solved in wider numbers, in
/// which even singular lines have a solution.
/// @param tried  shape [width]; 1 for systems with a trial, else 0
template <typename Number>
void PivotedLines<Number>::run_trials(const Bundle& b, const Real<Number>* tried, PivotFacts* facts) const {
  const auto size = static_cast<std::size_t>(b.rows * b.width);
  const Number* const kept = b.kept.data();
  const BandsView<Number> bands{kept, kept + size, kept + 2 * size};
  std::vector<Real<Number>> smooth(size);
  std::vector<Number> x(size), work(3 * size);
  find_sizes(b.rows, b.width, bands, smooth.data());
  TrialCoin coin;
  for (Index i = 0; i < b.rows; ++i) {
    const int times = coin.toss() ? 1 : 2;
    for (Index at = i * b.width; at < (i + 1) * b.width; ++at)
      smooth[static_cast<std::size_t>(at)] *= static_cast<Real<Number>>(times);
  }
  for (const TrialKind kind : {TrialKind::rough, TrialKind::smooth}) {
    double errors[kLanes];
    trial_side(kind, b.rows, b.width, bands, smooth.data(), x.data());
    solve_refined(b, x.data(), work.data(), errors);
    for (Index j = 0; j < b.width; ++j) {
      if (tried[j] == 0) continue;
      double& largest = facts[j].trial;
      if (!facts[j].lost && !(errors[j] <= b.limits.widened)) widen(b, j, work.data(), x.data(), errors[j]);
      if (!(errors[j] <= largest)) largest = std::isnan(largest) ? largest : errors[j];
    }
  }
}

template <typename Number>
void PivotedLines<Number>::watch(Index index, const BandsView<Number>& bands, const PivotLimits& limits,
                                 PivotFacts* facts) {
  Bundle& b = bundles_[static_cast<std::size_t>(index)];
  using R = Real<Number>;
  R measured[kLanes] = {}, tried[kLanes] = {};
  for (Index j = 0; j < b.width; ++j) {
    const PivotFacts& f = facts[j];
    if (f.bad >= 0 || f.bound <= limits.bound) continue;
    measured[j] = 1;
    tried[j] = f.lost || !(f.growth <= limits.growth) ? R(1) : R(0);
  }
  b.limits = limits;
  b.kept.clear();
  const auto any = [&](const R* of) { return std::any_of(of, of + b.width, [](R n) { return n != 0; }); };
  if (!any(measured)) return;
  for (const Number* band : {bands.lower, bands.diag, bands.upper}) {
    b.kept.insert(b.kept.end(), band, band + b.rows * b.width);
  }
  b.is_measured.assign(measured, measured + b.width);
  if (any(tried)) run_trials(b, tried, facts);
}

#define OCLSPKT_INSTANTIATE(Number)                                                                                 \
  template void PivotedLines<Number>::measure(const Bundle&, const Number*, const Number*, Number*, double*) const; \
  template void PivotedLines<Number>::solve_refined(const Bundle&, Number*, Number*, double*) const;                \
  template void PivotedLines<Number>::widen(const Bundle&, Index, const Number*, Number*, double&) const;           \
  template void PivotedLines<Number>::solve(Index, Number*, Number*, double*) const;                                \
  template void PivotedLines<Number>::run_trials(const Bundle&, const Real<Number>*, PivotFacts*) const;            \
  template void PivotedLines<Number>::watch(Index, const BandsView<Number>&, const PivotLimits&, PivotFacts*);
OCLSPKT_PIVOTED(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt

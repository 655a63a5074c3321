// SPDX-License-Identifier: BSD-2-Clause
// The trial solves of pivoted lines, which do not depend on units either.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "evidence.hpp"
#include "pivoted_lines.hpp"

namespace oclspkt {
namespace {

/// The binary exponent of a number; the least int there is for 0.
int exponent_of(double number) {
  const int biased = static_cast<int>(std::bit_cast<std::uint64_t>(number) >> 52 & 0x7ff);
  return biased > 0 ? biased : number == 0 ? std::numeric_limits<int>::min() : std::ilogb(number) + 1023;
}
int exponent_of(long double number) { return number == 0 ? std::numeric_limits<int>::min() : std::ilogb(number); }

/// 2^exponent. @pre the result is a normal number
void set_power(int exponent, double& power) {
  power = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}
void set_power(int exponent, long double& power) { power = std::ldexp(1.0L, exponent); }

/// The size of each unknown against that of the first one, as the units in the matrix have it: a power of two.
/// @param[out] size shape [rows][width]; of unknowns that are 1 in their units
template <typename Number>
void find_sizes(Index rows, Index width, const BandsView<Number>& b, Number* size) {
  constexpr int kNone = std::numeric_limits<int>::min(), kFarthest = 480;
  for (Index j = 0; j < width; ++j) {
    int above = 0, here = 0, diag = exponent_of(b.diag[j]);  // exponents of sizes, and of a diagonal
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

/// A right-hand side of a trial solve, see TrialKind, for unknowns that are 1 or 2 in their units.
/// @param[in] x shape [rows][width]; the smooth solution
template <typename Number>
void trial_side(TrialKind kind, Index rows, Index width, const BandsView<Number>& b, const Number* x, Number* y) {
  TrialCoin coin;
  for (Index i = 0; i < rows; ++i) {
    const Number sign = kind == TrialKind::rough && coin.toss() ? Number(-1) : Number(1);
    const Index above = i > 0 ? width : 0, below = i + 1 < rows ? width : 0;
    for (Index at = i * width; at < (i + 1) * width; ++at) {
      const Number own = b.diag[at] * x[at], a = b.lower[at] * x[at - above], c = b.upper[at] * x[at + below];
      y[at] = kind == TrialKind::smooth ? (own + a) + c : sign * ((std::abs(own) + std::abs(a)) + std::abs(c));
    }
  }
}

/// Make the errors of a trial solve take part in the largest ones, in eps.
template <typename Number>
void see_errors(Index width, const Number* found, double* largest) {
  for (Index j = 0; j < width; ++j) {
    const auto error = static_cast<double>(found[j] / std::numeric_limits<Number>::epsilon());
    if (!(error <= largest[j])) largest[j] = std::isnan(largest[j]) ? largest[j] : error;
  }
}

}  // namespace

/// @param[out] plain, refined  largest errors of each system, in eps; `refined` where it is wanted
template <typename Number>
void PivotedLines<Number>::run_trials(const Bundle& b, const BandsView<Number>& bands, bool refines, double* plain,
                                      double* refined) const {
  const auto size = static_cast<std::size_t>(b.rows * b.width);
  std::vector<Number> smooth(size), y(size), x(size), r(size);
  Number worst[kLanes];
  find_sizes(b.rows, b.width, bands, smooth.data());
  TrialCoin coin;
  for (Index i = 0; i < b.rows; ++i) {
    const Number times = coin.toss() ? Number(1) : Number(2);
    for (Index at = i * b.width; at < (i + 1) * b.width; ++at) smooth[static_cast<std::size_t>(at)] *= times;
  }
  std::fill_n(plain, kLanes, 0.0);
  for (const TrialKind kind : {TrialKind::rough, TrialKind::smooth}) {
    trial_side(kind, b.rows, b.width, bands, smooth.data(), y.data());
    x = r = y;
    substitute(b, x.data());
    subtract_product(b, bands, x.data(), r.data(), worst);
    see_errors(b.width, worst, plain);
    if (!refines) continue;
    substitute(b, r.data());
    for (std::size_t at = 0; at < size; ++at) x[at] += r[at];
    r = y;
    subtract_product(b, bands, x.data(), r.data(), worst);
    see_errors(b.width, worst, refined);
  }
}

template <typename Number>
void PivotedLines<Number>::try_out(Index index, const BandsView<Number>& bands, double ask, PivotFacts* facts) {
  Bundle& b = bundles_[static_cast<std::size_t>(index)];
  double plain[kLanes] = {}, refined[kLanes] = {};
  // A trial is no evidence: what a block of two rows puts into its first row is seen by few right-hand sides.
  const auto asks = [&](Index j) {
    const bool harmless = std::isfinite(facts[j].bound) && 2 * facts[j].growth <= ask && plain[j] <= ask;
    return facts[j].bad < 0 && !(facts[j].bound <= ask) && !harmless;
  };
  const auto any_asks = [&] {
    for (Index j = 0; j < b.width; ++j) {
      if (asks(j)) return true;
    }
    return false;
  };
  const bool at_once = any_asks();  // whatever the trials will find
  run_trials(b, bands, at_once, plain, refined);
  for (Index j = 0; j < b.width; ++j) facts[j].trial = plain[j];
  if (!any_asks()) return;
  if (!at_once) run_trials(b, bands, true, plain, refined);
  std::vector<Number> wanted(static_cast<std::size_t>(b.width), Number(0));
  bool any = false;
  for (Index j = 0; j < b.width; ++j) {
    if (!asks(j) || !(refined[j] <= ask || refined[j] < plain[j] || std::isnan(plain[j]))) continue;
    facts[j].trial = refined[j];
    facts[j].bound = std::numeric_limits<double>::infinity();
    wanted[static_cast<std::size_t>(j)] = 1;
    any = true;
  }
  if (!any) return;
  for (const Number* band : {bands.lower, bands.diag, bands.upper}) {
    b.kept.insert(b.kept.end(), band, band + b.rows * b.width);
  }
  b.kept.insert(b.kept.end(), wanted.begin(), wanted.end());
}

#define OCLSPKT_INSTANTIATE(Number)                                                                               \
  template void PivotedLines<Number>::run_trials(const Bundle&, const BandsView<Number>&, bool, double*, double*) \
      const;                                                                                                      \
  template void PivotedLines<Number>::try_out(Index, const BandsView<Number>&, double, PivotFacts*);
OCLSPKT_INSTANTIATE(double)
OCLSPKT_INSTANTIATE(long double)

}  // namespace oclspkt

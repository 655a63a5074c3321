// SPDX-License-Identifier: BSD-2-Clause
#include "host_solver.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "past_caches.hpp"
#include "residual.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {
namespace {

/// How many lines laid end to end are swept at once if a cache holds them. Longer lines are faster one at a time.
constexpr Index kAbreast = 2;

constexpr Index kColumnsAbreast = 4;

/// Neighbouring lines whose rows lie `stride` apart, the first at `first`.
struct Bundle {
  Index first, stride, width, length;
};

/// Sweep one row of a bundle down: d_i = y_i - m d_(i-1), m the multipliers (one number if shared). `swept` stores d.
template <bool kShared, typename T>
void row_down(Index width, const T* __restrict y, const T* __restrict m, T* __restrict carry, T* __restrict swept) {
  for (Index j = 0; j < width; ++j) swept[j] = carry[j] = y[j] - m[kShared ? 0 : j] * carry[j];
}

/// Sweep one row of a bundle up: x_i = d_i p - c x_(i+1), p the reciprocal pivots, c the scaled couplings.
template <bool kShared, typename T>
void row_up(Index width, const T* __restrict swept, const T* __restrict p, const T* __restrict c, T* __restrict carry,
            T* __restrict x) {
  for (Index j = 0; j < width; ++j) x[j] = carry[j] = swept[j] * p[kShared ? 0 : j] - c[kShared ? 0 : j] * carry[j];
}

/// How many bytes ahead to prefetch. The hardware does not prefetch: rows are too short, and x is written upwards.
constexpr Index kPrefetchAhead = 1024;

/// 0 times the last numbers of a sweep: NaN if any number of the sweep is not finite, because Inf and NaN pass on from
/// row to row.
template <typename T>
Real<T> spoilt_by_any(const T* ends, Index count) {
  Real<T> sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index j = 0; j < count; ++j) sum += spoilt_by(ends[j]);
  return sum;
}

/// @param window shape [length + 1][width]
/// @return 0, or NaN if a number is not finite
template <bool kShared, typename T>
Real<T> sweep_bundle(const Bundle& b, const FactorsView<T>& f, const T* y, T* x, T* window) {
  T* const carry = window;
  const Index ahead = 1 + kPrefetchAhead / (b.width * static_cast<Index>(sizeof(T)));
  std::fill_n(carry, b.width, T(0));
  for (Index i = 0; i < b.length; ++i) {
    const Index at = b.first + i * b.stride, factor = kShared ? i : at;
    const Index next = b.first + std::min(i + ahead, b.length - 1) * b.stride;
    prefetch(y + next, b.width);
    if (!kShared) prefetch(f.multiplier + next, b.width);
    row_down<kShared>(b.width, y + at, f.multiplier + factor, carry, window + (i + 1) * b.width);
  }
  std::fill_n(carry, b.width, T(0));
  for (Index i = b.length - 1; i >= 0; --i) {
    const Index at = b.first + i * b.stride, factor = kShared ? i : at;
    const Index next = b.first + std::max<Index>(i - ahead, 0) * b.stride;
    prefetch<true>(x + next, b.width);
    if (!kShared) prefetch(f.reciprocal + next, b.width);
    if (!kShared) prefetch(f.coupling + next, b.width);
    row_up<kShared>(b.width, window + (i + 1) * b.width, f.reciprocal + factor, f.coupling + factor, carry, x + at);
  }
  return spoilt_by_any(carry, b.width);
}

/// sweep_bundle() for a bundle as wide as its block, with x in place of the window, so that the bundle is one stream.
template <typename T>
Real<T> sweep_rows(const Bundle& b, const FactorsView<T>& f, const T* y, T* x) {
  std::copy_n(y + b.first, b.width, x + b.first);
  for (Index i = 1; i < b.length; ++i) {
    const Index row = b.first + i * b.stride;
    for (Index at = row; at < row + b.width; ++at) x[at] = y[at] - f.multiplier[at] * x[at - b.stride];
  }
  const Index last = b.first + (b.length - 1) * b.stride;
  for (Index at = last; at < last + b.width; ++at) x[at] *= f.reciprocal[at];
  for (Index i = b.length - 2; i >= 0; --i) {
    const Index row = b.first + i * b.stride;
    for (Index at = row; at < row + b.width; ++at) {
      x[at] = x[at] * f.reciprocal[at] - f.coupling[at] * x[at + b.stride];
    }
  }
  return spoilt_by_any(x + b.first, b.width);
}

/// A right-hand side of a line and its solution, from the line's first row on.
template <typename T>
struct Chain {
  const T* y;
  T* x;
  Index factor;  ///< offset of the line's first factors; 0 if all lines share them
};

/// Sweep kChains chains of one length to the row `meeting` and back; the carried values stay in registers.
/// @return 0, or NaN if a number is not finite
template <bool kShared, Index kChains, typename T>
Real<T> sweep_chains(const Chain<T> (&chains)[kChains], Index stride, Index length, Index meeting,
                     const FactorsView<T>& f) {
  T above[kChains] = {}, below[kChains] = {};
  const auto factor_of = [&](Index i, Index k) { return kShared ? i : chains[k].factor + i * stride; };
  const auto go = [&](Index i, T* carry) {
    for (Index k = 0; k < kChains; ++k) {
      const Index at = i * stride;
      chains[k].x[at] = carry[k] = chains[k].y[at] - f.multiplier[factor_of(i, k)] * carry[k];
    }
  };
  const auto return_by = [&](Index i, T* carry) {
    for (Index k = 0; k < kChains; ++k) {
      const Index at = i * stride, factor = factor_of(i, k);
      chains[k].x[at] = carry[k] = chains[k].x[at] * f.reciprocal[factor] - f.coupling[factor] * carry[k];
    }
  };
  const Index rows_below = length - 1 - meeting;  // never more than `meeting`
  for (Index i = 0; i < rows_below; ++i) {
    go(i, above);
    go(length - 1 - i, below);
  }
  for (Index i = rows_below; i < meeting; ++i) go(i, above);
  for (Index k = 0; k < kChains; ++k) {
    const Index at = meeting * stride, factor = factor_of(meeting, k);
    const T swept = chains[k].y[at] - f.multiplier[factor] * above[k] - f.coupling[factor] * below[k];
    chains[k].x[at] = above[k] = below[k] = swept * f.reciprocal[factor];
  }
  for (Index i = meeting - 1; i >= rows_below; --i) return_by(i, above);
  for (Index i = rows_below - 1; i >= 0; --i) {
    return_by(i, above);
    return_by(length - 1 - i, below);
  }
  return spoilt_by_any(above, kChains) + spoilt_by_any(below, kChains);
}

}  // namespace

template <typename T>
void HostSolver<T>::factor(const LineSet& lines, const BandsView<T>& bands, Form form) {
  const bool beside = lines.beside() && lines.block_lines() > 1;
  const std::optional<Plan> plan = find_plan(
      {.method = Method::exact_factored, .lines = lines, .form = form, .word = sizeof(T), .traits = kHostTraits});
  const HostSweep sweep = beside && plan ? scheme_of(*plan).host_sweep(*plan) : HostSweep{};
  if (plan) form = plan->form;
  bundle_ = sweep.bundle;
  through_x_ = sweep.through_x;
  abreast_ = host_arrays_bytes<T>(lines) > kHostCacheBytes ? 1 : kAbreast;
  factors_.factor(lines, bands, form, bundle_ > 1 ? Order::down : Order::inwards);
  if (bundle_ == 1 && is_better_downwards(lines, bands)) factors_.factor(lines, bands, form, Order::down);
  window_.resize(bundle_ > 1 && !through_x_ ? bundle_ * (lines.length(0) + 1) : 0);
}

/// True if downward elimination makes most of the doubtful lines sound. Elimination of a middle row from both sides may
/// leave a tiny pivot if few rows lie between weak couplings; at an end of the line, such rows are harmless.
template <typename T>
bool HostSolver<T>::is_better_downwards(const LineSet& lines, const BandsView<T>& bands) const {
  constexpr Index kMany = 8;
  const auto doubtful = static_cast<Index>(factors_.doubtful().size());
  if (doubtful == 0 || (doubtful > 1 && kMany * doubtful > lines.count())) return false;
  Index sound = 0;
  for (const Index line : factors_.doubtful()) {
    const Index first = lines.first(line);
    Factors<T> one;
    one.factor(LineSet::strided(lines.length(line), lines.row_stride(), 1, 1),
               {bands.lower + first, bands.diag + first, bands.upper + first}, Form::general);
    sound += one.doubtful().empty() ? 1 : 0;
  }
  return 2 * sound > doubtful;
}

template <typename T>
void HostSolver<T>::set_up(const Plan& plan, const Bands<T>& bands) {
  factor(bands.lines(), bands.view(), plan.form);
}

template <typename T>
template <bool kShared>
void HostSolver<T>::solve_bundles(const T* y, T* x) {
  const LineSet& lines = factors_.lines();
  for (Index block = 0; block < lines.blocks(); ++block) {
    for (Index l = 0; l < lines.block_lines(); l += bundle_) {
      const Index width = std::min(bundle_, lines.block_lines() - l);
      const Bundle bundle{block * lines.block_stride() + l, lines.row_stride(), width, lines.length(0)};
      if (through_x_) {
        spoilt_ += sweep_rows(bundle, factors_.view(), y, x);
      } else {
        spoilt_ += sweep_bundle<kShared>(bundle, factors_.view(), y, x, window_.data());
      }
    }
  }
}

template <typename T>
template <bool kShared>
void HostSolver<T>::solve_lines(const T* y, T* x) {
  const LineSet& lines = factors_.lines();
  const FactorsView<T> f = factors_.view();
  for (Index l = 0; l < lines.count();) {
    Chain<T> chains[kAbreast] = {};
    Index alike = 0;
    const Index length = lines.length(l), meeting = factors_.meeting_row(l);
    while (alike < abreast_ && l + alike < lines.count() && lines.length(l + alike) == length) {
      const Index first = lines.first(l + alike);
      chains[alike++] = {y + first, x + first, first};
    }
    if (length == 0) {
      ++l;
    } else if (alike == kAbreast) {
      spoilt_ += sweep_chains<kShared, kAbreast>(chains, lines.row_stride(), length, meeting, f);
      l += kAbreast;
    } else {
      spoilt_ += sweep_chains<kShared, 1>({chains[0]}, lines.row_stride(), length, meeting, f);
      ++l;
    }
  }
}

template <typename T>
void HostSolver<T>::solve(const T* y, T* x) {
  if (bundle_ > 1) {
    factors_.shared() ? solve_bundles<true>(y, x) : solve_bundles<false>(y, x);
  } else {
    factors_.shared() ? solve_lines<true>(y, x) : solve_lines<false>(y, x);
  }
}

/// If a number of the sweeps is not finite, search for lines with a finite y whose solution is not finite.
template <typename T>
void HostSolver<T>::see(const T* y, const T* x) {
  if (std::exchange(spoilt_, Real<T>(0)) == 0) return;
  const LineSet& lines = factors_.lines();
  for (Index l = 0; l < lines.count() && !leaves_range_; ++l) leaves_range_ = leaves_range(lines, l, y, x);
}

template <typename T>
double HostSolver<T>::take_errors() {
  return std::exchange(leaves_range_, false) ? std::numeric_limits<double>::infinity() : 0;
}

/// Solve each line for kColumnsAbreast right-hand sides at once: factors are read once, and the sweeps overlap.
template <typename T>
template <bool kShared>
void HostSolver<T>::solve_columns(Columns<const T> y, Columns<T> x) {
  const LineSet& lines = factors_.lines();
  for (Index l = 0; l < lines.count(); ++l) {
    const Index first = lines.first(l), length = lines.length(l);
    if (length == 0) continue;
    Chain<T> chains[kColumnsAbreast];
    for (Index k = 0; k < kColumnsAbreast; ++k) chains[k] = {y[k] + first, x[k] + first, first};
    spoilt_ += sweep_chains<kShared>(chains, lines.row_stride(), length, factors_.meeting_row(l), factors_.view());
  }
}

template <typename T>
void HostSolver<T>::apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) {
  require_host(place);
  const auto start = std::chrono::steady_clock::now();
  Index done = 0;
  for (; bundle_ == 1 && count - done >= kColumnsAbreast; done += kColumnsAbreast) {
    factors_.shared() ? solve_columns<true>(y + done, x + done) : solve_columns<false>(y + done, x + done);
    const Real<T> of_all = spoilt_;
    for (Index k = done; k < done + kColumnsAbreast; ++k) {
      spoilt_ = of_all;
      see(y[k], x[k]);
    }
  }
  for (; done < count; ++done) {
    solve(y[done], x[done]);
    see(y[done], x[done]);
  }
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  times_.applies += count;
}

#define OCLSPKT_INSTANTIATE(T) template class HostSolver<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "interface.hpp"
#include "parallel.hpp"
#include "residual.hpp"

namespace oclspkt {
namespace {

/// Make the right-hand side of rows [begin, end) of a line.
/// @param tosses  how many tosses precede this line; a line takes one toss for its first unknown and one for each row
template <typename T>
void make_right_hand_side(const LineSet& lines, const BandsView<T>& bands, TrialKind kind, Index line, Index begin,
                          Index end, Index tosses, T* y) {
  TrialCoin coin;
  coin.skip(tosses + std::max<Index>(0, begin - 1));
  const Index last = lines.length(line) - 1, stride = lines.row_stride();
  using R = Real<T>;
  R x_above = begin > 0 ? (coin.toss() ? 1 : 2) : 0, x = coin.toss() ? 1 : 2;
  for (Index i = begin, at = lines.first(line) + begin * stride; i < end; ++i, at += stride) {
    const T lower = i > 0 ? bands.lower[at] : T(0), upper = i < last ? bands.upper[at] : T(0);
    const R x_below = coin.toss() ? 1 : 2;
    if (kind == TrialKind::smooth) {
      y[at] = lower * x_above + bands.diag[at] * x + upper * x_below;
    } else {
      const R magnitude = std::abs(lower) + std::abs(bands.diag[at]) + std::abs(upper);
      y[at] = x > R(1) ? magnitude : -magnitude;
    }
    x_above = x;
    x = x_below;
  }
}

}  // namespace

template <typename T>
void trial_right_hand_side(const LineSet& lines, const BandsView<T>& bands, TrialKind kind, T* y) {
  std::vector<Index> tosses(static_cast<std::size_t>(lines.count()));
  for (Index l = 1; l < lines.count(); ++l) {
    const auto at = static_cast<std::size_t>(l);
    tosses[at] = tosses[at - 1] + lines.length(l - 1) + 1;
  }
  for_row_pieces(lines, [&](Index l, Index begin, Index end) {
    make_right_hand_side(lines, bands, kind, l, begin, end, tosses[static_cast<std::size_t>(l)], y);
  });
}

template <typename T>
Trial trial_solve(const LineSet& lines, const BandsView<T>& bands, TrialKind kind,
                  const std::function<void(const T*, T*)>& apply) {
  AlignedArray<T> y(lines.extent()), x(lines.extent());
  for_pieces(lines.extent(), kPieceRows, [&](Index begin, Index end) {
    std::fill(y.data() + begin, y.data() + end, T(0));  // devices that copy also read places outside of all lines
    std::fill(x.data() + begin, x.data() + end, T(std::numeric_limits<Real<T>>::quiet_NaN()));
  });
  trial_right_hand_side(lines, bands, kind, y.data());
  apply(y.data(), x.data());
  Trial trial;
  const auto eps = static_cast<double>(kEpsOf<T>);
  const double limit = kTrialLimitEps * eps, stable = kStableEps * eps;
  std::vector<double> errors(static_cast<std::size_t>(lines.count()));
  for_pieces(lines.count(), lines_a_piece(lines), [&](Index first, Index end) {
    for (Index l = first; l < end; ++l) {
      errors[static_cast<std::size_t>(l)] = line_backward_error(lines, bands, l, x.data(), y.data());
    }
  });
  for (Index l = 0; l < lines.count(); ++l) {
    const double error = errors[static_cast<std::size_t>(l)];
    if (!(error <= limit)) {
      trial.failed.push_back(l);
      if (!(line_rowwise_backward_error(lines, bands, l, x.data(), y.data()) <= stable))
        trial.failed_by_row.push_back(l);
    }
    if (!(error <= trial.worst)) trial.worst = std::isnan(trial.worst) ? trial.worst : error;
  }
  return trial;
}

template <typename T>
double elimination_growth(const BandsView<T>& bands, Index m, Index halo, Index first, Index end) {
  Growth growth;
  for (Index k = first / m; k * m < end; ++k) {
    T coupling = 0;
    for (Index i = std::max(first, k * m - halo); i < std::min(end, (k + 1) * m + halo); ++i) {
      const T filled = coupled(bands.lower[i], coupling), pivot = bands.diag[i] - filled;
      growth.see(filled, pivot, bands.diag[i]);
      coupling = bands.upper[i] / pivot;
    }
  }
  return growth.value();
}

template <typename T>
double twopass_growth(const BandsView<T>& bands, Index m, Index first, Index end) {
  Growth growth;
  T coupling = 0;  // coupling of the previous boundary equation, divided by its pivot
  const auto eliminate_boundary = [&](T lower, T diag, T upper, Index row) {
    const T filled = coupled(lower, coupling), pivot = diag - filled;
    growth.see(filled, pivot, bands.diag[row]);
    coupling = upper / pivot;
  };
  for (Index k = first / m; k * m < end; ++k) {
    const Index begin = std::max(first, k * m), last = std::min(end, (k + 1) * m) - 1;
    // The top row of a partition belongs to another line if a line begins inside of the partition.
    const bool has_top = begin == k * m && begin < last;
    Index i = begin + has_top;
    T top = bands.diag[begin], to_row = has_top ? bands.upper[begin] : T(0);
    T pivot = bands.diag[i], to_top = bands.lower[i];
    for (; i < last; ++i) {
      const T t = to_row / pivot, s = bands.lower[i + 1] / pivot;
      const T taken = coupled(t, to_top), filled = coupled(s, bands.upper[i]);
      if (has_top) growth.see(taken, top -= taken, bands.diag[begin]);
      to_row = -coupled(t, bands.upper[i]);
      to_top = -coupled(s, to_top);
      growth.see_fill(to_row, bands.lower[begin], bands.diag[begin], bands.upper[begin]);
      growth.see_fill(to_top, bands.lower[i + 1], bands.diag[i + 1], bands.upper[i + 1]);
      pivot = bands.diag[i + 1] - filled;
      growth.see(filled, pivot, bands.diag[i + 1]);
    }
    if (has_top) eliminate_boundary(bands.lower[begin], top, to_row, begin);
    eliminate_boundary(to_top, pivot, bands.upper[last], last);
  }
  return growth.value();
}

#define OCLSPKT_INSTANTIATE(T)                                                             \
  template void trial_right_hand_side(const LineSet&, const BandsView<T>&, TrialKind, T*); \
  template Trial trial_solve(const LineSet&, const BandsView<T>&, TrialKind, const std::function<void(const T*, T*)>&);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)
#undef OCLSPKT_INSTANTIATE
#define OCLSPKT_INSTANTIATE(T)                                                         \
  template double elimination_growth(const BandsView<T>&, Index, Index, Index, Index); \
  template double twopass_growth(const BandsView<T>&, Index, Index, Index);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt

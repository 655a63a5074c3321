// SPDX-License-Identifier: BSD-2-Clause
#include "factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "evidence.hpp"
#include "interface.hpp"

namespace oclspkt {

template <typename T>
bool Factors<T>::Pivots::sound() const {
  return growth <= kGrowthLimit && smallest >= kSmallPivotEps * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// A line carries its excess: where couplings are tiny against their row, plain pivots lose |c_i / u_i| <= 1 to
/// rounding (row sums 0, float, 2.6e5 rows: backward error 13 eps instead of 0.3).
template <typename T>
typename Factors<T>::Pivots Factors<T>::factor_line(const BandsView<T>& bands, Index line) {
  ExcessRow<T> above;  // a row of zeros: the first row has nothing to eliminate
  T reciprocal = 0, growth = 0, smallest = 1;
  bool finite = true;
  for (Index i = 0, at = lines_.first(line); i < lines_.length(line); ++i, at += lines_.row_stride()) {
    const Index to = shared_ ? i : at;
    const ExcessRow<T> row = make_row(bands.lower[at], bands.diag[at], bands.upper[at], T(0));
    const T multiplier = row.lower * reciprocal;
    const T filled = std::abs(multiplier * above.upper), before = std::abs(bands.diag[at]);
    above = eliminate_above(above, multiplier, row).as_pivot();
    const T pivot = above.magnitude();
    reciprocal = T(1) / above.diag();
    multiplier_[to] = multiplier;
    reciprocal_[to] = reciprocal;
    coupling_[to] = row.upper * reciprocal;
    finite = finite && std::isfinite(reciprocal);
    // Divisions only where a record is broken.
    if (!(filled + pivot <= growth * before)) growth = (filled + pivot) / before;
    const T largest = std::max({std::abs(row.lower), before, std::abs(row.upper)});
    if (!(pivot >= smallest * largest)) smallest = pivot / largest;
  }
  if (!finite || !(growth <= std::numeric_limits<T>::max())) {
    return {std::numeric_limits<double>::quiet_NaN(), 0};
  }
  return {static_cast<double>(growth), static_cast<double>(smallest)};
}

template <typename T>
void Factors<T>::factor(const LineSet& lines, const BandsView<T>& bands, Form form) {
  lines_ = lines;
  shared_ = form == Form::shared && lines.count() > 0;
  const Index size = shared_ ? lines.length(0) : lines.extent();
  multiplier_.resize(size);
  reciprocal_.resize(size);
  coupling_.resize(size);
  pivots_ = {};
  doubtful_.clear();
  for (Index l = 0; l < (shared_ ? 1 : lines.count()); ++l) {
    const Pivots line = factor_line(bands, l);
    if (!line.sound()) doubtful_.push_back(l);
    if (!(line.growth <= pivots_.growth) && !std::isnan(pivots_.growth)) pivots_.growth = line.growth;
    pivots_.smallest = std::min(pivots_.smallest, line.smallest);
  }
  if (shared_ && !doubtful_.empty()) {
    doubtful_.resize(static_cast<std::size_t>(lines.count()));
    std::iota(doubtful_.begin(), doubtful_.end(), Index{0});
  }
}

template class Factors<float>;
template class Factors<double>;

}  // namespace oclspkt

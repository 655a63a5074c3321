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

/// A row as elimination left it, without the couplings to where the sweep came from. One of zeros: none was met yet.
template <typename T>
struct Factors<T>::Pivot {
  ExcessRow<T> row;
  T reciprocal = 0;
};

/// The extremes of one elimination, with divisions only where a record is broken.
template <typename T>
class Factors<T>::Record {
 public:
  /// @param taken  magnitude of what elimination took from the diagonal
  /// @param lower, diag, upper  the row before any elimination
  void see(T taken, const Pivot& pivot, T lower, T diag, T upper) {
    const T left = pivot.row.magnitude(), before = std::abs(diag);
    finite_ = finite_ && std::isfinite(pivot.reciprocal);
    if (!(taken + left <= growth_ * before)) growth_ = (taken + left) / before;
    const T largest = std::max({std::abs(lower), before, std::abs(upper)});
    if (!(left >= smallest_ * largest)) smallest_ = left / largest;
  }
  Pivots pivots() const {
    if (!finite_ || !(growth_ <= std::numeric_limits<T>::max())) {
      return {std::numeric_limits<double>::quiet_NaN(), 0};
    }
    return {static_cast<double>(growth_), static_cast<double>(smallest_)};
  }

 private:
  T growth_ = 0, smallest_ = 1;
  bool finite_ = true;
};

/// Eliminate the last row that was met from the next one.
///
/// A line carries its excess: where couplings are tiny against their row, plain pivots lose |c_i / u_i| <= 1 to
/// rounding (row sums 0, float, 2.6e5 rows: backward error 13 eps instead of 0.3).
/// @param bands  lower couples to where the sweep comes from
template <typename T>
void Factors<T>::eliminate_row(const BandsView<T>& bands, Index line, Index i, Pivot& last, Record& record) {
  const Index at = lines_.first(line) + i * lines_.row_stride(), to = place(at, i);
  const ExcessRow<T> row = make_row(bands.lower[at], bands.diag[at], bands.upper[at], T(0));
  const T multiplier = row.lower * last.reciprocal, taken = std::abs(multiplier * last.row.upper);
  last.row = eliminate_above(last.row, multiplier, row).as_pivot();
  last.reciprocal = T(1) / last.row.diag();
  multiplier_[to] = multiplier;
  reciprocal_[to] = last.reciprocal;
  coupling_[to] = row.upper * last.reciprocal;
  record.see(taken, last, row.lower, bands.diag[at], row.upper);
}

/// Eliminate the rows above and below from the one between them.
template <typename T>
void Factors<T>::meet(const BandsView<T>& bands, Index line, Index i, const Pivot& above, const Pivot& below,
                      Record& record) {
  const Index at = lines_.first(line) + i * lines_.row_stride(), to = place(at, i);
  const ExcessRow<T> row = make_row(bands.lower[at], bands.diag[at], bands.upper[at], T(0));
  const T from_above = row.lower * above.reciprocal, from_below = row.upper * below.reciprocal;
  const T taken = std::abs(from_above * above.row.upper) + std::abs(from_below * below.row.upper);
  Pivot met{eliminate_above(above.row, from_above, row)};
  met.row.upper = eliminate(met.row, from_below, below.row, below.row.upper, below.row.lower);
  met.row = met.row.as_pivot();
  met.reciprocal = T(1) / met.row.diag();
  multiplier_[to] = from_above;
  reciprocal_[to] = met.reciprocal;
  coupling_[to] = from_below;
  record.see(taken, met, row.lower, bands.diag[at], row.upper);
}

template <typename T>
typename Factors<T>::Pivots Factors<T>::factor_line(const BandsView<T>& bands, Index line) {
  const Index length = lines_.length(line);
  if (length == 0) return {};
  const BandsView<T> upside_down{bands.upper, bands.diag, bands.lower};
  const Index meeting = meeting_row(length), rows_below = length - 1 - meeting;
  Pivot above, below;
  Record record;
  for (Index i = 0; i < rows_below; ++i) {
    eliminate_row(bands, line, i, above, record);
    eliminate_row(upside_down, line, length - 1 - i, below, record);
  }
  for (Index i = rows_below; i < meeting; ++i) eliminate_row(bands, line, i, above, record);
  meet(bands, line, meeting, above, below, record);
  return record.pivots();
}

template <typename T>
void Factors<T>::factor(const LineSet& lines, const BandsView<T>& bands, Form form, Order order) {
  lines_ = lines;
  order_ = order;
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

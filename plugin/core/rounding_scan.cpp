// SPDX-License-Identifier: BSD-2-Clause
#include "rounding_scan.hpp"

#include <atomic>
#include <limits>

#include "certificate.hpp"
#include "interface.hpp"

namespace oclspkt {
namespace {

/// Absolute values of a row's numbers, and of the number that elimination subtracts from its diagonal.
struct SweptRow {
  double lower, diag, upper, taken;
  double pivot;  ///< NaN if the pivot is not positive
};

/// Eliminate a row. A pivot that is not positive makes all later results NaN.
template <typename T>
SweptRow eliminate(const SweepRows<T>& rows, Index i, PivotAbove& above) {
  const double sign = rows.diag(i) < 0 ? -1 : 1, a = sign * rows.lower(i), b = sign * rows.diag(i);
  const double c = sign * rows.upper(i), t = std::abs(a) * above.reciprocal, taken = t * std::abs(above.upper);
  double excess = row_excess(rows.lower(i), rows.diag(i), rows.upper(i));
  // If there is no row above, the coupling counts as excess.
  if (above.reciprocal == 0) excess += std::abs(a);
  // If the couplings have opposite signs, the product is added to the diagonal, and the excess grows by twice as much.
  // Otherwise the excess does not change.
  excess += t * above.excess + (a * above.upper < 0 ? 2 * taken : 0);
  const double left = std::abs(c) + excess, pivot = left > 0 ? left : std::numeric_limits<double>::quiet_NaN();
  above = {1 / pivot, c, excess};
  return {std::abs(a), b, std::abs(c), taken, pivot};
}

template <typename T>
void eliminate_rows(const SweepRows<T>& rows, Index begin, Index end, PivotAbove& above) {
  for (Index i = begin; i < end; ++i) eliminate(rows, i, above);
}

/// True if two pivots have converged: they do not depend on the row at which elimination begins.
bool agree(double one, double other) { return std::abs(one - other) <= 1e-9 * std::abs(one); }

}  // namespace

template <typename T>
std::vector<PivotAbove> pivots_above(const SweepRows<T>& rows, Index n, const std::vector<Index>& first) {
  std::vector<PivotAbove> above(first.size());
  std::atomic<bool> known{true};
  for_pieces(static_cast<Index>(first.size()), std::max<Index>(1, kPieceRows / kLeadIn), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const Index to = std::min(n, first[static_cast<std::size_t>(k)]), from = std::max<Index>(0, to - kLeadIn);
      if (to <= 0 || to >= n || rows.lower(to) == 0) continue;  // no coupling to a row above
      PivotAbove from_nothing, from_least;
      // The second sweep starts from the least pivot that a dominant row may have: the size of its upper coupling.
      if (from > 0) {
        const double c = (rows.diag(from - 1) < 0 ? -1.0 : 1.0) * rows.upper(from - 1);
        if (c != 0) from_least = {1 / std::abs(c), c, 0};
      }
      eliminate_rows(rows, from, to, from_nothing);
      if (from > 0) eliminate_rows(rows, from, to, from_least);
      if (from > 0 && !agree(from_nothing.reciprocal, from_least.reciprocal)) known = false;
      above[static_cast<std::size_t>(k)] = from_nothing;
    }
  });
  if (known) return above;
  PivotAbove last;
  Index row = 0;
  for (std::size_t k = 0; k < first.size(); ++k) {
    const Index to = std::min(n, first[k]);
    eliminate_rows(rows, row, to, last);
    row = std::max(row, to);
    if (to > 0) above[k] = last;
  }
  return above;
}

void RoundedRows::resize(Index rows) {
  for (std::vector<double>* v : {&down, &up, &share_down, &share_up, &weight, &local})
    v->resize(static_cast<std::size_t>(rows));
}

template <typename T>
void RoundedRows::fill(const SweepRows<T>& rows, Index first, Index n, PivotAbove& above) {
  for (Index k = 0; k < size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Index i = first + k;
    if (i < 0 || i >= n) {
      down[at] = up[at] = share_down[at] = share_up[at] = weight[at] = local[at] = 0;
      above = {};
      continue;
    }
    const SweptRow row = eliminate(rows, i, above);
    const double sum = row.lower + row.diag + row.upper, of_row = 1 / sum;
    down[at] = row.lower * above.reciprocal;
    up[at] = row.upper * above.reciprocal;
    share_down[at] = row.lower * of_row;
    share_up[at] = row.upper * of_row;
    weight[at] = above.reciprocal * sum;
    // rounding_by_growth() explains these terms.
    local[at] = (8 * row.pivot + 3 * (row.lower + row.upper) + 6 * row.taken) * of_row;
  }
}

void RoundedRows::fill_with(double lower_share, double upper_share, double down_ratio, double up_ratio) {
  std::fill(down.begin(), down.end(), down_ratio);
  std::fill(up.begin(), up.end(), up_ratio);
  std::fill(share_down.begin(), share_down.end(), lower_share / (1 + lower_share));
  std::fill(share_up.begin(), share_up.end(), upper_share / (1 + upper_share));
  const double taken = lower_share * up_ratio;
  std::fill(weight.begin(), weight.end(), (1 + lower_share + upper_share) / (1 - taken));
  std::fill(local.begin(), local.end(), 8 * (1 + taken) + 3 * (lower_share + upper_share) + 6 * taken);
}

void ScanErrors::analyse(const std::vector<double>& ratios, const std::vector<double>& sizes, int items, bool back,
                         double enters) {
  const std::size_t rows = ratios.size(), item_rows = rows / static_cast<std::size_t>(items);
  item_rows_ = item_rows;
  items_.resize(static_cast<std::size_t>(items));
  std::size_t row = 0;
  for (Item& item : items_) {
    double through = 1, twice = 0, size = 1, highest = 0;
    for (std::size_t i = 0; i < item_rows; ++i, ++row) {
      const std::size_t at = back ? rows - 1 - row : row;
      const double ratio = ratios[at];
      size = sizes.empty() ? 1 : sizes[at];
      through *= ratio;
      highest = std::max(highest, through);
      // The sweep from 0 and the sweep from the entering value differ by `through` times that value.
      twice = twice * ratio + 2 * size + through * enters;
    }
    twice += static_cast<double>(item_rows) * through * enters;
    item = {through, twice, enters, size, highest};
    enters = size;
  }
  scan();
}

void ScanErrors::scan() { joints_ == Joints::swept_windows ? scan_windows() : scan_blocks(); }

void ScanErrors::scan_blocks() {
  const int items = static_cast<int>(items_.size());
  const auto of = [&](int k) -> const Item& { return items_[static_cast<std::size_t>(k)]; };
  // A bound on the value of a map that begins with work-item map.begin and ends with work-item k.
  const auto value = [&](int k, const Window& map) { return of(k).leaves + map.factor * of(map.begin).enters; };
  windows_.clear();
  for (int k = 0; k < items; ++k) windows_.push_back({of(k).through, 0, 0, k});
  for (int distance = 1; distance < items; distance *= 4) {
    next_ = windows_;
    for (int k = 0; k < items; ++k) {
      const int block = k / distance, begin = (block - block % 4) * distance;
      if (block % 4 == 0) continue;
      // The previous map ends with work-item `end`, the last work-item of its block. Of earlier maps, only the factors
      // matter.
      Window& mine = next_[static_cast<std::size_t>(k)];
      const int end = block * distance - 1;
      double product = 1;
      for (int b = begin + distance - 1; b <= end; b += distance)
        product *= windows_[static_cast<std::size_t>(b)].factor;
      const double through = mine.factor * product;
      const Window composed{through, 0, 0, begin};
      const double rounded = value(k, composed);
      if (k % distance == 0) {  // this step composes the maps of k and k - 1
        mine = {through, 1, rounded, begin};
      } else {
        const double of_before = of(end).leaves * mine.factor + through * of(begin).enters;
        const Window& beside = next_[static_cast<std::size_t>(k - 1)];
        mine.error += mine.rounds * of_before + rounded + of(k).through * value(k - 1, beside);
        mine = {through, mine.rounds + 2, mine.error, begin};
      }
    }
    windows_ = next_;
  }
  found_.assign(items_.size(), 0);
  for (int k = 1; k < items; ++k) {
    // The map of work-item k - 1 begins with the first work-item and gives the value that enters k.
    const Window& before = windows_[static_cast<std::size_t>(k - 1)];
    found_[static_cast<std::size_t>(k)] = before.error + before.rounds * before.factor * of(0).enters + of(k).enters +
                                          (k > 1 ? of(k - 1).through * of(k - 1).enters : 0);
  }
}

void ScanErrors::scan_windows() {
  const int items = static_cast<int>(items_.size());
  windows_.clear();
  for (int k = 0; k < items; ++k) windows_.push_back({items_[static_cast<std::size_t>(k)].through, 0, 0, k});
  next_ = windows_;
  for (int distance = 1; distance < items; distance *= 4) {
    for (int k = distance; k < items; ++k) {
      Window mine = windows_[static_cast<std::size_t>(k)];
      const double leaves = items_[static_cast<std::size_t>(k)].leaves;
      for (int other = k - distance; other >= 0 && other >= k - 3 * distance; other -= distance) {
        const Window& before = windows_[static_cast<std::size_t>(other)];
        const double begins = items_[static_cast<std::size_t>(before.begin)].enters;
        const double value = items_[static_cast<std::size_t>(other)].leaves + before.factor * begins;
        const double factor = mine.factor * before.factor;
        mine.error += mine.factor * (before.error + mine.rounds * value) + leaves + factor * begins;
        mine.rounds += before.rounds + 1;
        mine.factor = factor;
        mine.begin = before.begin;
      }
      next_[static_cast<std::size_t>(k)] = mine;
    }
    windows_ = next_;
  }
  found_.assign(items_.size(), 0);
  for (std::size_t k = 1; k < items_.size(); ++k) {
    const Window& before = windows_[k - 1];
    found_[k] = before.error + before.factor * before.rounds * items_[0].enters + items_[k].enters;
  }
}

double ScanErrors::joint(int item) const {
  if (item == 0) return 0;
  const auto k = static_cast<std::size_t>(item);
  switch (joints_) {
    case Joints::swept_windows:
      return found_[k] + items_[k - 1].through * found_[k - 1] + items_[k - 1].twice;
    case Joints::swept:
      return found_[k] + items_[k - 1].twice;
    case Joints::taken_off:
      return found_[k] + items_[k - 1].leaves;
  }
  return kNothingKnown;
}

void ScanErrors::correct(double u) {
  const auto rows = static_cast<double>(item_rows_);
  double off = 0;
  for (std::size_t k = 0; k < items_.size(); ++k) {
    Item& item = items_[k];
    const double more = k + 1 < items_.size() ? joint(static_cast<int>(k) + 1) : 0;
    item.drift = 2 * u * item.highest * off;
    const double left = item.through * off;
    // The difference and each product of ratios round once; the corrected value rounds once more.
    item.twice = u * (more + (rows + 2) * left);
    item.enters = u * off;
    item.leaves = u * (off = left + more);
  }
  scan();
}

double ScanErrors::handed() const {
  const Item& last = items_.back();
  // The rounding of the value that enters the last work-item counts twice: for the number passed on, and for the rows.
  const double entered = joints_ == Joints::swept_windows ? found_.back() : last.enters;
  return last.leaves + 2 * last.through * entered + (joints_ == Joints::taken_off ? last.leaves : last.twice);
}

template std::vector<PivotAbove> pivots_above(const SweepRows<float>&, Index, const std::vector<Index>&);
template std::vector<PivotAbove> pivots_above(const SweepRows<double>&, Index, const std::vector<Index>&);
template void RoundedRows::fill(const SweepRows<float>&, Index, Index, PivotAbove&);
template void RoundedRows::fill(const SweepRows<double>&, Index, Index, PivotAbove&);

}  // namespace oclspkt

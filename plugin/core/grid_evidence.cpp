// SPDX-License-Identifier: BSD-2-Clause
#include "grid_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "parallel.hpp"

namespace oclspkt {
namespace {

/// Neighbouring lines that are laid end to end together: as many as a cache line has numbers.
constexpr Index kTogether = 8;

/// Some neighbouring lines of a set, each laid end to end.
template <typename T>
class Column {
 public:
  Column(const LineSet& lines, const BandsView<T>& bands, Index first, Index count) : length_(lines.length(first)) {
    rows_.resize(static_cast<std::size_t>(3 * count * length_));
    const T* const from[] = {bands.lower, bands.diag, bands.upper};
    for (Index array = 0; array < 3; ++array) {
      for (Index i = 0; i < length_; ++i) {
        for (Index l = 0; l < count; ++l) {
          rows_[at(array, l) + static_cast<std::size_t>(i)] =
              from[array][lines.first(first + l) + i * lines.row_stride()];
        }
      }
    }
  }
  BandsView<T> line(Index l) const { return {&rows_[at(0, l)], &rows_[at(1, l)], &rows_[at(2, l)]}; }

 private:
  std::size_t at(Index array, Index line) const { return static_cast<std::size_t>((3 * line + array) * length_); }
  Index length_;
  std::vector<T> rows_;
};

/// One line of the set as a plan for lines laid end to end sees it.
Plan plan_of_line(const Plan& plan, Index length) {
  Plan one;
  one.method = Method::truncated_streamed;
  one.stored = true;
  one.n = length;
  one.m = plan.item_rows;
  one.lanes = static_cast<int>(plan.items / plan.bundle);
  return one;
}

}  // namespace

template <typename T>
GridEvidence certify_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, double tol,
                          double most_growth) {
  GridEvidence all;
  if (plan.n == 0) return all;
  const Index length = lines.length(0);
  const Plan one = plan_of_line(plan, length);
  const bool truncates = plan.method == Method::truncated_streamed;
  const Index count = plan.form == Form::shared ? 1 : lines.count();
  std::mutex mutex;
  for_pieces(quotient_up(count, kTogether), 1 + kPieceRows / (kTogether * length), [&](Index begin, Index end) {
    for (Index first = begin * kTogether; first < std::min(count, end * kTogether); first += kTogether) {
      const Index width = std::min(kTogether, count - first);
      const Column<T> column(lines, bands, first, width);
      for (Index l = 0; l < width; ++l) {
        const Certificate c = certify_stored(one, column.line(l));
        const double bound = truncates ? c.bound : 0 * c.bound;
        const std::lock_guard lock(mutex);
        if (!(bound <= tol) || !(c.growth <= most_growth)) all.weak.push_back(first + l);
        const bool worse = std::isnan(bound) ? !std::isnan(all.worst.bound) : bound > all.worst.bound;
        const double growth = std::max(all.worst.growth, c.growth);
        if (worse || all.line < 0) {
          all.worst = c;
          all.worst.bound = bound;
          all.line = first + l;
        }
        all.worst.growth = growth;
      }
    }
  });
  std::sort(all.weak.begin(), all.weak.end());
  return all;
}

template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<float>&, double, double);
template GridEvidence certify_grid(const Plan&, const LineSet&, const BandsView<double>&, double, double);

}  // namespace oclspkt

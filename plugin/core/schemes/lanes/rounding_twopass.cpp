// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "interface.hpp"
#include "parallel.hpp"
#include "pivot_error.hpp"
#include "schemes/lanes/rounding_joints.hpp"

namespace oclspkt {
namespace {

/// Roundings of the two border equations as they are eliminated, and of their unknowns, if elimination adds no more to
/// a row than the coupling that it removes. More than that counts kOfMore times: in the products with the multiplier,
/// twice where couplings point against each other, in the sums, the excess, the right-hand side and the pivot.
constexpr double kBorder = 20, kOfMore = 12;

/// The equation of a partition's first row while inner rows are eliminated from it, in absolute values.
struct TopRow {
  double outer, diag, coupling;  ///< to the unknown above the partition, and to the row that is eliminated next
  double collected = 0;
};

/// The rows of a system as partitions have them.
template <typename T>
struct PartitionRows {
  struct Row {
    T lower = 0, diag = 1, upper = 0;
    double sum() const { return std::abs(double{lower}) + std::abs(double{diag}) + std::abs(double{upper}); }
  };
  const BandsView<T>& bands;
  Index n, m;

  /// Kernels read rows from n on as identity rows, up to a whole partition: the last row before them is an inner row.
  Row row(Index i) const { return i < n ? Row{bands.lower[i], bands.diag[i], bands.upper[i]} : Row{}; }
  /// Behind the first identity row nothing couples any more.
  Index end(Index first) const { return std::min(n + 1, first + m); }
};

/// Eliminate the inner rows of a partition, first row first, and collect the rounding of each row.
template <typename T>
WorstRow eliminate_inner_rows(const PartitionRows<T>& rows, Index first, double u) {
  WorstRow worst;
  const auto row_sum = [&](Index i) { return rows.row(i).sum(); };
  const Index last = rows.end(first) - 1;
  worst.see(kBorder, first);
  if (last - first < 2) return worst;
  const auto begin = rows.row(first);
  TopRow top{std::abs(double{begin.lower}), std::abs(double{begin.diag}), begin.upper};
  PivotChain chain;
  const auto pivot_of_row = [&](Index i) {
    const auto row = rows.row(i);
    chain.next(row.lower, row.diag, row.upper);
    return chain.pivot;
  };
  double pivot = pivot_of_row(first + 1), to_top = rows.row(first + 1).lower, above = 0, taken = 0;
  for (Index i = first + 1; i < last; ++i) {
    const double c = rows.row(i).upper, below = rows.row(i + 1).lower,
                 size = std::abs(pivot) + std::abs(c) + std::abs(to_top);
    worst.see((4 * (std::abs(pivot) + std::abs(c)) + 7 * (std::abs(to_top) + above) + 3 * taken) / row_sum(i), i);
    const double t = top.coupling / pivot, s = below / pivot;
    const double added = std::abs(t) * size, filled = std::abs(t * c);
    top.diag += std::abs(t * to_top);
    // A sum changes by no more than the number added to it, even if that is rounded away.
    top.collected += 3 * added + 4 * std::abs(top.coupling) + 2 * filled +
                     std::min(2 * top.diag + top.outer + filled, 2 * added / u);
    top.coupling = -t * c;
    above = std::abs(below);
    taken = std::abs(s * c);
    to_top = -s * to_top;
    pivot = pivot_of_row(i + 1);
  }
  worst.see(kBorder + top.collected / row_sum(first), first);
  worst.see(kBorder + (4 * std::abs(pivot) + 7 * (std::abs(to_top) + above) + 3 * taken) / row_sum(last), last);
  return worst;
}

/// The rounding beyond kBorder by elimination among the border equations of all partitions, as ReducedSystem does it.
template <typename T>
WorstRow eliminate_borders(const PartitionRows<T>& rows, Index partitions) {
  const auto make = [&](Index i) {
    const auto row = rows.row(i);
    return make_row<double>(row.lower, row.diag, row.upper, 0);
  };
  std::vector<SchurSegment<double>> segments(static_cast<std::size_t>(partitions));
  for_pieces(partitions, std::max<Index>(1, kPieceRows / rows.m), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      SchurSegment<double>& segment = segments[static_cast<std::size_t>(k)];
      segment = begin_segment(make(k * rows.m));
      for (Index i = k * rows.m + 1; i < rows.end(k * rows.m); ++i) append_row(segment, make(i));
    }
  });
  WorstRow worst;
  ExcessRow<double> above;  // a row of zeros: the first row has nothing to eliminate
  above.excess = 1;
  const auto eliminate_row = [&](const ExcessRow<double>& row, Index i) {
    const double t = row.lower / above.diag(), more = std::abs(t * above.upper) - std::abs(row.lower);
    if (!(more <= 0)) worst.see(kOfMore * more / rows.row(i).sum(), i);
    above = eliminate_above(above, t, row).as_pivot();
  };
  for (Index k = 0; k < partitions; ++k) {
    const SchurSegment<double>& segment = segments[static_cast<std::size_t>(k)];
    if (!segment.single) eliminate_row(segment.top, k * rows.m);
    eliminate_row(segment.bottom, rows.end(k * rows.m) - 1);
  }
  return worst;
}

}  // namespace

template <typename T>
Rounding bound_twopass(const Plan& plan, const BandsView<T>& bands, double dominance) {
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const PartitionRows<T> rows{bands, plan.n, plan.m};
  std::vector<WorstRow> found(static_cast<std::size_t>(plan.partitions()));
  for_pieces(plan.partitions(), std::max<Index>(1, kPieceRows / plan.m), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      found[static_cast<std::size_t>(k)] = eliminate_inner_rows(rows, k * plan.m, u);
    }
  });
  WorstRow worst;
  for (const WorstRow& partition : found) worst.see(partition);
  if (dominance >= 1 || !(worst.bound().eps <= kLargestRounding)) return worst.bound();
  const WorstRow borders = eliminate_borders(rows, plan.partitions());
  return {(worst.error + borders.error) / 2, borders.error <= worst.error ? worst.row : borders.row};
}

template Rounding bound_twopass(const Plan&, const BandsView<float>&, double);
template Rounding bound_twopass(const Plan&, const BandsView<double>&, double);

}  // namespace oclspkt

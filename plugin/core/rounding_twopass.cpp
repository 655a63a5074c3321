// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "pivot_error.hpp"
#include "rounding_joints.hpp"

namespace oclspkt {
namespace {

/// What a partition does to a row at most, in units of eps / 2 of the row.
struct PartitionWorst {
  double bound = 0;
  Index row = -1;
  void see(double value, Index at) {
    if (value <= bound || std::isnan(bound)) return;
    bound = value;
    row = at;
  }
};

/// Roundings of the two border equations as they are eliminated, and of their unknowns.
constexpr double kBorder = 20;

/// The equation of a partition's first row while inner rows are eliminated from it, in absolute values.
struct TopRow {
  double outer, diag, coupling;  ///< to the unknown above the partition, and to the row that is eliminated next
  double collected = 0;
};

/// Eliminate the inner rows of a partition, first row first, and collect what each row rounds.
template <typename T>
PartitionWorst eliminate_inner_rows(const BandsView<T>& bands, Index first, Index end, double u) {
  PartitionWorst worst;
  const auto row_sum = [&](Index i) {
    return std::abs(double{bands.lower[i]}) + std::abs(double{bands.diag[i]}) + std::abs(double{bands.upper[i]});
  };
  const Index last = end - 1;
  worst.see(kBorder, first);
  if (last - first < 2) return worst;
  TopRow top{std::abs(double{bands.lower[first]}), std::abs(double{bands.diag[first]}), bands.upper[first]};
  PivotChain chain;
  const auto pivot_of_row = [&](Index i) {
    chain.next(bands.lower[i], bands.diag[i], bands.upper[i]);
    return chain.pivot;
  };
  double pivot = pivot_of_row(first + 1), to_top = bands.lower[first + 1], above = 0, taken = 0;
  for (Index i = first + 1; i < last; ++i) {
    const double c = bands.upper[i], size = std::abs(pivot) + std::abs(c) + std::abs(to_top);
    worst.see((4 * (std::abs(pivot) + std::abs(c)) + 7 * (std::abs(to_top) + above) + 3 * taken) / row_sum(i), i);
    const double t = top.coupling / pivot, s = bands.lower[i + 1] / pivot;
    const double added = std::abs(t) * size, filled = std::abs(t * c);
    top.diag += std::abs(t * to_top);
    // A sum changes by no more than what is added to it, be that rounded away.
    top.collected += 3 * added + 4 * std::abs(top.coupling) + 2 * filled +
                     std::min(2 * top.diag + top.outer + filled, 2 * added / u);
    top.coupling = -t * c;
    above = std::abs(double{bands.lower[i + 1]});
    taken = std::abs(s * c);
    to_top = -s * to_top;
    pivot = pivot_of_row(i + 1);
  }
  worst.see(kBorder + top.collected / row_sum(first), first);
  worst.see(kBorder + (4 * std::abs(pivot) + 7 * (std::abs(to_top) + above) + 3 * taken) / row_sum(last), last);
  return worst;
}

}  // namespace

template <typename T>
Rounding bound_twopass(const Plan& plan, const BandsView<T>& bands) {
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  std::vector<PartitionWorst> found(static_cast<std::size_t>(plan.partitions()));
  for_pieces(plan.partitions(), std::max<Index>(1, kPieceRows / plan.m), [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      found[static_cast<std::size_t>(k)] =
          eliminate_inner_rows(bands, k * plan.m, std::min(plan.n, (k + 1) * plan.m), u);
    }
  });
  PartitionWorst worst;
  for (const PartitionWorst& partition : found) worst.see(partition.bound, partition.row);
  return {worst.bound / 2, worst.row};
}

template Rounding bound_twopass(const Plan&, const BandsView<float>&);
template Rounding bound_twopass(const Plan&, const BandsView<double>&);

}  // namespace oclspkt

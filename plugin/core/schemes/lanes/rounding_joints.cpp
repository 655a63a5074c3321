// SPDX-License-Identifier: BSD-2-Clause

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "pivot_error.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "sweep_rows.hpp"

namespace oclspkt {
namespace {

/// The row above the current row, after elimination. All numbers but c are absolute values. Notation: rounding.hpp.
struct RowAbove {
  PivotChain chain;
  double c = 0;  ///< scaled coupling c p, with its sign
  double pivot = 0;
  double upper = 0;
  double row = 1;                                ///< row sum |A|
  double size() const { return pivot + upper; }  ///< bound on the result |d| of the sweep down, in units of max |x|
};

/// A row after elimination, in absolute values.
struct RowSwept {
  double lower, diag, pivot, upper;
  double multiplier;  ///< |a p|, where p is the reciprocal pivot of the row above
  double taken;       ///< |a c p|, subtracted from the diagonal
  double coupling;    ///< scaled coupling |c p|
  double share;       ///< 1 / row sum
  double row() const { return lower + diag + upper; }
  /// The rounding of a row that is swept, once or twice, see rounding_by_growth().
  double swept() const { return (8 * pivot + 3 * upper + 3 * lower + 6 * taken) * share; }
  /// The rounding of a row that is swept and from which a correction is subtracted, counted like swept().
  double corrected() const { return (11 * pivot + 6 * upper + 9 * lower + 5 * taken) * share; }
};

template <typename T>
RowSwept sweep_row(const SweepRows<T>& rows, Index i, RowAbove& above) {
  const double lower = std::abs(double{rows.lower(i)}), diag = std::abs(double{rows.diag(i)}), upper = rows.upper(i);
  const EliminatedRow left = above.chain.next(rows.lower(i), rows.diag(i), rows.upper(i));
  RowSwept row{lower, diag, left.size, std::abs(upper), left.ratio, std::abs(left.taken), 0, 0};
  const double c = upper * above.chain.reciprocal;
  row.share = 1 / row.row();
  row.coupling = std::abs(c);
  above = {above.chain, c, row.pivot, row.upper, row.row()};
  return row;
}

/// Follows the rounding of a partition, from its first row on.
class Partition {
 public:
  Partition() = default;
  explicit Partition(const RowAbove& above) : entering_(above.size()) {}
  void see(const RowSwept& row) {
    product_ = times(product_, row.multiplier);
    const double entered = product_ * entering_;
    sum_ = times(sum_, row.multiplier) + 2 * (row.pivot + row.upper) + entered;
    weight_ = larger(weight_, product_ * row.share);
    up_sum_ += up_;
    up_ = times(up_, row.coupling);
    ++rows_;
  }
  /// The difference between the two sweeps down in the result of the last row.
  double down() const { return sum_ + static_cast<double>(rows_ + 2) * product_ * entering_; }
  /// The difference between the two sweeps up in the first row's unknown.
  double up() const { return 2 * up_sum_ + static_cast<double>(2 * rows_ + 2) * up_ + 1; }
  /// The product of all multipliers of the partition.
  double through() const { return product_; }
  /// The size of the result of the row above the partition.
  double entering() const { return entering_; }
  /// The largest product of multipliers from the first row to any row, divided by the size of that row.
  double weight() const { return weight_; }

 private:
  double entering_ = 0, product_ = 1, sum_ = 0, weight_ = 0;
  double up_ = 1, up_sum_ = 0;
  Index rows_ = 0;
};

/// The largest |c p| that still counts as at most 1.
constexpr double kNotGrown = 1 + 1e-9;

/// The number of roundings that subtracting a correction adds to its row and the next row. They are of the correction,
/// of its product and its sum, and of the product and the sum in the division that follows.
constexpr double kTakenOff = 9;

struct Handed {
  RowAbove above;
  double joint = 0;  ///< Partition::down() of the partition before, plus the rounding of its last row
  WorstRow swept, joints, corrected;
  bool shrinks = true;  ///< every |c p| is at most 1
  void begin_piece() {
    swept = joints = corrected = {};
    shrinks = true;
  }
  bool agrees(const Handed& other) const {
    constexpr double kForgotten = 1e-12;
    return std::abs(above.c - other.above.c) <= kForgotten * std::abs(above.c);
  }
};

struct Kept {
  double down = 0, through = 0, weight = 0;
};

template <typename T>
void see_partitions(const Plan& plan, const SweepRows<T>& rows, Index begin, Index end, Handed& h, Kept* kept) {
  for (Index first = begin, after = 0; first < end; first = after) {
    after = std::min({end, first + plan.m, plan.n});
    const RowAbove before = h.above;
    Partition partition(before);
    RowSwept of_first{};
    for (Index i = first; i < after; ++i) {
      const RowSwept row = sweep_row(rows, i, h.above);
      partition.see(row);
      h.swept.see(row.swept(), i);
      h.corrected.see(row.corrected(), i);
      h.shrinks = h.shrinks && row.coupling <= kNotGrown;
      if (i == first) of_first = row;
    }
    if (first > 0) h.joints.see(before.upper * partition.up() / before.row, first - 1);
    // The error that the sweep up leaves in the row above enters the first row, times the first row's multiplier.
    const double from_above = h.joint + before.upper * partition.up();
    h.joints.see(of_first.swept() + of_first.multiplier * from_above * of_first.share, first);
    h.joint = partition.down() + h.above.size();
    if (kept != nullptr) kept[first / plan.m] = {partition.down(), partition.through(), partition.weight()};
  }
}

/// The rounding of the corrections e_(k+1) = s_k + P_k e_k of JointRounding. The corrections also increase the results
/// D_j to second order; twice the bound of s_k covers this increase.
double passed_down(const std::vector<Kept>& kept, double u) {
  double passed = 0, worst = 0;
  for (const Kept& k : kept) {
    worst = larger(worst, kTakenOff * u * passed * k.weight);
    passed = 2 * k.down + k.through * passed;
  }
  return worst;
}

Rounding in_eps(const WorstRow& worst, double more = 0) { return {(worst.error + more) / 2, worst.row}; }

constexpr Rounding kNone{std::numeric_limits<double>::infinity(), -1};

/// The results of one piece of the sweep from one end of the system.
struct Taken {
  RowAbove above;
  Partition partition;
  WorstRow rows;
  /// grown: the largest product of |c p| over successive rows up to a partition's last row. growing: the largest
  /// product up to the current row. Both limit the ratio of corrections to results in the sweep up.
  double grown = 1, growing = 0;
  void begin_piece() {
    rows = {};
    grown = 1;
  }
  bool agrees(const Taken& other) const { return std::abs(above.c - other.above.c) <= 1e-12 * std::abs(above.c); }
};

/// The rounding errors of the rows on one side of the meeting tile, and Taken::grown.
struct SideErrors {
  WorstRow rows;
  double grown = 1;
};

template <typename T>
SideErrors see_side(const Plan& plan, const BandsView<T>& bands, bool up) {
  const Index meeting = std::min(plan.n, plan.as<Sides>().meeting * plan.tile_rows());
  const SweepRows<T> rows(bands, plan.n, up);
  const Index last = up ? plan.n - meeting : meeting;
  // The sweep from below begins inside the last partition, after the rows that pad it.
  const Index filled = up ? plan.partitions() * plan.m - plan.n : 0;
  const auto row_of = [&](Index i) { return (filled + i) % plan.m; };
  const std::vector<Taken> pieces =
      sweep_down<Taken>(last, kPieceRows, kLeadIn + plan.m, [&](Index first, Index end, Taken& h, bool) {
        for (Index i = first; i < end; ++i) {
          const bool begin = i == 0 || row_of(i) == 0;
          // The correction of the last row above is computed twice, once to be stored and once to be passed on.
          const double handed = begin ? h.partition.through() * h.partition.entering() : 0;
          if (begin) h.partition = Partition(h.above);
          const RowSwept row = sweep_row(rows, i, h.above);
          h.partition.see(row);
          h.growing = row.coupling * std::max(1.0, row_of(i) == 0 ? 0 : h.growing);
          if (i + 1 == last || row_of(i + 1) == 0) h.grown = larger(h.grown, h.growing);
          const double taken_off = h.partition.through() * h.partition.entering() + row.multiplier * handed;
          h.rows.see(row.corrected() + kTakenOff * taken_off * row.share, rows.at(i));
        }
      });
  SideErrors found;
  for (const Taken& piece : pieces) {
    found.rows.see(piece.rows);
    found.grown = larger(found.grown, piece.grown);
  }
  return found;
}

}  // namespace

template <typename T>
JointRounding bound_stored_joints(const Plan& plan, const BandsView<T>& bands) {
  const SweepRows<T> rows(bands, plan.n, false);
  std::vector<Kept> kept(static_cast<std::size_t>(plan.partitions()));
  const std::vector<Handed> pieces =
      sweep_down<Handed>(plan.n, round_up(kPieceRows, plan.m), round_up(kLeadIn, plan.m),
                         [&](Index first, Index end, Handed& h, bool keep) {
                           see_partitions(plan, rows, first, end, h, keep ? kept.data() : nullptr);
                         });
  WorstRow swept, joints, corrected;
  bool shrinks = true;
  for (const Handed& h : pieces) {
    swept.see(h.swept);
    joints.see(h.joints);
    corrected.see(h.corrected);
    shrinks = shrinks && h.shrinks;
  }
  const double own = swept.error;
  JointRounding found{in_eps(joints, own), kNone};
  if (!(joints.error >= 0)) found.plain = kNone;
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  if (shrinks) found.corrected = in_eps(corrected, passed_down(kept, u));
  return found;
}

template <typename T>
Rounding bound_taken_off(const Plan& plan, const BandsView<T>& bands) {
  SideErrors sides[2];
  for_pieces(2, 1, [&](Index side, Index) { sides[side] = see_side(plan, bands, side == 1); });
  WorstRow worst = sides[0].rows;
  worst.see(sides[1].rows);
  worst.error *= larger(sides[0].grown, sides[1].grown);
  return in_eps(worst);
}

double rounding_of_joints(const Survey& survey, Index m) {
  const double by_dominance = survey.dominance >= kSurveyedDominance ? rounding_by_dominance(survey.dominance)
                                                                     : std::numeric_limits<double>::infinity();
  if (!shrinks(survey)) return by_dominance;
  const double rows = static_cast<double>(m), ratio = std::min(1.0, 1 / survey.decay());
  const double left = std::pow(ratio, rows), sum = ratio < 1 ? (1 - left) / (1 - ratio) : rows;
  const double lower = survey.lower_share / (1 + survey.lower_share);
  const double upper = survey.upper_share / (1 + survey.upper_share);
  const double down = lower * (1 + ratio) * (3 * sum + (rows + 2) * left + 1);
  const double up = upper * (2 * sum + (2 * rows + 2) * left + 1);
  constexpr double kOwn = 11;
  return std::min(by_dominance, (kOwn + std::max(down, up)) / 2);
}

template JointRounding bound_stored_joints(const Plan&, const BandsView<float>&);
template JointRounding bound_stored_joints(const Plan&, const BandsView<double>&);
template Rounding bound_taken_off(const Plan&, const BandsView<float>&);
template Rounding bound_taken_off(const Plan&, const BandsView<double>&);

}  // namespace oclspkt

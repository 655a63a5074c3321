// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "borders.hpp"
#include "oclspkt/bands.hpp"
#include "scalars.hpp"

namespace oclspkt {

/// The equations of a part's top and bottom row after elimination of its inner rows, in double:
///     above x_above + tt x_t + tb x_b = g_t,   bt x_t + bb x_b + below x_below = g_b
/// A part of one row between two other parts has one equation: above x_above + tt x_t + below x_below = g_t.
template <typename T>
struct ReducedPart {
  Doubled<T> above = 0, tt = 0, tb = 0;
  Doubled<T> bt = 0, bb = 0, below = 0;
  double top_made_of = 0, bottom_made_of = 0;  ///< the numbers of which tt and bb are made, see PivotedRow::made_of
};

/// A line, or the part of a line that this process holds.
struct PartSlot {
  Index line = 0;
  bool above = false, below = false;  ///< whether the line has a part above, below this part
  Index top = -1, bottom = -1;        ///< offsets of the rows next to the cuts; equal for a part of one row
  Index first = 0, last = -1;         ///< offsets of the first and the last inner row
  bool has_inner() const { return first <= last; }
  bool one_row() const { return above && below && top == bottom; }
  /// How many unknowns the part has in the interface system.
  int unknowns() const { return static_cast<int>(above) + static_cast<int>(below) - static_cast<int>(one_row()); }
};

/// The size and the error of a part's spikes p and q, see CutParts. NaN or Inf if a spike is not finite.
struct SpikeFacts {
  double size = 0;   ///< max over inner rows of |p_i| + |q_i|
  double error = 0;  ///< max over inner rows of the residuals of p and q together, relative to |A_i|, in eps of T
};

/// The parts of cut lines on one process. The rows next to cuts are t at the top of a part and b at the bottom.
/// CutParts eliminates the inner rows from the equations of t and b, and corrects the inner rows later.
///
/// If x_t and x_b are known, the inner rows are an independent system. The rows next to cuts stay in the bands without
/// couplings. Any solver of the whole set then computes z = A_inner^-1 y on the inner rows. CutParts stores the spikes
/// p = A_inner^-1 (coupling to t) and q = A_inner^-1 (coupling to b). The equations in x_t and x_b are made from z, p
/// and q. The correction x = z - p x_t - q x_b uses the same numbers.
///
/// Lines side by side form a bundle; a bundle with a cut line has a slot for each of its lines.
/// @source Polizzi and Sameh 2006 (SPIKE), with inner rows in place of whole partitions
template <typename T>
class CutParts {
 public:
  /// @param above, below shape [lines.count()]: whether the line has a part above, below
  void reset(const LineSet& lines, const std::vector<char>& above, const std::vector<char>& below);

  Index slots() const { return static_cast<Index>(slots_.size()); }
  const PartSlot& slot(Index s) const { return slots_[static_cast<std::size_t>(s)]; }
  /// The slot of a line; -1 if the line has no slot.
  Index slot_of(Index line) const;

  /// Replaces the row at offset `at` of the bands, see SolvedBands::overlay().
  using Overlay = std::function<void(Index at, T lower, T diag, T upper)>;
  /// Save the rows next to cuts, and replace them in the bands by rows that are not coupled to the inner rows.
  /// @param bands  the bands that `overlay` changes
  void uncouple_cuts(const BandsView<T>& bands, const Overlay& overlay);

  /// Compute the spikes from the rows near the cuts alone, if dominance makes them decay below rounding in these rows.
  /// @param bands      the bands after uncouple_cuts()
  /// @param dominance  the least dominance of all rows of the slots
  /// @return true if the spikes of all slots were computed
  /// @post reduced() and spikes() are valid
  bool find_decaying_spikes(const BandsView<T>& bands, double dominance);
  /// Clear spikes that find_decaying_spikes() computed. @param left_out shape [slots]; true: clear the slot's spikes
  void leave_out(const std::vector<char>& left_out);
  /// Compute the spikes by two solves with the inner rows.
  /// @param left_out  shape [slots]; true: skip the slot
  /// @post reduced() is valid
  void find_spikes(const std::function<void(const T*, T*)>& solve, const std::vector<char>& left_out);
  /// Compute the size and the error of the spikes that find_spikes() computed.
  /// @param bands  the bands after uncouple_cuts()
  /// @post spikes() is valid
  void measure_spikes(const BandsView<T>& bands, const std::vector<char>& left_out);
  ReducedPart<T> reduced(Index s) const;
  const SpikeFacts& spikes(Index s) const { return spike_facts_[static_cast<std::size_t>(s)]; }
  /// Keep each bundle's spikes up to the last number above `threshold`, and free the remaining numbers.
  void keep_spikes(double threshold);
  /// Free the memory that an apply does not need. @post reduced() and spikes() are not valid
  void drop_equations() {
    edges_ = {};
    spike_facts_ = {};
  }
  /// The largest number of rows that one spike corrects.
  Index spike_rows() const;

  /// Compute the right-hand sides of the equations in x_t, x_b. A part of one row with a part above it has no g_b.
  /// @param y  right-hand side
  /// @param z  solution of the inner rows
  void right_hand_sides(const T* y, const T* z);
  /// Compute the right-hand sides from numbers().
  /// @pre Borders::take() has filled numbers(), shape [4][slots()]
  void right_hand_sides();
  void spoil_right_hand_sides();
  T* numbers() { return numbers_.data(); }
  /// The layout for Borders, with pointers to the spikes of this object.
  BorderLayout<T> border_layout() const;
  /// The result of right_hand_sides(). Shape [2][slots()]: rows next to the cuts above, then below.
  const T* g() const { return g_.data(); }
  /// The unknowns of the rows next to cuts, in the layout of g(). The caller fills them before correct(), with 0 where
  /// a slot has no cut.
  T* unknowns() { return unknowns_.data(); }
  /// Compute x = z - p x_t - q x_b on the inner rows, and x = x_t, x = x_b next to cuts.
  /// @return false if an unknown next to a cut is not finite
  /// @cost 4 words for each row that a spike reaches
  bool correct(T* x) const;
  std::int64_t bytes() const;

 private:
  /// The couplings at a slot's cuts, copied from the bands.
  struct Edge {
    T top[3], bottom[3];                 ///< lower, diag, upper of the top and the bottom row
    T first_lower, last_upper;           ///< couplings of the inner rows to the rows next to cuts
    T p_first, p_last, q_first, q_last;  ///< spikes at the first and the last inner row
  };
  struct Bundle {
    Index first_slot, wide;
    Index first, length;           ///< offset of the first row of the first line; rows of a line
    Index p_rows = 0, q_rows = 0;  ///< how many rows are stored: the first rows of p, the last rows of q
    Index p_at = 0, q_at = 0;      ///< offsets of p and q in spikes_
  };
  void find_near_spikes(const BandsView<T>& bands, std::size_t slot);
  void measure_rows(const BandsView<T>& bands, const Bundle& b, Index begin, Index end, Index first_line,
                    Index end_line, SpikeFacts* facts) const;

  LineSet lines_;
  std::vector<PartSlot> slots_;
  std::vector<Bundle> bundles_;
  std::vector<Edge> edges_;
  std::vector<SpikeFacts> spike_facts_;
  Index near_rows_ = 0;     ///< rows of a spike in p_ and q_, counted from the cut; 0: all rows
  AlignedArray<T> p_, q_;   ///< the spikes until keep_spikes(): shape [near_rows_][slots] or [extent]
  AlignedArray<T> spikes_;  ///< one bundle after the other; rows outer, lines inner
  RowsNextToCuts rows_;
  AlignedArray<T> couplings_;     ///< shape [2][slots()]: couplings of the rows next to cuts to the inner rows, or 0
  AlignedArray<T> g_, unknowns_;  ///< shape [2][slots()]
  AlignedArray<T> numbers_;       ///< shape [4][slots()], see Borders::take()
};

}  // namespace oclspkt

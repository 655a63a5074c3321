// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "borders.hpp"
#include "oclspkt/bands.hpp"

namespace oclspkt {

/// The equations of a part's top and bottom row when its inner rows are eliminated, in double:
///     above x_above + tt x_t + tb x_b = g_t,   bt x_t + bb x_b + below x_below = g_b
/// A part of one row that lies between two others has the one equation above x_above + tt x_t + below x_below = g_t.
struct ReducedPart {
  double above = 0, tt = 0, tb = 0;
  double bt = 0, bb = 0, below = 0;
  double top_made_of = 0, bottom_made_of = 0;  ///< the larger operand of the differences tt, bb; see PivotedRow
};

/// A line, or the part of a line that this process holds.
struct PartSlot {
  Index line = 0;
  bool above = false, below = false;  ///< whether there is a part above, below
  Index top = -1, bottom = -1;        ///< offsets of the rows next to the cuts; equal for a part of one row
  Index first = 0, last = -1;         ///< offsets of the first and the last inner row
  bool has_inner() const { return first <= last; }
  bool one_row() const { return above && below && top == bottom; }
  /// How many unknowns the part has in the interface system.
  int unknowns() const { return static_cast<int>(above) + static_cast<int>(below) - static_cast<int>(one_row()); }
};

/// The size and the error of a part's spikes. NaN or Inf if a spike is not finite.
struct SpikeFacts {
  double size = 0;   ///< max over inner rows of |p_i| + |q_i|
  double error = 0;  ///< max over inner rows of the residuals of p and q together, relative to |A_i|, in eps of T
};

/// The parts of cut lines on one process: eliminates inner rows from the rows next to cuts, and corrects them later.
///
/// Inner rows are an independent system once x_t and x_b are known. The vector keeps its layout: the bands hold the
/// rows next to a cut uncoupled, so that any solver of the whole set gives z = A_inner^-1 y on the inner rows. The
/// spikes p = A_inner^-1 (coupling to t) and q = A_inner^-1 (coupling to b) are stored. The correction
/// x = z - p x_t - q x_b uses the same numbers from which the equations in x_t and x_b are made.
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
  /// The slot of a line, -1 if it has none.
  Index slot_of(Index line) const;

  /// Solve another row of the bands in the place of the one at `at`, see SolvedBands::overlay().
  using Overlay = std::function<void(Index at, T lower, T diag, T upper)>;
  /// Keep the numbers of the rows next to cuts, and lay rows that are not coupled to the inner rows over them.
  /// @param bands  which `overlay` changes
  void uncouple_cuts(const BandsView<T>& bands, const Overlay& overlay);

  /// Find the spikes without a solve of all inner rows, if dominance makes them decay to nothing near the cuts.
  /// @param bands      with uncoupled cuts
  /// @param dominance  the least of all rows of the slots
  /// @return true if they are found, for all slots
  /// @post reduced() and spikes() are valid
  bool find_decaying_spikes(const BandsView<T>& bands, double dominance);
  /// Clear the spikes of some slots that find_decaying_spikes() found. @param left_out shape [slots]
  void leave_out(const std::vector<char>& left_out);
  /// Find the spikes of all slots but those of `left_out`, shape [slots], by two solves with the inner rows.
  /// @post reduced() is valid
  void find_spikes(const std::function<void(const T*, T*)>& solve, const std::vector<char>& left_out);
  /// Find the size and the error of the spikes that find_spikes() found.
  /// @param bands  with uncoupled cuts
  /// @post spikes() is valid
  void measure_spikes(const BandsView<T>& bands, const std::vector<char>& left_out);
  ReducedPart reduced(Index s) const;
  const SpikeFacts& spikes(Index s) const { return spike_facts_[static_cast<std::size_t>(s)]; }
  /// Keep each bundle's spikes up to the last row larger than `threshold`, and free the rest.
  void keep_spikes(double threshold);
  /// Give back what an apply does not need. @post reduced() and spikes() are not valid
  void drop_equations() {
    edges_ = {};
    spike_facts_ = {};
  }
  /// Most rows corrected from one side.
  Index spike_rows() const;

  /// Compute the right-hand sides of the equations in x_t, x_b. g_b of a part of one row with a part above is not used.
  /// @param y right-hand side, z the solution of the inner rows
  void right_hand_sides(const T* y, const T* z);
  /// Compute the right-hand sides from numbers(), shape [4][slots()], which Borders::take() fills before.
  void right_hand_sides();
  /// Set the right-hand sides to NaN.
  void spoil_right_hand_sides();
  T* numbers() { return numbers_.data(); }
  /// The layout for Borders; it points to the spikes of this object.
  BorderLayout<T> border_layout() const;
  /// The result of right_hand_sides(), next to the cuts above, then below. Shape [2][slots()]
  const T* g() const { return g_.data(); }
  /// Unknowns in the same places, to be filled before correct(); 0 where a slot has none.
  T* unknowns() { return unknowns_.data(); }
  /// x = z - p x_t - q x_b on the inner rows, x_t and x_b on the others.
  /// @return false if an unknown next to a cut is not finite
  /// @cost 4 words a row that the spikes reach
  bool correct(T* x) const;
  std::int64_t bytes() const;

 private:
  /// Couplings taken from the bands.
  struct Edge {
    T top[3], bottom[3];                 ///< lower, diag, upper
    T first_lower, last_upper;           ///< of the inner rows
    T p_first, p_last, q_first, q_last;  ///< spikes at the first and the last inner row
  };
  struct Bundle {
    Index first_slot, wide;
    Index first, length;           ///< offset of the first row of the first line; rows
    Index p_rows = 0, q_rows = 0;  ///< rows of p from the first inner row on, rows of q up to the last
    Index p_at = 0, q_at = 0;      ///< in spikes_
  };
  void find_near_spikes(const BandsView<T>& bands, std::size_t slot);
  void measure_rows(const BandsView<T>& bands, const Bundle& b, Index begin, Index end, Index first_line,
                    Index end_line, SpikeFacts* facts) const;

  LineSet lines_;
  std::vector<PartSlot> slots_;
  std::vector<Bundle> bundles_;
  std::vector<Edge> edges_;
  std::vector<SpikeFacts> spike_facts_;
  Index near_rows_ = 0;     ///< rows of a spike in p_ and q_, from the cut on; 0: all rows
  AlignedArray<T> p_, q_;   ///< shape [near_rows_][slots] or [extent]; from when spikes are found to keep_spikes()
  AlignedArray<T> spikes_;  ///< bundle by bundle: rows outer, lines inner
  RowsNextToCuts rows_;
  AlignedArray<T> couplings_;  ///< shape [2][slots()]: of the rows next to cuts to the inner rows; 0 if there are none
  AlignedArray<T> g_, unknowns_;  ///< shape [2][slots()]
  AlignedArray<T> numbers_;       ///< shape [4][slots()]: y next to the cuts above and below, z beside them
};

}  // namespace oclspkt

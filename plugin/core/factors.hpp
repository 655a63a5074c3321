// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>
#include <vector>

#include "interface.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"

namespace oclspkt {

/// The order in which the rows of a line are eliminated.
///   down     from the first row to the last
///   inwards  from both ends to the middle row. The two chains of operations overlap, which halves the time of a single
///            line
///   towards  from both ends of the system to a named row: lines above it are eliminated down, lines below it up
enum class Order { down, inwards, towards };

/// Read-only factors of rows with couplings a (lower) and c (upper). Shape [lines.extent()] in the layout of the
/// vectors, or [length of a line] if all lines share them. The meeting row of a line is the row that is eliminated
/// last. Rows below it are eliminated upwards, with a and c exchanged. The meeting row has no coupling. It has two
/// multipliers, for the rows above and below it. The order decides where the multiplier for the row below is stored:
///   inwards  in `coupling` of the meeting row, as c_i p_(i+1)
///   towards  in `multiplier` of the meeting row, for the line of the named row and for each line below it. The named
///            row has reciprocal 0 and coupling -1, so that substitution does not change its unknown, see Meeting
template <typename T>
struct FactorsView {
  const T* multiplier = nullptr;  ///< multipliers a_i p_(i-1)
  const T* reciprocal = nullptr;  ///< p_i = 1 / u_i, u_i the pivot
  const T* coupling = nullptr;    ///< scaled couplings c_i p_i
  Index above = 0;  ///< symmetric form: distance to the row above, where `multiplier` holds couplings; else 0
  /// The multiplier of a row that is not the first of its line.
  T multiplier_at(Index at) const { return multiplier[at - above]; }
};

/// Factors in memory. The symmetric form stores no multipliers.
template <typename S>
struct FactorArrays {
  AlignedArray<S> multiplier, reciprocal, coupling;

  void resize(Index words, bool symmetric) {
    multiplier.resize(symmetric ? 0 : words);
    reciprocal.resize(words);
    coupling.resize(words);
  }
  FactorsView<S> view() const { return {multiplier.data(), reciprocal.data(), coupling.data()}; }
  std::int64_t bytes() const { return multiplier.bytes() + reciprocal.bytes() + coupling.bytes(); }
};

/// Allocate `in` and free `other`.
template <typename S, typename Other>
void make_room(FactorArrays<S>& in, FactorArrays<Other>& other, Index words, bool symmetric) {
  other = {};
  in.resize(words, symmetric);
}

template <typename T>
struct PivotExtremes;

/// The factors of Thomas' algorithm without pivoting. The pivots u_i = diag_i - a_i c_(i-1) p_(i-1) are formed without
/// subtraction (ExcessRow). The sweeps are d_i = y_i - (a_i p_(i-1)) d_(i-1) and x_i = d_i p_i - (c_i p_i) x_(i+1).
template <typename T>
class OCLSPKT_API Factors {
 public:
  /// The rounding bound from the elimination of one line or of all lines.
  struct Pivots {
    double rounding =
        0;  ///< the componentwise bound (row_rounding()), in eps; NaN: a pivot is 0, or a number is out of range
    bool forgiven = false;  ///< an excess of some row is_forgiven()
    /// True if the bound is within the limit of method auto; false for NaN.
    bool sound() const { return rounding <= kRoundingLimit; }
    void add(const Pivots& some);
  };

  /// The factors of the row that Order::towards names: its unknown is (d_i - from_above d_(i-1)) reciprocal.
  struct Meeting {
    T from_above = 0, reciprocal = 1;
  };

  /// @param form  shared: all lines have the factors of the first line (Survey::shared); symmetric: lower[i+1] is
  ///              upper[i], so that the coupling of the row above serves as multiplier, and no multipliers are stored
  ///              (only for lines side by side, in order `down`); general otherwise
  /// @param towards  a row of the system, for Order::towards
  /// @param narrow  store the factors in float, see narrow_view(); for lines side by side, in order `down`, not shared
  /// @pre couplings out of the lines are 0
  /// @cost 1 division, 11 multiply-adds a factored row, by all processors of this process
  void factor(const LineSet& lines, const BandsView<T>& bands, Form form, Order order = Order::down, Index towards = 0,
              bool narrow = false);
  /// Replace the factors of some lines by the factors of the identity.
  /// @param lines  in ascending order
  /// @return false, without changes, in three cases: `lines` lacks a line of doubtful(); the factors are shared; an
  ///         excess was forgiven
  bool drop(const std::vector<Index>& lines);
  /// Treat each excess that is_forgiven() as 0, whatever the effect. The caller must check the solution.
  void forgive_always() { forgiving_ = Forgiving::always; }
  FactorsView<T> view() const { return with_multipliers(same_); }
  /// The factors in float, if they are narrow; view() then has null pointers.
  FactorsView<Narrow<T>> narrow_view() const { return with_multipliers(narrow_); }
  /// Free the factors; pivots() and doubtful() stay valid.
  /// @post view() has null pointers
  void release() { same_ = {}, narrow_ = {}; }
  const LineSet& lines() const { return lines_; }
  bool shared() const { return shared_; }
  /// The row of a line that is eliminated last.
  /// @pre the line has a meeting row
  Index meeting_row(Index line) const;
  const Meeting& meeting() const { return meeting_; }
  /// The worst pivots of all lines.
  const Pivots& pivots() const { return pivots_; }
  /// Lines that are not sound, in order.
  const std::vector<Index>& doubtful() const { return doubtful_; }
  std::int64_t bytes() const { return same_.bytes() + narrow_.bytes(); }

 private:
  struct Pivot;
  struct Abreast;
  Index place(Index at, Index row) const { return shared_ ? row : at; }
  /// The view of `arrays`. In the symmetric form, the multipliers are the couplings of the rows above.
  template <typename S>
  FactorsView<S> with_multipliers(const FactorArrays<S>& arrays) const {
    FactorsView<S> view = arrays.view();
    if (serves_) view.multiplier = view.coupling, view.above = lines_.row_stride();
    return view;
  }
  void sweep(const BandsView<T>& bands);
  ExcessRow<T> take_row(const BandsView<T>& bands, Index at, PivotExtremes<T>& extremes) const;
  void keep(Index to, T multiplier, T reciprocal, T coupling);
  void eliminate_row(const BandsView<T>& bands, Index row, Index at, Pivot& last, PivotExtremes<T>& extremes);
  void meet(const BandsView<T>& bands, Index line, Index row, const Pivot& above, const Pivot& below,
            PivotExtremes<T>& extremes);
  Index enough_lead_in(const BandsView<T>& bands, Index first, Index step);
  Index sweep_pieces(const BandsView<T>& bands, Index first, Index step, Index rows, Pivot& last,
                     PivotExtremes<T>& extremes);
  Pivots factor_line(const BandsView<T>& bands, Index line);
  Pivots factor_beside(const BandsView<T>& bands, Index line, Index width);
  template <Index kRows>
  void sweep_abreast(const BandsView<T>& bands, Index rows, Index step, bool keep, Abreast& sweeps,
                     PivotExtremes<T>& extremes);
  template <Index kRows>
  Pivots factor_abreast(const BandsView<T>& bands, Index line);
  Pivots factor_bundle(const BandsView<T>& bands, Index line, Index width);
  void factor_lines(const BandsView<T>& bands, Index line, Index width, std::mutex& mutex);

  LineSet lines_;
  enum class Forgiving { unless_it_harms, always } forgiving_ = Forgiving::unless_it_harms;
  bool forgives_ = true;
  bool shared_ = false, serves_ = false, is_narrow_ = false;
  Order order_ = Order::down;
  Index towards_ = 0;
  Meeting meeting_;
  FactorArrays<T> same_;
  FactorArrays<Narrow<T>> narrow_;
  Pivots pivots_, of_sound_;  ///< pivots of all lines, and of the sound lines alone
  std::vector<Index> doubtful_;
};

}  // namespace oclspkt

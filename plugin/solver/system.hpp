// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fallback_lines.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/options.hpp"
#include "solved_bands.hpp"
#include "survey.hpp"
#include "units.hpp"
#include "write_bands.hpp"

namespace oclspkt {

/// The lines that a Solver solves: their bands, the survey of their rows, and the fallback lines.
template <typename T>
class System {
 public:
  /// @param options  options of the solver; each call reads them
  explicit System(const Options& options) : options_(options) {}

  /// The lines as the user gave them. bands() may have more lines, because uncoupled rows may divide a line.
  const LineSet& lines() const { return lines_; }
  const Bands<T>& bands() const { return scaled_ ? in_units_ : bands_.now(); }
  /// The matrix for which plans and bounds are made: bands(), or for complex numbers its comparison matrix |diag|,
  /// -|lower|, -|upper|. If that has dominance of at least 1, its pivots are at most the moduli of the pivots of
  /// bands(), and influences decay no faster in it, so that its bounds on truncation hold for bands() (Ostrowski 1937).
  const Bands<Real<T>>& judged() const {
    if constexpr (kIsComplex<T>) {
      return moduli_;
    } else {
      return bands();
    }
  }
  const Survey& survey() const { return survey_; }
  FallbackLines<T>& fallback() { return fallback_; }
  const FallbackLines<T>& fallback() const { return fallback_; }
  /// Largest change of a row's excess by precision narrow.
  double narrowed() const { return narrowed_; }

  /// The bands, for writing. Drops their survey and the fallback lines.
  Bands<T>& write(const LineSet& lines);
  /// The bands, for a caller who may keep the reference. Drops their survey and the fallback lines.
  Bands<T>& lend(const LineSet& lines);
  /// The bands that are solved, for changes by the solver itself. Fallback lines stay replaced. Drops the survey.
  Bands<T>& edit(const LineSet& lines);
  /// The bands in the given units. Replaced rows stay replaced until give_back(). @pre edit() was called
  SolvedBands<T>& overlay() { return bands_; }
  /// @throws InvalidInput if precision narrow has rounded the bands and the options now name another precision
  void check_precision(const Options& options) const;
  /// Record that precision narrow rounded lines of bands().
  void note_rounded() { rounded_ = rounded_ || !bands_.copied(); }
  void fill(const LineSet& lines, const BandsFill<T>& fill);
  /// Seconds of the last fill(); a second call returns 0. A fill is slow if it touches new memory, for example after a
  /// set-up that left the bands to a device.
  double take_fill_seconds() { return std::exchange(fill_seconds_, 0); }
  /// Exchange the given bands with `filled`, which are bands of `lines`.
  /// @param survey  survey of `filled`; nothing if `filled` may differ from the result of a fill for these lines
  /// @param[in,out] rounded  true if precision narrow rounded `filled`, see check_precision(); exchanged as well
  void swap(const LineSet& lines, Bands<T>& filled, const std::optional<Survey>& survey, bool& rounded);

  /// Let close() skip the survey of the rows until the bands are written again. @pre couplings out of the lines are 0
  /// @param rows  bounds on the survey's result
  void know(const Survey& rows) { filled_ = rows; }
  /// Prepare the bands for the solve, and survey their rows.
  void close();
  /// Make the lines of a rejection fallback lines, and survey the other lines.
  void leave_to_host(const Rejection& rejection);
  /// Put the fallback lines back into the bands, and undo the scaling of columns.
  void put_back();
  /// Go back to the given bands, including changes by a caller of lend(). Drops their survey.
  void give_back();

  /// True if the given bands have units, see find_units().
  bool has_units();
  /// Scale bands() by the units of columns, if has_units(), until put_back().
  void take_units();
  /// The factors that convert a solution of bands() into the given units, shape [extent]; null if nothing is scaled.
  const T* units() const { return scaled_ ? units_.data() : nullptr; }
  FoundUnits found_units() const { return scaled_ ? found_ : FoundUnits(); }

  /// The lines that are solved with the last unknown set to 0, ascending.
  std::vector<Index> pinned_lines() const;
  /// Copy the bands as they were given.
  void copy_bands(Bands<T>& out);
  std::int64_t bytes() const {
    return bands_.bytes() + fallback_.bytes() + in_units_.bytes() + units_.bytes() + moduli_.bytes();
  }

 private:
  void look(const std::optional<Survey>& rows = std::nullopt);
  void take_moduli();
  void seek_units();
  void scale();

  const Options& options_;
  LineSet lines_;
  SolvedBands<T> bands_;
  Survey survey_;
  double narrowed_ = 0;
  bool rounded_ = false;  ///< only the first 24 bits of the given numbers are stored
  double fill_seconds_ = 0;
  std::optional<Survey> filled_;  ///< survey of bands_, from fill() or know(); nothing if they have changed since
  FallbackLines<T> fallback_{bands_};
  Bands<T> in_units_;
  Bands<Real<T>> moduli_;  ///< judged() of complex bands
  AlignedArray<T> units_;
  FoundUnits found_;
  bool units_known_ = false;  ///< found_ holds for the present bands
  bool scaled_ = false;
};

}  // namespace oclspkt

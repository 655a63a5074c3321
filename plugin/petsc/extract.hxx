// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscpc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "boundary.hxx"
#include "lines.hxx"

namespace oclspkt::petsc {

/// Call f(place, above, below) for places [first, end) in order. above and below are the global rows before and after
/// the place on its line, even if they are on other ranks; -1 at the ends of the line.
/// @pre every place belongs to a line: layout.lines.gapless()
template <typename F>
void for_neighbours(const LineLayout& layout, PetscInt first_row, Index first, Index end, const F& f) {
  const LineSet& lines = layout.lines;
  const auto global = [&](Index place) { return first_row + layout.row(place); };
  const auto beyond = [](const std::vector<PetscInt>& rows, Index line) {
    return rows.empty() ? -1 : rows[static_cast<std::size_t>(line)];
  };
  if (first >= end) return;
  if (lines.contiguous()) {
    Index line = lines.line_of(first), top = lines.first(line), bottom = top + lines.length(line) - 1;
    for (Index place = first; place < end; ++place) {
      for (; place > bottom; bottom = top + lines.length(line) - 1) top = lines.first(++line);
      f(place, place > top ? global(place - 1) : beyond(layout.above, line),
        place < bottom ? global(place + 1) : beyond(layout.below, line));
    }
    return;
  }
  const Index width = lines.row_stride(), block_rows = lines.block_extent(), length = lines.length(0);
  for (Index place = first; place < end;) {
    const Index block = place / block_rows, row = place % block_rows / width;
    Index line = block * width + place % width;
    for (const Index stop = std::min(end, place - place % width + width); place < stop; ++place, ++line) {
      f(place, row > 0 ? global(place - width) : beyond(layout.above, line),
        row + 1 < length ? global(place + width) : beyond(layout.below, line));
    }
  }
}

/// The global rows before and after each local row on its line; -1 at the ends of the line.
using Neighbours = std::vector<std::array<PetscInt, 2>>;

inline Neighbours neighbours_of(const LineLayout& layout, PetscInt first_row) {
  Neighbours rows(static_cast<std::size_t>(layout.lines.rows()));
  for_neighbours(layout, first_row, 0, layout.lines.rows(), [&](Index place, PetscInt above, PetscInt below) {
    rows[static_cast<std::size_t>(layout.row(place))] = {above, below};
  });
  return rows;
}

/// The error about a row that holds an entry of the bands more than once.
InvalidInput stored_twice(PetscInt row, PetscInt column);

/// How strongly the rows of a matrix are coupled.
struct Coupling {
  Index ignored = 0;  ///< entries off the bands that are not 0
  double along = 0,
         off = 0;  ///< sums over rows of |entries| / |diagonal|, for entries beside the diagonal in the bands
                   ///< (along) and off the bands (off); rows with a ratio that is not finite do not count
  void add(double diag, double in_bands, double off_bands);
};

/// A matrix in compressed rows, or a part of its columns.
struct Pattern {
  PetscInt rows = 0;
  const PetscInt *row_starts = nullptr, *columns = nullptr;
  const PetscInt* global_columns = nullptr;  ///< shape [columns]; null: columns begin at first_column
  PetscInt first_column = 0;
  PetscInt entries() const { return rows > 0 ? row_starts[rows] : 0; }
  PetscInt column(PetscInt k) const { return global_columns ? global_columns[columns[k]] : first_column + columns[k]; }
};

/// A block of columns of a matrix, while its arrays are borrowed from PETSc.
struct Part {
  Mat matrix = nullptr;  ///< null: the matrix has no such part
  Pattern pattern;
  const PetscScalar* values = nullptr;  ///< shape [entries]
};
/// The parts of a matrix: the columns of this rank's unknowns, and the columns of other ranks.
using Parts = std::array<Part, 2>;

/// Where the three bands of a line layout stand among the values of a matrix in compressed rows. The matrix may have
/// two parts, see Parts.
class BandPositions {
 public:
  /// Find the bands in the patterns. Columns of a row may come in any order.
  /// @throws InvalidInput if an entry of the bands is stored twice
  void find(const LineLayout& layout, const Parts& parts);

  /// Copy places [first, end) of the bands out of the values, see BandsFill. Entries that are not stored are 0.
  /// @param layout, parts as in find(); the values may have changed
  /// @return how many values off the bands are not 0 in these rows
  /// @cost per row 6 words of values and, unless packed, 3 bytes and a PetscInt; all values are read if some are off
  ///       the bands
  Index gather(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& to, Index first,
               Index end) const;

  /// Add the sums of Coupling over every step-th place of [first, end).
  /// @param bands  as gather() wrote them for these places
  void weigh(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& bands, Index first, Index end,
             Index step, Coupling& coupling) const;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(slots_[0]) + far_.capacity() * sizeof(Far));
  }

 private:
  /// Positions of lower, diag and upper among the entries of a row.
  using Slots = std::array<std::uint8_t, 3>;
  static constexpr std::uint8_t kNoSlot = 255;
  /// An entry of the bands that a slot cannot hold: it is in the columns of other ranks, or comes after kNoSlot other
  /// entries of its row.
  struct Far {
    Index place;
    int band, part;
    PetscInt position;
  };

  struct Found;

  void look_at(const Parts& parts, Index place, PetscInt row, const PetscInt (&wanted)[3], Found& found);
  void gather_slots(const LineLayout& layout, const Part& inner, const BandsPart<PetscScalar>& to, Index first,
                    Index end) const;

  bool packed_ = false;       ///< the matrix stores the three bands alone, in order: slots need no table
  bool all_taken_ = false;    ///< the matrix stores no entry off the bands
  std::vector<Slots> slots_;  ///< shape [places]; kNoSlot if the entry is not stored or is in far_; empty if packed
  std::vector<Far> far_;      ///< in the order of the places
};

/// How a matrix gives its entries.
enum class Source {
  compressed,  ///< aij: by the arrays of compressed rows; positions are kept between set-ups
  rows,        ///< by MatGetRow(), anew in every set-up
  upper_rows   ///< by MatGetRow() of a symmetric type that stores its upper triangle
};

/// Check that rows and columns of the matrix are distributed alike.
void check_shape(Mat matrix);

/// How a matrix can be read.
/// @throws PetscFailure that names the type and the cure if it cannot
Source find_source(Mat matrix);

/// Fill the bands row by row.
/// @return the coupling of this rank
/// @throws InvalidInput, PetscFailure
Coupling gather_rows(PC pc, Mat matrix, Source source, const LineLayout& layout, Bands<PetscScalar>& bands);

/// Reads the tridiagonal part of a PETSc matrix along the lines of a layout, and keeps the positions of its entries
/// between set-ups.
class Extraction {
 public:
  /// Fill the bands of `solver` from `matrix`, reusing positions while the pattern stays. Collective: an error on one
  /// rank is an error on all.
  /// @param layout the layout of the previous call; call forget() before another one
  /// @param change changes bands that were read: called as a BandsFill is, or once for all places
  /// @param weigh  every weigh-th row counts in the sums of coupling(); 0: no row
  void run(PC pc, Mat matrix, const LineLayout& layout, const BandsFill<PetscScalar>& change,
           CutSolver<PetscScalar>& solver, Index weigh = 0);
  /// Forget the positions: the layout changed.
  void forget() { inner_ = outer_ = {}; }

  /// Entries off the bands that are not 0 and were ignored, on all ranks.
  Index ignored() const { return coupling_.ignored; }
  /// The coupling of the rows of all ranks; its sums are 0 if run() got weigh = 0.
  const Coupling& coupling() const { return coupling_; }
  std::int64_t bytes() const { return positions_.bytes(); }
  /// How often the pattern was searched for the bands.
  int searches() const { return searches_; }
  /// How often the values were read.
  int gathers() const { return gathers_; }

 private:
  /// Identifies a matrix whose pattern was searched.
  struct Known {
    PetscObjectId id = 0;
    PetscObjectState pattern = -1;
    bool operator==(const Known&) const = default;
  };

  static Parts hold(Mat matrix);
  static void release(Parts& parts);
  void find_bands(const LineLayout& layout, const Parts& parts, Trouble& trouble);
  static Known identify(Mat part);

  BandPositions positions_;
  Known inner_, outer_;
  Coupling coupling_;
  int searches_ = 0, gathers_ = 0;
};

}  // namespace oclspkt::petsc

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

/// Call f(place, above, below) for places [first, end) in order, with the global rows before and behind each on its
/// line, those on other ranks included; -1 where there is none.
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

/// The global rows before and behind each local row on its line; -1 where there is none.
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
  Index ignored = 0;          ///< entries off the bands that are not 0
  double along = 0, off = 0;  ///< sums over rows of the absolute entries beside the diagonal, in the bands and off
                              ///< them, against the diagonal; rows where that is not finite do not count
  void add(double diag, double in_bands, double off_bands);
};

/// A matrix in compressed rows, or a part of its columns.
struct Pattern {
  PetscInt rows = 0;
  const PetscInt *row_starts = nullptr, *columns = nullptr;
  const PetscInt* global_columns = nullptr;  ///< by column; null: columns begin at first_column
  PetscInt first_column = 0;
  PetscInt entries() const { return rows > 0 ? row_starts[rows] : 0; }
  PetscInt column(PetscInt k) const { return global_columns ? global_columns[columns[k]] : first_column + columns[k]; }
};

/// A part of a matrix while its arrays are held.
struct Part {
  Mat matrix = nullptr;  ///< null: there is no such part
  Pattern pattern;
  const PetscScalar* values = nullptr;  ///< shape [entries]
};
/// The columns of this rank's rows, and those of others.
using Parts = std::array<Part, 2>;

/// Where the three bands of a line layout stand among the values of a matrix in compressed rows, the columns of which
/// may be in two parts: those of this rank's rows, and those of others.
class BandPositions {
 public:
  /// Look through the patterns once. Columns of a row may come in any order.
  /// @throws InvalidInput if an entry of the bands is there twice
  void find(const LineLayout& layout, const Parts& parts);

  /// Copy places [first, end) of the bands out of the values, see BandsFill; what is not stored is 0.
  /// @param layout, parts those of find(), with other values
  /// @return how many values off the bands are not 0 in these rows
  /// @cost 6 words of values and, unless packed, 3 bytes and a PetscInt a row; all values are read if some are off the
  ///       bands
  Index gather(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& to, Index first,
               Index end) const;

  /// The sums of Coupling over every step-th of places [first, end), the bands of which gather() left in `bands`.
  void weigh(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& bands, Index first, Index end,
             Index step, Coupling& coupling) const;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(slots_[0]) + far_.capacity() * sizeof(Far));
  }

 private:
  /// Slots of a row by band: places of lower, diag and upper among its entries.
  using Slots = std::array<std::uint8_t, 3>;
  static constexpr std::uint8_t kNoSlot = 255;
  /// An entry in the columns of other ranks, or behind kNoSlot others of its row.
  struct Far {
    Index place;
    int band, part;
    PetscInt position;
  };

  struct Found;

  void look_at(const Parts& parts, Index place, PetscInt row, const PetscInt (&wanted)[3], Found& found);
  void gather_slots(const LineLayout& layout, const Part& inner, const BandsPart<PetscScalar>& to, Index first,
                    Index end) const;

  bool packed_ = false;       ///< nothing but the three bands, in order: slots need no table
  bool all_taken_ = false;    ///< nothing is stored off the bands
  std::vector<Slots> slots_;  ///< of each place; kNoSlot where nothing is stored or the entry is far; empty if packed
  std::vector<Far> far_;      ///< in the order of the places
};

/// How a matrix gives its entries.
enum class Source {
  compressed,  ///< aij: the arrays of compressed rows, positions are kept
  rows,        ///< MatGetRow(), every set-up anew
  upper_rows   ///< MatGetRow() of a symmetric type that stores its upper triangle
};

/// See that the rows of the matrix are laid out as its columns.
void check_shape(Mat matrix);

/// How a matrix can be read.
/// @throws PetscFailure that names the type and the cure if it cannot
Source find_source(Mat matrix);

/// Fill the bands row by row.
/// @return the coupling of this rank
/// @throws InvalidInput, PetscFailure
Coupling gather_rows(PC pc, Mat matrix, Source source, const LineLayout& layout, Bands<PetscScalar>& bands);

/// The tridiagonal part of a PETSc matrix along the lines of a layout, with what can be kept between set-ups.
class Extraction {
 public:
  /// Fill the bands of `solver` from `matrix`, reusing positions while the pattern stays. Collective: what one rank
  /// meets is an error on all.
  /// @param layout the same object as before, or forget() comes first
  /// @param change what is done to bands that were read: called as fills are, or for all places at once
  /// @param weigh  every weigh-th row is to count in the sums of coupling(); 0: none
  void run(PC pc, Mat matrix, const LineLayout& layout, const BandsFill<PetscScalar>& change,
           CutSolver<PetscScalar>& solver, Index weigh = 0);
  /// The layout changed.
  void forget() { inner_ = outer_ = {}; }

  /// Entries off the bands that are not 0 and were ignored, on all ranks.
  Index ignored() const { return coupling_.ignored; }
  /// Of all ranks; its sums are 0 unless run() weighed.
  const Coupling& coupling() const { return coupling_; }
  std::int64_t bytes() const { return positions_.bytes(); }
  /// How often the pattern was looked through for the places of the bands.
  int searches() const { return searches_; }
  /// How often the values were read.
  int gathers() const { return gathers_; }

 private:
  /// A matrix whose pattern was looked through.
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

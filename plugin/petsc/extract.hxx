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

/// Call f(place, above, below) for places [first, end) in order. above and below are the global rows of the place's
/// neighbours on its line, even on other ranks; -1 beyond the ends of the line.
/// @pre layout.lines.gapless(): every place belongs to a line
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

/// For each local row, the global rows of its two neighbours on its line; -1 beyond the ends of the line.
using Neighbours = std::vector<std::array<PetscInt, 2>>;

inline Neighbours neighbours_of(const LineLayout& layout, PetscInt first_row) {
  Neighbours rows(static_cast<std::size_t>(layout.lines.rows()));
  for_neighbours(layout, first_row, 0, layout.lines.rows(), [&](Index place, PetscInt above, PetscInt below) {
    rows[static_cast<std::size_t>(layout.row(place))] = {above, below};
  });
  return rows;
}

InvalidInput stored_twice(PetscInt row, PetscInt column);

/// How strongly the rows of a matrix are coupled: sums of |off-diagonal entries| / |diagonal| over the rows. Rows with
/// a ratio that is not finite do not count.
struct Coupling {
  Index ignored = 0;  ///< number of nonzero entries off the bands
  double along = 0,
         off = 0;  ///< along: entries in the bands; off: entries off the bands
  void add(double diag, double in_bands, double off_bands);
};

/// The sparsity pattern of a matrix, or of a block of its columns, in compressed rows.
struct Pattern {
  PetscInt rows = 0;
  const PetscInt *row_starts = nullptr, *columns = nullptr;
  const PetscInt* global_columns = nullptr;  ///< global number of each local column; null: first_column + local column
  PetscInt first_column = 0;
  PetscInt entries() const { return rows > 0 ? row_starts[rows] : 0; }
  PetscInt column(PetscInt k) const { return global_columns ? global_columns[columns[k]] : first_column + columns[k]; }
};

/// A block of columns of a matrix, with arrays borrowed from PETSc.
struct Part {
  Mat matrix = nullptr;  ///< null if the matrix has no such block
  Pattern pattern;
  const PetscScalar* values = nullptr;  ///< shape [entries]
};
/// Two blocks of columns: this rank's unknowns, and other ranks' unknowns.
using Parts = std::array<Part, 2>;

/// The positions of the three bands of a line layout among the values of a matrix in compressed rows.
class BandPositions {
 public:
  /// Find the bands in the patterns. Columns of a row may come in any order.
  /// @throws InvalidInput if an entry of the bands is stored twice
  void find(const LineLayout& layout, const Parts& parts);

  /// Copy places [first, end) of the bands from Part::values, see BandsFill. Entries that are not stored are 0.
  /// @param layout, parts  as in find(); the values may differ
  /// @return the number of nonzero values off the bands in these rows
  /// @cost per row 6 words of values, and 3 bytes and a PetscInt unless packed_; reads all values unless all_taken_
  Index gather(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& to, Index first,
               Index end) const;

  /// Add the ratios of Coupling for every step-th place of [first, end) to `coupling`.
  /// @param bands  bands of these places, written by gather()
  void weigh(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& bands, Index first, Index end,
             Index step, Coupling& coupling) const;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(slots_[0]) + far_.capacity() * sizeof(Far));
  }

 private:
  /// Positions of lower, diag and upper among the entries of a row.
  using Slots = std::array<std::uint8_t, 3>;
  static constexpr std::uint8_t kNoSlot = 255;
  /// An entry of the bands without a slot: another rank owns its column, or kNoSlot or more entries precede it.
  struct Far {
    Index place;
    int band, part;
    PetscInt position;
  };

  struct Found;

  void look_at(const Parts& parts, Index place, PetscInt row, const PetscInt (&wanted)[3], Found& found);
  void gather_slots(const LineLayout& layout, const Part& inner, const BandsPart<PetscScalar>& to, Index first,
                    Index end) const;

  bool packed_ = false;       ///< each row stores lower, diag and upper alone, in order, and needs no slots
  bool all_taken_ = false;    ///< the matrix stores no entry off the bands
  std::vector<Slots> slots_;  ///< shape [places]; kNoSlot if the entry is not stored or is in far_; empty if packed
  std::vector<Far> far_;      ///< sorted by place
};

enum class Source {
  compressed,  ///< from the arrays of aij; later set-ups reuse the positions
  rows,        ///< by MatGetRow() in every set-up
  upper_rows   ///< by MatGetRow(), from a symmetric type that stores its upper triangle
};

/// Check that rows and columns of the matrix are distributed alike. @throws PetscFailure
void check_shape(Mat matrix);

/// Choose how to read a matrix.
/// @throws PetscFailure with the type and the cure if matrices of this type cannot be read
Source find_source(Mat matrix);

/// True if PETSc knows that a complex matrix is Hermitian: an upper triangle then stands for its conjugate as well.
bool is_hermitian(Mat matrix);

/// Fill the bands row by row.
/// @return the coupling of this rank
/// @throws InvalidInput, PetscFailure
Coupling gather_rows(PC pc, Mat matrix, Source source, const LineLayout& layout, Bands<PetscScalar>& bands);

/// Reads the bands along the lines of a layout from a PETSc matrix. Later set-ups reuse the positions of the entries.
class Extraction {
 public:
  /// Fill the bands of `solver` from `matrix`. The call reuses positions while the pattern stays the same. Collective:
  /// an error on one rank is an error on all ranks.
  /// @param layout  the layout of the previous call, unless forget() was called since
  /// @param change  modifies the bands after reading; called for ranges of places like a BandsFill, or for all places
  /// @param weigh   every weigh-th row counts in the sums of coupling(); 0: no row
  void run(PC pc, Mat matrix, const LineLayout& layout, const BandsFill<PetscScalar>& change,
           CutSolver<PetscScalar>& solver, Index weigh = 0);
  /// Forget the positions. Must be called if the layout changes.
  void forget() { inner_ = outer_ = {}; }

  /// The number of nonzero entries off the bands, on all ranks. The solver ignores them.
  Index ignored() const { return coupling_.ignored; }
  /// The coupling of the rows of all ranks; its sums are 0 if run() got weigh = 0.
  const Coupling& coupling() const { return coupling_; }
  std::int64_t bytes() const { return positions_.bytes(); }
  int searches() const { return searches_; }
  int gathers() const { return gathers_; }

 private:
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

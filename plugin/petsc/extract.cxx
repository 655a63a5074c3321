// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "extract.hxx"
#include "parallel.hpp"
#include "write_bands.hpp"

namespace oclspkt::petsc {
namespace {

/// Copy rows [first, end) of a matrix whose rows store lower, diag and upper alone, in this order.
void gather_packed(Index rows, const PetscScalar* values, const BandsPart<PetscScalar>& to, Index first, Index end) {
  const auto take = [&](Index i, bool above, bool below) {
    const PetscScalar* const row = values + 3 * i;
    to.lower[i - first] = above ? row[-1] : PetscScalar(0);
    to.diag[i - first] = row[0];
    to.upper[i - first] = below ? row[1] : PetscScalar(0);
  };
  fetch_blocks_to_come(values + 3 * first, 3 * (end - first));
  const bool has_top = first == 0, has_bottom = end == rows;
  if (has_top) take(0, false, rows > 1);
  for (Index i = first + has_top; i < end - has_bottom; ++i) take(i, true, true);
  if (has_bottom && rows > 1) take(rows - 1, true, false);
}

/// True if gather_packed() can read a matrix of this pattern.
bool is_packed(PetscInt rows, const PetscInt* row_starts, const PetscInt* columns) {
  if (rows == 0 || row_starts[rows] != 3 * static_cast<Index>(rows) - 2) return false;
  return all_of_pieces(rows, kPieceRows, [&](Index piece, Index piece_end) {
    const auto end = static_cast<PetscInt>(piece_end);
    for (auto i = static_cast<PetscInt>(piece); i < end; ++i) {
      const PetscInt first = i == 0 ? 0 : 3 * i - 1, last = i == rows - 1 ? 3 * i + 1 : 3 * i + 2;
      if (row_starts[i] != first) return false;
      for (PetscInt k = first; k < last; ++k) {
        if (columns[k] != k - 2 * i) return false;
      }
    }
    return true;
  });
}

Index count_nonzeros(const PetscScalar* values, Index count) {
  Index nonzeros = 0;
  for (Index i = 0; i < count; ++i) nonzeros += values[i] != PetscScalar(0);
  return nonzeros;
}

/// Count the nonzero values of rows [first, end).
Index count_in_rows(const Part& part, PetscInt first, PetscInt end) {
  if (part.pattern.rows == 0) return 0;
  const PetscInt from = part.pattern.row_starts[first];
  return count_nonzeros(part.values + from, part.pattern.row_starts[end] - from);
}

}  // namespace

void Coupling::add(double diag, double in_bands, double off_bands) {
  const double scale = 1 / diag;
  if (!std::isfinite((in_bands + off_bands) * scale)) return;
  along += in_bands * scale;
  off += off_bands * scale;
}

InvalidInput stored_twice(PetscInt row, PetscInt column) {
  return InvalidInput("row " + std::to_string(row) + " of the matrix stores column " + std::to_string(column) +
                      " twice; assemble it with MatSetValues(), which adds them up");
}

/// The result of a search for the bands in a range of places.
struct BandPositions::Found {
  Index count = 0;
  std::vector<Far> far;
  PetscInt twice_row = -1, twice_column = -1;  ///< the first local row that stores an entry twice; -1: none
};

void BandPositions::look_at(const Parts& parts, Index place, PetscInt row, const PetscInt (&wanted)[3], Found& found) {
  bool taken[3] = {};
  Slots slots = {kNoSlot, kNoSlot, kNoSlot};
  for (int part = 0; part < 2 && parts[part].pattern.rows > 0; ++part) {
    const Pattern& pattern = parts[part].pattern;
    for (PetscInt k = pattern.row_starts[row]; k < pattern.row_starts[row + 1]; ++k) {
      const PetscInt column = pattern.column(k), slot = k - pattern.row_starts[row];
      for (int band = 0; band < 3; ++band) {
        if (column != wanted[band]) continue;
        if (std::exchange(taken[band], true) && found.twice_row < 0) found.twice_row = row, found.twice_column = column;
        ++found.count;
        if (part == 0 && slot < kNoSlot) {
          slots[band] = static_cast<std::uint8_t>(slot);
        } else {
          found.far.push_back({place, band, part, k});
        }
      }
    }
  }
  slots_[static_cast<std::size_t>(place)] = slots;
}

void BandPositions::find(const LineLayout& layout, const Parts& parts) {
  const Pattern &inner = parts[0].pattern, &outer = parts[1].pattern;
  const Index rows = layout.lines.rows(), entries = static_cast<Index>(inner.entries()) + outer.entries();
  const bool in_order = layout.rows.empty() && layout.lines.count() == 1 && layout.lines.contiguous();
  packed_ = in_order && outer.entries() == 0 && is_packed(inner.rows, inner.row_starts, inner.columns);
  slots_ = {};
  far_ = {};
  all_taken_ = packed_;
  if (packed_) return;
  slots_.resize(static_cast<std::size_t>(rows));
  Found all;
  std::mutex mutex;
  for_pieces(rows, kPieceRows, [&](Index first, Index end) {
    Found found;
    for_neighbours(layout, inner.first_column, first, end, [&](Index place, PetscInt above, PetscInt below) {
      const PetscInt row = layout.row(place);
      look_at(parts, place, row, {above, inner.first_column + row, below}, found);
    });
    const std::lock_guard lock(mutex);
    all.count += found.count;
    all.far.insert(all.far.end(), found.far.begin(), found.far.end());
    if (found.twice_row >= 0 && (all.twice_row < 0 || found.twice_row < all.twice_row)) {
      all.twice_row = found.twice_row;
      all.twice_column = found.twice_column;
    }
  });
  if (all.twice_row >= 0) throw stored_twice(inner.first_column + all.twice_row, all.twice_column);
  std::sort(all.far.begin(), all.far.end(), [](const Far& a, const Far& b) { return a.place < b.place; });
  far_ = std::move(all.far);
  all_taken_ = all.count == entries;
}

void BandPositions::gather_slots(const LineLayout& layout, const Part& inner, const BandsPart<PetscScalar>& to,
                                 Index first, Index end) const {
  const PetscInt* const starts = inner.pattern.row_starts;
  const auto take = [&](Index place, PetscInt row) {
    const Slots& slot = slots_[static_cast<std::size_t>(place)];
    const PetscScalar* const values = inner.values + starts[row];
    to.lower[place - first] = slot[0] == kNoSlot ? PetscScalar(0) : values[slot[0]];
    to.diag[place - first] = slot[1] == kNoSlot ? PetscScalar(0) : values[slot[1]];
    to.upper[place - first] = slot[2] == kNoSlot ? PetscScalar(0) : values[slot[2]];
  };
  if (layout.rows.empty()) {
    fetch_blocks_to_come(inner.values + starts[first], starts[end] - starts[first]);
    for (Index i = first; i < end; ++i) take(i, static_cast<PetscInt>(i));
  } else {
    for (Index i = first; i < end; ++i) take(i, layout.row(i));
  }
}

Index BandPositions::gather(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& to, Index first,
                            Index end) const {
  if (packed_) {
    gather_packed(layout.lines.rows(), parts[0].values, to, first, end);
    return 0;
  }
  gather_slots(layout, parts[0], to, first, end);
  PetscScalar* const band[] = {to.lower, to.diag, to.upper};
  const auto before = [](const Far& far, Index place) { return far.place < place; };
  for (auto far = std::lower_bound(far_.begin(), far_.end(), first, before); far != far_.end() && far->place < end;
       ++far) {
    band[far->band][far->place - first] = parts[static_cast<std::size_t>(far->part)].values[far->position];
  }
  if (all_taken_) return 0;
  Index ignored = 0;
  for (const Part& part : parts) {
    if (layout.rows.empty()) ignored += count_in_rows(part, static_cast<PetscInt>(first), static_cast<PetscInt>(end));
    for (Index i = first; i < end && !layout.rows.empty(); ++i) {
      ignored += count_in_rows(part, layout.row(i), layout.row(i) + 1);
    }
  }
  for (const PetscScalar* values : band) ignored -= count_nonzeros(values, end - first);
  return ignored;
}

void BandPositions::weigh(const LineLayout& layout, const Parts& parts, const BandsPart<PetscScalar>& bands,
                          Index first, Index end, Index step, Coupling& coupling) const {
  const auto sum_of_row = [](const Part& part, PetscInt row) {
    double sum = 0;
    const PetscInt* const starts = part.pattern.row_starts;
    for (PetscInt k = starts[row]; k < starts[row + 1]; ++k) sum += std::abs(part.values[k]);
    return sum;
  };
  const bool two_parts = parts[1].pattern.rows > 0;
  for (Index i = first; i < end; i += step) {
    const PetscInt row = layout.row(i);
    const double along = std::abs(bands.lower[i - first]) + std::abs(bands.upper[i - first]);
    const double diag = std::abs(bands.diag[i - first]);
    double all = all_taken_ ? 0 : sum_of_row(parts[0], row);
    if (!all_taken_ && two_parts) all += sum_of_row(parts[1], row);
    coupling.add(diag, along, std::max(0.0, all - along - diag));
  }
}

Extraction::Known Extraction::identify(Mat part) {
  Known known;
  if (!part) return known;
  must(PetscObjectGetId((PetscObject)part, &known.id));
  must(MatGetNonzeroState(part, &known.pattern));
  return known;
}

Parts Extraction::hold(Mat matrix) {
  PetscBool done, parallel;
  Parts parts;
  Part &inner = parts[0], &outer = parts[1];
  inner.matrix = matrix;
  must(PetscObjectBaseTypeCompare((PetscObject)matrix, MATMPIAIJ, &parallel));
  if (parallel) must(MatMPIAIJGetSeqAIJ(matrix, &inner.matrix, &outer.matrix, &outer.pattern.global_columns));
  must(MatGetOwnershipRange(matrix, &inner.pattern.first_column, nullptr));
  for (Part& part : parts) {
    if (!part.matrix) continue;
    must(MatGetRowIJ(part.matrix, 0, PETSC_FALSE, PETSC_FALSE, &part.pattern.rows, &part.pattern.row_starts,
                     &part.pattern.columns, &done));
    OclspktCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The matrix does not give its compressed rows; use -mat_type aij");
    must(MatSeqAIJGetArrayRead(part.matrix, &part.values));
  }
  return parts;
}

/// Find the bands in the pattern, unless the last search had the same pattern.
void Extraction::find_bands(const LineLayout& layout, const Parts& parts, Trouble& trouble) {
  const Known inner = identify(parts[0].matrix), outer = identify(parts[1].matrix);
  if (inner == inner_ && outer == outer_) return;
  forget();
  trouble.attempt([&] { positions_.find(layout, parts); });
  if (trouble.met()) return;
  inner_ = inner;
  outer_ = outer;
  ++searches_;
}

void Extraction::release(Parts& parts) {
  PetscBool done;
  for (Part& part : parts) {
    if (!part.matrix) continue;
    must(MatSeqAIJRestoreArrayRead(part.matrix, &part.values));
    must(MatRestoreRowIJ(part.matrix, 0, PETSC_FALSE, PETSC_FALSE, &part.pattern.rows, &part.pattern.row_starts,
                         &part.pattern.columns, &done));
  }
}

void Extraction::run(PC pc, Mat matrix, const LineLayout& layout, const BandsFill<PetscScalar>& change,
                     CutSolver<PetscScalar>& solver, Index weigh) {
  const Source source = find_source(matrix);
  Coupling of_rank;
  Trouble trouble;
  std::mutex mutex;
  if (source == Source::compressed) {
    Parts parts = hold(matrix);
    find_bands(layout, parts, trouble);
    const auto fill = [&](const BandsPart<PetscScalar>& to, Index first, Index end) {
      Coupling some;
      some.ignored = positions_.gather(layout, parts, to, first, end);
      if (weigh > 0) positions_.weigh(layout, parts, to, first, end, weigh, some);
      change(to, first, end);
      if (some.ignored == 0 && weigh == 0) return;
      const std::lock_guard lock(mutex);
      of_rank.ignored += some.ignored;
      of_rank.along += some.along;
      of_rank.off += some.off;
    };
    trouble.attempt([&] { solver.fill(layout, fill); });
    release(parts);
  } else {
    const auto write = [&](Bands<PetscScalar>& bands) {
      of_rank = gather_rows(pc, matrix, source, layout, bands);
      change({bands.lower(), bands.diag(), bands.upper()}, 0, layout.lines.rows());
    };
    positions_ = {};
    forget();
    trouble.attempt([&] { solver.write(layout, write); });
  }
  double sums[] = {static_cast<double>(of_rank.ignored), of_rank.along, of_rank.off}; /* counts are exact up to 2^53 */
  agree_on(pc, trouble, sums);
  coupling_ = {static_cast<Index>(sums[0]), sums[1], sums[2]};
  ++gathers_;
}

namespace {

/// A matrix type without access by rows, and advice to its users.
struct Cure {
  MatType type;
  const char* text;
};
constexpr Cure kCures[] = {
    {MATMFFD,
     "give an assembled matrix of type aij for the preconditioner (KSPSetOperators(); -snes_mf_operator, not "
     "-snes_mf)"},
    {MATSHELL,
     "give an assembled one for the preconditioner as the second matrix of KSPSetOperators(), with -mat_type "
     "aij"},
    {MATMPIADJ, "it is a graph without the values; give the matrix of type aij that it was made from"},
    {MATTRANSPOSEVIRTUAL, "make the transposed matrix with MatTranspose(), or MatConvert() it to MATAIJ"},
};
constexpr const char* kUsualCure =
    "use -mat_type aij (-dm_mat_type aij if a DM makes it), or MatConvert() it to MATAIJ";

void refuse_type(Mat matrix, MatType type) {
  const char* text = kUsualCure;
  PetscBool same;
  for (const Cure& cure : kCures) {
    must(PetscStrcmp(type, cure.type, &same));
    if (same) text = cure.text;
  }
  OclspktCheck(false, comm_of(matrix), PETSC_ERR_SUP,
               "PCOCLSPKT reads matrices of type aij, and by rows those that give them; this one is of type %s: %s",
               type, text);
}

/// The type of the program's matrix.
/// @throws PetscFailure if the program gave no matrix, or the matrix has no type
MatType type_of(Mat matrix) {
  PetscInt rows;
  MatType type;
  must(MatGetType(matrix, &type));
  if (type) return type;
  must(MatGetSize(matrix, &rows, nullptr));
  OclspktCheck(rows >= 0, comm_of(matrix), PETSC_ERR_ORDER,
               "PCOCLSPKT was given no matrix: call KSPSetOperators() or PCSetOperators() with an assembled one before "
               "the set-up or the solve");
  OclspktCheck(false, comm_of(matrix), PETSC_ERR_ARG_WRONGSTATE,
               "The matrix given to PCOCLSPKT has no type yet; call MatSetType() or MatSetFromOptions(), fill and "
               "assemble it");
}

}  // namespace

void check_shape(Mat matrix) {
  const PetscInt *row_starts, *column_starts;
  PetscInt rows, columns;
  PetscBool alike;
  int rank = 0;
  must(MatGetSize(matrix, &rows, &columns));
  OclspktCheck(rows == columns, comm_of(matrix), PETSC_ERR_ARG_SIZ,
               "PCOCLSPKT needs a square matrix, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT
               " columns; give PCSetOperators() or KSPSetOperators() the square one",
               rows, columns);
  /* Right-hand sides have the layout of the rows, solutions the layout of the columns. All ranks know both layouts. */
  must(MatHasCongruentLayouts(matrix, &alike));
  if (alike) return;
  must(MatGetOwnershipRanges(matrix, &row_starts));
  must(MatGetOwnershipRangesColumn(matrix, &column_starts));
  while (row_starts[rank + 1] == column_starts[rank + 1]) ++rank;
  OclspktCheck(false, comm_of(matrix), PETSC_ERR_ARG_SIZ,
               "PCOCLSPKT needs as many local columns as local rows on each rank, and rank %d has %" PetscInt_FMT
               " rows and %" PetscInt_FMT " columns; give MatSetSizes() the same two local sizes",
               rank, row_starts[rank + 1] - row_starts[rank], column_starts[rank + 1] - column_starts[rank]);
}

namespace {

struct Row {
  PetscInt number, above, below, count;  ///< number, above, below: global rows, -1 if none; count: entries
  const PetscInt* columns;
  const PetscScalar* values;
};

/// Access to the bands by global row, for rows of this rank.
struct Places {
  Bands<PetscScalar>& bands;
  const std::vector<Index>& place_of;  ///< shape [local rows]; empty: place i is row i
  PetscInt first, end;                 ///< global rows
  PetscScalar* at(int band, PetscInt row) const {
    PetscScalar* const start[] = {bands.lower(), bands.diag(), bands.upper()};
    const auto local = static_cast<std::size_t>(row - first);
    return start[band] + (place_of.empty() ? static_cast<Index>(local) : place_of[local]);
  }
  bool here(PetscInt row) const { return row >= first && row < end; }
};

/// How a matrix that stores its upper triangle has its lower one.
enum class Mirror { none, same, conjugate };

/// Add the entries of a row to the bands. With a mirror, each entry also stands for the mirrored entry.
/// @pre the bands were 0 before the first row
/// @return a column that the row stores twice, or -1
PetscInt take_row(const Row& row, Mirror mirror, const Places& places, Coupling& coupling) {
  const bool upper_only = mirror != Mirror::none;
  const PetscInt wanted[] = {row.above, row.number, row.below};
  bool seen[] = {false, false, false};
  PetscInt twice = -1;
  double along = 0, off = 0;
  for (PetscInt k = 0; k < row.count; ++k) {
    const PetscInt column = row.columns[k];
    if (upper_only && column < row.number) continue;  // blocks on the diagonal also store their lower triangle
    const auto* const band = std::find(wanted, wanted + 3, column);
    const int b = static_cast<int>(band - wanted);
    if (b == 3) {
      if (row.values[k] != PetscScalar(0)) coupling.ignored += upper_only ? 2 : 1;
      off += std::abs(row.values[k]);
      continue;
    }
    if (b != 1) along += std::abs(row.values[k]);
    if (seen[b]) twice = column;
    seen[b] = true;
    *places.at(b, row.number) = row.values[k];
    if (upper_only && b != 1 && places.here(column)) {
      *places.at(2 - b, column) = mirror == Mirror::conjugate ? PetscConj(row.values[k]) : row.values[k];
    }
  }
  coupling.add(std::abs(*places.at(1, row.number)), along, off);
  return twice;
}

}  // namespace

Source find_source(Mat matrix) {
  const MatType type = type_of(matrix);
  PetscBool compressed, symmetric, by_rows, graph, assembled;
  check_shape(matrix);
  must(PetscObjectBaseTypeCompareAny((PetscObject)matrix, &compressed, MATSEQAIJ, MATMPIAIJ, ""));
  must(PetscObjectBaseTypeCompareAny((PetscObject)matrix, &symmetric, MATSEQSBAIJ, MATMPISBAIJ, ""));
  must(MatHasOperation(matrix, MATOP_GET_ROW, &by_rows)); /* a MATSHELL without it crashes */
  must(PetscObjectTypeCompare((PetscObject)matrix, MATMPIADJ, &graph));
  if (graph || (!compressed && !by_rows)) refuse_type(matrix, type);
  must(MatAssembled(matrix, &assembled));
  OclspktCheck(assembled, comm_of(matrix), PETSC_ERR_ARG_WRONGSTATE,
               "The matrix given to PCOCLSPKT is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() with "
               "MAT_FINAL_ASSEMBLY first");
  return compressed ? Source::compressed : symmetric ? Source::upper_rows : Source::rows;
}

bool is_hermitian(Mat matrix) {
  PetscBool set, hermitian;
  must(MatIsHermitianKnown(matrix, &set, &hermitian));
  return PetscDefined(USE_COMPLEX) && set && hermitian;
}

Coupling gather_rows(PC pc, Mat matrix, Source source, const LineLayout& layout, Bands<PetscScalar>& bands) {
  const bool upper_only = source == Source::upper_rows;
  const Mirror mirror = !upper_only ? Mirror::none : is_hermitian(matrix) ? Mirror::conjugate : Mirror::same;
  PetscInt first, end, twice = -1;
  std::vector<Index> place_of(layout.rows.size());
  Coupling coupling;
  Row row;
  OclspktCheck(!upper_only || !layout.exchange, comm_of(pc), PETSC_ERR_SUP,
               "PCOCLSPKT reads matrices that store their upper triangle only where no line is cut by ranks; use "
               "-mat_type aij, or MatConvert() it to MATAIJ");
  must(MatGetOwnershipRange(matrix, &first, &end));
  const Neighbours neighbours = neighbours_of(layout, first);
  for (std::size_t i = 0; i < place_of.size(); ++i) {
    place_of[static_cast<std::size_t>(layout.rows[i])] = static_cast<Index>(i);
  }
  const Places places{bands, place_of, first, end};
  for (PetscScalar* band : {bands.lower(), bands.diag(), bands.upper()}) std::fill_n(band, end - first, PetscScalar(0));
  if (upper_only) must(MatGetRowUpperTriangular(matrix));
  for (row.number = first; row.number < end && twice < 0; ++row.number) {
    const auto& [above, below] = neighbours[static_cast<std::size_t>(row.number - first)];
    row.above = above;
    row.below = below;
    must(MatGetRow(matrix, row.number, &row.count, &row.columns, &row.values));
    twice = take_row(row, mirror, places, coupling);
    must(MatRestoreRow(matrix, row.number, &row.count, &row.columns, &row.values));
  }
  if (upper_only) must(MatRestoreRowUpperTriangular(matrix));
  if (twice >= 0) throw stored_twice(row.number - 1, twice);
  return coupling;
}

}  // namespace oclspkt::petsc

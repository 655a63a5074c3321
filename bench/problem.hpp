// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "matrices.hpp"
#include "oclspkt/bands.hpp"

namespace oclspkt::bench {

/// The system that all contestants solve, with its known solution; its lines leave no places between them.
template <typename T>
struct Problem {
  /// @cost 6 arrays of n scalars; the right-hand side is A x in long double, rounded once
  Problem(const MatrixSpec& spec, const LineSet& lines);
  /// One line of n rows.
  Problem(const MatrixSpec& spec, Index n) : Problem(spec, LineSet::one(n)) {}

  Index n() const { return lines.rows(); }
  /// Make the answer NaN: what another contestant left must not pass for this one's.
  void spoil();

  LineSet lines;
  Bands<T> bands;
  AlignedArray<T> solution, y;
  AlignedArray<T> x;           ///< every contestant writes its answer here
  AlignedArray<T> scratch[3];  ///< for contestants that destroy their input; empty until one asks for it
};

/// Arrays of n scalars that a Problem holds (scratch not counted).
inline constexpr double kProblemArrays = 6;

/// True if `bytes_per_row` times `rows` is less than the memory that is free, with some to spare.
bool fits_memory(Index rows, double bytes_per_row);

/// @throws InvalidInput if `bytes_per_row` times `rows` is more than the memory that is free; the text says what fits
void require_memory(Index rows, double bytes_per_row);

}  // namespace oclspkt::bench

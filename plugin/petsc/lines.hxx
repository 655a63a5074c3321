// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscpc.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt::petsc {

/// How the lines of a direction run: along an axis of a grid, through all rows of the matrix, or as the program gave
/// them.
enum class Direction { x, y, z, matrix, given };
inline constexpr const char* kDirectionNames[] = {"x", "y", "z", "matrix", "given"};
inline constexpr const char* name(Direction d) { return kDirectionNames[static_cast<int>(d)]; }
inline constexpr std::size_t kAxes = 3;  ///< directions that are axes: the first values of Direction
inline constexpr std::size_t place(Direction d) { return static_cast<std::size_t>(d); }

/// The directions that the words of -pc_oclspkt_lines name; empty for `auto`.
/// @throws InvalidInput for unknown words, repeated words, and `auto` beside other words
std::vector<Direction> parse_directions(const std::string& words);

/// How the lines of a direction lie in the vectors of this rank, and how other ranks continue them.
struct LineLayout : ProcessLines {
  using ProcessLines::ProcessLines;
  std::vector<PetscInt> rows;          ///< place i of the line set is local row rows[i]; empty: place i is local row i
  std::vector<PetscInt> above, below;  ///< shape [lines]; global rows on other ranks that couple to the first and the
                                       ///< last row of a line; -1: no such row; empty: no line of this rank is cut

  bool cut() const { return !above.empty(); }
  PetscInt row(Index place) const {
    return rows.empty() ? static_cast<PetscInt>(place) : rows[static_cast<std::size_t>(place)];
  }
};

/// The structured grid to which a matrix belongs, as far as lines need it.
struct Grid {
  std::size_t axes = 0;                          ///< 1 to 3
  Index unknowns = 1;                            ///< per node
  std::array<Index, kAxes> nodes{1, 1, 1};       ///< of the whole grid
  std::array<bool, kAxes> periodic{};            ///< lines along the axis are cyclic
  std::array<std::vector<Index>, kAxes> widths;  ///< nodes of each rank along an axis
  std::array<std::size_t, kAxes> place{};        ///< of this rank in the grid of ranks
  Index begin(std::size_t axis, std::size_t rank) const;
  Index width(std::size_t axis) const { return widths[axis][place[axis]]; }
};

/// The lines of this rank's box along an axis; each unknown of a node has lines of its own.
LineSet lines_along(const Grid& grid, std::size_t axis);

/// Set the cuts of a layout made by lines_along(): how other ranks continue its lines. Without cuts it stays as it is.
void cut_lines(const Grid& grid, std::size_t axis, LineLayout& layout);

/// Give the layout the exchange of the preconditioner if a line is cut on any rank; else clear its cuts. Collective.
void share_exchange(PC pc, LineLayout& layout);

/// The grid of pc->dm, else of the DM that made the matrix, if this DM is a DMDA that fits the matrix.
/// @param[out] why  if there is no grid, the reason and the cure
std::optional<Grid> find_grid(PC pc, Mat matrix, std::string& why);

/// The lines along an axis. If it is periodic, the couplings that close the lines are left out. Collective.
/// @throws PetscFailure for an axis that the grid does not have
LineLayout lay_out_axis(PC pc, Mat matrix, const Grid& grid, std::size_t axis);

/// One line of all rows in the matrix's order. Collective.
LineLayout lay_out_matrix(PC pc, Mat matrix);

/// The arguments of PCOCLSPKTSetLines(): global rows of this rank, line by line in the order of the lines' numbers. No
/// line is empty.
struct GivenLines {
  std::vector<PetscInt> numbers, starts, rows;
};

/// The lines that the program gave. Collective.
/// @throws PetscFailure if rows are on other ranks, missing or given twice
LineLayout lay_out_given(PC pc, Mat matrix, const GivenLines& given);

}  // namespace oclspkt::petsc

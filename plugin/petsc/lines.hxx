// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscpc.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt::petsc {

/// Kinds of lines: along an axis of a grid, through all rows of the matrix, or given by the program.
enum class Direction { x, y, z, matrix, given };
inline constexpr const char* kDirectionNames[] = {"x", "y", "z", "matrix", "given"};
inline constexpr const char* name(Direction d) { return kDirectionNames[static_cast<int>(d)]; }
inline constexpr std::size_t kAxes = 3;  ///< number of axes, which are the first values of Direction
inline constexpr std::size_t place(Direction d) { return static_cast<std::size_t>(d); }

/// The directions in the words of -pc_oclspkt_lines; empty for `auto`.
/// @throws InvalidInput for unknown words, repeated words, and `auto` beside other words
std::vector<Direction> parse_directions(const std::string& words);

/// The lines of a direction on this rank, and the neighbouring rows on other ranks.
struct LineLayout : ProcessLines {
  using ProcessLines::ProcessLines;
  std::vector<PetscInt> rows;          ///< place i of the line set is local row rows[i]; empty: place i is local row i
  std::vector<PetscInt> above, below;  ///< shape [lines]; global rows on other ranks before the first and after the
                                       ///< last row of a line; -1: no such row; empty: no line of this rank is cut

  bool cut() const { return !above.empty(); }
  PetscInt row(Index place) const {
    return rows.empty() ? static_cast<PetscInt>(place) : rows[static_cast<std::size_t>(place)];
  }
};

/// The structured grid of a matrix, from its DMDA.
struct Grid {
  std::size_t axes = 0;                          ///< 1 to 3
  Index unknowns = 1;                            ///< unknowns per node
  std::array<Index, kAxes> nodes{1, 1, 1};       ///< nodes of the whole grid
  std::array<bool, kAxes> periodic{};            ///< lines along the axis are cyclic
  std::array<std::vector<Index>, kAxes> widths;  ///< number of nodes, by axis and by the rank's place along it
  std::array<std::size_t, kAxes> place{};        ///< place of this rank in the grid of ranks
  Index begin(std::size_t axis, std::size_t rank) const;
  Index width(std::size_t axis) const { return widths[axis][place[axis]]; }
};

/// The lines of this rank's box along an axis. Each unknown of a node has separate lines.
LineSet lines_along(const Grid& grid, std::size_t axis);

/// Set the cuts between ranks in a layout made by lines_along(). A layout without cuts stays unchanged.
void cut_lines(const Grid& grid, std::size_t axis, LineLayout& layout);

/// If a line is cut on any rank, give the layout the preconditioner's exchange; else clear its cuts. Collective.
void share_exchange(PC pc, LineLayout& layout);

/// The grid of a DMDA that fits the matrix: pc->dm, or else the DM that made the matrix.
/// @param[out] why  reason and cure if there is no grid
std::optional<Grid> find_grid(PC pc, Mat matrix, std::string& why);

/// The lines along an axis, without the couplings that close the lines of a periodic axis. Collective.
/// @throws PetscFailure for an axis that the grid does not have
LineLayout lay_out_axis(PC pc, Mat matrix, const Grid& grid, std::size_t axis);

/// One line of all rows in the matrix's order. Collective.
LineLayout lay_out_matrix(PC pc, Mat matrix);

/// The arguments of PCOCLSPKTSetLines(), sorted by line number, without empty lines. `rows` has global rows of this
/// rank.
struct GivenLines {
  std::vector<PetscInt> numbers, starts, rows;
};

/// The lines that the program gave. Collective.
/// @throws PetscFailure if rows are on other ranks, missing or given twice
LineLayout lay_out_given(PC pc, Mat matrix, const GivenLines& given);

}  // namespace oclspkt::petsc

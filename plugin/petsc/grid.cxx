// SPDX-License-Identifier: BSD-2-Clause
#include <petscdmda.h>

#include <algorithm>
#include <numeric>

#include "boundary.hxx"
#include "join.hxx"
#include "lines.hxx"

namespace oclspkt::petsc {
namespace {

constexpr const char* kCure =
    "give the DMDA to the preconditioner with PCSetDM(), or the lines with PCOCLSPKTSetLines(); blocks of bjacobi, asm "
    "or "
    "fieldsplit may have no grid, above all on several ranks: there set -pc_oclspkt_lines on the outer preconditioner";

/// The size of a box is that of the matrix, on this rank and in all.
PetscErrorCode Fits(Mat matrix, const Grid& grid, PetscBool* fits) {
  PetscInt local, global;
  Index here = grid.unknowns, all = grid.unknowns;

  PetscFunctionBegin;
  for (std::size_t a = 0; a < kAxes; ++a) {
    here *= grid.width(a);
    all *= grid.nodes[a];
  }
  PetscCall(MatGetLocalSize(matrix, &local, nullptr));
  PetscCall(MatGetSize(matrix, &global, nullptr));
  *fits = static_cast<PetscBool>(here == local && all == global);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, fits, 1, OCLSPKT_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)matrix)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadGrid(DM dm, Grid* grid) {
  PetscInt dimension, nodes[kAxes], ranks[kAxes], unknowns;
  DMBoundaryType boundaries[kAxes];
  const PetscInt* widths[kAxes];
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &dimension, &nodes[0], &nodes[1], &nodes[2], &ranks[0], &ranks[1], &ranks[2], &unknowns,
                        nullptr, &boundaries[0], &boundaries[1], &boundaries[2], nullptr));
  PetscCall(DMDAGetOwnershipRanges(dm, &widths[0], &widths[1], &widths[2]));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
  grid->axes = static_cast<std::size_t>(dimension);
  grid->unknowns = unknowns;
  PetscInt stride = 1;
  for (std::size_t a = 0; a < kAxes; stride *= ranks[a], ++a) {
    const bool there = static_cast<PetscInt>(a) < dimension;
    grid->nodes[a] = there ? nodes[a] : 1;
    grid->periodic[a] = there && boundaries[a] == DM_BOUNDARY_PERIODIC;
    if (!there) ranks[a] = 1;
    if (there) {
      grid->widths[a].assign(widths[a], widths[a] + ranks[a]);
    } else {
      grid->widths[a] = {1};
    }
    grid->place[a] = static_cast<std::size_t>(rank / stride % ranks[a]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rank at a place of the grid of ranks.
int rank_at(const Grid& grid, const std::array<std::size_t, kAxes>& place) {
  return static_cast<int>(place[0] + grid.widths[0].size() * (place[1] + grid.widths[1].size() * place[2]));
}

/// Global row of a node's first unknown: ranks number the nodes of their boxes one rank after the other.
Index global_row(const Grid& grid, const std::array<std::size_t, kAxes>& place, const std::array<Index, kAxes>& node) {
  Index width[kAxes], begin[kAxes];
  for (std::size_t a = 0; a < kAxes; ++a) {
    width[a] = grid.widths[a][place[a]];
    begin[a] = grid.begin(a, place[a]);
  }
  const Index before =
      grid.nodes[0] * grid.nodes[1] * begin[2] + grid.nodes[0] * begin[1] * width[2] + begin[0] * width[1] * width[2];
  const Index inside = ((node[2] - begin[2]) * width[1] + (node[1] - begin[1])) * width[0] + (node[0] - begin[0]);
  return grid.unknowns * (before + inside);
}

LineSet lines_along(const Grid& grid, std::size_t axis) {
  const Index c = grid.unknowns, x = grid.width(0), y = grid.width(1), z = grid.width(2);
  if (axis == 0) return c == 1 ? LineSet::equal(y * z, x) : LineSet::strided(x, c, c, 1, y * z, c * x);
  if (axis == 1) return LineSet::strided(y, c * x, c * x, 1, z, c * x * y);
  return LineSet::strided(z, c * x * y, c * x * y, 1);
}

/// Call f(line, node of its first row, unknown) for the lines of a box in the order of lines_along().
template <typename F>
void for_each_line(const Grid& grid, std::size_t axis, const F& f) {
  Index begin[kAxes], end[kAxes];
  for (std::size_t a = 0; a < kAxes; ++a) {
    begin[a] = grid.begin(a, grid.place[a]);
    end[a] = a == axis ? begin[a] + 1 : begin[a] + grid.width(a);
  }
  Index line = 0;
  for (Index k = begin[2]; k < end[2]; ++k) {
    for (Index j = begin[1]; j < end[1]; ++j) {
      for (Index i = begin[0]; i < end[0]; ++i) {
        for (Index c = 0; c < grid.unknowns; ++c) f(line++, std::array<Index, kAxes>{i, j, k}, c);
      }
    }
  }
}

/// Ranks along the axis that own nodes, from the first node on.
std::vector<std::size_t> owners_along(const Grid& grid, std::size_t axis) {
  std::vector<std::size_t> owners;
  for (std::size_t r = 0; r < grid.widths[axis].size(); ++r) {
    if (grid.widths[axis][r] > 0) owners.push_back(r);
  }
  return owners;
}

/// How the ranks along an axis continue the lines of this one.
void cut_lines(const Grid& grid, std::size_t axis, const std::vector<std::size_t>& owners, LineLayout& layout) {
  std::array<std::size_t, kAxes> place = grid.place;
  const auto here = static_cast<std::size_t>(std::find(owners.begin(), owners.end(), place[axis]) - owners.begin());
  layout.cuts.chains.resize(1);
  for (const std::size_t owner : owners) {
    place[axis] = owner;
    layout.cuts.chains[0].push_back(rank_at(grid, place));
  }
  const auto count = static_cast<std::size_t>(layout.lines.count());
  layout.above.assign(count, -1);
  layout.below.assign(count, -1);
  layout.cuts.number.resize(count);
  for_each_line(grid, axis, [&](Index line, const std::array<Index, kAxes>& first, Index unknown) {
    const auto l = static_cast<std::size_t>(line);
    std::array<Index, kAxes> node = first;
    node[axis] = 0;
    layout.cuts.number[l] = unknown + grid.unknowns * (node[0] + grid.nodes[0] * (node[1] + grid.nodes[1] * node[2]));
    const auto neighbour = [&](std::size_t other, Index along) {
      place[axis] = owners[other];
      node[axis] = along;
      return static_cast<PetscInt>(global_row(grid, place, node) + unknown);
    };
    if (here > 0) layout.above[l] = neighbour(here - 1, first[axis] - 1);
    if (here + 1 < owners.size()) layout.below[l] = neighbour(here + 1, first[axis] + grid.width(axis));
  });
}

}  // namespace

Index Grid::begin(std::size_t axis, std::size_t rank) const {
  return std::accumulate(widths[axis].begin(), widths[axis].begin() + static_cast<std::ptrdiff_t>(rank), Index{0});
}

PetscErrorCode FindGrid(PC pc, Mat matrix, std::optional<Grid>* grid, std::string* why) {
  DM dms[2] = {pc->dm, nullptr};
  Grid found;

  PetscFunctionBegin;
  grid->reset();
  PetscCall(MatGetDM(matrix, &dms[1]));
  OclspktCall(pc, *why = std::string("there is no grid behind the matrix: ") + kCure);
  for (DM dm : dms) {
    PetscBool is_grid = PETSC_FALSE, fits;
    PetscMPIInt same;
    if (!dm) continue;
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_grid));
    if (!is_grid) continue;
    PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)dm), PetscObjectComm((PetscObject)matrix), &same));
    fits = static_cast<PetscBool>(same == MPI_IDENT || same == MPI_CONGRUENT);
    if (fits) {
      found = {};
      PetscCall(ReadGrid(dm, &found));
      PetscCall(Fits(matrix, found, &fits));
    }
    if (fits) {
      OclspktCall(pc, *grid = std::move(found));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    OclspktCall(pc, *why = std::string("the grid of the DMDA and the matrix differ in size: ") + kCure);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LayOutAxis(PC pc, Mat matrix, const Grid& grid, std::size_t axis, LineLayout* layout) {
  const char* word = kDirectionNames[axis];
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCheck(axis < grid.axes, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_oclspkt_lines %s: the grid has only %d dimension%s; name an axis that it has", word,
             static_cast<int>(grid.axes), grid.axes == 1 ? "" : "s");
  PetscCheck(!grid.periodic[axis], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_oclspkt_lines %s: the grid is periodic along %s, and cyclic lines are not solved yet; make the "
             "preconditioner of another direction, or of a matrix without the periodic couplings",
             word, word);
  OclspktCall(pc, *layout = {}; layout->lines = lines_along(grid, axis));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)matrix), &ranks));
  if (ranks > 1) {
    OclspktCall(pc, const auto owners = owners_along(grid, axis);
                if (owners.size() > 1 && layout->lines.rows() > 0) cut_lines(grid, axis, owners, *layout));
    PetscCall(ShareExchange(pc, layout));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

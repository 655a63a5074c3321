// SPDX-License-Identifier: BSD-2-Clause
#include <petscdmda.h>

#include "boundary.hxx"
#include "lines.hxx"

namespace oclspkt::petsc {
namespace {

constexpr const char* kCure =
    "give the DMDA to the preconditioner with PCSetDM(), or the lines with PCOCLSPKTSetLines(); blocks of bjacobi, asm "
    "or fieldsplit may have no grid, above all on several ranks: there set -pc_oclspkt_lines on the outer "
    "preconditioner";

/// True if the grid has as many unknowns as the matrix has rows, on every rank and in total. Collective.
bool fits(Mat matrix, const Grid& grid) {
  PetscInt local, global;
  Index of_rank = grid.unknowns, all = grid.unknowns;
  for (std::size_t a = 0; a < kAxes; ++a) {
    of_rank *= grid.width(a);
    all *= grid.nodes[a];
  }
  must(MatGetLocalSize(matrix, &local, nullptr));
  must(MatGetSize(matrix, &global, nullptr));
  auto fit = static_cast<PetscBool>(of_rank == local && all == global);
  OclspktReduce(MPI_IN_PLACE, &fit, 1, OCLSPKT_MPI_BOOL, MPI_LAND, comm_of(matrix));
  return fit;
}

Grid read_grid(DM dm) {
  Grid grid;
  PetscInt dimension, nodes[kAxes], ranks[kAxes], unknowns;
  DMBoundaryType boundaries[kAxes];
  const PetscInt* widths[kAxes];
  must(DMDAGetInfo(dm, &dimension, &nodes[0], &nodes[1], &nodes[2], &ranks[0], &ranks[1], &ranks[2], &unknowns, nullptr,
                   &boundaries[0], &boundaries[1], &boundaries[2], nullptr));
  must(DMDAGetOwnershipRanges(dm, &widths[0], &widths[1], &widths[2]));
  const int rank = rank_of(comm_of(dm));
  grid.axes = static_cast<std::size_t>(dimension);
  grid.unknowns = unknowns;
  PetscInt stride = 1;
  for (std::size_t a = 0; a < kAxes; stride *= ranks[a], ++a) {
    grid.widths[a] = {1};
    if (a >= grid.axes) {
      nodes[a] = ranks[a] = 1;
    } else {
      /* A line of one or two nodes is not cyclic, because one matrix entry holds a node's couplings to both sides. */
      grid.periodic[a] = boundaries[a] == DM_BOUNDARY_PERIODIC && nodes[a] > 2;
      grid.widths[a].assign(widths[a], widths[a] + ranks[a]);
    }
    grid.nodes[a] = nodes[a];
    grid.place[a] = static_cast<std::size_t>(rank / stride % ranks[a]);
  }
  return grid;
}

}  // namespace

std::optional<Grid> find_grid(PC pc, Mat matrix, std::string& why) {
  DM dms[2] = {pc->dm, nullptr};
  must(MatGetDM(matrix, &dms[1]));
  why = std::string("there is no grid behind the matrix: ") + kCure;
  for (DM dm : dms) {
    PetscBool is_grid, is_shell;
    PetscMPIInt same;
    DMType type;
    if (!dm) continue;
    must(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_grid));
    if (!is_grid) {
      must(DMGetType(dm, &type));
      must(PetscObjectTypeCompare((PetscObject)dm, DMSHELL, &is_shell)); /* a DMSHELL may wrap a DMDA */
      if (!is_shell) {
        why = std::string("the DM behind the matrix is of type ") + (type ? type : "none") +
              ", and axes are known of a DMDA alone: give the lines with PCOCLSPKTSetLines(), or use -pc_oclspkt_lines "
              "matrix";
      }
      continue;
    }
    must_mpi(MPI_Comm_compare(comm_of(dm), comm_of(matrix), &same));
    if (same == MPI_IDENT || same == MPI_CONGRUENT) {
      Grid grid = read_grid(dm);
      if (fits(matrix, grid)) return grid;
    }
    why = std::string("the grid of the DMDA and the matrix differ in size: ") + kCure;
  }
  return std::nullopt;
}

LineLayout lay_out_axis(PC pc, Mat matrix, const Grid& grid, std::size_t axis) {
  OclspktCheck(axis < grid.axes, comm_of(pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_oclspkt_lines %s: the grid has only %d dimension%s; name an axis that it has",
               kDirectionNames[axis], static_cast<int>(grid.axes), grid.axes == 1 ? "" : "s");
  LineLayout layout(lines_along(grid, axis));
  if (ranks_of(comm_of(matrix)) > 1) {
    cut_lines(grid, axis, layout);
    share_exchange(pc, layout);
  }
  return layout;
}

}  // namespace oclspkt::petsc

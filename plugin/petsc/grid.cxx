// SPDX-License-Identifier: BSD-2-Clause
#include <petscdmda.h>

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
  OclspktAllreduce(MPI_IN_PLACE, fits, 1, OCLSPKT_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)matrix));
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
    /* One node couples to itself, and two to each other, in one entry for both sides: such lines are not cyclic. */
    grid->periodic[a] = there && boundaries[a] == DM_BOUNDARY_PERIODIC && nodes[a] > 2;
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

}  // namespace

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
    PetscBool is_shell;
    DMType type;
    if (!dm) continue;
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_grid));
    if (!is_grid) {
      PetscCall(DMGetType(dm, &type));
      PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMSHELL, &is_shell)); /* a DMDA may stand behind it */
      if (!is_shell) {
        OclspktCall(pc, *why = std::string("the DM behind the matrix is of type ") + (type ? type : "none") +
                               ", and axes are known of a DMDA alone: give the lines with PCOCLSPKTSetLines(), or use "
                               "-pc_oclspkt_lines matrix");
      }
      continue;
    }
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
  OclspktCall(pc, *layout = LineLayout(lines_along(grid, axis)));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)matrix), &ranks));
  if (ranks > 1) {
    OclspktCall(pc, cut_lines(grid, axis, *layout));
    PetscCall(ShareExchange(pc, layout));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

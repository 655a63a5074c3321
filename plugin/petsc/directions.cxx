// SPDX-License-Identifier: BSD-2-Clause
#include <petscdm.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "boundary.hxx"
#include "join.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// The lines of one direction.
PetscErrorCode LayOut(PC pc, Direction direction, const std::optional<Grid>& grid, const std::string& why_no_grid,
                      LineLayout* layout) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  if (direction == Direction::matrix) {
    PetscCall(LayOutMatrix(pc, pc->pmat, layout));
  } else if (direction == Direction::given) {
    PetscCheck(o->given_lines, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
               "-pc_oclspkt_lines given: no lines were given; call PCOCLSPKTSetLines() before the set-up (PCReset() "
               "forgets them)");
    PetscCall(LayOutGiven(pc, pc->pmat, *o->given_lines, layout));
  } else {
    PetscCheck(grid, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "-pc_oclspkt_lines %s: %s",
               name(direction), why_no_grid.c_str());
    PetscCall(LayOutAxis(pc, pc->pmat, *grid, place(direction), layout));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Mean over all rows of the couplings against the diagonal. Collective.
PetscErrorCode MeanCoupling(PC pc, const Bands<PetscScalar>& bands, double* mean) {
  const BandsView<PetscScalar> b = bands.view();
  double sums[2] = {0, static_cast<double>(bands.lines().rows())};

  PetscFunctionBegin;
  for (Index i = 0; i < bands.lines().extent(); ++i) {
    const double share = (std::abs(b.lower[i]) + std::abs(b.upper[i])) / std::abs(b.diag[i]);
    if (std::isfinite(share)) sums[0] += share;
  }
  OclspktAllreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc));
  *mean = sums[1] > 0 ? sums[0] / sums[1] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Read the matrix along a direction that may be taken.
PetscErrorCode TryDirection(PC pc, Direction direction, const std::optional<Grid>& grid, double* coupling,
                            Index* ignored) {
  LineLayout layout;
  Extraction extraction;
  CutSolver<PetscScalar> store;
  Bands<PetscScalar>* bands = nullptr;

  PetscFunctionBegin;
  PetscCall(LayOut(pc, direction, grid, {}, &layout));
  PetscCall(extraction.Run(
      pc, pc->pmat, layout, [](const BandsPart<PetscScalar>&, Index, Index) {}, store));
  OclspktCall(pc, bands = &store.bands(layout.lines, layout.cuts, layout.exchange));
  PetscCall(MeanCoupling(pc, *bands, coupling));
  *ignored = extraction.ignored();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The axis that is coupled most strongly, of those that are not periodic; -1 if there is none.
PetscErrorCode StrongestAxis(PC pc, const Grid& grid, int* strongest, std::string* why) {
  double most = -1;

  PetscFunctionBegin;
  *strongest = -1;
  for (std::size_t axis = 0; axis < grid.axes; ++axis) {
    double coupling;
    Index ignored;
    char text[48];
    if (grid.periodic[axis]) continue;
    PetscCall(TryDirection(pc, static_cast<Direction>(axis), grid, &coupling, &ignored));
    std::snprintf(text, sizeof text, "%s%s %.3g", why->empty() ? "" : ", ", kDirectionNames[axis], coupling);
    OclspktCall(pc, *why += text);
    if (coupling <= most) continue;
    most = coupling;
    *strongest = static_cast<int>(axis);
  }
  OclspktCall(pc, *why = "strongest coupling (" + *why + ")");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What `auto` is for this matrix.
PetscErrorCode ChooseDirections(PC pc, const std::optional<Grid>& grid, std::vector<Direction>* directions,
                                std::string* why) {
  PC_OCLSPKT* o = data(pc);
  double coupling;
  Index ignored;
  int axis;

  PetscFunctionBegin;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (o->given_bands[a].set) OclspktCall(pc, directions->push_back(static_cast<Direction>(a)));
  }
  if (!directions->empty() || o->given_lines) {
    OclspktCall(pc, if (directions->empty()) directions->push_back(Direction::given); *why = "the program gave them");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  OclspktCall(pc, directions->push_back(Direction::matrix));
  if (!grid || (grid->axes == 1 && grid->unknowns == 1)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TryDirection(pc, Direction::matrix, grid, &coupling, &ignored));
  if (ignored == 0) {
    OclspktCall(pc, *why = "the matrix is tridiagonal");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrongestAxis(pc, *grid, &axis, why));
  if (axis >= 0) directions->front() = static_cast<Direction>(axis);
  if (axis < 0) OclspktCall(pc, *why = "the grid is periodic in every direction");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CurrentKey(PC pc, LinesKey* key) {
  PC_OCLSPKT* o = data(pc);
  DM dm = nullptr;

  PetscFunctionBegin;
  OclspktCall(pc, key->lines = o->settings.lines);
  key->given = o->given_changes;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &key->matrix));
  PetscCall(MatGetNonzeroState(pc->pmat, &key->pattern));
  PetscCall(MatGetLocalSize(pc->pmat, &key->local_rows, nullptr));
  PetscCall(MatGetSize(pc->pmat, &key->rows, nullptr));
  PetscCall(MatGetDM(pc->pmat, &dm));
  if (pc->dm) dm = pc->dm;
  if (dm) PetscCall(PetscObjectGetId((PetscObject)dm, &key->grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Another pattern of the same rows under the same grid leaves directions that were named where they are.
PetscBool same_lines(const LinesKey& before, LinesKey now, bool chosen) {
  if (!chosen) {
    now.matrix = before.matrix;
    now.pattern = before.pattern;
  }
  return static_cast<PetscBool>(before == now);
}

/// The same of all ranks: one whose rows stay has neighbours whose rows may not. Collective.
PetscErrorCode LayoutStays(PC pc, const LinesKey& now, bool chosen, PetscBool* stays) {
  PetscFunctionBegin;
  *stays = same_lines(data(pc)->key, now, chosen);
  OclspktAllreduce(MPI_IN_PLACE, stays, 1, OCLSPKT_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Take the bands that the program gave back from the solvers, which may get others.
PetscErrorCode TakeBack(PC pc) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  for (const auto& sweep : o->sweeps) {
    if (place(sweep->direction) >= kAxes || !o->given_bands[place(sweep->direction)].taken) continue;
    GivenBands& given = o->given_bands[place(sweep->direction)];
    const LineLayout& layout = sweep->layout;
    OclspktCall(pc, sweep->solver.swap_bands(layout.lines, layout.cuts, layout.exchange, given.bands));
    given.taken = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckMixture(PC pc, const std::vector<Direction>& directions) {
  PC_OCLSPKT* o = data(pc);
  int given = 0;

  PetscFunctionBegin;
  for (const Direction d : directions) given += place(d) < kAxes && o->given_bands[place(d)].set;
  PetscCheck(given == 0 || given == static_cast<int>(directions.size()), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_INCOMP,
             "PCOCLSPKTSetBands() was called for %d of the %d directions of -pc_oclspkt_lines: give bands for all of "
             "them, or for none",
             given, static_cast<int>(directions.size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode LinesStay(PC pc, PetscBool* stay) {
  PC_OCLSPKT* o = data(pc);
  LinesKey key;
  bool chosen = false;

  PetscFunctionBegin;
  *stay = PETSC_FALSE;
  if (!pc->pmat || o->key.rows < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CurrentKey(pc, &key));
  OclspktCall(pc, chosen = parse_directions(o->settings.lines).empty());
  *stay = same_lines(o->key, std::move(key), chosen);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindLines(PC pc) {
  PC_OCLSPKT* o = data(pc);
  std::vector<Direction> directions;
  std::optional<Grid> grid;
  std::string why, why_no_grid;
  LinesKey key;
  Source source;
  PetscBool stays;

  PetscFunctionBegin;
  const auto& bands = o->given_bands;
  const bool reads = std::none_of(bands.begin(), bands.end(), [](const GivenBands& given) { return given.set; });
  if (reads) PetscCall(FindSource(pc->pmat, &source)); /* says first what is wrong with the matrix */
  PetscCall(CurrentKey(pc, &key));
  OclspktCall(pc, directions = parse_directions(o->settings.lines));
  const bool chosen = directions.empty();
  PetscCall(LayoutStays(pc, key, chosen, &stays));
  if (stays) PetscFunctionReturn(PETSC_SUCCESS);
  o->key = {};
  PetscCall(TakeBack(pc));
  PetscCall(FindGrid(pc, pc->pmat, &grid, &why_no_grid));
  if (chosen) PetscCall(ChooseDirections(pc, grid, &directions, &why));
  PetscCall(CheckMixture(pc, directions));
  OclspktCall(
      pc, while (o->sweeps.size() > directions.size()) o->sweeps.pop_back();
      while (o->sweeps.size() < directions.size()) {
        o->sweeps.push_back(std::make_unique<Sweep>());
        o->sweeps.back()->solver.set_options(o->settings);
      });
  for (std::size_t s = 0; s < directions.size(); ++s) {
    Sweep& sweep = *o->sweeps[s];
    sweep.direction = directions[s];
    sweep.extraction.forget();
    PetscCall(LayOut(pc, directions[s], grid, why_no_grid, &sweep.layout));
  }
  OclspktCall(pc, o->lines_why = std::move(why); o->key = std::move(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

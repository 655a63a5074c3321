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
    const char* const word = name(direction);
    PetscCall(LayOutAxis(pc, pc->pmat, *grid, place(direction), layout));
    PetscCheck(!grid->periodic[place(direction)], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "-pc_oclspkt_lines %s: the grid is periodic along %s, and cyclic lines are not solved yet; make the "
               "preconditioner of another direction, or of a matrix without the periodic couplings",
               word, word);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Read the matrix along a direction that may be taken.
PetscErrorCode TryDirection(PC pc, Direction direction, const std::optional<Grid>& grid, Coupling* coupling) {
  LineLayout layout;
  Extraction extraction;
  CutSolver<PetscScalar> store;

  PetscFunctionBegin;
  if (direction == Direction::matrix) {
    PetscCall(LayOutMatrix(pc, pc->pmat, &layout));
  } else {
    PetscCall(LayOutAxis(pc, pc->pmat, *grid, place(direction), &layout));
  }
  PetscCall(extraction.Run(
      pc, pc->pmat, layout, [](const BandsPart<PetscScalar>&, Index, Index) {}, store, 1));
  *coupling = extraction.coupling();
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// How strongly each axis of a grid is coupled: the mean over all rows of the couplings against the diagonal.
struct Axes {
  std::array<double, kAxes> mean{};
  std::string figures;                ///< of all of them
  int strongest = -1, periodic = -1;  ///< of those that are not periodic, and of those that are; -1: there is none
};

PetscErrorCode MeasureAxes(PC pc, const Grid& grid, Axes* axes) {
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &rows, nullptr));
  for (std::size_t axis = 0; axis < grid.axes; ++axis) {
    Coupling coupling;
    int& most = grid.periodic[axis] ? axes->periodic : axes->strongest;
    PetscCall(TryDirection(pc, static_cast<Direction>(axis), grid, &coupling));
    axes->mean[axis] = coupling.along / static_cast<double>(PetscMax(rows, 1));
    // The couplings that close a periodic line are not read: the others stand for them.
    const auto nodes = static_cast<double>(grid.nodes[axis]);
    if (grid.periodic[axis]) axes->mean[axis] *= nodes / (nodes - 1);
    OclspktCall(pc, axes->figures += (axes->figures.empty() ? "" : ", ") + std::string(kDirectionNames[axis]) + " " +
                                     figure(axes->mean[axis]) + (grid.periodic[axis] ? " but periodic" : ""));
    // Axes that are coupled alike differ by the order in which threads add: the first of them is taken.
    if (most < 0 || axes->mean[axis] > axes->mean[static_cast<std::size_t>(most)] * (1 + 1e-9)) {
      most = static_cast<int>(axis);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From this many times the coupling along the taken axis on, a periodic one is warned of.
constexpr double kMattersLeftOut = 10;

/// What there is to say of a periodic axis that is left out, if it matters.
std::string left_out_text(const Axes& axes) {
  if (axes.periodic < 0 || axes.strongest < 0) return {};
  const auto taken = static_cast<std::size_t>(axes.strongest), other = static_cast<std::size_t>(axes.periodic);
  if (!(axes.mean[other] > kMattersLeftOut * axes.mean[taken])) return {};
  return std::string("the coupling along ") + kDirectionNames[other] + ", " + figure(axes.mean[other]) + ", is " +
         figure(axes.mean[other] / axes.mean[taken]) + " times that along " + kDirectionNames[taken] +
         ", which is taken because " + kDirectionNames[other] +
         " is periodic and cyclic lines are not solved yet; another preconditioner may be better";
}

/// The choice of `auto` for this matrix, if the program gave neither lines nor bands.
PetscErrorCode ChooseByValues(PC pc, const Grid& grid, Direction* direction, std::string* why) {
  PC_OCLSPKT* o = data(pc);
  Coupling coupling;
  Axes axes;

  PetscFunctionBegin;
  PetscCall(TryDirection(pc, Direction::matrix, grid, &coupling));
  if (coupling.ignored == 0) {
    OclspktCall(pc, *why = "the matrix is tridiagonal");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MeasureAxes(pc, grid, &axes));
  if (axes.strongest >= 0) *direction = static_cast<Direction>(axes.strongest);
  OclspktCall(pc, *why = (axes.strongest >= 0 ? "strongest coupling (" : "the grid is periodic in every direction (") +
                         axes.figures + ")");
  OclspktCall(pc, o->left_out = left_out_text(axes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The directions that `auto` takes for this matrix.
PetscErrorCode ChooseDirections(PC pc, const std::optional<Grid>& grid, std::vector<Direction>* directions,
                                std::string* why) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (o->given_bands[a].set) OclspktCall(pc, directions->push_back(static_cast<Direction>(a)));
  }
  if (!directions->empty() || o->given_lines) {
    if (directions->empty()) OclspktCall(pc, directions->push_back(Direction::given));
    OclspktCall(pc, *why = "the program gave them");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  OclspktCall(pc, directions->push_back(Direction::matrix));
  o->chosen_by_values = grid && (grid->axes > 1 || grid->unknowns > 1);
  if (o->chosen_by_values) PetscCall(ChooseByValues(pc, *grid, &directions->front(), why));
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

/// Whether the lines stay. A new pattern of the same rows on the same grid does not move directions that were named.
PetscBool same_lines(const LinesKey& before, LinesKey now, bool chosen) {
  if (!chosen) {
    now.matrix = before.matrix;
    now.pattern = before.pattern;
  }
  return static_cast<PetscBool>(before == now);
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

void resize_sweeps(PC_OCLSPKT& o, std::size_t count) {
  while (o.sweeps.size() > count) o.sweeps.pop_back();
  while (o.sweeps.size() < count) {
    o.sweeps.push_back(std::make_unique<Sweep>());
    o.sweeps.back()->solver.set_options(o.settings);
  }
}

/// Another axis may be better by this factor before lines are laid out anew.
constexpr double kBetter = 1.25;

/// The entries off the bands against those in them.
static double off_ratio(const Coupling& coupling) { return coupling.off > 0 ? coupling.off / coupling.along : 0; }

/// No other axis is coupled more strongly than the sum of all entries off the bands. So the axes are not measured again
/// while that sum is small, or no larger against the bands than when the choice was made. The sum does not tell which
/// of two other axes has the entries: in three dimensions one of them may have grown to twice the axis taken.
bool choice_is_stale(const PC_OCLSPKT& o) {
  const Coupling& now = o.first().extraction.coupling();
  if (!o.chosen_by_values || !o.chosen_for || now.ignored == 0) return false;
  return o.chosen_for->ignored == 0 || off_ratio(now) > std::max(kBetter, 1.01 * off_ratio(*o.chosen_for));
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
  PetscCall(reads ? FindSource(pc->pmat, &source) : CheckShape(pc->pmat)); /* say first what is wrong with the matrix */
  PetscCall(CurrentKey(pc, &key));
  OclspktCall(pc, directions = parse_directions(o->settings.lines));
  const bool chosen = directions.empty();
  stays = same_lines(o->key, key, chosen);
  PetscCall(AgreeOnSettings(pc, &stays)); /* a rank whose rows stay has neighbours whose rows may not */
  if (stays) PetscFunctionReturn(PETSC_SUCCESS);
  o->key = {};
  o->chosen_by_values = false;
  o->chosen_for.reset();
  o->left_out.clear();
  PetscCall(TakeBack(pc));
  PetscCall(FindGrid(pc, pc->pmat, &grid, &why_no_grid));
  if (chosen) PetscCall(ChooseDirections(pc, grid, &directions, &why));
  PetscCall(CheckMixture(pc, directions));
  OclspktCall(pc, resize_sweeps(*o, directions.size()));
  for (std::size_t s = 0; s < directions.size(); ++s) {
    Sweep& sweep = *o->sweeps[s];
    sweep.direction = directions[s];
    sweep.extraction.forget();
    PetscCall(LayOut(pc, directions[s], grid, why_no_grid, &sweep.layout));
  }
  o->lines_why = std::move(why);
  OclspktCall(pc, o->key = std::move(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include <petscdm.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "boundary.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// The lines of one direction.
LineLayout lay_out(PC pc, Direction direction, const std::optional<Grid>& grid, const std::string& why_no_grid) {
  const auto& given = data(pc)->given_lines;
  const char* const word = name(direction);
  if (direction == Direction::matrix) return lay_out_matrix(pc, pc->pmat);
  if (direction == Direction::given) {
    OclspktCheck(given, comm_of(pc), PETSC_ERR_ORDER,
                 "-pc_oclspkt_lines given: no lines were given; call PCOCLSPKTSetLines() before the set-up (PCReset() "
                 "forgets them)");
    return lay_out_given(pc, pc->pmat, *given);
  }
  OclspktCheck(grid, comm_of(pc), PETSC_ERR_ARG_WRONGSTATE, "-pc_oclspkt_lines %s: %s", word, why_no_grid.c_str());
  LineLayout layout = lay_out_axis(pc, pc->pmat, *grid, place(direction));
  OclspktCheck(!grid->periodic[place(direction)], comm_of(pc), PETSC_ERR_SUP,
               "-pc_oclspkt_lines %s: the grid is periodic along %s, and cyclic lines are not solved yet; make the "
               "preconditioner of another direction, or of a matrix without the periodic couplings",
               word, word);
  return layout;
}

/// Read the matrix along a direction that may be taken.
Coupling try_direction(PC pc, Direction direction, const Grid& grid) {
  Extraction extraction;
  CutSolver<PetscScalar> store;
  const LineLayout layout = direction == Direction::matrix ? lay_out_matrix(pc, pc->pmat)
                                                           : lay_out_axis(pc, pc->pmat, grid, place(direction));
  extraction.run(
      pc, pc->pmat, layout, [](const BandsPart<PetscScalar>&, Index, Index) {}, store, 1);
  return extraction.coupling();
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

Axes measure_axes(PC pc, const Grid& grid) {
  Axes axes;
  PetscInt rows;
  must(MatGetSize(pc->pmat, &rows, nullptr));
  for (std::size_t axis = 0; axis < grid.axes; ++axis) {
    int& most = grid.periodic[axis] ? axes.periodic : axes.strongest;
    const Coupling coupling = try_direction(pc, static_cast<Direction>(axis), grid);
    axes.mean[axis] = coupling.along / static_cast<double>(PetscMax(rows, 1));
    // The couplings that close a periodic line are not read: the others stand for them.
    const auto nodes = static_cast<double>(grid.nodes[axis]);
    if (grid.periodic[axis]) axes.mean[axis] *= nodes / (nodes - 1);
    axes.figures += (axes.figures.empty() ? "" : ", ") + std::string(kDirectionNames[axis]) + " " +
                    figure(axes.mean[axis]) + (grid.periodic[axis] ? " but periodic" : "");
    // Axes that are coupled alike differ by the order in which threads add: the first of them is taken.
    if (most < 0 || axes.mean[axis] > axes.mean[static_cast<std::size_t>(most)] * (1 + 1e-9)) {
      most = static_cast<int>(axis);
    }
  }
  return axes;
}

/// From this many times the coupling along the taken axis on, a periodic one is warned of.
constexpr double kMattersLeftOut = 10;

/// The warning that the couplings of a periodic axis are left out; empty if there are none.
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
Direction choose_by_values(PC pc, const Grid& grid, std::string& why) {
  if (try_direction(pc, Direction::matrix, grid).ignored == 0) {
    why = "the matrix is tridiagonal";
    return Direction::matrix;
  }
  const Axes axes = measure_axes(pc, grid);
  why =
      (axes.strongest >= 0 ? "strongest coupling (" : "the grid is periodic in every direction (") + axes.figures + ")";
  data(pc)->left_out = left_out_text(axes);
  return axes.strongest >= 0 ? static_cast<Direction>(axes.strongest) : Direction::matrix;
}

/// The directions that `auto` takes for this matrix.
std::vector<Direction> choose_directions(PC pc, const std::optional<Grid>& grid, std::string& why) {
  PC_OCLSPKT* o = data(pc);
  std::vector<Direction> directions;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (o->given_bands[a].set) directions.push_back(static_cast<Direction>(a));
  }
  if (!directions.empty() || o->given_lines) {
    if (directions.empty()) directions.push_back(Direction::given);
    why = "the program gave them";
    return directions;
  }
  o->chosen_by_values = grid && (grid->axes > 1 || grid->unknowns > 1);
  return {o->chosen_by_values ? choose_by_values(pc, *grid, why) : Direction::matrix};
}

LinesKey current_key(PC pc) {
  const PC_OCLSPKT& o = *data(pc);
  LinesKey key{.lines = o.settings.lines, .given = o.given_changes};
  DM dm = nullptr;
  must(PetscObjectGetId((PetscObject)pc->pmat, &key.matrix));
  must(MatGetNonzeroState(pc->pmat, &key.pattern));
  must(MatGetLocalSize(pc->pmat, &key.local_rows, nullptr));
  must(MatGetSize(pc->pmat, &key.rows, nullptr));
  must(MatGetDM(pc->pmat, &dm));
  if (pc->dm) dm = pc->dm;
  if (dm) must(PetscObjectGetId((PetscObject)dm, &key.grid));
  return key;
}

/// Whether the lines stay. A new pattern of the same rows on the same grid does not move directions that were named.
bool same_lines(const LinesKey& before, LinesKey now, bool chosen) {
  if (!chosen) {
    now.matrix = before.matrix;
    now.pattern = before.pattern;
  }
  return before == now;
}

/// Take the bands that the program gave back from the solvers, which may get others.
void take_back(PC pc) {
  PC_OCLSPKT* o = data(pc);
  for (const auto& sweep : o->sweeps) {
    if (place(sweep->direction) >= kAxes || !o->given_bands[place(sweep->direction)].taken) continue;
    GivenBands& given = o->given_bands[place(sweep->direction)];
    const LineLayout& layout = sweep->layout;
    sweep->solver.swap_bands(layout.lines, layout.cuts, layout.exchange, given.bands);
    given.taken = false;
  }
}

void check_mixture(PC pc, const std::vector<Direction>& directions) {
  PC_OCLSPKT* o = data(pc);
  int given = 0;
  for (const Direction d : directions) given += place(d) < kAxes && o->given_bands[place(d)].set;
  OclspktCheck(given == 0 || given == static_cast<int>(directions.size()), comm_of(pc), PETSC_ERR_ARG_INCOMP,
               "PCOCLSPKTSetBands() was called for %d of the %d directions of -pc_oclspkt_lines: give bands for all of "
               "them, or for none",
               given, static_cast<int>(directions.size()));
}

}  // namespace

bool lines_stay(PC pc) {
  const PC_OCLSPKT& o = *data(pc);
  if (!pc->pmat || o.key.rows < 0) return false;
  return same_lines(o.key, current_key(pc), parse_directions(o.settings.lines).empty());
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

void find_lines(PC pc) {
  PC_OCLSPKT* o = data(pc);
  std::string why, why_no_grid;
  const auto& bands = o->given_bands;
  const bool reads = std::none_of(bands.begin(), bands.end(), [](const GivenBands& given) { return given.set; });
  reads ? (void)find_source(pc->pmat) : check_shape(pc->pmat); /* say first what is wrong with the matrix */
  LinesKey key = current_key(pc);
  std::vector<Direction> directions = parse_directions(o->settings.lines);
  const bool chosen = directions.empty();
  /* A rank whose rows stay has neighbours whose rows may not. */
  if (agree_on_settings(pc, same_lines(o->key, key, chosen))) return;
  o->key = {};
  o->chosen_by_values = false;
  o->chosen_for.reset();
  o->left_out.clear();
  take_back(pc);
  const std::optional<Grid> grid = find_grid(pc, pc->pmat, why_no_grid);
  if (chosen) directions = choose_directions(pc, grid, why);
  check_mixture(pc, directions);
  resize_sweeps(*o, directions.size());
  for (std::size_t s = 0; s < directions.size(); ++s) {
    Sweep& sweep = *o->sweeps[s];
    sweep.direction = directions[s];
    sweep.extraction.forget();
    sweep.layout = lay_out(pc, directions[s], grid, why_no_grid);
  }
  o->lines_why = std::move(why);
  o->key = std::move(key);
}

}  // namespace oclspkt::petsc

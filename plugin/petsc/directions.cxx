// SPDX-License-Identifier: BSD-2-Clause
/* The choice of directions, and the lines and bands of each direction. */
#include <petscdm.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "parallel.hpp"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

LineLayout lay_out(PC pc, Direction direction, const std::optional<Grid>& grid, const std::string& why_no_grid) {
  const auto& given = data(pc)->given.lines;
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

/// Measure the coupling along a direction that `auto` considers.
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

/// The mean over all rows of |couplings| / |diagonal|, for each axis of a grid.
struct Axes {
  std::array<double, kAxes> mean{};
  std::string figures;                ///< the means of all axes, as text
  int strongest = -1, periodic = -1;  ///< index of an axis; -1: none
};

Axes measure_axes(PC pc, const Grid& grid) {
  Axes axes;
  PetscInt rows;
  must(MatGetSize(pc->pmat, &rows, nullptr));
  for (std::size_t axis = 0; axis < grid.axes; ++axis) {
    int& most = grid.periodic[axis] ? axes.periodic : axes.strongest;
    const Coupling coupling = try_direction(pc, static_cast<Direction>(axis), grid);
    axes.mean[axis] = coupling.along / static_cast<double>(PetscMax(rows, 1));
    // The sum lacks the couplings that close periodic lines. The factor adds a mean coupling for each of them.
    const auto nodes = static_cast<double>(grid.nodes[axis]);
    if (grid.periodic[axis]) axes.mean[axis] *= nodes / (nodes - 1);
    axes.figures += (axes.figures.empty() ? "" : ", ") + std::string(kDirectionNames[axis]) + " " +
                    figure(axes.mean[axis]) + (grid.periodic[axis] ? " but periodic" : "");
    // Threads add in any order, so equally coupled axes differ by rounding. With the margin, the first such axis wins.
    if (most < 0 || axes.mean[axis] > axes.mean[static_cast<std::size_t>(most)] * (1 + 1e-9)) {
      most = static_cast<int>(axis);
    }
  }
  return axes;
}

/// Warn of a periodic axis if its coupling exceeds the coupling of the chosen axis by this factor.
constexpr double kMattersLeftOut = 10;

/// A warning if a periodic axis is coupled much more strongly than the chosen axis; else empty.
std::string left_out_text(const Axes& axes) {
  if (axes.periodic < 0 || axes.strongest < 0) return {};
  const auto taken = static_cast<std::size_t>(axes.strongest), other = static_cast<std::size_t>(axes.periodic);
  if (!(axes.mean[other] > kMattersLeftOut * axes.mean[taken])) return {};
  return std::string("the coupling along ") + kDirectionNames[other] + ", " + figure(axes.mean[other]) + ", is " +
         figure(axes.mean[other] / axes.mean[taken]) + " times that along " + kDirectionNames[taken] +
         ", which is taken because " + kDirectionNames[other] +
         " is periodic and cyclic lines are not solved yet; another preconditioner may be better";
}

/// The direction that `auto` takes for this matrix, if the program gave neither lines nor bands.
Direction choose_by_values(PC pc, const Grid& grid, std::string& why) {
  if (try_direction(pc, Direction::matrix, grid).ignored == 0) {
    why = "the matrix is tridiagonal";
    return Direction::matrix;
  }
  const Axes axes = measure_axes(pc, grid);
  why =
      (axes.strongest >= 0 ? "strongest coupling (" : "the grid is periodic in every direction (") + axes.figures + ")";
  data(pc)->chosen.left_out = left_out_text(axes);
  return axes.strongest >= 0 ? static_cast<Direction>(axes.strongest) : Direction::matrix;
}

/// The directions that `auto` takes: those of the program's bands or lines, or else one by grid and matrix.
std::vector<Direction> choose_directions(PC pc, const std::optional<Grid>& grid, std::string& why) {
  PC_OCLSPKT* o = data(pc);
  std::vector<Direction> directions;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (o->given.bands[a].set) directions.push_back(static_cast<Direction>(a));
  }
  if (!directions.empty() || o->given.lines) {
    if (directions.empty()) directions.push_back(Direction::given);
    why = "the program gave them";
    return directions;
  }
  o->chosen.by_values = grid && (grid->axes > 1 || grid->unknowns > 1);
  return {o->chosen.by_values ? choose_by_values(pc, *grid, why) : Direction::matrix};
}

LinesKey current_key(PC pc) {
  const PC_OCLSPKT& o = *data(pc);
  LinesKey key{.lines = o.settings.lines, .given = o.given.changes};
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

/// True if the lines stay. The matrix and its pattern matter only if `auto` chooses the directions (`chosen`).
bool same_lines(const LinesKey& before, LinesKey now, bool chosen) {
  if (!chosen) {
    now.matrix = before.matrix;
    now.pattern = before.pattern;
  }
  return before == now;
}

/// Take the program's bands back from the solvers before the lines change.
void take_back(PC pc) {
  PC_OCLSPKT* o = data(pc);
  for (const auto& sweep : o->sweeps) {
    if (place(sweep->direction) >= kAxes || !o->given.bands[place(sweep->direction)].taken) continue;
    GivenBands& given = o->given.bands[place(sweep->direction)];
    sweep->solver.swap_bands(sweep->layout, given.bands);
    given.taken = false;
  }
}

void check_mixture(PC pc, const std::vector<Direction>& directions) {
  PC_OCLSPKT* o = data(pc);
  int given = 0;
  for (const Direction d : directions) given += place(d) < kAxes && o->given.bands[place(d)].set;
  OclspktCheck(given == 0 || given == static_cast<int>(directions.size()), comm_of(pc), PETSC_ERR_ARG_INCOMP,
               "PCOCLSPKTSetBands() was called for %d of the %d directions of -pc_oclspkt_lines: give bands for all of "
               "them, or for none",
               given, static_cast<int>(directions.size()));
}

}  // namespace

bool lines_stay(PC pc) {
  const PC_OCLSPKT& o = *data(pc);
  if (!pc->pmat || o.chosen.key.rows < 0) return false;
  return same_lines(o.chosen.key, current_key(pc), parse_directions(o.settings.lines).empty());
}

void resize_sweeps(PC_OCLSPKT& o, std::size_t count) {
  while (o.sweeps.size() > count) o.sweeps.pop_back();
  while (o.sweeps.size() < count) {
    o.sweeps.push_back(std::make_unique<Sweep>());
    o.sweeps.back()->solver.set_options(o.settings);
  }
}

/// `auto` keeps the direction until the coupling along another axis may be larger by this factor.
constexpr double kBetter = 1.25;

static double off_ratio(const Coupling& coupling) { return coupling.off > 0 ? coupling.off / coupling.along : 0; }

/// The sum of all entries off the bands bounds the coupling of every other axis. If this sum is small, or has not grown
/// relative to the bands, the choice stays. In three dimensions, the sum is over two axes. If one of them
/// shrinks, the other may grow to twice the coupling of the chosen axis before the sum grows.
bool choice_is_stale(const PC_OCLSPKT& o) {
  const Coupling& now = o.first().extraction.coupling();
  if (!o.chosen.by_values || !o.chosen.coupling || now.ignored == 0) return false;
  return o.chosen.coupling->ignored == 0 || off_ratio(now) > std::max(kBetter, 1.01 * off_ratio(*o.chosen.coupling));
}

void find_lines(PC pc) {
  PC_OCLSPKT* o = data(pc);
  std::string why, why_no_grid;
  const auto& bands = o->given.bands;
  const bool reads = std::none_of(bands.begin(), bands.end(), [](const GivenBands& given) { return given.set; });
  reads ? (void)find_source(pc->pmat) : check_shape(pc->pmat); /* report errors of the matrix before other errors */
  LinesKey key = current_key(pc);
  std::vector<Direction> directions = parse_directions(o->settings.lines);
  const bool chosen = directions.empty();
  /* All ranks decide together, because lines may change on one rank and stay on its neighbours. */
  if (agree_on_settings(pc, same_lines(o->chosen.key, key, chosen))) return;
  o->chosen.key = {};
  o->chosen.by_values = false;
  o->chosen.coupling.reset();
  o->chosen.left_out.clear();
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
  o->chosen.why = std::move(why);
  o->chosen.key = std::move(key);
}

namespace {

/// With many rows, choice_is_stale() samples every seventh row. Widths of grids are rarely multiples of 7, so the
/// sample has rows from all parts of the grid.
constexpr Index kSampledRows = 7;

bool reads_matrix(const PC_OCLSPKT& o, Direction direction) {
  return place(direction) >= kAxes || !o.given.bands[place(direction)].set;
}

/// Write the diagonal of the split form: the row sums of the matrix, less the couplings of the direction.
/// @pre couplings out of the lines are 0, as after Extraction::run()
void split_diagonal(const std::vector<PetscScalar>& row_sums, const LineLayout& layout,
                    const BandsPart<PetscScalar>& part, Index first, Index end) {
  for (Index i = 0; i < end - first; ++i) {
    part.diag[i] = row_sums[static_cast<std::size_t>(layout.row(first + i))] - part.lower[i] - part.upper[i];
  }
}

/// Divide row i of the bands by between[i]. With D = diag(between), this turns the tridiagonal matrix T into D^-1 T,
/// whose inverse is T^-1 D, so an apply needs no pass for D.
void divide_rows(const std::vector<PetscScalar>& between, const LineLayout& layout, const BandsPart<PetscScalar>& part,
                 Index first, Index end) {
  for (Index i = 0; i < end - first; ++i) {
    const PetscScalar divisor = between[static_cast<std::size_t>(layout.row(first + i))];
    part.lower[i] /= divisor;
    part.diag[i] /= divisor;
    part.upper[i] /= divisor;
  }
}

Index count_couplings(const BandsPart<PetscScalar>& part, Index count) {
  Index couplings = 0;
  for (Index i = 0; i < count; ++i) {
    couplings += (part.lower[i] != PetscScalar(0)) + (part.upper[i] != PetscScalar(0));
  }
  return couplings;
}

/// Count the couplings of places [first, end) that are also couplings of other directions.
Index count_shared(const LineLayout& layout, PetscInt first_row, const std::vector<Neighbours>& others,
                   const BandsPart<PetscScalar>& part, Index first, Index end) {
  Index shared = 0;
  for_neighbours(layout, first_row, first, end, [&](Index place, PetscInt above, PetscInt below) {
    const auto has = [&](PetscScalar value, PetscInt column) {
      return value != PetscScalar(0) && std::any_of(others.begin(), others.end(), [&](const Neighbours& rows) {
               const auto& [before, behind] = rows[static_cast<std::size_t>(layout.row(place))];
               return before == column || behind == column;
             });
    };
    shared += has(part.lower[place - first], above) + has(part.upper[place - first], below);
  });
  return shared;
}

/// Compute a vector from the matrix by `read`, such as the diagonal or the row sums. Returns this rank's part.
std::vector<PetscScalar> read_vector(PC pc, PetscErrorCode (*read)(Mat, Vec)) {
  Vec vector;
  must(MatCreateVecs(pc->pmat, nullptr, &vector));
  must((*read)(pc->pmat, vector));
  std::vector<PetscScalar> values = copy_vector(vector);
  must(VecDestroy(&vector));
  return values;
}

/// Fail if the diagonal D between the factors has a zero, because the product contains D^-1. Collective.
void check_between(PC pc) {
  PC_OCLSPKT* o = data(pc);
  PetscInt first, bad = -1;
  must(MatGetOwnershipRange(pc->pmat, &first, nullptr));
  const auto zero = std::find(o->between.begin(), o->between.end(), PetscScalar(0));
  if (zero != o->between.end()) bad = first + static_cast<PetscInt>(zero - o->between.begin());
  OclspktReduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MAX, comm_of(pc));
  OclspktCheck(bad < 0, comm_of(pc), PETSC_ERR_ARG_WRONG,
               "-pc_oclspkt_combine %s -pc_oclspkt_diagonal %s: the %s of row %" PetscInt_FMT
               " is 0, but its inverse joins the factors; use -pc_oclspkt_combine additive or multiplicative",
               kCombineNames[static_cast<int>(o->settings.combine)],
               kDiagonalNames[static_cast<int>(o->settings.diagonal)],
               o->settings.diagonal == Diagonal::split ? "sum" : "diagonal", bad);
}

/// Fill the bands of sweep s from the matrix. Collective.
/// @param others  neighbours in earlier directions; their couplings are not counted again
void read_sweep(PC pc, std::size_t s, const std::vector<PetscScalar>& row_sums, const std::vector<Neighbours>& others) {
  PC_OCLSPKT* o = data(pc);
  Sweep& sweep = *o->sweeps[s];
  const bool several = o->sweeps.size() > 1, split = o->settings.diagonal == Diagonal::split;
  const bool scaled = several && s > 0 && o->settings.combine == Combine::factored;
  std::atomic<Index> couplings{0};
  PetscInt first_row, rows;
  const auto change = [&](const BandsPart<PetscScalar>& part, Index first, Index end) {
    if (several) couplings += count_couplings(part, end - first);
    if (!others.empty()) couplings -= count_shared(sweep.layout, first_row, others, part, first, end);
    if (split) split_diagonal(row_sums, sweep.layout, part, first, end);
    if (scaled) divide_rows(o->between, sweep.layout, part, first, end);
  };
  must(MatGetOwnershipRange(pc->pmat, &first_row, nullptr));
  must(MatGetSize(pc->pmat, &rows, nullptr));
  const Index weigh = !o->chosen.by_values ? 0 : rows > kPieceRows ? kSampledRows : 1;
  sweep.extraction.run(pc, pc->pmat, sweep.layout, change, sweep.solver, weigh);
  sweep.couplings = couplings;
  if (!several) return;
  OclspktReduce(MPI_IN_PLACE, &sweep.couplings, 1, MPIU_INT64, MPI_SUM, comm_of(pc));
}

/// Hand the program's bands to the solver of a sweep, unless the solver holds them already.
/// @throws InvalidInput if the bands belong to other rows or lines
void take_given(GivenBands& given, Sweep& sweep) {
  const LineLayout& layout = sweep.layout;
  if (given.taken) {
    sweep.solver.keep_bands(layout);
    return;
  }
  if (given.bands.extent() != layout.lines.rows()) {
    throw InvalidInput("PCOCLSPKTSetBands() for " + std::string(name(sweep.direction)) + " was given " +
                       std::to_string(given.bands.extent()) + " rows on this rank, the matrix has " +
                       std::to_string(layout.lines.rows()) +
                       "; make the vectors with MatCreateVecs() or DMCreateGlobalVector()");
  }
  if (given.ends && *given.ends != ends_of(layout)) {
    throw InvalidInput("The lines along " + std::string(name(sweep.direction)) +
                       " differ from those that PCOCLSPKTSetBands() was called for; call it again after PCSetDM() and "
                       "PCSetOperators()");
  }
  sweep.solver.swap_bands(layout, given.bands);
  given.ends = ends_of(layout);
  given.taken = true;
}

}  // namespace

void fill_bands(PC pc) {
  PC_OCLSPKT* o = data(pc);
  const bool several = o->sweeps.size() > 1, split = o->settings.diagonal == Diagonal::split;
  const bool from_matrix = reads_matrix(*o, o->first().direction);
  const bool product = o->settings.combine == Combine::factored || o->settings.combine == Combine::symmetric;
  /* Axes share no coupling with each other. Other directions may share couplings with an axis. */
  const bool may_share = several && std::any_of(o->sweeps.begin(), o->sweeps.end(),
                                                [](const auto& sweep) { return place(sweep->direction) >= kAxes; });
  std::vector<PetscScalar> row_sums;
  Trouble trouble;
  std::vector<Neighbours> read;
  PetscInt first_row;
  must(MatGetOwnershipRange(pc->pmat, &first_row, nullptr));
  if (split && from_matrix) row_sums = read_vector(pc, MatGetRowSum);
  o->between.clear();
  if (several && product && from_matrix) {
    o->between = split ? row_sums : read_vector(pc, MatGetDiagonal);
    check_between(pc);
  }
  for (std::size_t s = 0; s < o->sweeps.size(); ++s) {
    Sweep& sweep = *o->sweeps[s];
    const LineLayout& layout = sweep.layout;
    if (from_matrix) read_sweep(pc, s, row_sums, read);
    trouble.attempt([&] {
      if (!from_matrix) take_given(o->given.bands[place(sweep.direction)], sweep);
      if (from_matrix && may_share) read.push_back(neighbours_of(layout, first_row));
      if (layout.rows.empty()) return;
      sweep.right.resize(layout.lines.rows());
      sweep.solution.resize(layout.lines.rows());
    });
  }
  agree_on(pc, trouble);
  for (Work* work : {&o->work, &o->work_columns}) destroy_work_of_matrix(*work);
}

Index ignored_entries(const PC_OCLSPKT& o) {
  Index ignored = o.first().extraction.ignored() + o.first().couplings;
  for (const auto& sweep : o.sweeps) ignored -= sweep->couplings;
  return ignored;
}

}  // namespace oclspkt::petsc

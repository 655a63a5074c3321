// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <atomic>
#include <utility>

#include "boundary.hxx"
#include "neighbours.hxx"
#include "parallel.hpp"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// Of many rows every seventh tells whether the choice of lines still holds; widths of grids are rarely multiples.
constexpr Index kSampledRows = 7;

bool reads_matrix(const PC_OCLSPKT& o, Direction direction) {
  return place(direction) >= kAxes || !o.given_bands[place(direction)].set;
}

/// Diagonal D_0 + D_x of the split form: the row sums, and what the couplings of the direction balance.
/// @pre the bands are as Extraction left them: couplings out of the lines are 0
void split_diagonal(const std::vector<PetscScalar>& row_sums, const LineLayout& layout,
                    const BandsPart<PetscScalar>& part, Index first, Index end) {
  for (Index i = 0; i < end - first; ++i) {
    part.diag[i] = row_sums[static_cast<std::size_t>(layout.row(first + i))] - part.lower[i] - part.upper[i];
  }
}

/// Divide row i by between[i]: (D + Y)^-1 D is the inverse of that, and an apply needs no pass for D.
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

/// How many couplings of places [first, end) are couplings of other directions as well.
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

/// A diagonal of the matrix, or its row sums, by local rows.
std::vector<PetscScalar> read_vector(PC pc, PetscErrorCode (*read)(Mat, Vec)) {
  Vec vector;
  must(MatCreateVecs(pc->pmat, nullptr, &vector));
  must((*read)(pc->pmat, vector));
  std::vector<PetscScalar> values = copy_vector(vector);
  must(VecDestroy(&vector));
  return values;
}

/// Products with D between the factors need D^-1 to be there. Collective.
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
/// @param others  directions whose couplings are not counted again
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
  const Index weigh = !o->chosen_by_values ? 0 : rows > kPieceRows ? kSampledRows : 1;
  sweep.extraction.run(pc, pc->pmat, sweep.layout, change, sweep.solver, weigh);
  sweep.couplings = couplings;
  if (!several) return;
  OclspktReduce(MPI_IN_PLACE, &sweep.couplings, 1, MPIU_INT64, MPI_SUM, comm_of(pc));
}

/// Hand the bands that the program gave to the solver of a sweep, unless it has them already.
/// @throws InvalidInput if they are of other rows or lines
void take_given(GivenBands& given, Sweep& sweep) {
  const LineLayout& layout = sweep.layout;
  if (given.taken) {
    sweep.solver.keep_bands(layout.lines, layout.cuts, layout.exchange);
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
  sweep.solver.swap_bands(layout.lines, layout.cuts, layout.exchange, given.bands);
  given.ends = ends_of(layout);
  given.taken = true;
}

}  // namespace

void fill_bands(PC pc) {
  PC_OCLSPKT* o = data(pc);
  const bool several = o->sweeps.size() > 1, split = o->settings.diagonal == Diagonal::split;
  const bool from_matrix = reads_matrix(*o, o->first().direction);
  const bool product = o->settings.combine == Combine::factored || o->settings.combine == Combine::symmetric;
  /* Axes have no couplings in common; those of the matrix's order and of the program's lines may be an axis's, too. */
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
      if (!from_matrix) take_given(o->given_bands[place(sweep.direction)], sweep);
      if (from_matrix && may_share) read.push_back(neighbours_of(layout, first_row));
      if (layout.rows.empty()) return;
      sweep.right.resize(layout.lines.rows());
      sweep.solution.resize(layout.lines.rows());
    });
  }
  agree_on(pc, trouble);
  for (Work* work : {&o->work, &o->work_columns}) destroy_work_of_matrix(*work);
}

/// How many entries the first direction ignores, less those that other directions take.
Index ignored_entries(const PC_OCLSPKT& o) {
  Index ignored = o.first().extraction.ignored() + o.first().couplings;
  for (const auto& sweep : o.sweeps) ignored -= sweep->couplings;
  return ignored;
}

}  // namespace oclspkt::petsc

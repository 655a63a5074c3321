// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boundary.hxx"
#include "extract.hxx"
#include "lines.hxx"
#include "oclspkt/device_visit.hpp"
#include "oclspkt/oclspkt.h"
#include "options.hpp"
#include "petsc_compat.h"

namespace oclspkt::petsc {

/// What vouches for an operator: the error of truncation at most, and that of rounding in eps; Inf if it is not known.
struct Bounds {
  double truncation = 0, rounding = 0;
  bool above_limits = false;  ///< a method that was named, and that its bounds do not cover
};

/// Texts that PCOCLSPKTGetMethodUsed() and its like handed out.
struct Told {
  std::string directions, method, why, device, device_type;
};

/// One direction of the preconditioner: its lines, where their bands stand in the matrix, and what solves them.
struct Sweep {
  Direction direction = Direction::matrix;
  LineLayout layout;
  Extraction extraction;
  CutSolver<PetscScalar> solver;
  Index couplings = 0;  ///< nonzero couplings on all ranks that no direction before has; counted for several directions
  AlignedArray<PetscScalar> right, solution;  ///< vectors in the order of the lines; empty: that of the matrix
  std::size_t losses_seen = 0;                ///< lost devices that were logged already
  std::array<bool, 2> told_above{};           ///< what is above the limits of method auto, by -info; as `bounds`
  std::array<Bounds, 2> bounds;  ///< of the last set-up and of the transposed one, the largest over all ranks

  Told told;  ///< of this direction alone

  const Report& report(bool transpose) const { return transpose ? solver.transpose_report() : solver.report(); }
  const CutReport& cut_report(bool transpose) const {
    return transpose ? solver.transpose_cut_report() : solver.cut_report();
  }
};

/// A bound; one that is not known, which comparisons and MPI_MAX may lose, is Inf.
inline double without_nan(double bound) { return std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound; }

/// The larger of two bounds; one that is not known wins.
inline double largest_bound(double a, double b) { return b <= a || std::isnan(a) ? a : b; }

/// Which couplings lead out of lines.
struct Ends {
  LineSet lines;
  bool above = false, below = false;  ///< other ranks continue them
  bool operator==(const Ends&) const = default;
};

/// Those of all lines of a layout along an axis, of which other ranks continue all or none.
inline Ends ends_of(const LineLayout& layout) {
  return {layout.lines, layout.cut() && layout.above.front() >= 0, layout.cut() && layout.below.front() >= 0};
}

/// Bands along an axis as PCOCLSPKTSetBands() was given them, by local rows. They go to the solver of their direction
/// and come back when lines are laid out anew, so that they are copied once.
struct GivenBands {
  FilledBands<PetscScalar> bands;
  bool set = false;
  bool taken = false;        ///< the solver has them, and `bands` is what it had before
  std::optional<Ends> ends;  ///< the lines whose ends are 0 in them; none: they are as they were given
};

/// The choice and the layout of lines depend on this key alone: they are kept until it changes.
struct LinesKey {
  std::string lines;
  PetscObjectId matrix = 0, grid = 0;
  PetscObjectState pattern = -1;
  PetscInt local_rows = -1, rows = -1;
  int given = 0;  ///< calls of PCOCLSPKTSetLines() and PCOCLSPKTSetBands() that changed what there is
  bool operator==(const LinesKey&) const = default;
};

/// What is solved for at once: a vector, or some columns of a dense matrix.
struct Block {
  Vec vector = nullptr;
  Mat matrix = nullptr;           ///< null: the vector
  PetscInt first = 0, count = 1;  ///< columns
};

/// What there is between the sweeps.
struct Work {
  std::array<Block, 2> parts;
  Block between;                   ///< the diagonal between the factors
  std::array<Block, 2> of_matrix;  ///< see multiply()
};
/// Destroy what another matrix needs anew.
void destroy_work_of_matrix(Work& work);

/// The directions and their lines, as find_lines() decided.
struct Chosen {
  LinesKey key;
  std::string why;                   ///< in words
  bool by_values = false;            ///< by `auto`
  std::optional<Coupling> coupling;  ///< what that choice was made for
  std::string left_out;              ///< a periodic axis that it could not take, with figures; empty if none matters
};

/// What stands behind pc->data.
struct PC_OCLSPKT {
  Settings settings;
  std::vector<std::unique_ptr<Sweep>> sweeps;  ///< at least one; in the order of the directions
  Chosen chosen;
  struct {
    std::optional<GivenLines> lines;
    std::array<GivenBands, kAxes> bands;
    int changes = 0;
  } given;                             ///< by the program
  std::shared_ptr<Exchange> exchange;  ///< of all sweeps; made when lines are cut
  std::vector<PetscScalar> between;    ///< diagonal between the factors of `symmetric`, by local rows
  Work work, work_columns;             ///< for vectors and for columns, of the solution's type; destroyed by reset
  DeviceVisit<PetscScalar> visit;      ///< one way of host vectors for all directions, where that is possible
  struct {
    DeviceQueue queue;           ///< where they lie, as the last set-up was told
    std::string sought;          ///< the type that find_queue() asked
    const char* from_host = "";  ///< why the last ones were taken from the host's memory, see note_vectors(); or empty
  } vectors;
  bool stale = false;            ///< settings changed while the program reuses the operator
  bool ready = false;            ///< the operator of the last set-up can be applied
  bool transpose_ready = false;  ///< the transposed one was set up for it
  std::string failure;           ///< why the last set-up failed, or the last apply; empty if it did not
  bool failed_apply = false;     ///< `failure` is of an apply
  Trouble answers;               ///< what is wrong with answers of the apply that runs
  std::string first_loss;        ///< the first device that this rank lost; empty if none
  struct {
    bool degraded = false;  ///< by this rank, or by any as far as agree_on_degraded() told
    bool ignored = false, left_out = false;
  } warned;                   ///< see warnings; it survives a reset
  bool applied_once = false;  ///< by the KSP of the last solve, which is no Krylov method
  Told told;

  PC_OCLSPKT() { sweeps.push_back(std::make_unique<Sweep>()); }
  Sweep& first() { return *sweeps.front(); }
  const Sweep& first() const { return *sweeps.front(); }
};

inline PC_OCLSPKT* data(PC pc) { return static_cast<PC_OCLSPKT*>(pc->data); }

/// Have the operator made anew by the next PCSetUp(), even if the matrix stays; while the program reuses the operator
/// (PCSetReusePreconditioner()), by the first apply after that.
inline void forget_operator(PC pc) {
  if (pc->reusepreconditioner) {
    data(pc)->stale = true;
  } else {
    pc->setupcalled = PETSC_FALSE;
  }
}

/// The numbers of a block in memory of the host, to be read; every get has its restore.
Columns<const PetscScalar> get_read(const Block& block);
void restore_read(const Block& block, const Columns<const PetscScalar>& columns);
/// The numbers of a block in memory of the host, to be overwritten. Columns before the block keep their values.
Columns<PetscScalar> get_write(const Block& block);
void restore_write(const Block& block, const Columns<PetscScalar>& columns);

/// Call call(to, with) for the vectors of two blocks; where `with` is one vector, that for each of `to`.
/// @param call  changes `to`, reads `with`
template <typename Call>
void each_vector(const Block& to, const Block& with, const Call& call) {
  for (PetscInt k = 0; k < to.count; ++k) {
    const PetscInt other = with.first + PetscMin(k, with.count - 1);
    Vec changed = to.vector, read = with.vector;
    if (with.matrix) must(MatDenseGetColumnVecRead(with.matrix, other, &read));
    if (to.matrix) must(MatDenseGetColumnVec(to.matrix, to.first + k, &changed));
    call(changed, read);
    if (to.matrix) must(MatDenseRestoreColumnVec(to.matrix, to.first + k, &changed));
    if (with.matrix) must(MatDenseRestoreColumnVecRead(with.matrix, other, &read));
  }
}

/// Whether a type of vectors, as MatGetVecType() tells it, has nothing but memory of the host.
bool is_of_host(VecType type);

/// product = A x, or A^T x: matrices on devices multiply vectors of their own type only, others are copied by
/// the host.
/// @param[in,out] own  vectors of the matrix's type, made when they are needed
void multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>& own);

/// Have a block be as another one: a vector of its type, or at least as many columns, where it lies.
/// @param[in,out] block  destroyed and made anew where it does not fit
/// @return whether it was made anew, so that its numbers are to be written
bool match_block(const Block& like, Block& block);
void destroy_block(Block& block);

/// Compose the functions behind the public ones of oclspkt.h with a PC, or remove them.
void compose_functions(PC pc, bool remove);

/// Whether the lines of the last set-up are those of the next one, as far as this rank can tell.
bool lines_stay(PC pc);

/// The rows of a vector that are on this rank.
std::vector<PetscScalar> copy_vector(Vec vector);

/* Behind PCOCLSPKTSetLines() and PCOCLSPKTSetBands(). */
void set_lines(PC pc, IS lines, IS starts, IS rows);
void set_bands(PC pc, const char axis[], Vec lower, Vec diag, Vec upper);

/// Set the bounds of every direction to the largest over all ranks. Collective.
void agree_on_bounds(PC pc, bool transpose);

/// Tell of devices lost since the last call: to -info and the log, and where this is rank 0 to the error stream.
void note_degraded(PC pc);
/// Print the line of the first rank that lost a device, unless one was printed before. Collective.
void agree_on_degraded(PC pc);

/// Whether an answer may fail an apply: see AboveBound.
inline bool answers_may_fail(const PC_OCLSPKT& o) {
  return o.settings.above_bound == AboveBound::error && o.settings.method == MethodChoice::automatic;
}

/// Read every option of the table.
void read_settings(OclspktOptionItems items, Settings& settings);

/// Give the solver new settings; where they concern the operator the next PCSetUp() runs even if the matrix stays.
/// @return whether they do
bool change_settings(PC pc, const Settings& settings);

/// Decide on the directions and lay out their lines, where the matrix or the settings changed. Collective.
void find_lines(PC pc);

/// Give every sweep its bands, from the matrix or from the program, ready for set_up(). Collective.
void fill_bands(PC pc);

/// Columns that are solved for at a time where each of them needs memory of its own: where rows of lines lie apart in
/// the vector, and between directions.
inline constexpr PetscInt kColumnsTogether = 4;

/// Solve along one direction: where the vectors lie if the solver takes them there, else by way of the host's memory.
/// @param right, solution  not the same
void solve_sweep(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose);

/// The queue by which PETSc orders work on two blocks, where both lie on a device by one run-time: CUDA (VECCUDA,
/// VECKOKKOS, MATDENSECUDA) or OpenCL (VECVIENNACL). None for others, and for vectors that are bound to the host.
DeviceQueue queue_of(const Block& right, const Block& solution);
/// Have the view say why vectors of Kokkos are solved for from the host's memory, if they are; of others it says
/// nothing.
void note_vectors(PC pc, Vec vector);
/// Before a set-up: remember where vectors are likely to lie, by those that the matrix makes. Collective.
void find_queue(PC pc);
/// Before the applies of a solve: set up for the device where its vectors lie, if the last set-up was not told of it.
/// Collective: all ranks set up, or none.
void set_up_for_vectors(PC pc, Vec right, Vec solution);
/// Solve along one direction on the device where the vectors lie, if the set-up was told of it: by the matrix, or by
/// a KSP, see set_up_for_vectors().
/// @return false: they have to be taken to the host
bool solve_on_device(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose);

/// Set the solvers of all directions up, for where PC_OCLSPKT::vectors says that they lie. A breakdown on one rank is
/// one on all. Collective.
void set_up_sweeps(PC pc);

/// After the set-ups of all sweeps: look whether vectors of the host can go to a device and back once for all of them.
void set_up_visit(PC pc);

/// Apply the operator that Settings::combine makes of several sweeps.
/// @param right, solution  not the same, at most kColumnsTogether columns
void apply_combined(PC pc, const Block& right, const Block& solution, bool transpose);

/// Whether `auto` has to choose again, because the values of the matrix rose where the choice does not look.
bool choice_is_stale(const PC_OCLSPKT& o);

/// Entries of the matrix that no direction takes, on all ranks.
Index ignored_entries(const PC_OCLSPKT& o);
/// Which entries of the matrix no direction takes, in words.
std::string ignored_text(const PC_OCLSPKT& o);
/// @return an error if there are any, and -pc_oclspkt_ignored says so
void check_ignored(PC pc);
/// Warn of a solve that leaves entries out, unless a Krylov method makes up for them. Collective.
void warn_of_ignored(PC pc, KSP ksp);
/// Warn of a strong axis that `auto` could not take. Collective.
void warn_of_periodic_axis(PC pc);

void view(PC pc, PetscViewer viewer);

/// Print what the last set-up chose and why, for Settings::explain.
void explain(PC pc);

}  // namespace oclspkt::petsc

/// The constructor that PCRegister() is given.
PetscErrorCode PCCreate_OCLSPKT(PC pc);

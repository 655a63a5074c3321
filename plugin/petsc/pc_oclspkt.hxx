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

/// Bounds on errors of an operator; `rounding` is in eps. An unknown bound is Inf.
struct Bounds {
  double truncation = 0, rounding = 0;
  bool above_limits = false;  ///< the user named the method, and a bound exceeds its limit
};

/// Owns the texts that functions such as PCOCLSPKTGetMethodUsed() return to the program.
struct Told {
  std::string directions, method, why, device, device_type;
};

/// One direction of the preconditioner: its lines, the positions of their bands in the matrix, and their solver.
struct Sweep {
  Direction direction = Direction::matrix;
  LineLayout layout;
  Extraction extraction;
  CutSolver<PetscScalar> solver;
  Index couplings = 0;  ///< nonzero couplings on all ranks that no earlier direction has; only for several directions
  AlignedArray<PetscScalar> right, solution;  ///< copies in the order of the lines; empty if the vector has this order
  std::size_t losses_seen = 0;                ///< number of lost devices that were logged
  std::array<bool, 2> told_above{};           ///< [transpose]: -info has reported values above the limits
  std::array<Bounds, 2> bounds;               ///< [transpose]: largest bounds over all ranks, from the last set-up

  Told told;

  const CutSolver<PetscScalar>& of(bool transpose) const { return transpose ? solver.transposed() : solver; }
  const Report& report(bool transpose) const { return of(transpose).report(); }
  const CutReport& cut_report(bool transpose) const { return of(transpose).cut_report(); }
};

/// Replace an unknown bound (NaN) by Inf, because comparisons and MPI_MAX may drop NaN.
inline double without_nan(double bound) { return std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound; }

/// The larger of two bounds; NaN (unknown) if one of the bounds is NaN.
inline double largest_bound(double a, double b) { return b <= a || std::isnan(a) ? a : b; }

/// The lines of this rank, and the sides on which they continue on other ranks.
struct Ends {
  LineSet lines;
  bool above = false, below = false;  ///< lines continue on other ranks
  bool operator==(const Ends&) const = default;
};

/// @pre on each side, either all lines or no line of the layout continues on other ranks
inline Ends ends_of(const LineLayout& layout) {
  return {layout.lines, layout.cut() && layout.above.front() >= 0, layout.cut() && layout.below.front() >= 0};
}

/// The bands along an axis from PCOCLSPKTSetBands(), by local rows. The direction's solver takes them without a copy,
/// and returns them when the lines change.
struct GivenBands {
  FilledBands<PetscScalar> bands;
  bool set = false;
  bool taken = false;        ///< the solver holds the program's bands, and `bands` holds the solver's previous bands
  std::optional<Ends> ends;  ///< lines whose outward couplings in `bands` are set to 0; empty: couplings are unchanged
};

/// Everything on which the choice and the layout of lines depend. Set-ups keep the lines until the key changes.
struct LinesKey {
  std::string lines;
  PetscObjectId matrix = 0, grid = 0;
  PetscObjectState pattern = -1;
  PetscInt local_rows = -1, rows = -1;
  int given = 0;  ///< number of calls of PCOCLSPKTSetLines(), and of PCOCLSPKTSetBands() for a new or a removed axis
  bool operator==(const LinesKey&) const = default;
};

/// Right-hand sides or solutions of one solve: a vector, or some columns of a dense matrix.
struct Block {
  Vec vector = nullptr;
  Mat matrix = nullptr;           ///< null if the block is `vector`
  PetscInt first = 0, count = 1;  ///< first column, number of columns
};

/// Blocks for intermediate results between the sweeps.
struct Work {
  std::array<Block, 2> parts;
  Block between;                   ///< the diagonal between the factors
  std::array<Block, 2> of_matrix;  ///< vectors of the matrix's type, see multiply()
};
/// Destroy `between` and `of_matrix`, which do not fit another matrix.
void destroy_work_of_matrix(Work& work);

/// The choice of directions that find_lines() made.
struct Chosen {
  LinesKey key;
  std::string why;                   ///< reason for these directions
  bool by_values = false;            ///< `auto` chose by the values of the matrix
  std::optional<Coupling> coupling;  ///< the coupling of the matrix when `auto` chose
  std::string left_out;  ///< warning about a strongly coupled periodic axis that `auto` could not take; else empty
};

/// The data of the preconditioner, to which pc->data points.
struct PC_OCLSPKT {
  Settings settings;
  std::vector<std::unique_ptr<Sweep>> sweeps;  ///< at least one; in the order of the directions
  Chosen chosen;
  struct {
    std::optional<GivenLines> lines;
    std::array<GivenBands, kAxes> bands;
    int changes = 0;
  } given;                             ///< lines and bands that the program gave
  std::shared_ptr<Exchange> exchange;  ///< shared by all sweeps; made when lines are cut
  std::vector<PetscScalar> between;    ///< diagonal between the factors of `symmetric`, by local rows
  Work work, work_columns;             ///< blocks for vectors and for dense matrices; reset destroys them
  DeviceVisit<PetscScalar> visit;      ///< applies all directions with one transfer of host vectors, if possible
  struct {
    DeviceQueue queue;           ///< queue of the device where vectors lie, as passed to the last set-up
    std::string sought;          ///< the vector type for which find_queue() looked
    const char* from_host = "";  ///< why Kokkos vectors were read from host memory, see note_vectors(); else empty
  } vectors;
  bool ready = false;            ///< the operator of the last set-up can be applied
  bool transpose_ready = false;  ///< the transposed operator was set up, too
  std::string failure;           ///< why the last set-up or apply failed; empty if it succeeded
  bool failed_apply = false;     ///< `failure` describes an apply
  /// Errors of the current apply. After an error, the apply still makes its other solves, for which other ranks wait.
  Trouble answers;
  std::string first_loss;  ///< name of the first device that this rank lost; empty if none
  struct {
    bool degraded = false;  ///< this rank printed that a device was lost; agree_on_degraded() tells all ranks
    bool ignored = false, left_out = false;
  } warned;                   ///< warnings that were printed; a reset keeps this record
  bool applied_once = false;  ///< the KSP of the last solve is no Krylov method and applies the PC once
  Told told;

  PC_OCLSPKT() { sweeps.push_back(std::make_unique<Sweep>()); }
  Sweep& first() { return *sweeps.front(); }
  const Sweep& first() const { return *sweeps.front(); }
};

inline PC_OCLSPKT* data(PC pc) { return static_cast<PC_OCLSPKT*>(pc->data); }

/// Make the next PCSetUp() set up the operator, even if the matrix stays. Under PCSetReusePreconditioner(), PCSetUp()
/// does nothing. Clearing the recorded state of the matrix makes the first PCSetUp() after the reuse set up.
inline void forget_operator(PC pc) {
  if (pc->reusepreconditioner) {
    pc->matstate = {};
  } else {
    pc->setupcalled = PETSC_FALSE;
  }
}

/// Borrow a block in host memory for reading. Each call needs a restore_read().
Columns<const PetscScalar> get_read(const Block& block);
void restore_read(const Block& block, const Columns<const PetscScalar>& columns);
/// Borrow a block in host memory for overwriting. Earlier columns keep their values. Each call needs a restore_write().
Columns<PetscScalar> get_write(const Block& block);
void restore_write(const Block& block, const Columns<PetscScalar>& columns);

/// Call call(a, b) for each vector a of `to` and the vector b of `with` at the same position. If `with` has a single
/// vector, b is always this vector. The call changes a and reads b.
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

/// True if vectors of this type have host memory only. @param type  as MatGetVecType() returns it
bool is_of_host(VecType type);

/// product = A x, or A^T x. A matrix on a device multiplies only vectors of its own type. For other vectors, the host
/// copies x and the product.
/// @param[in,out] own  vectors of the matrix's type for these copies, made at the first need
void multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>& own);

/// Make a block that fits `like`: a vector of the same type, or at least as many columns, on the same host or device.
/// @param[in,out] block  destroyed and made anew if it does not fit
/// @return true if the block was made anew; its values are then undefined
bool match_block(const Block& like, Block& block);
void destroy_block(Block& block);

/// Compose the implementations of the functions of oclspkt.h with a PC, or remove them.
void compose_functions(PC pc, bool remove);

/// True if the next set-up keeps the lines, judged by this rank alone.
bool lines_stay(PC pc);

std::vector<PetscScalar> copy_vector(Vec vector);

/* The implementations of PCOCLSPKTSetLines() and PCOCLSPKTSetBands(). */
void set_lines(PC pc, IS lines, IS starts, IS rows);
void set_bands(PC pc, const char axis[], Vec lower, Vec diag, Vec upper);

/// Set the bounds of every direction to the maxima over all ranks. Collective.
void agree_on_bounds(PC pc, bool transpose);

/// Report devices lost since the last call, to -info and the log. Rank 0 also prints a line to the error stream.
void note_degraded(PC pc);
/// Print a warning about the first rank that lost a device, unless a rank has printed this warning. Collective.
void agree_on_degraded(PC pc);

/// True if an inaccurate answer makes an apply fail, see AboveBound.
inline bool answers_may_fail(const PC_OCLSPKT& o) {
  return o.settings.above_bound == AboveBound::error && o.settings.method == MethodChoice::automatic;
}

void read_settings(OclspktOptionItems items, Settings& settings);

/// Give the solver new settings. If they concern the operator, the next PCSetUp() runs even if the matrix stays.
/// @return true if they concern the operator
bool change_settings(PC pc, const Settings& settings);

/// Choose the directions and lay out their lines, if the matrix or the settings changed. Collective.
void find_lines(PC pc);

/// Fill the bands of every sweep for set_up(), from the matrix or from the program. Collective.
void fill_bands(PC pc);

/// The most columns solved together if each column needs memory for a copy. Columns are copied between directions, and
/// if the rows of lines lie apart in the vector.
inline constexpr PetscInt kColumnsTogether = 4;

/// Solve along one direction. The solver works on the vectors where lend() finds them.
/// @param right, solution  different blocks; at most kColumnsTogether columns if the rows of lines lie apart
void solve_sweep(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose);

/// PETSc's queue for two blocks on a device, if both have the same run-time: CUDA (VECCUDA, VECKOKKOS, MATDENSECUDA),
/// OpenCL (VECVIENNACL), or the run-time of dressed vectors. Other blocks and vectors bound to the host have no queue.
DeviceQueue queue_of(const Block& right, const Block& solution);
/// Store for the view why the solver reads a Kokkos vector from host memory. Other vectors need no reason.
void note_vectors(PC pc, Vec vector);
/// Before a set-up, get the queue of a vector of MatCreateVecs(), as a prediction for vectors of solves. Collective.
void find_queue(PC pc);
/// Before a solve, repeat the set-up if the vectors lie on a device for which the last set-up was not made. Collective:
/// all ranks set up, or none.
void set_up_for_vectors(PC pc, Vec right, Vec solution);
/// True if applies to these vectors stay on the device where they lie.
bool stays_on_device(PC pc, Vec right, Vec solution);
/// Arrays of a right-hand side and a solution, borrowed from PETSc for one solve.
struct Lent {
  Place place{};
  Columns<const PetscScalar> y{};
  Columns<PetscScalar> x{};
  bool of_cuda = false;  ///< y and x are arrays of PETSc's CUDA types
};
/// Borrow the arrays on the device where the blocks lie, if the last set-up was for this device; else in host memory.
/// See find_queue() and set_up_for_vectors(). Each call needs a give_back().
Lent lend(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose);
void give_back(const Block& right, const Block& solution, const Lent& lent);

/// Set up the solvers of all directions for vectors on the device of PC_OCLSPKT::vectors, or else on the host. A
/// breakdown on one rank is a breakdown on all ranks. Collective.
void set_up_sweeps(PC pc);

/// After set_up_sweeps(), test whether one transfer of host vectors to a device and back serves all sweeps. Collective.
void set_up_visit(PC pc);

/// Apply the operator that Settings::combine forms from several sweeps.
/// @param right, solution  different blocks of at most kColumnsTogether columns
void apply_combined(PC pc, const Block& right, const Block& solution, bool transpose);

/// True if `auto` must choose again, because entries of the matrix off the chosen bands have grown.
bool choice_is_stale(const PC_OCLSPKT& o);

/// The number of entries of the matrix, on all ranks, that lie in no direction's bands.
Index ignored_entries(const PC_OCLSPKT& o);
std::string ignored_text(const PC_OCLSPKT& o);
/// @throws PetscFailure if entries lie in no direction's bands and -pc_oclspkt_ignored asks for an error
void check_ignored(PC pc);
/// Warn of a solve that ignores entries and has no Krylov method to correct for them. Collective.
void warn_of_ignored(PC pc, KSP ksp);
/// Warn of a strongly coupled periodic axis that `auto` could not take. Collective.
void warn_of_periodic_axis(PC pc);

void view(PC pc, PetscViewer viewer);

/// Print the choices of the last set-up and their reasons, for Settings::explain.
void explain(PC pc);

}  // namespace oclspkt::petsc

PetscErrorCode PCCreate_OCLSPKT(PC pc);

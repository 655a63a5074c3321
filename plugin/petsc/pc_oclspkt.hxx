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

/// Bounds on an operator's errors: truncation, and rounding in eps; Inf if unknown.
struct Bounds {
  double truncation = 0, rounding = 0;
  bool above_limits = false;  ///< the user named the method, and a bound exceeds its limit
};

/// Texts that PCOCLSPKTGetMethodUsed() and similar functions returned to the program.
struct Told {
  std::string directions, method, why, device, device_type;
};

/// One direction of the preconditioner: its lines, the positions of their bands in the matrix, and their solver.
struct Sweep {
  Direction direction = Direction::matrix;
  LineLayout layout;
  Extraction extraction;
  CutSolver<PetscScalar> solver;
  Index couplings =
      0;  ///< nonzero couplings on all ranks without those of earlier directions; only for several directions
  AlignedArray<PetscScalar> right, solution;  ///< vectors in the order of the lines; empty if rows have the same order
  std::size_t losses_seen = 0;                ///< lost devices that were logged already
  std::array<bool, 2> told_above{};           ///< by `transpose`: -info has reported values above the limits
  std::array<Bounds, 2> bounds;               ///< by `transpose`: of the last set-ups, the largest over all ranks

  Told told;  ///< texts about this direction alone

  const CutSolver<PetscScalar>& of(bool transpose) const { return transpose ? solver.transposed() : solver; }
  const Report& report(bool transpose) const { return of(transpose).report(); }
  const CutReport& cut_report(bool transpose) const { return of(transpose).cut_report(); }
};

/// The bound, or Inf if it is NaN (unknown): comparisons and MPI_MAX may lose NaN.
inline double without_nan(double bound) { return std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound; }

/// The larger of two bounds, or NaN if one of them is NaN (unknown).
inline double largest_bound(double a, double b) { return b <= a || std::isnan(a) ? a : b; }

/// The lines of a layout, and whether couplings lead out of them.
struct Ends {
  LineSet lines;
  bool above = false, below = false;  ///< other ranks continue the lines on this side
  bool operator==(const Ends&) const = default;
};

/// The ends of a layout along an axis. On each side, other ranks continue all lines or none.
inline Ends ends_of(const LineLayout& layout) {
  return {layout.lines, layout.cut() && layout.above.front() >= 0, layout.cut() && layout.below.front() >= 0};
}

/// The bands along an axis that a program gave to PCOCLSPKTSetBands(), by local rows. The solver of their direction
/// takes them without a copy, and gives them back when lines are laid out anew.
struct GivenBands {
  FilledBands<PetscScalar> bands;
  bool set = false;
  bool taken = false;        ///< the solver has them, and `bands` holds its previous bands
  std::optional<Ends> ends;  ///< the lines whose outward couplings are 0 in `bands`; none: couplings are as given
};

/// The choice and the layout of lines depend on this key alone: they are kept until it changes.
struct LinesKey {
  std::string lines;
  PetscObjectId matrix = 0, grid = 0;
  PetscObjectState pattern = -1;
  PetscInt local_rows = -1, rows = -1;
  int given = 0;  ///< calls of PCOCLSPKTSetLines() and PCOCLSPKTSetBands() that changed which lines or bands are given
  bool operator==(const LinesKey&) const = default;
};

/// Right-hand sides or solutions of one solve: a vector, or some columns of a dense matrix.
struct Block {
  Vec vector = nullptr;
  Mat matrix = nullptr;           ///< null: `vector` is set
  PetscInt first = 0, count = 1;  ///< columns
};

/// Blocks for intermediate results between the sweeps.
struct Work {
  std::array<Block, 2> parts;
  Block between;                   ///< the diagonal between the factors
  std::array<Block, 2> of_matrix;  ///< see multiply()
};
/// Destroy the blocks that depend on the matrix, because another matrix needs others.
void destroy_work_of_matrix(Work& work);

/// The directions and their lines, as find_lines() decided.
struct Chosen {
  LinesKey key;
  std::string why;                   ///< reason for these directions
  bool by_values = false;            ///< `auto` chose by the values of the matrix
  std::optional<Coupling> coupling;  ///< the coupling of the matrix when `auto` chose
  std::string left_out;  ///< a periodic axis that `auto` could not take, with figures; empty if none matters
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
  Work work, work_columns;             ///< for vectors and for columns, of the solution's type; reset destroys them
  DeviceVisit<PetscScalar> visit;      ///< applies all directions with one transfer of host vectors, if possible
  struct {
    DeviceQueue queue;           ///< of the device where vectors lie, as passed to the last set-up
    std::string sought;          ///< the vector type for which find_queue() looked
    const char* from_host = "";  ///< why the last vectors were read from host memory, see note_vectors(); else empty
  } vectors;
  bool ready = false;            ///< the operator of the last set-up can be applied
  bool transpose_ready = false;  ///< the transposed operator was set up, too
  std::string failure;           ///< why the last set-up or apply failed; empty if it succeeded
  bool failed_apply = false;     ///< `failure` is of an apply
  /// Errors of the present apply. An apply goes on after an error, because other ranks may wait for its next solve.
  Trouble answers;
  std::string first_loss;  ///< the first device that this rank lost; empty if none
  struct {
    bool degraded = false;  ///< this rank printed the line; after agree_on_degraded(): any rank
    bool ignored = false, left_out = false;
  } warned;                   ///< which warnings were printed; survives a reset
  bool applied_once = false;  ///< the KSP of the last solve is no Krylov method and applies the PC once
  Told told;

  PC_OCLSPKT() { sweeps.push_back(std::make_unique<Sweep>()); }
  Sweep& first() { return *sweeps.front(); }
  const Sweep& first() const { return *sweeps.front(); }
};

inline PC_OCLSPKT* data(PC pc) { return static_cast<PC_OCLSPKT*>(pc->data); }

/// Make the next PCSetUp() set the operator up anew, even if the matrix stays. While the program reuses the operator
/// (PCSetReusePreconditioner()), PCSetUp() does nothing; without a known state of the matrix, the first call after the
/// reuse sets up.
inline void forget_operator(PC pc) {
  if (pc->reusepreconditioner) {
    pc->matstate = {};
  } else {
    pc->setupcalled = PETSC_FALSE;
  }
}

/// The numbers of a block in host memory, for reading. Each call needs a matching restore.
Columns<const PetscScalar> get_read(const Block& block);
void restore_read(const Block& block, const Columns<const PetscScalar>& columns);
/// The numbers of a block in host memory, for overwriting. Columns before the block keep their values.
Columns<PetscScalar> get_write(const Block& block);
void restore_write(const Block& block, const Columns<PetscScalar>& columns);

/// Call call(to, with) for the vectors of two blocks. If `with` is one vector, every vector of `to` gets this one.
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

/// True if vectors of this type have host memory only. @param type  as MatGetVecType() returns it
bool is_of_host(VecType type);

/// product = A x, or A^T x. Matrices on devices multiply vectors of their own type only; vectors of other types are
/// copied by the host.
/// @param[in,out] own  vectors of the matrix's type, made at the first need
void multiply(Mat matrix, Vec x, Vec product, bool transpose, std::array<Block, 2>& own);

/// Make a block like another one: a vector of the same type, or at least as many columns, on the same host or device.
/// @param[in,out] block  destroyed and made anew if it does not fit
/// @return true if the block was made anew, so that its numbers must be written
bool match_block(const Block& like, Block& block);
void destroy_block(Block& block);

/// Compose the implementations of the functions of oclspkt.h with a PC, or remove them.
void compose_functions(PC pc, bool remove);

/// True if the next set-up has the lines of the last one, as far as this rank can tell.
bool lines_stay(PC pc);

/// A copy of this rank's part of a vector.
std::vector<PetscScalar> copy_vector(Vec vector);

/* The implementations of PCOCLSPKTSetLines() and PCOCLSPKTSetBands(). */
void set_lines(PC pc, IS lines, IS starts, IS rows);
void set_bands(PC pc, const char axis[], Vec lower, Vec diag, Vec upper);

/// Set the bounds of every direction to the largest over all ranks. Collective.
void agree_on_bounds(PC pc, bool transpose);

/// Report devices lost since the last call, to -info and the log. Rank 0 also prints a line to the error stream.
void note_degraded(PC pc);
/// Print the line about the first rank that lost a device, unless such a line was printed before. Collective.
void agree_on_degraded(PC pc);

/// True if an inaccurate answer makes an apply fail, see AboveBound.
inline bool answers_may_fail(const PC_OCLSPKT& o) {
  return o.settings.above_bound == AboveBound::error && o.settings.method == MethodChoice::automatic;
}

/// Read every option of the table.
void read_settings(OclspktOptionItems items, Settings& settings);

/// Give the solver new settings. If they concern the operator, the next PCSetUp() runs even if the matrix stays.
/// @return true if they concern the operator
bool change_settings(PC pc, const Settings& settings);

/// Choose the directions and lay out their lines, if the matrix or the settings changed. Collective.
void find_lines(PC pc);

/// Fill the bands of every sweep for set_up(), from the matrix or from the program. Collective.
void fill_bands(PC pc);

/// Columns that are solved at a time if each column needs memory for copies: if the rows of lines lie apart in the
/// vector, and between directions.
inline constexpr PetscInt kColumnsTogether = 4;

/// Solve along one direction. The solver works on the vectors where they lie, or else in host memory.
/// @param right, solution  must differ; at most kColumnsTogether columns if the rows of lines lie apart in the vector
void solve_sweep(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose);

/// The queue by which PETSc orders work on two blocks, if one run-time keeps both on a device: CUDA (VECCUDA,
/// VECKOKKOS, MATDENSECUDA) or OpenCL (VECVIENNACL). No queue for other blocks, and for vectors that are bound to the
/// host.
DeviceQueue queue_of(const Block& right, const Block& solution);
/// Note for the view why vectors of Kokkos are read from host memory, if they are. Vectors of other types get no note.
void note_vectors(PC pc, Vec vector);
/// Before a set-up, find out where vectors are likely to lie: where the matrix makes its vectors. Collective.
void find_queue(PC pc);
/// Before the applies of a solve, set up for the device where the vectors lie, unless the last set-up was for this
/// device. Collective: all ranks set up, or none.
void set_up_for_vectors(PC pc, Vec right, Vec solution);
/// True if applies to these vectors stay on the device where they lie.
bool stays_on_device(PC pc, Vec right, Vec solution);
/// The numbers of a right-hand side and a solution, taken from PETSc for one solve.
struct Lent {
  Place place{};
  Columns<const PetscScalar> y{};
  Columns<PetscScalar> x{};
  bool of_cuda = false;  ///< arrays of CUDA, not memory of our own types or of ViennaCL
};
/// Take the numbers where they lie if the solver of a direction takes them there, else to the host. Each call needs a
/// give_back(). The device takes them if the set-up was for it, see find_queue() and set_up_for_vectors().
Lent lend(PC pc, Sweep& sweep, const Block& right, const Block& solution, bool transpose);
void give_back(const Block& right, const Block& solution, const Lent& lent);

/// Set up the solvers of all directions, for vectors that lie where PC_OCLSPKT::vectors says. A breakdown on one rank
/// is a breakdown on all. Collective.
void set_up_sweeps(PC pc);

/// After the set-ups of all sweeps, test whether one transfer of host vectors to a device and back serves all sweeps.
/// Collective.
void set_up_visit(PC pc);

/// Apply the operator that Settings::combine makes of several sweeps.
/// @param right, solution  must differ; at most kColumnsTogether columns
void apply_combined(PC pc, const Block& right, const Block& solution, bool transpose);

/// True if `auto` has to choose again, because entries of the matrix off the chosen bands have grown.
bool choice_is_stale(const PC_OCLSPKT& o);

/// The number of entries of the matrix, on all ranks, that no direction takes.
Index ignored_entries(const PC_OCLSPKT& o);
/// A text about the entries of the matrix that no direction takes.
std::string ignored_text(const PC_OCLSPKT& o);
/// Fail if no direction takes some entries and -pc_oclspkt_ignored asks for an error.
void check_ignored(PC pc);
/// Warn of a solve that ignores entries, unless a Krylov method makes up for them. Collective.
void warn_of_ignored(PC pc, KSP ksp);
/// Warn of a strongly coupled periodic axis that `auto` could not take. Collective.
void warn_of_periodic_axis(PC pc);

void view(PC pc, PetscViewer viewer);

/// Print what the last set-up chose and why, for Settings::explain.
void explain(PC pc);

}  // namespace oclspkt::petsc

/// The constructor that PCRegister() is given.
PetscErrorCode PCCreate_OCLSPKT(PC pc);

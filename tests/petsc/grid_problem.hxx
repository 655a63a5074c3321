// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscdmda.h>

#include <algorithm>
#include <array>
#include <memory>

#include "support.hxx"

namespace oclspkt::test {

inline constexpr PCOCLSPKTCombine kCombines[] = {PC_OCLSPKT_COMBINE_ADDITIVE, PC_OCLSPKT_COMBINE_FACTORED,
                                                 PC_OCLSPKT_COMBINE_SYMMETRIC, PC_OCLSPKT_COMBINE_MULTIPLICATIVE};

/// Nodes along x, y and z, and unknowns per node.
struct Shape {
  int axes;
  std::array<PetscInt, 3> nodes;
  PetscInt unknowns;
  PetscInt lines(int axis) const {
    return nodes[0] * nodes[1] * nodes[2] * unknowns / nodes[static_cast<std::size_t>(axis)];
  }
  std::string name() const {
    return std::to_string(nodes[0]) + "x" + std::to_string(nodes[1]) + "x" + std::to_string(nodes[2]) + "x" +
           std::to_string(unknowns);
  }
};

/// A DMDA and a matrix whose couplings to the neighbours along each axis differ from place to place, and depend on the
/// place only: the same matrix for any number of ranks. The diagonal dominates each line by itself.
class GridProblem {
 public:
  /// @param vectors, matrices  types of PETSc; null: the host's
  GridProblem(MPI_Comm comm, const Shape& shape, PetscReal dominance = 1.05, VecType vectors = nullptr,
              MatType matrices = nullptr)
      : shape_(shape) {
    const auto& n = shape.nodes;
    DMDACreate(comm, &dm_);
    DMSetDimension(dm_, shape.axes);
    DMDASetSizes(dm_, n[0], n[1], n[2]);
    DMDASetDof(dm_, shape.unknowns);
    DMDASetStencilType(dm_, DMDA_STENCIL_STAR);
    DMDASetStencilWidth(dm_, 1);
    if (vectors) DMSetVecType(dm_, vectors);
    if (matrices) DMSetMatType(dm_, matrices);
    DMSetUp(dm_);
    DMCreateMatrix(dm_, &matrix_);
    DMCreateGlobalVector(dm_, &right_);
    DMDAGetCorners(dm_, &first_[0], &first_[1], &first_[2], &width_[0], &width_[1], &width_[2]);
    for_each([&](const MatStencil& row) { fill(row, dominance); });
    assemble(matrix_);
    PetscScalar* values;
    VecGetArray(right_, &values);
    PetscInt at = 0;
    for_each([&](const MatStencil& row) { values[at++] = 1 + std::sin(1.7 * static_cast<double>(number(row))); });
    VecRestoreArray(right_, &values);
  }

  Mat matrix() const { return matrix_; }
  DM dm() const { return dm_; }
  Vec right() const { return right_; }
  const Shape& shape() const { return shape_; }

  /// Place in the natural order, unknowns first, then x, y, z.
  PetscInt number(const MatStencil& s) const {
    return s.c + shape_.unknowns * (s.i + shape_.nodes[0] * (s.j + shape_.nodes[1] * s.k));
  }
  /// Call f for the rows of this rank in the order of its vectors.
  template <typename F>
  void for_each(const F& f) const {
    MatStencil s;
    for (s.k = first_[2]; s.k < first_[2] + width_[2]; ++s.k) {
      for (s.j = first_[1]; s.j < first_[1] + width_[1]; ++s.j) {
        for (s.i = first_[0]; s.i < first_[0] + width_[0]; ++s.i) {
          for (s.c = 0; s.c < shape_.unknowns; ++s.c) f(s);
        }
      }
    }
  }
  /// Coupling of a row to its neighbour at `step` along an axis; 0 where there is none.
  PetscScalar coupling(const MatStencil& s, int axis, int step) const {
    const PetscInt at[] = {s.i, s.j, s.k};
    const PetscInt other = at[axis] + step;
    if (other < 0 || other >= shape_.nodes[static_cast<std::size_t>(axis)]) return 0;
    const double x = std::sin(12.9898 * (number(s) + 1) + 78.233 * (2 * axis + (step > 0)) + 1) * 43758.5453;
    return -(0.2 + 0.8 * (x - std::floor(x)));
  }
  PetscScalar diagonal(const MatStencil& s, PetscReal dominance) const {
    PetscScalar sum = 0.5;
    for (int axis = 0; axis < shape_.axes; ++axis) sum -= coupling(s, axis, -1) + coupling(s, axis, 1);
    return dominance * sum;
  }
  /// All of a vector in the natural order, on every rank.
  std::vector<PetscScalar> natural(Vec vector) const {
    std::vector<PetscScalar> all(static_cast<std::size_t>(shape_.lines(0) * shape_.nodes[0]), 0);
    const PetscScalar* values;
    VecGetArrayRead(vector, &values);
    PetscInt at = 0;
    for_each([&](const MatStencil& s) { all[static_cast<std::size_t>(number(s))] = values[at++]; });
    VecRestoreArrayRead(vector, &values);
    MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<PetscMPIInt>(all.size()), MPIU_SCALAR, MPI_SUM,
                  PetscObjectComm(reinterpret_cast<PetscObject>(vector)));
    return all;
  }

 private:
  void fill(const MatStencil& row, PetscReal dominance) {
    for (int axis = 0; axis < shape_.axes; ++axis) {
      for (const int step : {-1, 1}) {
        const PetscScalar value = coupling(row, axis, step);
        if (value == PetscScalar(0)) continue;
        MatStencil column = row;
        (axis == 0 ? column.i : axis == 1 ? column.j : column.k) += step;
        MatSetValuesStencil(matrix_, 1, &row, 1, &column, &value, INSERT_VALUES);
      }
    }
    const PetscScalar value = diagonal(row, dominance);
    MatSetValuesStencil(matrix_, 1, &row, 1, &row, &value, INSERT_VALUES);
  }

  Shape shape_;
  HeldDM dm_;
  HeldMat matrix_;
  HeldVec right_;
  PetscInt first_[3] = {}, width_[3] = {};
};

/// PETSc's own exact line solver: ASM without overlap, one subdomain a line, LU in each; x lines of one unknown a node
/// are blocks of bjacobi.
class LineOracle {
 public:
  LineOracle(const GridProblem& problem, int axis) {
    const Shape& shape = problem.shape();
    const PetscInt lines = shape.lines(axis);
    PCCreate(PETSC_COMM_SELF, &pc_);
    PCSetOperators(pc_, problem.matrix(), problem.matrix());
    if (axis == 0 && shape.unknowns == 1) {
      PCSetType(pc_, PCBJACOBI);
      const std::vector<PetscInt> lengths(static_cast<std::size_t>(lines), shape.nodes[0]);
      PCBJacobiSetTotalBlocks(pc_, lines, lengths.data());
    } else {
      PCSetType(pc_, PCASM);
      PCASMSetOverlap(pc_, 0);
      PCASMSetType(pc_, PC_ASM_BASIC);
      std::vector<std::vector<PetscInt>> rows(static_cast<std::size_t>(lines));
      problem.for_each([&](const MatStencil& s) {
        MatStencil first = s;
        (axis == 0 ? first.i : axis == 1 ? first.j : first.k) = 0;
        rows[line_of(problem, first)].push_back(problem.number(s));
      });
      std::vector<IS> sets;
      for (const auto& line : rows) sets.push_back(indices(line));
      PCASMSetLocalSubdomains(pc_, lines, sets.data(), sets.data());
      for (IS& set : sets) ISDestroy(&set);
    }
    PCSetOptionsPrefix(pc_, "oracle_");
    PetscOptionsSetValue(nullptr, "-oracle_sub_pc_type", "lu");
    PCSetFromOptions(pc_);
    PCSetUp(pc_);
  }
  operator PC() const { return pc_; }

 private:
  /// Lines are numbered as they are met.
  std::size_t line_of(const GridProblem& problem, const MatStencil& first) {
    const PetscInt number = problem.number(first);
    for (std::size_t l = 0; l < firsts_.size(); ++l) {
      if (firsts_[l] == number) return l;
    }
    firsts_.push_back(number);
    return firsts_.size() - 1;
  }
  std::vector<PetscInt> firsts_;
  HeldPC pc_;
};

/// The preconditioner under test for a problem's matrix.
class LinePreconditioner {
 public:
  explicit LinePreconditioner(const GridProblem& problem, const std::string& lines = "auto",
                              PCOCLSPKTCombine combine = PC_OCLSPKT_COMBINE_FACTORED)
      : LinePreconditioner(problem.matrix(), lines) {
    PCOCLSPKTSetCombine(pc_, combine);
  }
  explicit LinePreconditioner(Mat matrix, const std::string& lines) : pc_(make_pc(matrix, "host")) {
    PCOCLSPKTSetDirections(pc_, lines.c_str());
  }
  operator PC() const { return pc_; }

  /// Solve for a vector of the matrix's layout; the caller destroys the result.
  Vec apply(Vec right, bool transpose = false) const {
    Vec x;
    VecDuplicate(right, &x);
    VecSet(x, NAN);
    const PetscErrorCode ierr = transpose ? PCApplyTranspose(pc_, right, x) : PCApply(pc_, right, x);
    EXPECT_EQ(ierr, 0);
    return x;
  }
  std::string view() const { return view_text(static_cast<PetscObject>(pc_)); }

 private:
  HeldPC pc_;
};

/// Largest abs(x - y) over all entries, against the largest abs(y); NaN loses.
inline PetscReal relative_distance(const std::vector<PetscScalar>& x, const std::vector<PetscScalar>& y) {
  PetscReal worst = 0, most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const PetscReal d = std::abs(x[i] - y[i]);
    if (!(d <= worst)) worst = std::isnan(worst) ? worst : d;
    most = std::max(most, std::abs(y[i]));
  }
  return worst / most;
}

/// Difference that rounding explains between two ways to one operator.
inline constexpr PetscReal kRounding = 1e-13;

/// What a preconditioner makes of the problem's right-hand side, in natural order.
inline std::vector<PetscScalar> solve(const GridProblem& problem, const LinePreconditioner& pc,
                                      bool transpose = false) {
  HeldVec x = pc.apply(problem.right(), transpose);
  return problem.natural(x);
}

/// PCMatApply() makes of each column of a dense matrix what PCApply() makes of it, to the bit.
/// @param to  overwritten
inline void expect_columns_alike(PC pc, Mat from, Mat to) {
  PetscInt columns;
  HeldVec one;
  OK(MatGetSize(from, nullptr, &columns));
  OK(MatCreateVecs(from, nullptr, &one));
  OK(PCMatApply(pc, from, to));
  for (PetscInt c = 0; c < columns; ++c) {
    Vec right, together;
    PetscBool same;
    OK(MatDenseGetColumnVecRead(from, c, &right));
    OK(PCApply(pc, right, one));
    OK(MatDenseRestoreColumnVecRead(from, c, &right));
    OK(MatDenseGetColumnVecRead(to, c, &together));
    OK(VecEqual(one, together, &same));
    OK(MatDenseRestoreColumnVecRead(to, c, &together));
    EXPECT_TRUE(same) << "column " << c;
  }
}

/// A PC of our type for a problem; the caller destroys it.
inline PC pc_for(const GridProblem& problem, const char* devices, PCOCLSPKTMethod method, const char* directions) {
  const PC pc = make_pc(problem.matrix(), devices);
  PCOCLSPKTSetMethod(pc, method);
  PCOCLSPKTSetDirections(pc, directions);
  return pc;
}

}  // namespace oclspkt::test

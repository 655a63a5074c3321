// SPDX-License-Identifier: BSD-2-Clause
// Vectors and matrices of Kokkos, on any number of ranks, with the answers that PETSc's own types for the same memory
// get: without a GPU they are solved from the host's memory, which the view says; with CUDA where they are.
#include <petscdevice.h>

#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

constexpr char kFromHost[] = "  vectors: in host memory: the Kokkos of this PETSc has no GPU\n";
constexpr struct {
  VecType vectors;
  MatType matrices;
  bool own_product;  ///< Kokkos multiplies by the matrix, and rounds in another order
} kTypes[] = {{VECKOKKOS, MATAIJKOKKOS, true}, {VECKOKKOS, MATAIJ, false}, {VECSTANDARD, MATAIJKOKKOS, true}};
const Shape kLine{1, {20'011, 1, 1}, 1}, kGrid{3, {31, 23, 17}, 1};

/// Whether this Kokkos keeps vectors on a card.
constexpr bool on_card() { return !PetscMemTypeHost(PETSC_MEMTYPE_KOKKOS); }
constexpr const char* kDevice = on_card() ? "gpu" : "host";

/// A problem with PETSc's own types for that memory.
class Plain : public GridProblem {
 public:
  explicit Plain(const Shape& shape)
      : GridProblem(PETSC_COMM_WORLD, shape, 1.05, on_card() ? VECCUDA : nullptr,
                    on_card() ? MATAIJCUSPARSE : nullptr) {}
};

bool is_of(Vec vector, VecType one, VecType many) {
  PetscBool is = PETSC_FALSE;
  PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(vector), &is, one, many, "");
  return is;
}
bool of_kokkos(Vec vector) { return is_of(vector, VECSEQKOKKOS, VECMPIKOKKOS); }
bool of_kokkos(Mat matrix) {
  PetscBool is = PETSC_FALSE;
  PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(matrix), &is, MATSEQAIJKOKKOS, MATMPIAIJKOKKOS, "");
  return is;
}

/// The preconditioner under test with the choices that these tests vary.
class Lines : public LinePreconditioner {
 public:
  explicit Lines(const GridProblem& problem, const std::string& lines = "x",
                 PCOCLSPKTCombine combine = PC_OCLSPKT_COMBINE_ADDITIVE, const char* devices = kDevice)
      : LinePreconditioner(problem, lines, combine) {
    PCSetDM(*this, problem.dm());
    PCOCLSPKTSetDevices(*this, devices);
  }
};

/// The devices that solve here, as options name them; one of OpenCL for one of the types.
std::vector<const char*> devices_for(VecType vectors, MatType matrices) {
  if (on_card() || std::string(vectors) != VECKOKKOS || std::string(matrices) != MATAIJKOKKOS) return {kDevice};
  const Matrix A(tridiagonal(10, -1, 4, -2));
  return device_is_there(A, "cpu") ? std::vector{"host", "cpu"} : std::vector{"host"};
}

/// Whether a view, which is rank 0's, says where vectors of Kokkos lie.
void expect_said(const std::string& view, bool kokkos) {
  if (PetscGlobalRank > 0) return;
  if (on_card()) {
    EXPECT_TRUE(!kokkos || contains(view, "  vectors: on the device, no copy\n")) << view;
    return;
  }
  EXPECT_EQ(contains(view, kFromHost), kokkos) << view;
  EXPECT_EQ(contains(view, "vectors: "), kokkos) << view;
}

/// Whether the host's vectors come to the card in pieces, whose tiles are others.
bool in_pieces(VecType vectors) { return on_card() && std::string(vectors) != VECKOKKOS; }

/// Two answers: the same bits, or the same but for the rounding of a product with the matrix.
void expect_same(const std::vector<PetscScalar>& x, const std::vector<PetscScalar>& y, bool but_for_rounding) {
  if (but_for_rounding) {
    EXPECT_LE(relative_distance(x, y), kRounding);
  } else {
    EXPECT_TRUE(x == y) << "they differ by " << relative_distance(x, y);
  }
}

TEST(Kokkos, KeepsItsVectorsWhereItSays) {
  const GridProblem problem(PETSC_COMM_WORLD, kLine, 1.05, VECKOKKOS, MATAIJKOKKOS);
  ASSERT_TRUE(of_kokkos(problem.right()));
  ASSERT_TRUE(of_kokkos(problem.matrix()));
  const PetscScalar* values;
  PetscMemType type = on_card() ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_CUDA;
  OK(VecGetArrayReadAndMemType(problem.right(), &values, &type));
  EXPECT_EQ(type, PETSC_MEMTYPE_KOKKOS);
  OK(VecRestoreArrayReadAndMemType(problem.right(), &values));
}

TEST(Kokkos, IsSolvedToTheBitLikePlainVectorsAndTheViewSaysWhere) {
  for (const Shape& shape : {kLine, kGrid}) {
    const Plain plain(shape);
    for (const auto& types : kTypes) {
      const GridProblem problem(PETSC_COMM_WORLD, shape, 1.05, types.vectors, types.matrices);
      for (const char* devices : devices_for(types.vectors, types.matrices)) {
        for (int axis = 0; axis < shape.axes; ++axis) {
          const std::string word(1, static_cast<char>('x' + axis));
          SCOPED_TRACE(shape.name() + " " + types.vectors + " " + types.matrices + " " + devices + " " + word);
          const Lines pc(problem, word, PC_OCLSPKT_COMBINE_ADDITIVE, devices);
          const Lines expected(plain, word, PC_OCLSPKT_COMBINE_ADDITIVE, devices);
          for (const bool transpose : {false, true}) {
            expect_same(solve(problem, pc, transpose), solve(plain, expected, transpose), in_pieces(types.vectors));
          }
          expect_said(pc.view(), of_kokkos(problem.right()));
          expect_said(expected.view(), false);
        }
      }
    }
  }
}

TEST(Kokkos, IsSolvedAlongSeveralDirectionsInEveryCombination) {
  const Plain plain(kGrid);
  for (const auto& types : kTypes) {
    const GridProblem problem(PETSC_COMM_WORLD, kGrid, 1.05, types.vectors, types.matrices);
    for (const PCOCLSPKTCombine combine : kCombines) {
      for (const char* devices : devices_for(types.vectors, types.matrices)) {
        SCOPED_TRACE(std::string(types.vectors) + " " + types.matrices + " " + PCOCLSPKTCombines[combine] + " " +
                     devices);
        const Lines pc(problem, "x,y,z", combine, devices), expected(plain, "x,y,z", combine, devices);
        const bool rounds = ((types.own_product || on_card()) && combine == PC_OCLSPKT_COMBINE_MULTIPLICATIVE) ||
                            in_pieces(types.vectors);
        for (const bool transpose : {false, true}) {
          expect_same(solve(problem, pc, transpose), solve(plain, expected, transpose), rounds);
        }
        expect_said(pc.view(), of_kokkos(problem.right()));
      }
    }
  }
}

/// Columns of a problem's rows, with numbers that differ.
Mat columns_of(const GridProblem& problem, PetscInt count) {
  Mat columns = nullptr;
  PetscInt rows, first, end;
  VecGetLocalSize(problem.right(), &rows);
  VecGetOwnershipRange(problem.right(), &first, &end);
  MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, count, nullptr, &columns);
  PetscScalar* values;
  MatDenseGetArrayWrite(columns, &values);
  for (PetscInt c = 0; c < count; ++c) {
    for (PetscInt i = 0; i < rows; ++i) values[c * rows + i] = 1 + std::sin(1.7 * (first + i) + c);
  }
  MatDenseRestoreArrayWrite(columns, &values);
  if (on_card()) MatConvert(columns, MATDENSECUDA, MAT_INPLACE_MATRIX, &columns);
  return columns;
}

TEST(Kokkos, TakesTheColumnsOfADenseMatrix) {
  const Plain plain(kGrid);
  const GridProblem problem(PETSC_COMM_WORLD, kGrid, 1.05, VECKOKKOS, MATAIJKOKKOS);
  HeldMat right = columns_of(plain, 6), solution, expected;
  OK(MatDuplicate(right, MAT_DO_NOT_COPY_VALUES, &solution));
  OK(MatDuplicate(right, MAT_DO_NOT_COPY_VALUES, &expected));
  for (const char* lines : {"x", "z", "x,y,z"}) {
    for (const PCOCLSPKTCombine combine : kCombines) {
      SCOPED_TRACE(std::string(lines) + " " + PCOCLSPKTCombines[combine]);
      PetscReal norm = NAN, apart = NAN;
      OK(PCMatApply(Lines(problem, lines, combine), right, solution));
      OK(PCMatApply(Lines(plain, lines, combine), right, expected));
      OK(MatNorm(expected, NORM_FROBENIUS, &norm));
      OK(MatAXPY(solution, -1, expected, SAME_NONZERO_PATTERN));
      OK(MatNorm(solution, NORM_FROBENIUS, &apart));
      EXPECT_LE(apart, (combine == PC_OCLSPKT_COMBINE_MULTIPLICATIVE ? kRounding : 0) * norm);
    }
  }
}

TEST(Kokkos, BesideAPlainVectorIsSolvedAsWell) {
  const Plain plain(kGrid);
  const GridProblem problem(PETSC_COMM_WORLD, kGrid, 1.05, VECKOKKOS, MATAIJKOKKOS);
  for (const PCOCLSPKTCombine combine : {PC_OCLSPKT_COMBINE_SYMMETRIC, PC_OCLSPKT_COMBINE_MULTIPLICATIVE}) {
    const Lines pc(problem, "x,y,z", combine), expected(plain, "x,y,z", combine);
    for (const auto& [right, like] : {std::pair{plain.right(), problem.right()}, {problem.right(), plain.right()}}) {
      HeldVec solution = duplicate(like);
      OK(PCApply(pc, right, solution));
      expect_same(problem.natural(solution), solve(plain, expected), combine == PC_OCLSPKT_COMBINE_MULTIPLICATIVE);
    }
  }
}

TEST(Kokkos, IsReadAnewAfterEachChangeOfTheMatrix) {
  const Plain plain(kGrid);
  const GridProblem problem(PETSC_COMM_WORLD, kGrid, 1.05, VECKOKKOS, MATAIJKOKKOS);
  const Lines pc(problem, "x,y,z"), expected(plain, "x,y,z");
  const auto expect_new = [&](const char* what, auto change) {
    SCOPED_TRACE(what);
    const std::vector<PetscScalar> before = solve(problem, pc);
    OK(change(plain));
    OK(change(problem));
    OK(PCSetUp(pc));
    OK(PCSetUp(expected));
    expect_same(solve(problem, pc), solve(plain, expected), false);
    EXPECT_FALSE(solve(problem, pc) == before);
  };
  // What Kokkos does to the values where it keeps them, and what PETSc does to those of the host.
  expect_new("scale", [](const GridProblem& p) { return MatScale(p.matrix(), 3); });
  expect_new("axpy", [](const GridProblem& p) {
    HeldMat copy;
    MatDuplicate(p.matrix(), MAT_COPY_VALUES, &copy);
    const PetscErrorCode ierr = MatAXPY(p.matrix(), 0.5, copy, SAME_NONZERO_PATTERN);
    // On several ranks PETSc does not note that the values are new, of no type.
    PetscObjectStateIncrease(reinterpret_cast<PetscObject>(p.matrix()));
    return ierr;
  });
  expect_new("shift", [](const GridProblem& p) { return MatShift(p.matrix(), 2); });
  expect_new("set", [&](const GridProblem& p) {
    PetscInt begin, end;
    MatGetOwnershipRange(p.matrix(), &begin, &end);
    for (PetscInt i = begin; i < end; ++i) MatSetValue(p.matrix(), i, i, 9, INSERT_VALUES);
    return assemble(p.matrix());
  });
  expect_new("diagonal", [&](const GridProblem& p) {
    HeldVec diagonal;
    MatCreateVecs(p.matrix(), &diagonal, nullptr);
    VecSet(diagonal, 11);
    return MatDiagonalSet(p.matrix(), diagonal, ADD_VALUES);
  });
}

/// A matrix over all ranks, of a type that takes values by coordinates, which Kokkos sums up where it keeps them.
class ByCoordinates {
 public:
  explicit ByCoordinates(MatType type) {
    PetscInt first, end;
    MatCreate(PETSC_COMM_WORLD, &matrix_);
    MatSetSizes(matrix_, kRows, kRows, PETSC_DETERMINE, PETSC_DETERMINE);
    MatSetType(matrix_, type);
    MatGetOwnershipRange(matrix_, &first, &end);
    std::vector<PetscInt> rows, columns;
    PetscInt all;
    MatGetSize(matrix_, &all, nullptr);
    for (PetscInt i = first; i < end; ++i) {
      for (PetscInt j = std::max(i - 1, PetscInt{0}); j < std::min(i + 2, all); ++j) {
        rows.push_back(i);
        columns.push_back(j);
        diagonal_.push_back(i == j);
      }
    }
    MatSetPreallocationCOO(matrix_, static_cast<PetscCount>(rows.size()), rows.data(), columns.data());
    MatCreateVecs(matrix_, &right_, nullptr);
    VecSet(right_, 1);
  }
  operator Mat() const { return matrix_; }

  void set_diagonal(PetscScalar value) {
    std::vector<PetscScalar> values;
    for (const bool on_diagonal : diagonal_) values.push_back(on_diagonal ? value : -1);
    MatSetValuesCOO(matrix_, values.data(), INSERT_VALUES);
  }
  /// The rows of this rank.
  std::vector<PetscScalar> solved_by(const LinePreconditioner& pc) const {
    const HeldVec x = pc.apply(right_);
    return values_of(x);
  }

 private:
  static constexpr PetscInt kRows = 5000;
  HeldMat matrix_;
  HeldVec right_;
  std::vector<bool> diagonal_;
};

TEST(Kokkos, IsReadAnewAfterValuesCameByCoordinates) {
  ByCoordinates plain(on_card() ? MATAIJCUSPARSE : MATAIJ), matrix(MATAIJKOKKOS);
  const LinePreconditioner pc(matrix, "matrix"), expected(plain, "matrix");
  OK(PCOCLSPKTSetDevices(pc, kDevice));
  OK(PCOCLSPKTSetDevices(expected, kDevice));
  std::vector<PetscScalar> before;
  for (const PetscScalar diagonal : {4, 3, 7}) {
    plain.set_diagonal(diagonal);
    matrix.set_diagonal(diagonal);
    const std::vector<PetscScalar> solution = matrix.solved_by(pc);
    expect_same(solution, plain.solved_by(expected), false);
    EXPECT_FALSE(solution == before);
    before = solution;
  }
}

/// Solve a problem by the factors of a type, with the options of a preconditioner of the host.
std::vector<PetscScalar> by_factors(const GridProblem& problem, PCType type, std::string* view) {
  const HeldKSP ksp = make_ksp(problem.matrix(), type, "t_");
  const HeldVec x = duplicate(problem.right());
  KSPSetType(ksp, KSPPREONLY);
  EXPECT_EQ(PCFactorSetMatSolverType(pc_of(ksp), PCOCLSPKT), 0);
  EXPECT_EQ(KSPSolve(ksp, problem.right(), x), 0);
  *view = view_text(static_cast<PetscObject>(ksp));
  return problem.natural(x);
}

TEST(Kokkos, IsSolvedByFactors) {
  const Option devices("-t_pc_oclspkt_devices", kDevice);
  const Plain plain(kLine);
  for (const auto& types : kTypes) {
    const GridProblem problem(PETSC_COMM_WORLD, kLine, 1.05, types.vectors, types.matrices);
    for (const char* type : {PCLU, PCCHOLESKY}) {
      SCOPED_TRACE(std::string(types.vectors) + " " + types.matrices + " " + type);
      std::string view, of_plain;
      expect_same(by_factors(problem, type, &view), by_factors(plain, type, &of_plain), in_pieces(types.vectors));
      expect_said(view, of_kokkos(problem.right()));
    }
  }
}

TEST(Kokkos, ConvergesInAKrylovMethod) {
  const GridProblem problem(PETSC_COMM_WORLD, kGrid, 1.05, VECKOKKOS, MATAIJKOKKOS);
  const OptionSet options(
      "-ksp_type bcgs -ksp_rtol 1e-12 -ksp_norm_type unpreconditioned -ksp_pc_side right -pc_oclspkt_lines x,y,z "
      "-pc_oclspkt_combine multiplicative");
  const HeldKSP ksp = make_ksp(problem.matrix(), PCOCLSPKT);
  const HeldVec x = duplicate(problem.right());
  OK(PCSetDM(pc_of(ksp), problem.dm()));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, problem.right(), x));
  EXPECT_GT(converged_reason(ksp), 0);
  EXPECT_LE(residual(problem.matrix(), problem.right(), x), 1e-11);
}

/// A stream of PETSc that waits for no other, which new work goes to; Kokkos stays on that in which it began.
class OtherStream : NotCopied {
 public:
  OtherStream() {
    PetscDeviceContextGetCurrentContext(&before_);
    PetscDeviceContextCreate(&context_);
    PetscDeviceContextSetStreamType(context_, PETSC_STREAM_NONBLOCKING);
    PetscDeviceContextSetUp(context_);
    PetscDeviceContextSetCurrentContext(context_);
  }
  ~OtherStream() {
    PetscDeviceContextSetCurrentContext(before_);
    PetscDeviceContextDestroy(&context_);
  }

 private:
  PetscDeviceContext before_ = nullptr, context_ = nullptr;
};

TEST(Kokkos, IsSolvedInTheOrderOfItsOwnStream) {
  if (!on_card()) GTEST_SKIP() << "this Kokkos has no GPU";
  const GridProblem problem(PETSC_COMM_WORLD, {1, {4'000'003, 1, 1}, 1}, 1.05, VECKOKKOS, MATAIJKOKKOS);
  const Lines pc(problem);
  const std::vector<PetscScalar> once = solve(problem, pc);
  const OtherStream other;
  HeldVec x = duplicate(problem.right());
  for (int round = 0; round < 5; ++round) {
    // The apply is enqueued while its right-hand side is still being scaled.
    for (int i = 0; i < 100; ++i) OK(VecScale(problem.right(), 2));
    OK(PCApply(pc, problem.right(), x));
    for (Vec of : {problem.right(), static_cast<Vec>(x)}) {
      for (int i = 0; i < 100; ++i) OK(VecScale(of, 0.5));
    }
    EXPECT_TRUE(problem.natural(x) == once) << "round " << round;
  }
}

TEST(Kokkos, OfASingularMatrixFailsWithAReason) {
  const GridProblem problem(PETSC_COMM_WORLD, kLine, 1.05, VECKOKKOS, MATAIJKOKKOS);
  OK(MatZeroEntries(problem.matrix()));
  const Lines pc(problem);
  OK(PCSetUp(pc));
  EXPECT_EQ(failed_reason(pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
  const HeldVec x = pc.apply(problem.right());
  const PetscReal norm = norm_of(x);
  EXPECT_TRUE(PetscIsInfOrNanReal(norm)) << norm;
}

}  // namespace
}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
// Lines along the axes of grids on any number of ranks, against PETSc's own blocks on one.
#include <cstring>
#include <functional>
#include <map>

#include "grid_problem.hxx"

namespace oclspkt::test {
namespace {

/// Grids of one to three dimensions; on several ranks PETSc cuts every direction that is long enough.
const Shape kShapes[] = {{1, {17, 1, 1}, 1}, {1, {12, 1, 1}, 3}, {2, {9, 7, 1}, 1},  {2, {16, 4, 1}, 2},
                         {3, {6, 5, 7}, 1},  {3, {4, 9, 5}, 3},  {2, {40, 3, 1}, 1}, {2, {3, 40, 1}, 1},
                         {2, {4, 1, 1}, 1},  {3, {2, 2, 60}, 1}, {2, {33, 31, 1}, 1}};

/// What several directions are made of, on one rank, from PETSc's own line solvers.
class Sweeps {
 public:
  explicit Sweeps(const GridProblem& problem) : problem_(problem) {
    for (int axis = 0; axis < problem.shape().axes; ++axis) {
      oracles_.push_back(std::make_unique<LineOracle>(problem, axis));
    }
    VecDuplicate(problem.right(), &diagonal_);
    VecDuplicate(problem.right(), &product_);
    MatGetDiagonal(problem.matrix(), diagonal_);
  }

  void solve(int axis, Vec x) const {
    const HeldVec y = duplicate(x);
    PCApply(*oracles_[static_cast<std::size_t>(axis)], x, y);
    VecCopy(y, x);
  }
  void times_diagonal(Vec x) const { VecPointwiseMult(x, x, diagonal_); }

  /// The operator that `combine` names applied to the problem's right-hand side.
  std::vector<PetscScalar> apply(PCOCLSPKTCombine combine) const {
    const int axes = problem_.shape().axes;
    const HeldVec x = duplicate(problem_.right()), sum = duplicate(x);
    VecSet(sum, 0);
    VecCopy(problem_.right(), x);
    switch (combine) {
      case PC_OCLSPKT_COMBINE_ADDITIVE:
      case PC_OCLSPKT_COMBINE_MULTIPLICATIVE:
        for (int axis = 0; axis < axes; ++axis) {
          VecCopy(problem_.right(), x);
          MatMult(problem_.matrix(), sum, product_);
          if (combine == PC_OCLSPKT_COMBINE_MULTIPLICATIVE) VecAXPY(x, -1, product_);
          solve(axis, x);
          VecAXPY(sum, 1, x);
        }
        VecCopy(sum, x);
        break;
      case PC_OCLSPKT_COMBINE_FACTORED:
      case PC_OCLSPKT_COMBINE_SYMMETRIC:
        for (int axis = 0; axis < axes; ++axis) {
          if (axis > 0) times_diagonal(x);
          solve(axis, x);
        }
        for (int axis = axes - 2; axis >= 0 && combine == PC_OCLSPKT_COMBINE_SYMMETRIC; --axis) {
          times_diagonal(x);
          solve(axis, x);
        }
        break;
    }
    return problem_.natural(x);
  }

 private:
  const GridProblem& problem_;
  std::vector<std::unique_ptr<LineOracle>> oracles_;
  HeldVec diagonal_, product_;
};

std::string all_axes(const Shape& shape) {
  return std::string("x,y,z").substr(0, static_cast<std::size_t>(2 * shape.axes - 1));
}

/// Ranks that a shape has room for.
bool fits(const Shape& shape) { return shape.nodes[0] * shape.nodes[1] * shape.nodes[2] >= 4 * PetscGlobalSize; }

TEST(GridLines, AreSolvedLikePetscsOwnBlocks) {
  for (const Shape& shape : kShapes) {
    if (!fits(shape)) continue;
    const GridProblem problem(PETSC_COMM_WORLD, shape), whole(PETSC_COMM_SELF, shape);
    for (int axis = 0; axis < shape.axes; ++axis) {
      const LinePreconditioner pc(problem, std::string(1, static_cast<char>('x' + axis)));
      const LineOracle oracle(whole, axis);
      for (const bool transpose : {false, true}) {
        HeldVec x = duplicate(whole.right());
        OK(transpose ? PCApplyTranspose(oracle, whole.right(), x) : PCApply(oracle, whole.right(), x));
        EXPECT_LE(relative_distance(solve(problem, pc, transpose), whole.natural(x)), kRounding)
            << shape.name() << " axis " << axis << (transpose ? " transposed" : "");
      }
    }
  }
}

TEST(GridLines, TakeTheColumnsOfAMatrixBitForBitLikeVectors) {
  const PetscInt columns = 6;
  for (const Shape& shape : kShapes) {
    if (!fits(shape)) continue;
    const GridProblem problem(PETSC_COMM_WORLD, shape);
    PetscInt rows;
    OK(VecGetLocalSize(problem.right(), &rows));
    std::vector<PetscScalar> right(static_cast<std::size_t>((rows + 3) * columns)), solution(right.size());
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = std::cos(1.0 * static_cast<double>(i));
    HeldMat from, to;
    OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, right.data(), &from));
    OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, solution.data(), &to));
    OK(MatDenseSetLDA(from, rows + 3));
    for (Mat matrix : {(Mat)from, (Mat)to}) OK(assemble(matrix));
    for (int axis = 0; axis < shape.axes; ++axis) {
      const LinePreconditioner pc(problem, std::string(1, static_cast<char>('x' + axis)));
      SCOPED_TRACE(shape.name() + " axis " + std::to_string(axis));
      expect_columns_alike(pc, from, to);
    }
    for (const auto combine : kCombines) {
      if (shape.axes == 1) continue;
      const LinePreconditioner pc(problem, all_axes(shape), combine);
      SCOPED_TRACE(shape.name() + " " + PCOCLSPKTCombines[combine]);
      expect_columns_alike(pc, from, to);
    }
  }
}

TEST(GridLines, OfOneNodeAreItsOwnEquation) {
  // All other ranks own nothing.
  HeldMat matrix;
  const PetscInt own = PetscGlobalRank == 0 ? 1 : 0;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, own, own, 1, 1, 1, nullptr, 0, nullptr, &matrix));
  if (own == 1) {
    OK(MatSetValue(matrix, 0, 0, 4, INSERT_VALUES));
  }
  OK(assemble(matrix));
  HeldVec right;
  OK(MatCreateVecs(matrix, nullptr, &right));
  OK(VecSet(right, 2));
  const LinePreconditioner pc(matrix, "matrix");
  HeldVec x = pc.apply(right);
  EXPECT_EQ(norm_of(x, NORM_INFINITY), 0.5);
}

TEST(Directions, AreCombinedAsTheirNamesSay) {
  for (const Shape& shape : kShapes) {
    if (shape.axes == 1 || !fits(shape)) continue;
    const GridProblem problem(PETSC_COMM_WORLD, shape), whole(PETSC_COMM_SELF, shape);
    const Sweeps sweeps(whole);
    for (const auto combine : kCombines) {
      const LinePreconditioner pc(problem, all_axes(shape), combine);
      EXPECT_LE(relative_distance(solve(problem, pc), sweeps.apply(combine)), kRounding)
          << shape.name() << " " << PCOCLSPKTCombines[combine];
    }
  }
}

TEST(Directions, CountACouplingThatTwoOfThemHaveOnce) {
  const struct {
    Shape shape;
    const char* lines;
    PetscInt64 ignored;
  } cases[] = {{{1, {100, 1, 1}, 1}, "x,matrix", 0},
               {{1, {100, 1, 1}, 1}, "matrix,x", 0},
               {{2, {12, 10, 1}, 1}, "x,matrix", 216},
               {{2, {12, 10, 1}, 1}, "matrix,x,y", 0},
               {{2, {12, 10, 1}, 1}, "y,matrix,x", 0}};
  for (const auto& [shape, lines, expected] : cases) {
    const GridProblem problem(PETSC_COMM_WORLD, shape);
    const LinePreconditioner pc(problem, lines);
    OK(PCSetUp(pc));
    EXPECT_EQ(ignored(pc), expected) << lines << " of " << shape.name();
  }
}

TEST(Directions, TransposedAreTheAdjointOperator) {
  const GridProblem problem(PETSC_COMM_WORLD, {3, {6, 5, 7}, 1});
  HeldVec other = duplicate(problem.right());
  OK(VecCopy(problem.right(), other));
  OK(VecExp(other));
  for (const auto combine : kCombines) {
    const LinePreconditioner pc(problem, "x,y,z", combine);
    HeldVec x = pc.apply(problem.right()), y = pc.apply(other, true);
    const PetscScalar a = dot(x, other);
    EXPECT_LE(std::abs(a - dot(y, problem.right())), 1e-13 * std::abs(a)) << PCOCLSPKTCombines[combine];
  }
}

/// (D_0 + D_x + X) of the split form for one axis of a problem, as a matrix on one rank.
Mat split_factor(const GridProblem& problem, int axis, PetscReal dominance) {
  Mat factor;
  MatDuplicate(problem.matrix(), MAT_COPY_VALUES, &factor);
  MatZeroEntries(factor);
  problem.for_each([&](const MatStencil& s) {
    PetscScalar row_sum = problem.diagonal(s, dominance), along = 0;
    for (int a = 0; a < problem.shape().axes; ++a) {
      for (const int step : {-1, 1}) {
        const PetscScalar value = problem.coupling(s, a, step);
        row_sum += value;
        if (a != axis || value == PetscScalar(0)) continue;
        along += value;
        MatStencil column = s;
        (axis == 0 ? column.i : axis == 1 ? column.j : column.k) += step;
        const PetscInt row = problem.number(s), to = problem.number(column);
        MatSetValue(factor, row, to, value, INSERT_VALUES);
      }
    }
    const PetscInt row = problem.number(s);
    MatSetValue(factor, row, row, row_sum - along, INSERT_VALUES);
  });
  assemble(factor);
  return factor;
}

TEST(Directions, SplitTheDiagonalAsAdiHasIt) {
  const Shape shape{2, {9, 7, 1}, 1};
  const PetscReal dominance = 1.3;
  const GridProblem problem(PETSC_COMM_WORLD, shape, dominance), whole(PETSC_COMM_SELF, shape, dominance);
  const LinePreconditioner pc(problem, "x,y");
  OK(PCOCLSPKTSetDiagonal(pc, PC_OCLSPKT_DIAGONAL_SPLIT));
  const std::vector<PetscScalar> x = solve(problem, pc);
  // Multiply back: (D_0 + D_x + X) D_0^-1 (D_0 + D_y + Y) x is the right-hand side.
  HeldVec solution = duplicate(whole.right()), product = duplicate(whole.right()), sums = duplicate(whole.right());
  write_values(solution, x);
  HeldMat along_x = split_factor(whole, 0, dominance), along_y = split_factor(whole, 1, dominance);
  OK(MatGetRowSum(whole.matrix(), sums));
  OK(MatMult(along_y, solution, product));
  OK(VecPointwiseDivide(product, product, sums));
  OK(MatMult(along_x, product, solution));
  EXPECT_LE(relative_distance(whole.natural(solution), whole.natural(whole.right())), kRounding);
}

/// Rows of this rank along an axis as PCOCLSPKTSetLines() takes them, the lines in an order of the rank's own.
struct OwnLines {
  std::vector<PetscInt> numbers, starts{0}, rows;
  OwnLines(const GridProblem& problem, int axis) {
    std::map<PetscInt, std::vector<PetscInt>> lines;
    PetscInt row;
    VecGetOwnershipRange(problem.right(), &row, nullptr);
    problem.for_each([&](const MatStencil& s) {
      MatStencil first = s;
      (axis == 0 ? first.i : axis == 1 ? first.j : first.k) = 0;
      lines[problem.number(first)].push_back(row++);
    });
    const auto add = [&](const auto& line) {
      numbers.push_back(line.first);
      rows.insert(rows.end(), line.second.begin(), line.second.end());
      starts.push_back(static_cast<PetscInt>(rows.size()));
    };
    if (PetscGlobalRank % 2 == 0) std::for_each(lines.begin(), lines.end(), add);
    if (PetscGlobalRank % 2 == 1) std::for_each(lines.rbegin(), lines.rend(), add);
  }
  PetscErrorCode give(PC pc) const {
    const HeldIS lines = indices(numbers, PETSC_COMM_WORLD), begins = indices(starts, PETSC_COMM_WORLD),
                 members = indices(rows, PETSC_COMM_WORLD);
    return PCOCLSPKTSetLines(pc, lines, begins, members);
  }
};

TEST(GivenLines, AreSolvedLikeTheSameLinesOfTheGrid) {
  for (const Shape& shape : kShapes) {
    if (!fits(shape)) continue;
    const GridProblem problem(PETSC_COMM_WORLD, shape);
    for (int axis = 0; axis < shape.axes; ++axis) {
      const LinePreconditioner along(problem, std::string(1, static_cast<char>('x' + axis))), given(problem, "auto");
      OK(OwnLines(problem, axis).give(given));
      EXPECT_LE(relative_distance(solve(problem, given), solve(problem, along)), kRounding)
          << shape.name() << " axis " << axis;
    }
  }
}

TEST(GivenLines, ThatDoNotCoverEveryRowOnceAreErrorsThatNameARow) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {9, 7, 1}, 1});
  const auto refused = [&](const std::function<void(OwnLines&)>& change, const char* text) {
    const LinePreconditioner pc(problem, "given");
    OwnLines lines(problem, 1);
    change(lines);
    EXPECT_ERROR(lines.give(pc) != 0 ? PETSC_ERR_ARG_WRONG : PCSetUp(pc), kAnyError, text);
  };
  refused([](OwnLines& l) { l.rows[1] = l.rows[0]; }, "is listed twice");
  refused([](OwnLines& l) { l.rows.pop_back(), --l.starts.back(); }, "is in no line");
  refused([](OwnLines& l) { l.rows[0] = 62 - l.rows[0] + 1000; }, "belongs to another rank");
  refused([](OwnLines& l) { l.starts.pop_back(); }, "starts");
  refused([](OwnLines& l) { l.numbers.back() = l.numbers.front(); }, "listed twice on one rank");
  refused([](OwnLines& l) { l.numbers.back() = -1; }, "count lines from 0");
  const LinePreconditioner pc(problem, "given");
  EXPECT_ERROR(PCSetUp(pc), kAnyError, "PCOCLSPKTSetLines()");
}

TEST(GridLines, WithoutAGridThatFitsAreErrorsThatNameTheCure) {
  const GridProblem problem(PETSC_COMM_WORLD, {2, {9, 7, 1}, 1}), other(PETSC_COMM_WORLD, {2, {19, 17, 1}, 1});
  HeldMat bare;
  OK(MatConvert(problem.matrix(), MATAIJ, MAT_INITIAL_MATRIX, &bare));
  OK(MatSetDM(bare, nullptr));
  {
    const LinePreconditioner pc(bare, "x");
    EXPECT_ERROR(PCSetUp(pc), kAnyError, "PCSetDM()", "PCOCLSPKTSetLines()", "bjacobi");
  }
  {
    const LinePreconditioner pc(bare, "x");
    OK(PCSetDM(pc, other.dm()));
    EXPECT_ERROR(PCSetUp(pc), kAnyError, "differ in size");
  }
  {
    const LinePreconditioner pc(bare, "x"), grid(problem, "x");
    OK(PCSetDM(pc, problem.dm()));
    EXPECT_EQ(solve(problem, pc), solve(problem, grid));
  }
}

TEST(GridLines, OfOtherCoefficientsAtTheNextSetUpAreSolvedAnew) {
  const Shape shape{2, {9, 7, 1}, 1};
  const GridProblem problem(PETSC_COMM_WORLD, shape), whole(PETSC_COMM_SELF, shape, 3);
  const LinePreconditioner pc(problem, "y");
  OK(PCSetUp(pc));
  const GridProblem next(PETSC_COMM_WORLD, shape, 3);
  OK(MatCopy(next.matrix(), problem.matrix(), SAME_NONZERO_PATTERN));
  const LineOracle oracle(whole, 1);
  HeldVec x = duplicate(whole.right());
  OK(PCApply(oracle, whole.right(), x));
  EXPECT_LE(relative_distance(solve(problem, pc), whole.natural(x)), kRounding);
}

}  // namespace
}  // namespace oclspkt::test

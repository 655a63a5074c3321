// SPDX-License-Identifier: BSD-2-Clause
// Random sequences of calls on vectors and matrices of -oclspkt_types, beside the same calls on vectors of the host.
// -steps and -seed vary the run.
#include "types_model.hxx"

namespace oclspkt::test {
namespace {

class Model : ModelVectors {
 public:
  explicit Model(unsigned seed) : ModelVectors(seed) { make_matrix(); }

  /// One call more. @return its name if the vectors differ after it, or its numbers
  std::string step() {
    name_.str({});
    differs_ = false;
    const std::size_t a = below(kVectors);
    x_ = a, y_ = (a + 1 + below(kVectors - 1)) % kVectors;
    do z_ = below(kVectors);
    while (z_ == x_ || z_ == y_);
    const int kind = static_cast<int>(below(4));
    if (kind == 0) {
      below(6) ? operate() : operate_beside_the_host();
    } else if (kind == 1) {
      below(2) ? sums() : operate();
    } else if (kind == 2) {
      below(2) ? arrays() : views();
    } else {
      below(2) ? products() : matrix_changes();
    }
    compare();
    return differs_ ? name_.str() : std::string{};
  }

 private:
  void make_matrix() {
    MatDestroy(&matrix_);
    MatCreateAIJ(PETSC_COMM_WORLD, n_, n_, rows_, rows_, 6, nullptr, 6, nullptr, &matrix_);
    MatSetOption(matrix_, MAT_KEEP_NONZERO_PATTERN, below(2) ? PETSC_TRUE : PETSC_FALSE);
    MatSetOption(matrix_, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
    for (PetscInt i = first_; i < first_ + n_; ++i) {
      for (const PetscInt j : {i - 9, i - 1, i, i + 1, i + 9}) {
        if (j >= 0 && j < rows_) MatSetValue(matrix_, i, j, value(false), INSERT_VALUES);
      }
    }
    assemble(matrix_);
    grown_ = 0;
  }

  /// z = A' x, or y + A' x, row by row: PETSc 3.26's own leaves entries out that were put into rows that had none.
  PetscErrorCode multiply_transposed(Vec x, Vec y, Vec z) {
    if (PetscGlobalSize > 1) {
      return y != nullptr ? MatMultTransposeAdd(matrix_, x, y, z) : MatMultTranspose(matrix_, x, z);
    }
    std::vector<PetscScalar> sums(static_cast<std::size_t>(rows_));
    const PetscScalar* numbers;
    PetscScalar* result;
    if (y != nullptr) {
      VecGetArrayRead(y, &numbers);
      std::copy_n(numbers, rows_, sums.begin());
      VecRestoreArrayRead(y, &numbers);
    }
    VecGetArrayRead(x, &numbers);
    for (PetscInt row = 0; row < rows_; ++row) {
      PetscInt count;
      const PetscInt* column;
      const PetscScalar* entry;
      MatGetRow(matrix_, row, &count, &column, &entry);
      for (PetscInt k = 0; k < count; ++k) sums[static_cast<std::size_t>(column[k])] += entry[k] * numbers[row];
      MatRestoreRow(matrix_, row, &count, &column, &entry);
    }
    VecRestoreArrayRead(x, &numbers);
    VecGetArray(z, &result);
    std::copy_n(sums.begin(), rows_, result);
    return VecRestoreArray(z, &result);
  }

  void products() {
    const auto X = x().both(), Y = y().both(), Z = z().both();
    const bool in_place = below(2) == 0;
    const auto R = in_place ? Y : Z;
    switch (below(5)) {
      case 0:
        return on_both("MatMult", [&](int k) { return MatMult(matrix_, X[k], Z[k]); });
      case 1:
        return on_both("MatMultAdd", [&](int k) { return MatMultAdd(matrix_, X[k], Y[k], R[k]); });
      case 2:
        return on_both("MatMultTranspose", [&](int k) {
          return k == 0 ? MatMultTranspose(matrix_, X[k], Z[k]) : multiply_transposed(X[k], nullptr, Z[k]);
        });
      case 3:
        return on_both("MatMultTransposeAdd", [&](int k) {
          return k == 0 ? MatMultTransposeAdd(matrix_, X[k], Y[k], R[k]) : multiply_transposed(X[k], Y[k], R[k]);
        });
      default:
        return call("MatMult with the host", {MatMult(matrix_, X[1], Z[0]), MatMult(matrix_, X[0], Z[1])});
    }
  }

  /// Values of the matrix change between products, which PETSc's other matrices of the process do in their own ways.
  void matrix_changes() {
    const PetscInt row[] = {rows_ > 0 ? static_cast<PetscInt>(below(static_cast<std::size_t>(rows_))) : 0};
    const PetscInt count = PetscGlobalRank == 0 ? 1 : 0;
    const std::pair<const char*, std::function<void()>> changes[] = {
        {"MatScale ", [&] { MatScale(matrix_, -1); }},
        {"MatShift ", [&] { MatShift(matrix_, 1); }},
        {"MatDiagonalScale ",
         [&] {
           fill(x(), true);
           MatDiagonalScale(matrix_, below(2) ? x().dressed : nullptr, below(2) ? x().dressed : nullptr);
         }},
        {"MatZeroRows ", [&] { MatZeroRows(matrix_, count, row, 2, nullptr, nullptr); }},
        {"MatZeroRowsColumns ", [&] { MatZeroRowsColumns(matrix_, count, row, 2, nullptr, nullptr); }},
        {"MatSetValues ",
         [&] {
           if (count == 1) MatSetValue(matrix_, *row, *row, 3, INSERT_VALUES);
           assemble(matrix_);
         }},
        {"MatAXPY, MatCopy ",
         [&] {
           HeldMat other;
           MatDuplicate(matrix_, MAT_COPY_VALUES, &other);
           MatAXPY(other, 1, matrix_, SAME_NONZERO_PATTERN);
           MatCopy(other, matrix_, SAME_NONZERO_PATTERN);
         }},
        {"MatDiagonalSet ",
         [&] {
           fill(x(), true);
           MatDiagonalSet(matrix_, x().dressed, ADD_VALUES);
         }},
        {"MatStoreValues, MatRetrieveValues ",
         [&] {
           MatSetOption(matrix_, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE);
           MatStoreValues(matrix_);
           MatScale(matrix_, 2);
           products();
           MatRetrieveValues(matrix_);
           MatSetOption(matrix_, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE);
         }},
        {"MatTranspose ", [&] { MatTranspose(matrix_, MAT_INPLACE_MATRIX, &matrix_); }},
        {"another matrix ", [&] { make_matrix(); }},
    };
    if (++grown_ > 12) make_matrix();
    const auto& [what, change] = changes[below(std::size(changes))];
    name_ << what;
    change();
    products();
  }

  HeldMat matrix_;
  int grown_ = 0;
};

TEST(TypesModel, RandomCallsDoWhatTheyDoOnTheHost) {
  PetscInt steps = 10'000, seed = 45;
  OK(PetscOptionsGetInt(nullptr, nullptr, "-steps", &steps, nullptr));
  OK(PetscOptionsGetInt(nullptr, nullptr, "-seed", &seed, nullptr));
  OK(PetscPrintf(PETSC_COMM_WORLD, "-seed %d -steps %d\n", static_cast<int>(seed), static_cast<int>(steps)));
  Model model(static_cast<unsigned>(seed));
  for (PetscInt k = 0; k < steps; ++k) {
    const std::string wrong = model.step();
    // Other ranks may have seen nothing, but stop as well.
    ASSERT_EQ(wrong, "") << "step " << k;
  }
}

}  // namespace
}  // namespace oclspkt::test

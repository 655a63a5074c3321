// SPDX-License-Identifier: BSD-2-Clause
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>

#include "support.hxx"

namespace oclspkt::test {
namespace {

constexpr PetscInt kOrder = 60;

/// Bands that differ from row to row, one diagonal that is not stored, and entries off the bands.
Rows entries(bool symmetric, PetscScalar scale = 1) {
  Rows rows(kOrder);
  for (PetscInt i = 0; i < kOrder; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    if (i >= 5) row.emplace_back(i - 5, -0.25 * scale);
    if (i > 0) row.emplace_back(i - 1, -scale * (symmetric ? 1 + 0.01 * i : 2 - 0.01 * i));
    if (i != 10) row.emplace_back(i, scale * (3 + std::sin(i)));
    if (i + 1 < kOrder) row.emplace_back(i + 1, -scale * (1 + 0.01 * (i + 1)));
    if (i + 5 < kOrder) row.emplace_back(i + 5, -0.25 * scale);
  }
  return rows;
}
constexpr PetscInt64 kOffTheBands = 2 * (kOrder - 5);

bool is_symmetric_type(const char* type) { return std::strstr(type, "sbaij") != nullptr; }

PetscErrorCode Fill(Mat A, const Rows& rows) {
  PetscBool upper_only;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &upper_only, MATSEQSBAIJ, MATMPISBAIJ, ""));
  for (PetscInt i = 0; i < static_cast<PetscInt>(rows.size()); ++i) {
    for (const auto& [column, value] : rows[static_cast<std::size_t>(i)]) {
      if (upper_only && column < i) continue;
      PetscCall(MatSetValue(A, i, column, value, INSERT_VALUES));
    }
  }
  PetscCall(assemble(A));
  PetscFunctionReturn(0);
}

PetscErrorCode Create(const char* type, PetscInt block, Mat* A) {
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, kOrder, kOrder, kOrder, kOrder));
  PetscCall(MatSetBlockSize(*A, block));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(0);
}

std::vector<PetscScalar> solution(PC pc) {
  const Vector b(kOrder), x(kOrder);
  EXPECT_EQ(PCApply(pc, b, x), 0);
  return values_of(x);
}

std::vector<PetscScalar> solution_of_aij(const Rows& rows) {
  const auto& [A, pc, b, x] = System(rows);
  return solution(pc);
}

/// Types that must be read, and how large their blocks may be.
const struct {
  const char* type;
  PetscInt largest_block;
} kReadable[] = {{MATAIJ, 1},        {MATSEQAIJ, 1},    {MATMPIAIJ, 1},     {MATAIJPERM, 1},    {MATSEQAIJPERM, 1},
                 {MATMPIAIJPERM, 1}, {MATAIJSELL, 1},   {MATSEQAIJSELL, 1}, {MATMPIAIJSELL, 1}, {MATAIJCRL, 1},
                 {MATSEQAIJCRL, 1},  {MATMPIAIJCRL, 1}, {MATBAIJ, 3},       {MATSEQBAIJ, 3},    {MATMPIBAIJ, 3},
                 {MATSBAIJ, 3},      {MATSEQSBAIJ, 3},  {MATMPISBAIJ, 3},   {MATDENSE, 1},      {MATSEQDENSE, 1},
                 {MATMPIDENSE, 1}};

TEST(MatrixTypes, ThatGiveRowsAnswerLikeAijToTheBit) {
  for (const auto& [type, largest_block] : kReadable) {
    for (PetscInt block = 1; block <= largest_block; ++block) {
      SCOPED_TRACE(std::string(type) + ", blocks of " + std::to_string(block));
      const bool symmetric = is_symmetric_type(type);
      HeldMat A;
      OK(Create(type, block, &A));
      OK(Fill(A, entries(symmetric)));
      const Preconditioner pc(A);
      EXPECT_EQ(solution(pc), solution_of_aij(entries(symmetric)));
      EXPECT_EQ(ignored(pc), kOffTheBands);
      // The second set-up reads the new values.
      OK(Fill(A, entries(symmetric, 3)));
      EXPECT_EQ(solution(pc), solution_of_aij(entries(symmetric, 3)));
    }
  }
}

PetscErrorCode set_up(Mat A, Mat P) {
  const Preconditioner pc;
  PCSetOperators(pc, A, P);
  return PCSetUp(pc);
}

/// The types that are registered. PetscFunctionListGet() of PETSc 3.18 gives null names; what a viewer prints is read.
std::set<std::string> registered_types() {
  char text[16384] = "";
  std::FILE* stream = fmemopen(text, sizeof text - 1, "w");
  PetscViewer viewer;
  EXPECT_EQ(KSPInitializePackage(), 0);  // the lists of its and the lower packages are empty before
  EXPECT_EQ(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, stream, &viewer), 0);
  EXPECT_EQ(PetscFunctionListView(MatList, viewer), 0);
  EXPECT_EQ(PetscViewerDestroy(&viewer), 0);
  std::fclose(stream);
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// PETSc 3.18 crashes where these are made from a size alone.
const std::set<std::string> kMadeOtherwise = {MATBLOCKMAT, MATFFTW,        MATIS,           MATKAIJ, MATSEQKAIJ,
                                              MATMPIKAIJ,  MATHYPRESTRUCT, MATHYPRESSTRUCT, MATLRC};

TEST(MatrixTypes, OfThisPetscAreReadRightOrRefusedByName) {
  std::set<std::string> read, refused;
  for (const std::string& name : registered_types()) {
    SCOPED_TRACE(name);
    if (kMadeOtherwise.count(name)) continue;
    HeldMat A;
    bool filled;
    {
      const ErrorTexts errors;  // many types want more than a size
      filled = Create(name.c_str(), 1, &A) == 0 && Fill(A, entries(true)) == 0;
    }
    MatType type = nullptr;
    OK(MatGetType(A, &type));
    const ErrorTexts errors;
    const PetscErrorCode code = set_up(A, A);
    const std::string& text = errors.text();
    if (code == 0 && filled) {
      const Preconditioner pc(A);
      EXPECT_EQ(solution(pc), solution_of_aij(entries(true)));
      read.insert(name);
    } else if (filled || code == PETSC_ERR_SUP) {
      EXPECT_EQ(code, PETSC_ERR_SUP);
      EXPECT_TRUE(contains(text, std::string("type ") + type + ":") && contains(text, "aij")) << text;
      refused.insert(name);
    } else {
      EXPECT_NE(code, 0) << "it could not be filled";
    }
  }
  for (const auto& [type, largest_block] : kReadable) {
    HeldMat A;
    MatType made;
    OK(Create(type, 1, &A));
    OK(MatGetType(A, &made));
    EXPECT_TRUE(read.count(made)) << made;
  }
  for (const char* type : {MATSHELL, MATMFFD, MATNEST, MATMPIADJ, MATCOMPOSITE})
    EXPECT_TRUE(refused.count(type)) << type;
}

/// A matrix that stands for another, and the word that its refusal must hold.
void expect_refused_until_converted(Mat A, const char* type, const char* cure) {
  EXPECT_ERROR(set_up(A, A), PETSC_ERR_SUP, std::string("type ") + type + ":", cure);
  HeldMat converted;
  OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &converted));
  const Preconditioner pc(converted);
  EXPECT_EQ(solution(pc), solution_of_aij(entries(true))) << type;
}

TEST(MatrixTypes, ThatStandForOthersAreRefusedWithACureThatWorks) {
  HeldMat A, is, nest, transposed;
  OK(Create(MATSEQAIJ, 1, &A));
  OK(Fill(A, entries(true)));
  OK(MatConvert(A, MATIS, MAT_INITIAL_MATRIX, &is));
  OK(MatCreateNest(PETSC_COMM_SELF, 1, nullptr, 1, nullptr, &A, &nest));
  OK(MatCreateTranspose(A, &transposed));
  expect_refused_until_converted(is, MATIS, "-mat_type aij");
  expect_refused_until_converted(nest, MATNEST, "-mat_type aij");
  expect_refused_until_converted(transposed, MATTRANSPOSEVIRTUAL, "MatConvert()");
}

TEST(MatrixTypes, WithoutEntriesAreRefusedUntilAnotherIsGivenForThePreconditioner) {
  HeldMat A, shell, free;
  OK(Create(MATSEQAIJ, 1, &A));
  OK(Fill(A, entries(true)));
  OK(MatCreateShell(PETSC_COMM_SELF, kOrder, kOrder, kOrder, kOrder, nullptr, &shell));
  OK(MatCreateMFFD(PETSC_COMM_SELF, kOrder, kOrder, kOrder, kOrder, &free));
  const struct {
    Mat mat;
    const char *type, *cure;
  } cases[] = {{shell, MATSHELL, "KSPSetOperators()"}, {free, MATMFFD, "-snes_mf_operator"}};
  for (const auto& c : cases) {
    EXPECT_ERROR(set_up(c.mat, c.mat), PETSC_ERR_SUP, std::string("type ") + c.type + ":", c.cure);
    EXPECT_EQ(set_up(c.mat, A), 0) << c.type;
  }
}

/// Rows of a shell: tridiag(-1, 4, -2), columns backwards; row 7 holds its diagonal twice if the context says so.
struct ShellRow {
  PetscInt columns[4];
  PetscScalar values[4];
  bool twice;
};

PetscErrorCode GetRow(Mat A, PetscInt row, PetscInt* count, PetscInt** columns, PetscScalar** values) {
  ShellRow* shell;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &shell));
  PetscInt n = 0;
  const auto add = [&](PetscInt column, PetscScalar value) {
    shell->columns[n] = column;
    shell->values[n++] = value;
  };
  if (row + 1 < kOrder) add(row + 1, -2);
  add(row, 4);
  if (shell->twice && row == 7) add(row, 4);
  if (row > 0) add(row - 1, -1);
  *count = n;
  if (columns) *columns = shell->columns;
  if (values) *values = shell->values;
  PetscFunctionReturn(0);
}

TEST(MatrixTypes, ThatGiveRowsInAnyOrderAreReadAndRowsWithEntriesTwiceRefused) {
  ShellRow shell{};
  HeldMat A;
  OK(MatCreateShell(PETSC_COMM_SELF, kOrder, kOrder, kOrder, kOrder, &shell, &A));
  OK(MatShellSetOperation(A, MATOP_GET_ROW, reinterpret_cast<void (*)(void)>(&GetRow)));
  OK(assemble(A));
  const Preconditioner pc(A);
  EXPECT_EQ(solution(pc), solution_of_aij(tridiagonal(kOrder, -1, 4, -2)));
  shell.twice = true;
  EXPECT_ERROR(set_up(A, A), PETSC_ERR_ARG_WRONG, "row 7 of the matrix stores column 7 twice");
}

TEST(MatrixTypes, WithoutValuesFailAndWithoutAssemblyAreErrors) {
  for (const char* type : {MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATSEQSBAIJ, MATSEQDENSE}) {
    SCOPED_TRACE(type);
    HeldMat A;
    OK(Create(type, 1, &A));
    if (std::strcmp(type, MATSEQDENSE) == 0) {
      OK(set_up(A, A));
    } else {
      EXPECT_ERROR(set_up(A, A), PETSC_ERR_ARG_WRONGSTATE, "MatAssemblyBegin()");
    }

    OK(Fill(A, tridiagonal(kOrder, 0, 0, 0)));
    const Preconditioner pc(A);
    OK(PCSetUp(pc));
    EXPECT_EQ(failed_reason(pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
    // The values come later.
    OK(Fill(A, tridiagonal(kOrder, -1, 4, -1)));
    EXPECT_EQ(solution(pc), solution_of_aij(tridiagonal(kOrder, -1, 4, -1)));
  }
  HeldMat untyped;
  OK(MatCreate(PETSC_COMM_SELF, &untyped));
  OK(MatSetSizes(untyped, kOrder, kOrder, kOrder, kOrder));
  EXPECT_ERROR(set_up(untyped, untyped), PETSC_ERR_ARG_WRONGSTATE, "MatSetType()");
}

}  // namespace
}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
// Ranks that differ: in their options, in what they meet, and in how their rows and columns are laid out. All of them
// hear of it, and none waits.
#include <atomic>
#include <new>

#include "long_line.hxx"

namespace {

constexpr std::size_t kLarge = 50000;
/// Large allocations of this process until one fails; negative: none does.
std::atomic<int> until_failure{-1};

void* take(std::size_t bytes, std::size_t alignment) {
  if (bytes >= kLarge && until_failure >= 0 && until_failure-- == 0) return nullptr;
  void* memory = nullptr;
  const std::size_t least = alignment < sizeof(void*) ? sizeof(void*) : alignment;
  return posix_memalign(&memory, least, bytes) == 0 ? memory : nullptr;
}

/// GCC would find free() behind an inlined delete, and new before it.
[[gnu::noinline]] void give_back(void* memory) { std::free(memory); }

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = take(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return take_or_throw(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return take(bytes, alignment); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace oclspkt::test {
namespace {

bool is_last() { return PetscGlobalRank + 1 == PetscGlobalSize; }

/// The code that all ranks return; -1 if they differ.
int same_on_all(PetscErrorCode own) {
  int ends[] = {static_cast<int>(own), -static_cast<int>(own)};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  return ends[0] == -ends[1] ? ends[0] : -1;
}

/// What all ranks say of a set-up with an option that only the last one has.
std::string refused_with(PC pc, const std::string& option) {
  const OptionSet own(is_last() ? option : "");
  EXPECT_EQ(PCSetFromOptions(pc), 0);
  const ErrorTexts errors;
  EXPECT_EQ(same_on_all(PCSetUp(pc)), PetscGlobalSize > 1 ? PETSC_ERR_ARG_INCOMP : 0) << option;
  return errors.text();
}

TEST(Ranks, WithOptionsThatDifferAreRefusedByTheNameOfTheOption) {
  for (const char* option : {"-pc_oclspkt_method pivot", "-pc_oclspkt_explain", "-pc_oclspkt_diagonal split",
                             "-pc_oclspkt_combine additive", "-pc_oclspkt_rtol 1e-9", "-pc_oclspkt_gather_limit 7",
                             "-pc_oclspkt_lines matrix", "-pc_oclspkt_ignored error"}) {
    for (const bool later : {false, true}) {
      const LongLine line(50, [](PetscInt, PetscInt) { return Row{-1, 3, -1}; });
      if (later) {
        OK(PCSetUp(line.pc()));
        OK(MatShift(line.matrix(), 1));
      }
      if (PetscGlobalSize == 1) continue;
      const std::string text = refused_with(line.pc(), option), name = std::string(option).substr(0, 17);
      expect_in(text, {name, "' on rank 0 and '", "' on rank " + std::to_string(PetscGlobalSize - 1)});
    }
  }
}

TEST(Ranks, WithLinesGivenOnOneOfThemAreRefused) {
  if (PetscGlobalSize == 1) return;
  const LongLine line(50, [](PetscInt, PetscInt) { return Row{-1, 3, -1}; });
  if (is_last()) {
    PetscInt first, end;
    OK(MatGetOwnershipRange(line.matrix(), &first, &end));
    const HeldIS number = indices({0}), starts = indices({0, end - first});
    HeldIS rows;
    OK(ISCreateStride(PETSC_COMM_SELF, end - first, first, 1, &rows));
    OK(PCOCLSPKTSetLines(line.pc(), number, starts, rows));
  }
  EXPECT_ERROR(same_on_all(PCSetUp(line.pc())), PETSC_ERR_ARG_INCOMP, "PCOCLSPKTSetLines() differs");
}

TEST(Ranks, MayDifferInWhatShapesTheirOwnWorkAlone) {
  const LongLine line(50, [](PetscInt, PetscInt) { return Row{-1, 3, -1}; });
  const OptionSet own(is_last() ? "-pc_oclspkt_partition 16 -pc_oclspkt_devices host -pc_oclspkt_timeout 5" : "");
  OK(PCSetFromOptions(line.pc()));
  OK(PCSetUp(line.pc()));
  EXPECT_LE(line.backward_error(), 10);
}

TEST(Ranks, OfWhichOneIsOutOfMemoryFailTogetherAndSayWhich) {
  const LongLine line(20000, [](PetscInt i, PetscInt) { return Row{-1, 3 + 0.5 * std::sin(i), -1}; });
  int failures = 0;
  for (int k = 0;; ++k) {
    OK(PCReset(line.pc()));
    OK(PCSetOperators(line.pc(), line.matrix(), line.matrix()));
    const ErrorTexts errors;
    until_failure = is_last() ? k : -1;
    const PetscErrorCode own = PCSetUp(line.pc());
    long fired = is_last() && until_failure < 0;
    until_failure = -1;
    MPI_Allreduce(MPI_IN_PLACE, &fired, 1, MPI_LONG, MPI_MAX, PETSC_COMM_WORLD);
    const int code = same_on_all(own);
    if (!fired) {
      EXPECT_EQ(code, 0) << "allocation " << k;
      break;
    }
    if (code == 0) continue; /* the set-up can do without it */
    ++failures;
    EXPECT_EQ(code, PETSC_ERR_MEM) << "allocation " << k;
    const std::string who = PetscGlobalSize > 1 ? "rank " + std::to_string(PetscGlobalSize - 1) + ": " : "";
    EXPECT_TRUE(contains(errors.text(), who + "PCOCLSPKT is out of host memory")) << errors.text();
  }
  EXPECT_GE(failures, 2);
  EXPECT_LE(line.backward_error(), 10);
}

/// A matrix of which the first rank has one column less than rows, and the second one more.
Mat shifted_columns() {
  Mat matrix;
  PetscInt first, end;
  const PetscInt columns = PetscGlobalRank == 0 ? 9 : PetscGlobalRank == 1 ? 11 : 10;
  MatCreateAIJ(PETSC_COMM_WORLD, 10, columns, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 2, nullptr, &matrix);
  MatGetOwnershipRange(matrix, &first, &end);
  for (PetscInt i = first; i < end; ++i) MatSetValue(matrix, i, i, 2, INSERT_VALUES);
  assemble(matrix);
  return matrix;
}

TEST(Ranks, WithOtherColumnsThanRowsAreRefusedWithTheirSizes) {
  if (PetscGlobalSize == 1) return;
  HeldMat matrix = shifted_columns();
  for (const bool direct : {false, true}) {
    HeldKSP ksp = make_ksp(matrix, direct ? PCLU : PCOCLSPKT);
    if (direct) {
      OK(PCFactorSetMatSolverType(pc_of(ksp), PCOCLSPKT));
    }
    EXPECT_ERROR(same_on_all(KSPSetUp(ksp)), kAnyError, "rank 0 has 10 rows and 9 columns");
  }
}

TEST(Ranks, WithOtherColumnsThanRowsAreRefusedForBandsThatWereGiven) {
  if (PetscGlobalSize == 1) return;
  HeldMat matrix = shifted_columns();
  HeldPC pc = make_pc(matrix, "host");
  HeldVec band;
  OK(MatCreateVecs(matrix, nullptr, &band));
  OK(VecSet(band, 1));
  OK(PCOCLSPKTSetBands(pc, "x", band, band, band));
  EXPECT_ERROR(same_on_all(PCSetUp(pc)), PETSC_ERR_ARG_SIZ, "rank 0 has 10 rows and 9 columns");
}

TEST(Ranks, RefuseVectorsOfOtherLayouts) {
  if (PetscGlobalSize == 1) return;
  const LongLine line(10, [](PetscInt, PetscInt) { return Row{-1, 3, -1}; });
  OK(PCSetUp(line.pc()));
  const PetscInt rows = PetscGlobalRank == 0 ? 9 : PetscGlobalRank == 1 ? 11 : 10;
  HeldVec other;
  OK(VecCreateMPI(PETSC_COMM_WORLD, rows, PETSC_DETERMINE, &other));
  OK(VecSet(other, 1));
  if (rows != 10) {
    const ErrorTexts errors;
    EXPECT_NE(PCApply(line.pc(), line.b(), other), 0);
    EXPECT_NE(PCApply(line.pc(), other, line.x()), 0);
    EXPECT_EQ(PCApplyTranspose(line.pc(), line.b(), other), PETSC_ERR_ARG_SIZ);
    EXPECT_EQ(PCApplyTranspose(line.pc(), other, line.x()), PETSC_ERR_ARG_SIZ);
    EXPECT_TRUE(contains(errors.text(), std::to_string(rows) + " (right-hand side) and 10 (solution) rows"))
        << errors.text();
  }
  HeldMat right, solution;
  OK(MatCreateDense(PETSC_COMM_WORLD, 10, PETSC_DECIDE, PETSC_DETERMINE, 2, nullptr, &right));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 2, nullptr, &solution));
  for (Mat m : {(Mat)right, (Mat)solution}) {
    OK(assemble(m));
  }
  if (rows != 10) {
    const ErrorTexts errors;
    EXPECT_NE(PCMatApply(line.pc(), right, solution), 0);
    EXPECT_NE(PCMatApply(line.pc(), solution, right), 0);
  }
}

}  // namespace
}  // namespace oclspkt::test

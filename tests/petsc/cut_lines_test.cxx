// SPDX-License-Identifier: BSD-2-Clause
// One long line over all ranks, as PETSc programs have it: what is sent, what is gathered, and what all ranks hear of.
#include <map>
#include <memory>

#include "long_line.hxx"

namespace oclspkt::test {
namespace {

/// What this process sends while it counts.
struct Traffic {
  bool counting = false;
  long numbers = 0;                       ///< by persistent requests
  long others = 0;                        ///< messages of other kinds
  std::map<MPI_Request, int> numbers_of;  ///< persistent requests; 0 for those that receive
};
Traffic traffic;

void count_start(MPI_Request request) {
  if (traffic.counting) traffic.numbers += traffic.numbers_of[request];
}

}  // namespace
}  // namespace oclspkt::test

using oclspkt::test::count_start;
using oclspkt::test::traffic;

/* The profiling interface of MPI: what the plugin calls comes here first, behind PETSc's macros that log it. */
#undef MPI_Send_init
#undef MPI_Recv_init
#undef MPI_Start
#undef MPI_Startall
#undef MPI_Isend
#undef MPI_Send
#undef MPI_Allreduce
extern "C" {

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int ierr = PMPI_Send_init(buffer, count, type, to, tag, comm, request);
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  traffic.numbers_of[*request] = count * bytes / static_cast<int>(sizeof(PetscScalar));
  return ierr;
}

int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  const int ierr = PMPI_Recv_init(buffer, count, type, from, tag, comm, request);
  traffic.numbers_of[*request] = 0;
  return ierr;
}

int MPI_Start(MPI_Request* request) {
  count_start(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  std::for_each(requests, requests + count, count_start);
  return PMPI_Startall(count, requests);
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  traffic.others += traffic.counting;
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  traffic.others += traffic.counting;
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  traffic.others += traffic.counting;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}
}

namespace oclspkt::test {
namespace {

long sum_over_ranks(long value) {
  PMPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_SUM, PETSC_COMM_WORLD);
  return value;
}

/// Numbers that all ranks together send in one apply; nothing else may be sent.
long sent_by_an_apply(const LongLine& line) {
  EXPECT_EQ(PCSetUp(line.pc()), 0);
  EXPECT_EQ(PCApply(line.pc(), line.b(), line.x()), 0);
  traffic.numbers = traffic.others = 0;
  traffic.counting = true;
  EXPECT_EQ(PCApply(line.pc(), line.b(), line.x()), 0);
  traffic.counting = false;
  // A PETSc with debugging compares arguments among ranks.
  EXPECT_TRUE(PetscDefined(USE_DEBUG) || traffic.others == 0) << traffic.others;
  return sum_over_ranks(traffic.numbers);
}

TEST(LongLine, OfAMillionRowsAtDominanceOneIsExactAndSendsFourNumbersACut) {
  const LongLine line(1000000 / PetscGlobalSize, [](PetscInt, PetscInt) { return Row{-1, 2, -1}; });
  EXPECT_LE(sent_by_an_apply(line), 4 * (PetscGlobalSize - 1));
  EXPECT_LE(line.backward_error(), 10);
}

TEST(LongLine, ThatIsDominantSendsTwoNumbersACut) {
  const LongLine line(5000, [](PetscInt, PetscInt) { return Row{-1, 3, -1}; });
  EXPECT_EQ(sent_by_an_apply(line), 2 * (PetscGlobalSize - 1));
  EXPECT_LE(line.backward_error(), 10);
}

TEST(LongLine, OfPartsThatDifferIsSolvedExactly) {
  // Dominance 10, 1, a zero on the diagonal, nothing.
  const int kind = PetscGlobalRank % 4;
  PetscInt own = kind == 3 ? 0 : 301;
  const LongLine line(own, [&](PetscInt i, PetscInt) {
    return kind == 0 ? Row{-1, 20, -1} : kind == 1 ? Row{-1, 2, -1} : Row{-1, i % 301 == 150 ? 0.0 : 4.0, -1};
  });
  EXPECT_EQ(line.failed(), PC_NOERROR);
  EXPECT_LE(line.backward_error(), 10);
}

TEST(LongLine, IsViewedWithTheRowsOfAllRanks) {
  const LongLine line(100 + PetscGlobalRank, [](PetscInt, PetscInt) { return Row{-1, 3, -1}; });
  OK(PCSetUp(line.pc()));
  auto* const object = reinterpret_cast<PetscObject>(line.pc());
  const std::string text = view_text(object), detail = view_text(object, PETSC_VIEWER_ASCII_INFO_DETAIL);
  if (PetscGlobalRank > 0) return;
  const std::string count = std::to_string(PetscGlobalSize),
                    rows = "rows: " + std::to_string(line.rows()) + " in 1 line";
  EXPECT_TRUE(contains(text, rows + (PetscGlobalSize > 1 ? ", on " + count + " ranks\n" : "\n"))) << text;
  if (PetscGlobalSize == 1) return;
  EXPECT_TRUE(contains(text, "device: host (host), asked for (rank 0 of " + count + ")\n")) << text;
  EXPECT_TRUE(contains(text, "cut by ranks: 1 line, over up to " + count + " ranks")) << text;
  EXPECT_TRUE(contains(detail, "[" + std::to_string(PetscGlobalSize - 1) + "] lines: ")) << detail;
}

TEST(LongLine, WithFewerRowsThanRanksIsSolved) {
  for (const PetscInt rows : {1, 2, 3}) {
    const LongLine line(PetscGlobalRank < rows ? 1 : 0, [](PetscInt, PetscInt) { return Row{-1, 2, -1}; });
    EXPECT_EQ(line.failed(), PC_NOERROR);
    EXPECT_LE(line.backward_error(), 10) << rows;
  }
}

TEST(LongLine, IsFoundAnewWhenTheDistributionChanges) {
  const LongLine even(40, [](PetscInt, PetscInt) { return Row{-1, 2, -1}; });
  const LongLine odd(40 + PetscGlobalRank, [](PetscInt, PetscInt) { return Row{-1, 2.5, -1}; });
  OK(PCSetUp(even.pc()));
  OK(PCReset(even.pc()));
  OK(PCSetOperators(even.pc(), odd.matrix(), odd.matrix()));
  HeldVec expected = duplicate(odd.b());
  OK(PCApply(odd.pc(), odd.b(), expected));
  OK(PCApply(even.pc(), odd.b(), odd.x()));
  EXPECT_EQ(distance(odd.x(), expected), 0);
}

/// Id 15 of the twenty: a zero diagonal. Odd parts are singular by themselves, the line is not.
LongLine* zero_diagonal() {
  const PetscInt own = PetscGlobalSize % 2 == 1 && PetscGlobalRank + 1 < PetscGlobalSize ? 51 : 52;
  return new LongLine(own, [](PetscInt i, PetscInt) { return Row{1 + 0.1 * std::sin(i), 0, 1 + 0.1 * std::cos(i)}; });
}

TEST(LongLine, WhosePartsAreSingularIsGatheredAndSolved) {
  const std::unique_ptr<LongLine> line(zero_diagonal());
  EXPECT_EQ(line->failed(), PC_NOERROR);
  EXPECT_LE(line->backward_error(), 10);
}

TEST(LongLine, ThatMayNotBeGatheredFailsOnAllRanksAndHealsWithTheLimit) {
  const std::unique_ptr<LongLine> line(zero_diagonal());
  OK(PCOCLSPKTSetGatherLimit(line->pc(), 10));
  EXPECT_EQ(line->failed() != PC_NOERROR, PetscGlobalSize > 1);
  HeldVec x = duplicate(line->b());
  OK(PCApply(line->pc(), line->b(), x));
  EXPECT_EQ(std::isinf(norm_of(x, NORM_INFINITY)), PetscGlobalSize > 1);
  OK(PCOCLSPKTSetGatherLimit(line->pc(), 100000));
  EXPECT_EQ(line->failed(), PC_NOERROR);
  EXPECT_LE(line->backward_error(), 10);
}

Row neumann(PetscInt i, PetscInt n) { return {-1, i == 0 || i == n - 1 ? 1.0 : 2.0, -1}; }

TEST(SingularLongLine, FailsOnAllRanksAndHealsWithTheNextGoodMatrix) {
  const LongLine line(30, neumann);
  EXPECT_NE(line.failed(), PC_NOERROR);
  OK(MatShift(line.matrix(), 1));
  EXPECT_EQ(line.failed(), PC_NOERROR);
  EXPECT_LE(line.backward_error(), 10);
}

TEST(SingularLongLine, WithAConstantNullSpaceIsPinnedAndGmresConverges) {
  const LongLine line(300, neumann);
  HeldMatNullSpace space;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &space));
  OK(MatSetNullSpace(line.matrix(), space));
  OK(MatNullSpaceRemove(space, line.b()));
  HeldKSP ksp = make_ksp(line.pc(), KSPGMRES, 1e-10, 10);
  OK(KSPSolve(ksp, line.b(), line.x()));
  EXPECT_GT(converged_reason(ksp), 0);
}

TEST(LongLine, WithNaNOnOneRankFailsOnAll) {
  const LongLine line(30, [](PetscInt i, PetscInt n) { return Row{-1, i == n - 2 ? NAN : 4.0, -1}; });
  EXPECT_EQ(line.failed(), PC_FACTOR_OTHER);
}

TEST(LongLine, TransposedIsTheAdjoint) {
  const LongLine line(40 + PetscGlobalRank, [](PetscInt i, PetscInt) { return Row{-1 - 0.5 * std::sin(i), 4, -1.2}; });
  HeldVec x = duplicate(line.b()), y = duplicate(line.b()), other = duplicate(line.b());
  OK(VecCopy(line.b(), other));
  OK(VecExp(other));
  OK(PCApply(line.pc(), line.b(), x));
  OK(PCApplyTranspose(line.pc(), other, y));
  const PetscScalar a = dot(x, other);
  EXPECT_LE(std::abs(a - dot(y, line.b())), 1e-13 * std::abs(a));
}

/// Units of rows that grow along the line: the influence of a boundary value decays more slowly in the transposed.
Row in_growing_units(PetscInt i, double growth) {
  const PetscScalar unit = std::pow(growth, static_cast<double>(i));
  return {-unit, 4 * unit, -unit};
}
Row in_doubling_units(PetscInt i, PetscInt) { return in_growing_units(i, 2); }
Row in_fourfold_units(PetscInt i, PetscInt) { return in_growing_units(i, 4); }

TEST(LongLine, TransposedHasBoundsOfItsOwn) {
  const LongLine line(30, in_doubling_units), exact(30, in_doubling_units);
  const bool cut = PetscGlobalSize > 2;  // two parts of a line are solved exactly by their neighbours' pair system
  PetscReal before = NAN, certificate = NAN, rounding = NAN, tolerance = NAN;
  HeldVec x = duplicate(line.b()), y = duplicate(line.b());
  OK(PCOCLSPKTSetMethod(line.pc(), PC_OCLSPKT_METHOD_TRUNCATED));
  OK(PCApply(line.pc(), line.b(), x));
  OK(PCOCLSPKTGetCertificate(line.pc(), &before, &rounding, &tolerance));
  EXPECT_LE(before, tolerance);
  std::string view = view_text(reinterpret_cast<PetscObject>(line.pc()));
  EXPECT_FALSE(contains(view, "ABOVE") || contains(view, "transposed")) << view;
  OK(PCApplyTranspose(line.pc(), line.b(), x));
  OK(PCApplyTranspose(exact.pc(), line.b(), y));
  OK(PCOCLSPKTGetCertificate(line.pc(), &certificate, &rounding, &tolerance));
  EXPECT_LE(distance(x, y) / norm_of(y, NORM_INFINITY), certificate + 100 * PETSC_MACHINE_EPSILON);
  EXPECT_EQ(certificate > tolerance, cut) << certificate;
  view = view_text(reinterpret_cast<PetscObject>(line.pc()));
  if (PetscGlobalRank == 0) {
    EXPECT_TRUE(contains(view, "transposed: set up by the first apply")) << view;
    EXPECT_EQ(contains(view, "ABOVE the tolerance"), cut) << view;
  }
}

/// Every term of a row of A^T x is about 1, whatever the units of the columns.
TEST(LongLine, OfRowsAtTheEndsOfTheRangeIsSolvedTransposed) {
  const struct {
    const char* name;
    double (*exponent)(PetscInt row);
  } units[] = {{"falling", [](PetscInt i) { return i < 20 ? 300. : -300.; }},
               {"rising", [](PetscInt i) { return i < 20 ? -300. : 300.; }},
               {"alternating", [](PetscInt i) { return i % 2 == 0 ? 300. : -300.; }},
               {"in blocks", [](PetscInt i) { return i / 10 % 2 == 0 ? 300. : -300.; }},
               {"in steps down", [](PetscInt i) { return std::max(-290., 290. - 9 * static_cast<double>(i)); }}};
  for (const auto& unit : units) {
    const LongLine line(40, [&](PetscInt i, PetscInt) {
      const PetscScalar size = std::pow(10., unit.exponent(i));
      return Row{-size, 4 * size, -size};
    });
    const HeldVec r = duplicate(line.b());
    OK(PCApplyTranspose(line.pc(), line.b(), line.x()));
    EXPECT_EQ(failed_reason(line.pc()), PC_NOERROR) << unit.name;
    OK(MatMultTranspose(line.matrix(), line.x(), r));
    EXPECT_LE(distance(r, line.b()), 1e-14) << unit.name;
  }
}

/// Solve by the factors of a line, then by the transposed ones.
/// @return the error of the latter
PetscErrorCode transposed_by_factors(const LongLine& line, std::string* text) {
  HeldKSP ksp = make_ksp(line.matrix(), PCLU, "t_");
  KSPSetType(ksp, KSPPREONLY);
  PCFactorSetMatSolverType(pc_of(ksp), PCOCLSPKT);
  EXPECT_EQ(KSPSolve(ksp, line.b(), line.x()), 0);
  const ErrorTexts errors;
  const PetscErrorCode ierr = KSPSolveTranspose(ksp, line.b(), line.x());
  *text = errors.text();
  return ierr;
}

TEST(LongLine, TransposedAboveItsLimitsIsNoDirectSolver) {
  const LongLine line(30, in_doubling_units);
  const Option method("-t_pc_oclspkt_method", "truncated"), devices("-t_pc_oclspkt_devices", "host");
  const bool cut = PetscGlobalSize > 2;
  std::string text;
  EXPECT_EQ(transposed_by_factors(line, &text), cut ? PETSC_ERR_ARG_INCOMP : 0);
  EXPECT_EQ(contains(text, "truncated is above its limits for this matrix, transposed"), cut) << text;
}

/// Its parts cannot be solved separately, as those of the line can.
TEST(LongLine, TransposedThatMayNotBeGatheredFails) {
  const LongLine line(40, in_fourfold_units);
  const Option limit("-t_pc_oclspkt_gather_limit", "0"), devices("-t_pc_oclspkt_devices", "host");
  const bool cut = PetscGlobalSize > 1;
  std::string text;
  OK(PCOCLSPKTSetGatherLimit(line.pc(), 0));
  OK(PCApply(line.pc(), line.b(), line.x()));
  OK(PCApplyTranspose(line.pc(), line.b(), line.x()));
  EXPECT_EQ(failed_reason(line.pc()) == PC_FACTOR_NUMERIC_ZEROPIVOT, cut);
  const std::string view = view_text(reinterpret_cast<PetscObject>(line.pc()));
  if (PetscGlobalRank == 0) {
    EXPECT_EQ(contains(view, "transposed: set-up failed: "), cut) << view;
  }
  EXPECT_EQ(transposed_by_factors(line, &text), cut ? PETSC_ERR_NOT_CONVERGED : 0);
  EXPECT_EQ(contains(text, "oclspkt did not solve: "), cut) << text;
}

// Answers that method auto may not give: told, or the failed reason of all ranks, though one rank alone finds it.

constexpr PetscInt kOwn = 30;
/// Of rows and of a right-hand side, both well within the range; the unknown is 3e399.
constexpr PetscScalar kRow = 1e-200, kSide = 1e200;

Row joined(PetscInt, PetscInt) { return {-kRow, 4 * kRow, -kRow}; }
/// No row couples to one of another rank.
Row apart(PetscInt i, PetscInt) { return {i % kOwn == 0 ? 0 : -kRow, 4 * kRow, (i + 1) % kOwn == 0 ? 0 : -kRow}; }

/// kRow everywhere, but for one row of the last rank.
void give(Vec b, PetscScalar large) {
  PetscInt first = 0, end = 0;
  EXPECT_EQ(VecSet(b, kRow), 0);
  EXPECT_EQ(VecGetOwnershipRange(b, &first, &end), 0);
  if (PetscGlobalRank + 1 == PetscGlobalSize) {
    EXPECT_EQ(VecSetValue(b, end - kOwn / 2, large, INSERT_VALUES), 0);
  }
  EXPECT_EQ(VecAssemblyBegin(b), 0);
  EXPECT_EQ(VecAssemblyEnd(b), 0);
}

/// The reason with which a solve ends, the same on all ranks.
KSPConvergedReason solve(KSP ksp, const LongLine& line, PetscScalar large) {
  give(line.b(), large);
  EXPECT_EQ(KSPSolve(ksp, line.b(), line.x()), 0);
  const KSPConvergedReason reason = converged_reason(ksp);
  int ends[] = {reason, -reason};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  EXPECT_EQ(ends[0], -ends[1]);
  return reason;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(AboveBound, ErrorEndsSolvesOfAllRanksAndTheNextOneIsSolved) {
  for (const auto row : {joined, apart}) {
    for (KSPType type : {KSPPREONLY, KSPGMRES, KSPCG, KSPRICHARDSON, KSPBCGS}) {
      const LongLine line(kOwn, row);
      HeldKSP ksp = make_ksp(line.pc(), type, 1e-10, 20, 1e-300);
      OK(PCOCLSPKTSetAboveBound(line.pc(), PC_OCLSPKT_ABOVE_BOUND_ERROR));
      EXPECT_GT(solve(ksp, line, kRow), 0) << type;
      EXPECT_EQ(solve(ksp, line, kSide), KSP_DIVERGED_PC_FAILED) << type;
      const std::string view = view_text(reinterpret_cast<PetscObject>(line.pc()));
      if (PetscGlobalRank == 0) {
        expect_in(view, {"apply failed: ", "an answer is not finite: it leaves the range of the numbers"});
      }
      EXPECT_GT(solve(ksp, line, kRow), 0) << type << ": another right-hand side";
    }
  }
}

TEST(AboveBound, ErrorIsOneOfAllRanksWhereFailuresAreErrors) {
  const LongLine line(kOwn, apart);
  OK(PCOCLSPKTSetAboveBound(line.pc(), PC_OCLSPKT_ABOVE_BOUND_ERROR));
  OK(PCSetErrorIfFailure(line.pc(), PETSC_TRUE));
  give(line.b(), kSide);
  EXPECT_ERROR(PCApply(line.pc(), line.b(), line.x()), PETSC_ERR_MAT_LU_ZRPVT, "an answer is not finite");
}

TEST(AboveBound, WarnTellsOnceByInfoAndInTheViewWhateverRankItIs) {
  const LongLine line(kOwn, apart);
  OK(PCSetUp(line.pc()));
  give(line.b(), kSide);
  testing::internal::CaptureStdout();
  OK(PetscInfoSetFile(nullptr, nullptr));
  OK(PetscInfoAllow(PETSC_TRUE));
  for (int k = 0; k < 2; ++k) OK(PCApply(line.pc(), line.b(), line.x()));
  OK(PetscInfoAllow(PETSC_FALSE));
  const std::string info = testing::internal::GetCapturedStdout();
  if (PetscGlobalSize == 1) {  // others print elsewhere
    EXPECT_EQ(count(info, "WARNING: method auto has no method within its limits"), 1U) << info;
  }
  const std::string view = view_text(reinterpret_cast<PetscObject>(line.pc()));
  if (PetscGlobalRank == 0) {
    EXPECT_TRUE(contains(view, "ABOVE the limits of method auto: ")) << view;
    EXPECT_EQ(contains(view, "rank " + std::to_string(PetscGlobalSize - 1) + ": an answer"), PetscGlobalSize > 1)
        << view;
  }
}

TEST(AboveBound, ErrorIsAnErrorOfTheDirectSolver) {
  const Option above("-pc_oclspkt_above_bound", "error"), devices("-pc_oclspkt_devices", "host");
  const LongLine line(kOwn, joined);
  HeldMat F;
  MatFactorInfo info;
  OK(MatGetFactor(line.matrix(), PCOCLSPKT, MAT_FACTOR_LU, &F));
  OK(MatFactorInfoInitialize(&info));
  OK(MatLUFactorSymbolic(F, line.matrix(), nullptr, nullptr, &info));
  OK(MatLUFactorNumeric(F, line.matrix(), &info));
  give(line.b(), kRow);
  OK(MatSolve(F, line.b(), line.x()));
  for (const auto& solve : {MatSolve, MatSolveTranspose}) {
    give(line.b(), kSide);
    EXPECT_ERROR(solve(F, line.b(), line.x()), PETSC_ERR_NOT_CONVERGED, "oclspkt did not solve: ");
    give(line.b(), kRow);
    EXPECT_EQ(solve(F, line.b(), line.x()), 0) << "another right-hand side";
  }
}

}  // namespace
}  // namespace oclspkt::test

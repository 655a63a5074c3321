// SPDX-License-Identifier: BSD-2-Clause
#include "support.hxx"

namespace oclspkt::test {
namespace {

TEST(View, SaysBeforeSetUpThatNothingIsChosen) {
  const Preconditioner pc;
  const std::string text = pc.view();
  expect_in(text, {"type: oclspkt", "method and device: chosen at set-up (auto, host)"});
}

TEST(View, NamesWhatWasChosenAndWhy) {
  const auto& [A, pc, b, x] = System(tridiagonal(100, -1, 2, -1));
  OK(PCSetUp(pc));
  const char *method = nullptr, *why = nullptr, *device = nullptr, *type = nullptr;
  PetscReal certificate = -1, tolerance = -1;
  OK(PCOCLSPKTGetMethodUsed(pc, &method, &why));
  OK(PCOCLSPKTGetDeviceUsed(pc, &device, &type));
  PetscReal rounding = -1;
  OK(PCOCLSPKTGetCertificate(pc, &certificate, &rounding, &tolerance));
  EXPECT_TRUE(rounding > 0 && rounding <= 100) << rounding;
  EXPECT_STREQ(type, "host");
  EXPECT_EQ(certificate, 0) << "nothing is truncated where d = 1";
  EXPECT_GT(tolerance, 0);
  expect_in(pc.view(),
            {std::string("method: ") + method + ", " + why + "\n", "device: host (host)", "rows: 100 in 1 line\n",
             "precision: same, storage form: ", "words a row\n", "checked: backward error ",
             "rounding: by component at most ", "options: -pc_oclspkt_devices host\n"});
}

TEST(View, TellsOfTheUnitsInWhichADeviceSolves) {
  Rows rows = tridiagonal(400, -1, 2.01, -1);
  for (auto& row : rows) {
    for (auto& [column, value] : row) value *= column < 200 ? 1 : 1048576;
  }
  const Matrix A(rows);
  if (!device_is_there(A, "cpu")) GTEST_SKIP() << "no CPU device";
  const Preconditioner pc(A, "cpu");
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_EXACT_TWOPASS));
  OK(PCSetUp(pc));
  expect_in(pc.view(), {"rounding: by rows at most ", " eps, in 2 units\n"});
}

TEST(View, TellsOfJoulesWhereTheyAreAskedFor) {
  const auto& [A, pc, b, x] = System(tridiagonal(100, -1, 4, -1));
  OK(PCApply(pc, b, x));
  EXPECT_FALSE(contains(pc.view(), "energy")) << pc.view();
  OK(PCOCLSPKTSetEnergy(pc, PETSC_TRUE));
  OK(PCOCLSPKTSetRatedPower(pc, "cpu=12"));
  OK(PCApply(pc, b, x));
  expect_in(pc.view(), {"energy: not known, as no applies took 2 s without a pause\n",
                        "options: -pc_oclspkt_devices host -pc_oclspkt_energy true -pc_oclspkt_rated_power cpu=12\n"});
}

TEST(View, IsTheSameTextEveryTime) {
  const Matrix A(tridiagonal(100, -1, 4, -1));
  const Preconditioner one(A), other(A);
  const Vector b(100), x(100);
  OK(PCApply(one, b, x));
  OK(PCSetUp(other));
  EXPECT_EQ(one.view(), other.view());
}

TEST(View, WarnsOfACertificateAboveTheTolerance) {
  const Matrix A(tridiagonal(4000, -1, 2.001, -1));
  if (!device_is_there(A, "cpu")) GTEST_SKIP() << "no CPU device";
  const Preconditioner pc(A, "cpu");
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_TRUNCATED_HALO));
  OK(PCOCLSPKTSetPartition(pc, 16));
  OK(PCSetUp(pc));
  const std::string text = pc.view();
  PetscReal certificate = 0, tolerance = 0;
  OK(PCOCLSPKTGetCertificate(pc, &certificate, nullptr, &tolerance));
  EXPECT_EQ(certificate > tolerance, contains(text, ", ABOVE the tolerance ")) << text;
  EXPECT_TRUE(contains(text, "certificate: ")) << text;
}

TEST(View, DoesNotWarnOfANamedMethodThatIsCoveredAndOnlyCostsMore) {
  const Matrix A(tridiagonal(1000, -1, 2.001, -1));
  if (!device_is_there(A, "cpu")) GTEST_SKIP() << "no CPU device";
  const Preconditioner pc(A, "cpu");
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_TRUNCATED_HALO));
  OK(PCOCLSPKTSetPartition(pc, 1000));
  OK(PCSetUp(pc));
  PetscReal certificate = -1, tolerance = 0;
  OK(PCOCLSPKTGetCertificate(pc, &certificate, nullptr, &tolerance));
  ASSERT_LE(certificate, tolerance) << "one partition, nothing is cut";
  const std::string text = pc.view();
  EXPECT_FALSE(contains(text, "ABOVE") || contains(text, "is named")) << text;
}

TEST(View, SaysThatTheHostTruncatesNothing) {
  const auto& [A, pc, b, x] = System(tridiagonal(4000, -1, 2.001, -1));
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_TRUNCATED_HALO));
  OK(PCSetUp(pc));
  const std::string text = pc.view();
  expect_in(text, {"method: exact-factored, ",
                   "the host solves exactly by stored factors, which cost no more than truncated-halo"});
  EXPECT_FALSE(contains(text, "ABOVE")) << text;
}

TEST(View, ShowsTimesAndBytesInDetailOnly) {
  const auto& [A, pc, b, x] = System(tridiagonal(100, -1, 4, -1));
  OK(PCApply(pc, b, x));
  const std::string brief = pc.view(), detail = pc.view(PETSC_VIEWER_ASCII_INFO_DETAIL);
  for (const char* part : {"solves: 1 in ", "bytes: ", "dominance: 2", "considered: exact-factored: taken, "}) {
    EXPECT_FALSE(contains(brief, part)) << brief;
    EXPECT_TRUE(contains(detail, part)) << detail;
  }
}

TEST(View, ShowsPredictedTimesInDetailOnly) {
  if (PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "device kernels solve no complex numbers yet";
  const auto& [A, pc, b, x] = System(tridiagonal(400000, -1, 4, -1), "host,cpu");
  OK(PCSetUp(pc));
  const std::string brief = pc.view(), detail = pc.view(PETSC_VIEWER_ASCII_INFO_DETAIL);
  EXPECT_FALSE(contains(brief, " us an apply")) << brief;
  EXPECT_TRUE(contains(brief, ", predicted to be faster than ")) << brief;
  EXPECT_TRUE(contains(detail, "costs: ") && contains(detail, " us an apply, host ")) << detail;
}

TEST(Explain, PrintsALineForEachCandidateAfterEverySetUp) {
  const Matrix A(tridiagonal(100, 1, 0, 1));
  const Option option("-t_pc_oclspkt_explain", "");
  const Preconditioner pc(A);
  OK(PCSetFromOptions(pc));
  EXPECT_EQ(got(PCOCLSPKTGetExplain, pc), PETSC_TRUE);
  testing::internal::CaptureStdout();
  OK(PCSetUp(pc));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.find("PCOCLSPKT t_: why\n  lines: the matrix's order, 1 line of 100 rows\n  device: host (host), "
                      "asked for\n  exact-factored: rejected, line 0: "),
            0u)
      << text;
  expect_in(text, {"\n  pivot: taken, pivots of 1 and 2 rows, checked: backward error ", "; 13 words a row\n"});
}

TEST(Explain, SaysWhyASetUpFailed) {
  Rows rows = tridiagonal(100, -1, 2, -1);
  rows.front().front().second = rows.back().back().second = 1;
  const auto& [A, pc, b, x] = System(rows);
  OK(PCOCLSPKTSetExplain(pc, PETSC_TRUE));
  testing::internal::CaptureStdout();
  OK(PCSetUp(pc));
  const std::string text = testing::internal::GetCapturedStdout();
  expect_in(text, {"\n  set-up failed: line 0 of 1", "singular: line 0, its rows sum to 0"});
  EXPECT_FALSE(contains(text, "device: ")) << text;
}

TEST(Explain, IsSilentUnlessAskedAndNeedsNoNewSetUp) {
  const auto& [A, pc, b, x] = System(tridiagonal(100, -1, 4, -1));
  testing::internal::CaptureStdout();
  OK(PCSetUp(pc));
  OK(PCOCLSPKTSetExplain(pc, PETSC_TRUE));
  OK(PCApply(pc, b, x));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(View, FitsAStringViewer) {
  const auto& [A, pc, b, x] = System(tridiagonal(100, -1, 4, -1));
  char text[256] = "";
  PetscViewer viewer;
  OK(PCSetUp(pc));
  OK(PetscViewerStringOpen(PETSC_COMM_SELF, text, sizeof text, &viewer));
  OK(PCView(pc, viewer));
  OK(PetscViewerDestroy(&viewer));
  EXPECT_TRUE(contains(text, "oclspkt") && contains(text, " on host")) << text;
}

}  // namespace
}  // namespace oclspkt::test

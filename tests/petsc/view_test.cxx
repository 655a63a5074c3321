// SPDX-License-Identifier: BSD-2-Clause
#include "support.hxx"

namespace oclspkt::test {
namespace {

TEST(View, SaysBeforeSetUpThatNothingIsChosen) {
  const Preconditioner pc;
  const std::string text = pc.view();
  EXPECT_TRUE(contains(text, "type: oclspkt")) << text;
  EXPECT_TRUE(contains(text, "method and device: chosen at set-up (auto, host)")) << text;
}

TEST(View, NamesWhatWasChosenAndWhy) {
  const Matrix A(tridiagonal(100, -1, 2, -1));
  const Preconditioner pc(A);
  OK(PCSetUp(pc));
  const char *method = nullptr, *why = nullptr, *device = nullptr, *type = nullptr;
  PetscReal certificate = -1, tolerance = -1;
  OK(PCOCLSPKTGetMethodUsed(pc, &method, &why));
  OK(PCOCLSPKTGetDeviceUsed(pc, &device, &type));
  OK(PCOCLSPKTGetCertificate(pc, &certificate, &tolerance));
  EXPECT_STREQ(type, "host");
  EXPECT_EQ(certificate, 0) << "nothing is truncated where d = 1";
  EXPECT_GT(tolerance, 0);
  const std::string text = pc.view();
  EXPECT_TRUE(contains(text, std::string("method: ") + method + ", " + why + "\n")) << text;
  EXPECT_TRUE(contains(text, "device: host (host)")) << text;
  EXPECT_TRUE(contains(text, "rows: 100 in 1 line\n")) << text;
  EXPECT_TRUE(contains(text, "precision: same, storage form: ")) << text;
  EXPECT_TRUE(contains(text, "words a row\n")) << text;
  EXPECT_TRUE(contains(text, "checked: backward error ")) << text;
  EXPECT_TRUE(contains(text, "options: -pc_oclspkt_devices host\n")) << text;
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
  const Preconditioner pc(A);
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_TRUNCATED_HALO));
  OK(PCOCLSPKTSetPartition(pc, 16));
  OK(PCSetUp(pc));
  const std::string text = pc.view();
  PetscReal certificate = 0, tolerance = 0;
  OK(PCOCLSPKTGetCertificate(pc, &certificate, &tolerance));
  EXPECT_EQ(certificate > tolerance, contains(text, ", ABOVE the tolerance ")) << text;
  EXPECT_TRUE(contains(text, "certificate: ")) << text;
}

TEST(View, ShowsTimesAndBytesInDetailOnly) {
  const Matrix A(tridiagonal(100, -1, 4, -1));
  const Preconditioner pc(A);
  const Vector b(100), x(100);
  OK(PCApply(pc, b, x));
  const std::string brief = pc.view(), detail = pc.view(PETSC_VIEWER_ASCII_INFO_DETAIL);
  for (const char* part : {"solves: 1 in ", "bytes: ", "dominance: 2", "taken: "}) {
    EXPECT_FALSE(contains(brief, part)) << brief;
    EXPECT_TRUE(contains(detail, part)) << detail;
  }
}

TEST(View, FitsAStringViewer) {
  const Matrix A(tridiagonal(100, -1, 4, -1));
  const Preconditioner pc(A);
  char text[256] = "";
  PetscViewer viewer;
  OK(PCSetUp(pc));
  OK(PetscViewerStringOpen(PETSC_COMM_SELF, text, sizeof text, &viewer));
  OK(PCView(pc, viewer));
  OK(PetscViewerDestroy(&viewer));
  EXPECT_TRUE(contains(text, "oclspkt") && contains(text, " on host")) << text;
}

TEST(View, ResultsAreAnErrorBeforeSetUp) {
  const Preconditioner pc;
  const char* method = nullptr;
  const ErrorTexts errors;
  EXPECT_EQ(PCOCLSPKTGetMethodUsed(pc, &method, nullptr), PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_TRUE(contains(errors.text(), "PCSetUp()")) << errors.text();
}

}  // namespace
}  // namespace oclspkt::test

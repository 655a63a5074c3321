// SPDX-License-Identifier: BSD-2-Clause
#include "options.hpp"

#include "support.hxx"

namespace oclspkt::test {
namespace {

TEST(Options, AreReadBehindThePrefixOfThePreconditioner) {
  const Option devices("-t_pc_oclspkt_devices", "host"), method("-t_pc_oclspkt_method", "exact-twopass"),
      rtol("-t_pc_oclspkt_rtol", "1e-5"), partition("-t_pc_oclspkt_partition", "48"),
      memory("-t_pc_oclspkt_device_memory", "6000000000"), timeout("-t_pc_oclspkt_timeout", "2.5"),
      failure("-t_pc_oclspkt_on_device_failure", "quiet"), transfer("-t_pc_oclspkt_transfer", "copy"),
      other("-pc_oclspkt_method", "pivot");
  const Preconditioner pc(nullptr, "auto");
  OK(PCSetFromOptions(pc));

  const char* text = nullptr;
  PCOCLSPKTMethod chosen;
  PCOCLSPKTOnDeviceFailure action;
  PCOCLSPKTTransfer how;
  PetscReal real = 0;
  PetscInt rows = 0;
  PetscInt64 bytes = 0;
  OK(PCOCLSPKTGetDevices(pc, &text));
  EXPECT_STREQ(text, "host");
  OK(PCOCLSPKTGetMethod(pc, &chosen));
  EXPECT_EQ(chosen, PC_OCLSPKT_METHOD_EXACT_TWOPASS);
  OK(PCOCLSPKTGetRtol(pc, &real));
  EXPECT_EQ(real, 1e-5);
  OK(PCOCLSPKTGetPartition(pc, &rows));
  EXPECT_EQ(rows, 48);
  OK(PCOCLSPKTGetDeviceMemory(pc, &bytes));
  EXPECT_EQ(bytes, 6000000000);
  OK(PCOCLSPKTGetTimeout(pc, &real));
  EXPECT_EQ(real, 2.5);
  OK(PCOCLSPKTGetOnDeviceFailure(pc, &action));
  EXPECT_EQ(action, PC_OCLSPKT_ON_DEVICE_FAILURE_QUIET);
  OK(PCOCLSPKTGetTransfer(pc, &how));
  EXPECT_EQ(how, PC_OCLSPKT_TRANSFER_COPY);
}

TEST(Options, KeepTheirDefaultsWhenNothingIsSaid) {
  const Preconditioner pc(nullptr, "auto");
  OK(PCSetFromOptions(pc));
  const char *devices = nullptr, *variant = nullptr;
  PCOCLSPKTPrecision precision;
  OK(PCOCLSPKTGetDevices(pc, &devices));
  OK(PCOCLSPKTGetVariant(pc, &variant));
  OK(PCOCLSPKTGetPrecision(pc, &precision));
  EXPECT_STREQ(devices, oclspkt::Options().devices.c_str());
  EXPECT_STREQ(variant, oclspkt::Options().variant.c_str());
  EXPECT_EQ(precision, PC_OCLSPKT_PRECISION_SAME);
  EXPECT_FALSE(contains(pc.view(), "options:"));
}

TEST(Options, HaveSettersThatTheGettersAndTheViewShow) {
  const Preconditioner pc;
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_EXACT));
  OK(PCOCLSPKTSetRtol(pc, 1e-6));
  OK(PCOCLSPKTSetPartition(pc, 64));
  OK(PCOCLSPKTSetDeviceMemory(pc, 5000000000));
  OK(PCOCLSPKTSetTimeout(pc, 3));
  OK(PCOCLSPKTSetOnDeviceFailure(pc, PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR));
  OK(PCOCLSPKTSetTransfer(pc, PC_OCLSPKT_TRANSFER_COPY));
  OK(PCOCLSPKTSetVariant(pc, "default"));
  OK(PCOCLSPKTSetPrecision(pc, PC_OCLSPKT_PRECISION_SAME));
  EXPECT_TRUE(contains(pc.view(),
                       "options: -pc_oclspkt_devices host -pc_oclspkt_method exact -pc_oclspkt_rtol 1e-06 "
                       "-pc_oclspkt_partition 64 -pc_oclspkt_device_memory 5000000000 -pc_oclspkt_timeout 3 "
                       "-pc_oclspkt_on_device_failure error -pc_oclspkt_transfer copy\n"))
      << pc.view();
}

TEST(Options, SettersLeaveOtherTypesAloneAndGettersRefuseThem) {
  PC pc;
  PetscReal rtol;
  OK(PCCreate(PETSC_COMM_SELF, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(PCOCLSPKTSetRtol(pc, 1e-3));
  {
    const ErrorTexts errors;
    EXPECT_EQ(PCOCLSPKTGetRtol(pc, &rtol), PETSC_ERR_SUP);
  }
  OK(PCDestroy(&pc));
}

TEST(Options, UnknownWordsAreErrorsThatListTheChoices) {
  for (const auto& entry : petsc::option_table()) {
    const auto* choice = std::get_if<petsc::Choice>(&entry.field);
    if (!choice) continue;
    const std::string name = std::string("-t_pc_oclspkt_") + entry.name;
    const Option option(name.c_str(), "nonsense");
    const Preconditioner pc;
    const ErrorTexts errors;
    EXPECT_NE(PCSetFromOptions(pc), 0) << name;
    EXPECT_TRUE(contains(errors.text(), "nonsense")) << errors.text();
    for (const char* word : choice->names) EXPECT_TRUE(contains(errors.text(), word)) << errors.text();
  }
}

TEST(Options, ValuesThatMakeNoSenseAreErrorsThatSayWhatDoes) {
  const struct {
    const char *name, *value, *said;
  } cases[] = {{"-t_pc_oclspkt_partition", "-3", "partition"},
               {"-t_pc_oclspkt_partition", "2.5", "whole number of rows"},
               {"-t_pc_oclspkt_device_memory", "-1", "device_memory"},
               {"-t_pc_oclspkt_rtol", "-1", "rtol"},
               {"-t_pc_oclspkt_timeout", "-1", "timeout"},
               {"-t_pc_oclspkt_precision", "narrow", "use precision same"},
               {"-t_pc_oclspkt_precision", "single", "use precision same"},
               {"-t_pc_oclspkt_variant", "paper", "default"}};
  for (const auto& c : cases) {
    const Option option(c.name, c.value);
    const Preconditioner pc;
    const ErrorTexts errors;
    EXPECT_NE(PCSetFromOptions(pc), 0) << c.name << " " << c.value;
    EXPECT_TRUE(contains(errors.text(), c.said)) << c.name << " " << c.value << ": " << errors.text();
  }
}

TEST(Options, EnumerationsOutOfRangeAreErrors) {
  const Preconditioner pc;
  const ErrorTexts errors;
  EXPECT_EQ(PCOCLSPKTSetPrecision(pc, static_cast<PCOCLSPKTPrecision>(3)), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_TRUE(contains(errors.text(), "no choice number 3"));
}

TEST(Options, ARefusedSettingLeavesTheOldOne) {
  const Preconditioner pc;
  {
    const ErrorTexts errors;
    EXPECT_EQ(PCOCLSPKTSetPartition(pc, -7), PETSC_ERR_ARG_WRONG);
  }
  PetscInt rows = -1;
  OK(PCOCLSPKTGetPartition(pc, &rows));
  EXPECT_EQ(rows, 0);
}

TEST(Options, AChangeAfterSetUpTakesEffectAtTheNextOne) {
  const Matrix A(tridiagonal(200, -1, 4, -1));
  const Preconditioner pc(A);
  const char* method = nullptr;
  OK(PCSetUp(pc));
  OK(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_PIVOT));
  OK(PCSetUp(pc));
  OK(PCOCLSPKTGetMethodUsed(pc, &method, nullptr));
  EXPECT_STREQ(method, "pivot");
}

TEST(Options, NamesOfTheEnumerationsFollowPetscsConvention) {
  EXPECT_STREQ(PCOCLSPKTMethods[PC_OCLSPKT_METHOD_EXACT_FACTORED], "exact-factored");
  PCOCLSPKTMethod value;
  PetscBool found;
  const Option option("-some_method", "truncated-streamed");
  OK(PetscOptionsGetEnum(nullptr, nullptr, "-some_method", PCOCLSPKTMethods, reinterpret_cast<PetscEnum*>(&value),
                         &found));
  EXPECT_EQ(value, PC_OCLSPKT_METHOD_TRUNCATED_STREAMED);
}

TEST(Options, DevicesThatAreNotThereAreAnErrorAtSetUp) {
  const Matrix A(tridiagonal(100, -1, 4, -1));
  const Preconditioner pc(A, "no-such-device");
  const ErrorTexts errors;
  EXPECT_EQ(PCSetUp(pc), PETSC_ERR_ARG_WRONG);
  EXPECT_TRUE(contains(errors.text(), "no-such-device") && contains(errors.text(), "host")) << errors.text();
}

}  // namespace
}  // namespace oclspkt::test

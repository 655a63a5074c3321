// SPDX-License-Identifier: BSD-2-Clause
#include "options.hpp"

#include <set>

#include "support.hxx"

namespace oclspkt::test {
namespace {

TEST(Options, RefuseACountThatItsGetterCannotSay) {
  const std::string most = std::to_string(std::numeric_limits<PetscInt>::max());
  const char* wraps_to_one = sizeof(PetscInt) == 4 ? "4294967297" : "18446744073709551617";
  for (const std::string& count : {most + "0", "-" + most + "0", std::string(wraps_to_one)}) {
    const Option partition("-t_pc_oclspkt_partition", count.c_str());
    const Preconditioner pc(nullptr, "auto");
    EXPECT_ERROR(PCSetFromOptions(pc), PETSC_ERR_ARG_OUTOFRANGE,
                 "pc_oclspkt_partition takes a number of rows up to " + most);
  }
}

TEST(Options, TextsOfAnyLengthAreReadWhole) {
  const std::string name(5000, 'n'), devices = "host," + name;
  const Option option("-t_pc_oclspkt_devices", devices.c_str());
  const Preconditioner pc(nullptr, "auto");
  OK(PCSetFromOptions(pc));
  EXPECT_EQ(devices, got(PCOCLSPKTGetDevices, pc));
}

TEST(Options, KeepTheirDefaultsWhenNothingIsSaid) {
  const Preconditioner pc(nullptr, "auto");
  OK(PCSetFromOptions(pc));
  EXPECT_EQ(got(PCOCLSPKTGetDevices, pc), oclspkt::Options().devices);
  EXPECT_EQ(got(PCOCLSPKTGetVariant, pc), oclspkt::Options().variant);
  EXPECT_EQ(got(PCOCLSPKTGetPrecision, pc), PC_OCLSPKT_PRECISION_SAME);
  EXPECT_FALSE(contains(pc.view(), "options:"));
}

bool same(const char* x, const char* y) { return std::string(x) == y; }
template <typename T>
bool same(T x, T y) {
  return x == y;
}

/// Calls `check(name, setter, getter, value)` for the functions of every option; `value` is not the default where the
/// option has another that is valid.
template <typename Check>
void for_each_pair(Check check) {
  check("devices", PCOCLSPKTSetDevices, PCOCLSPKTGetDevices, static_cast<const char*>("cpu,host"));
  check("balance", PCOCLSPKTSetBalance, PCOCLSPKTGetBalance, static_cast<const char*>("even"));
  check("profile", PCOCLSPKTSetProfile, PCOCLSPKTGetProfile, static_cast<const char*>("none"));
  check("fpga_binary", PCOCLSPKTSetFpgaBinary, PCOCLSPKTGetFpgaBinary, static_cast<const char*>("boards:a.aocx"));
  check("fpga_banks", PCOCLSPKTSetFpgaBanks, PCOCLSPKTGetFpgaBanks, static_cast<const char*>("spread"));
  check("energy", PCOCLSPKTSetEnergy, PCOCLSPKTGetEnergy, PETSC_TRUE);
  check("rated_power", PCOCLSPKTSetRatedPower, PCOCLSPKTGetRatedPower, static_cast<const char*>("gpu=700,cpu=8"));
  check("reproducible", PCOCLSPKTSetReproducible, PCOCLSPKTGetReproducible, PETSC_TRUE);
  check("chunk", PCOCLSPKTSetChunk, PCOCLSPKTGetChunk, PetscInt(100000));
  check("method", PCOCLSPKTSetMethod, PCOCLSPKTGetMethod, PC_OCLSPKT_METHOD_PIVOT);
  check("variant", PCOCLSPKTSetVariant, PCOCLSPKTGetVariant, static_cast<const char*>("gpu"));
  check("precision", PCOCLSPKTSetPrecision, PCOCLSPKTGetPrecision, PC_OCLSPKT_PRECISION_SAME);
  check("rtol", PCOCLSPKTSetRtol, PCOCLSPKTGetRtol, PetscReal(1e-3));
  check("partition", PCOCLSPKTSetPartition, PCOCLSPKTGetPartition, PetscInt(48));
  check("device_memory", PCOCLSPKTSetDeviceMemory, PCOCLSPKTGetDeviceMemory, PetscInt64(6000000000));
  check("timeout", PCOCLSPKTSetTimeout, PCOCLSPKTGetTimeout, PetscReal(2.5));
  check("on_device_failure", PCOCLSPKTSetOnDeviceFailure, PCOCLSPKTGetOnDeviceFailure,
        PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR);
  check("singular", PCOCLSPKTSetSingular, PCOCLSPKTGetSingular, PC_OCLSPKT_SINGULAR_PIN);
  check("above_bound", PCOCLSPKTSetAboveBound, PCOCLSPKTGetAboveBound, PC_OCLSPKT_ABOVE_BOUND_ERROR);
  check("transfer", PCOCLSPKTSetTransfer, PCOCLSPKTGetTransfer, PC_OCLSPKT_TRANSFER_COPY);
  check("lines", PCOCLSPKTSetDirections, PCOCLSPKTGetDirections, static_cast<const char*>("x,y"));
  check("combine", PCOCLSPKTSetCombine, PCOCLSPKTGetCombine, PC_OCLSPKT_COMBINE_SYMMETRIC);
  check("diagonal", PCOCLSPKTSetDiagonal, PCOCLSPKTGetDiagonal, PC_OCLSPKT_DIAGONAL_SPLIT);
  check("ignored", PCOCLSPKTSetIgnored, PCOCLSPKTGetIgnored, PC_OCLSPKT_IGNORED_IGNORE);
  check("gather_limit", PCOCLSPKTSetGatherLimit, PCOCLSPKTGetGatherLimit, PetscInt(0));
  check("explain", PCOCLSPKTSetExplain, PCOCLSPKTGetExplain, PETSC_TRUE);
}

TEST(Options, WhatIsSetComesBackAndSurvivesAReset) {
  const Preconditioner pc;
  std::set<std::string> seen;
  for_each_pair([&](const char* name, auto set, auto get, auto value) {
    seen.insert(name);
    for (const bool reset : {false, true}) {
      decltype(value) found{};
      if (reset) {
        OK(PCReset(pc));
      } else {
        OK(set(pc, value));
      }
      OK(get(pc, &found));
      EXPECT_TRUE(same(found, value)) << name << (reset ? " after PCReset()" : "");
    }
  });
  for (const auto& entry : petsc::option_table()) EXPECT_TRUE(seen.contains(entry.name)) << entry.name << " is missing";
}

TEST(Options, SettersLeaveOtherTypesAloneAndGettersRefuseThem) {
  for (const char* type : {"", PCJACOBI}) {  // without a type, too
    HeldPC pc;
    OK(PCCreate(PETSC_COMM_SELF, &pc));
    if (*type) {
      OK(PCSetType(pc, type));
    }
    for_each_pair([&](const char* name, auto set, auto get, auto value) {
      decltype(value) found{};
      OK(set(pc, value));
      const ErrorTexts errors;
      EXPECT_EQ(get(pc, &found), PETSC_ERR_SUP) << name;
    });
    {
      const ErrorTexts errors;
      const char* text = nullptr;
      PetscReal bound = 0;
      PetscInt64 count = 0;
      EXPECT_EQ(PCOCLSPKTGetMethodUsed(pc, &text, nullptr), PETSC_ERR_SUP);
      EXPECT_EQ(PCOCLSPKTGetDeviceUsed(pc, &text, nullptr), PETSC_ERR_SUP);
      EXPECT_EQ(PCOCLSPKTGetCertificate(pc, &bound, nullptr, nullptr), PETSC_ERR_SUP);
      EXPECT_EQ(PCOCLSPKTGetIgnoredEntries(pc, &count), PETSC_ERR_SUP);
    }
    OK(PCSetType(pc, PCOCLSPKT));
    EXPECT_EQ(got(PCOCLSPKTGetRtol, pc), 0) << "what was set on another type came along";
  }
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
               {"-t_pc_oclspkt_partition", "2.5", "no integer value"},
               {"-t_pc_oclspkt_device_memory", "-1", "device_memory"},
               {"-t_pc_oclspkt_chunk", "-1", "chunk must be 0"},
               {"-t_pc_oclspkt_balance", "fast", "time"},
               {"-t_pc_oclspkt_balance", "1,-1", "-1"},
               {"-t_pc_oclspkt_balance", "0,0", "0"},
               {"-t_pc_oclspkt_balance", "1,nan", "nan"},
               {"-t_pc_oclspkt_rtol", "nan", "rtol"},
               {"-t_pc_oclspkt_timeout", "-1", "timeout"},
               {"-t_pc_oclspkt_timeout", "nan", "timeout"},
               {"-t_pc_oclspkt_gather_limit", "-2", "gather_limit must be -1 (any line may be gathered), 0 (none)"},
               {"-t_pc_oclspkt_precision", "single", "same"},
               {"-t_pc_oclspkt_lock_vectors", "true", "was removed"},
               {"-t_pc_oclspkt_variant", "fast", "default, cpu, gpu, fpga, paper, paper-gpu"}};
  for (const auto& c : cases) {
    const Option option(c.name, c.value);
    const Preconditioner pc;
    EXPECT_ERROR(PCSetFromOptions(pc), kAnyError, c.said);
  }
}

TEST(Options, VariantPaperIsTakenFromTheOptionsAndShownInTheView) {
  if (PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "device kernels solve no complex numbers yet";
  const Matrix A(tridiagonal(5000, -1, 4, -1));
  const Option option("-t_pc_oclspkt_variant", "paper");
  const Preconditioner pc(A, "cpu");
  OK(PCSetFromOptions(pc));
  EXPECT_STREQ(got(PCOCLSPKTGetVariant, pc), "paper");
  OK(PCSetUp(pc));
  EXPECT_EQ(method_used(pc), "truncated-halo");
  expect_in(pc.view(), {"method: truncated-halo, variant paper, ", "-pc_oclspkt_variant paper"});
  PetscReal certificate = 1, tolerance = 0;
  OK(PCOCLSPKTGetCertificate(pc, &certificate, nullptr, &tolerance));
  EXPECT_LE(certificate, tolerance);
}

TEST(Options, EnumerationsOutOfRangeAreErrors) {
  const Preconditioner pc;
  EXPECT_ERROR(PCOCLSPKTSetPrecision(pc, static_cast<PCOCLSPKTPrecision>(2)), PETSC_ERR_ARG_OUTOFRANGE,
               "no choice number 2");
}

TEST(Options, NullPointersAreErrorsThatNameTheFunction) {
  const Preconditioner pc;
  PetscReal real = 0;
  const ErrorTexts errors;
  EXPECT_EQ(PCOCLSPKTSetRtol(nullptr, 1), PETSC_ERR_ARG_NULL);
  EXPECT_EQ(PCOCLSPKTGetRtol(nullptr, &real), PETSC_ERR_ARG_NULL);
  EXPECT_EQ(PCOCLSPKTGetMethodUsed(nullptr, nullptr, nullptr), PETSC_ERR_ARG_NULL);
  EXPECT_TRUE(contains(errors.text(), "PCCreate()")) << errors.text();
  EXPECT_EQ(PCOCLSPKTSetDevices(pc, nullptr), PETSC_ERR_ARG_NULL);
  EXPECT_TRUE(contains(errors.text(), "PCOCLSPKTSetDevices() is a null pointer")) << errors.text();
  EXPECT_EQ(PCOCLSPKTSetVariant(pc, nullptr), PETSC_ERR_ARG_NULL);
  for_each_pair(
      [&](const char* name, auto, auto get, auto) { EXPECT_EQ(get(pc, nullptr), PETSC_ERR_ARG_NULL) << name; });
  EXPECT_EQ(PCOCLSPKTGetIgnoredEntries(pc, nullptr), PETSC_ERR_ARG_NULL);
}

TEST(Options, AnotherObjectInPlaceOfThePreconditionerIsAnError) {
  const Vector vector(3);
  EXPECT_ERROR(PCOCLSPKTSetRtol(reinterpret_cast<PC>(static_cast<Vec>(vector)), 1), PETSC_ERR_ARG_WRONG, "not a PC");
}

TEST(Options, OfAnotherPrefixAreNotTaken) {
  const Option mine("-t_pc_oclspkt_partition", "16"), other("-u_pc_oclspkt_partition", "32"),
      none("-pc_oclspkt_partition", "64"), longer("-t_t_pc_oclspkt_partition", "128");
  const Preconditioner pc;
  OK(PCSetFromOptions(pc));
  EXPECT_EQ(got(PCOCLSPKTGetPartition, pc), 16);
}

/* A value for each option that is not its default; numbers and text by their meaning. */
std::string other_value(const petsc::OptionEntry& entry) {
  if (const auto* choice = std::get_if<petsc::Choice>(&entry.field)) {
    return choice->names.back();
  }
  if (std::holds_alternative<oclspkt::petsc::Member<std::string>>(entry.field)) {
    const std::string name = entry.name;
    return name == "devices"       ? "host,cpu"
           : name == "lines"       ? "x,y"
           : name == "balance"     ? "even"
           : name == "profile"     ? "none"
           : name == "fpga_banks"  ? "spread"
           : name == "rated_power" ? "gpu=500"
                                   : "default";
  }
  if (std::holds_alternative<oclspkt::petsc::Member<double>>(entry.field)) return "0.25";
  if (std::holds_alternative<petsc::Member<bool>>(entry.field)) return "true";
  return "48";
}

TEST(Options, EveryOneSurvivesResetAndReadingTheOptionsAgain) {
  const Preconditioner pc;
  std::string expected, all;
  for (const auto& entry : petsc::option_table()) {
    const std::string shown = std::string("pc_oclspkt_") + entry.name + " " + other_value(entry);
    all += " -t_" + shown;
    if (other_value(entry) != petsc::value_text(entry, petsc::Settings{})) expected += " -" + shown;
  }
  {
    const OptionSet options(all);
    OK(PCSetFromOptions(pc));
    EXPECT_EQ(options.left(), "");
  }
  expected = "options:" + expected + "\n";
  expect_in(pc.view(), {expected});
  OK(PCReset(pc));
  expect_in(pc.view(), {expected});
  OK(PCSetFromOptions(pc));  // the database holds nothing any more
  expect_in(pc.view(), {expected});
}

TEST(Options, ARefusedSettingLeavesTheOldOne) {
  const Preconditioner pc;
  EXPECT_ERROR(PCOCLSPKTSetPartition(pc, -7), PETSC_ERR_ARG_WRONG, "partition");
  EXPECT_EQ(got(PCOCLSPKTGetPartition, pc), 0);
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

}  // namespace
}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
// Option strings as PETSc reads them, and a small solve with what they set: options are in range or there is an error,
// and an answer is right.
#include <petscksp.h>

#include <cmath>

#include "bytes.hpp"
#include "oclspkt/oclspkt.h"
#include "options.hpp"
#include "pc_oclspkt.hxx"
#include "schemes/scheme.hpp"

namespace oclspkt::fuzz {
namespace {

constexpr PetscInt kRows = 7;

/// The text of the last error, which is not printed.
std::string error_text;

PetscErrorCode keep_text(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                         const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL) error_text = message;
  return code;
}

void must(PetscErrorCode code) { require(code == PETSC_SUCCESS, error_text.c_str()); }

/// Options separated by lines: a name of ours, or nearly, and its value.
std::string take_command_line(Bytes& bytes) {
  const auto table = petsc::option_table();
  std::string text;
  for (int left = bytes.below(6); left > 0; --left) {
    const int place = bytes.byte();
    text.append(" ").append(petsc::kOptionPrefix);
    text += place < 250 ? table[static_cast<std::size_t>(place) % table.size()].name : bytes.text(20);
    std::string value = bytes.text(60);
    // PETSc takes no other options from here: some read files, others start debuggers.
    for (std::size_t at = 0; (at = value.find('-', at)) != std::string::npos; ++at) {
      if (at == 0 || std::isspace(static_cast<unsigned char>(value[at - 1])) != 0) {
        const bool number = at + 1 < value.size() &&
                            (std::isdigit(static_cast<unsigned char>(value[at + 1])) != 0 || value[at + 1] == '.');
        if (!number) value[at] = '_';
      }
    }
    text.append(" ").append(value);
  }
  return text;
}

void check_options(PC pc) {
  const Options& o = petsc::data(pc)->first().solver.options();
  require(o.rtol >= 0 && o.rtol < 1, "rtol is out of range");
  require(o.partition >= 0 && o.use.device_memory >= 0 && o.use.timeout >= 0, "a number is negative");
  require(o.gather_limit >= -1, "gather_limit is out of range");
  require(std::count(std::begin(kVariantNames), std::end(kVariantNames), o.variant) == 1 ||
              find_scheme(o.variant) != nullptr,
          "a variant that does not exist");
  PetscReal real = -1;
  PetscInt rows = -1;
  PetscInt64 bytes = -1;
  const char* text = nullptr;
  must(PCOCLSPKTGetRtol(pc, &real));
  require(real == o.rtol, "rtol differs");
  must(PCOCLSPKTGetTimeout(pc, &real));
  require(real == o.use.timeout, "timeout differs");
  must(PCOCLSPKTGetPartition(pc, &rows));
  require(rows == o.partition, "partition differs");
  must(PCOCLSPKTGetDeviceMemory(pc, &bytes));
  require(bytes == o.use.device_memory, "device_memory differs");
  must(PCOCLSPKTGetDevices(pc, &text));
  require(o.devices == text, "devices differ");
}

/// tridiag(-1, 4, -1) x = 1 ... 1.
void solve(PC pc) {
  Mat a = nullptr;
  Vec x = nullptr, y = nullptr, residual = nullptr;
  PCFailedReason failed = PC_NOERROR;
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, kRows, kRows, 3, nullptr, &a));
  for (PetscInt i = 0; i < kRows; ++i) {
    if (i > 0) must(MatSetValue(a, i, i - 1, -1, INSERT_VALUES));
    must(MatSetValue(a, i, i, 4, INSERT_VALUES));
    if (i < kRows - 1) must(MatSetValue(a, i, i + 1, -1, INSERT_VALUES));
  }
  must(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  must(MatCreateVecs(a, &x, &y));
  must(VecDuplicate(y, &residual));
  must(VecSet(y, 1));
  must(PCSetOperators(pc, a, a));
  error_text.clear();
  if (PCSetUp(pc) == PETSC_SUCCESS) {
    must(PCGetFailedReason(pc, &failed));
    require(failed == PC_NOERROR, "a dominant matrix fails");
    must(PCApply(pc, y, x));
    must(MatMult(a, x, residual));
    must(VecAXPY(residual, -1, y));
    PetscReal norm = NAN;
    must(VecNorm(residual, NORM_INFINITY, &norm));
    // |A e| <= 6 |e|, |e| <= certificate max |x| <= 1/2.
    const double certificate = petsc::data(pc)->first().solver.report().certificate;
    require(norm <= 100 * PETSC_MACHINE_EPSILON + 3.3 * certificate, "a dominant system is solved wrong");
  } else {
    require(error_text.size() > 10, "an error of the set-up says nothing");
  }
  must(VecDestroy(&residual));
  must(VecDestroy(&y));
  must(VecDestroy(&x));
  must(MatDestroy(&a));
}

void exercise(Bytes& bytes) {
  const std::string line = take_command_line(bytes);
  PetscOptions options = nullptr;
  PC pc = nullptr;
  must(PetscOptionsCreate(&options));
  must(PCCreate(PETSC_COMM_SELF, &pc));
  must(PetscObjectSetOptions(reinterpret_cast<PetscObject>(pc), options));
  must(PCSetType(pc, PCOCLSPKT));
  error_text.clear();
  const bool read = PetscOptionsInsertString(options, line.c_str()) == PETSC_SUCCESS;
  if (read && PCSetFromOptions(pc) == PETSC_SUCCESS) {
    check_options(pc);
    solve(pc);
  } else {
    require(error_text.size() > 10, "an error says nothing");
  }
  must(PCDestroy(&pc));
  must(PetscOptionsDestroy(&options));
}

}  // namespace
}  // namespace oclspkt::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  PetscInitializeNoArguments();
  PetscPopSignalHandler();  // a crash is the fuzzer's, which keeps the input
  PetscPushErrorHandler(oclspkt::fuzz::keep_text, nullptr);
  PCOCLSPKTInitializePackage();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  oclspkt::fuzz::Bytes bytes(data, size);
  oclspkt::fuzz::exercise(bytes);
  return 0;
}

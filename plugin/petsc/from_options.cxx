// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "boundary.hxx"
#include "options.hpp"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

constexpr size_t kTextBytes = 2048;

PetscErrorCode ReadText(PC pc, OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                        const char* setter, std::string& value) {
  char text[kTextBytes];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsString(key, entry.help, setter, value.c_str(), text, sizeof text, &set));
  if (set) OclspktCall(pc, value = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadNumber(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                          const char* setter, double& value) {
  PetscReal real = value;

  PetscFunctionBegin;
  PetscCall(PetscOptionsReal(key, entry.help, setter, real, &real, nullptr));
  value = real;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Counts go through a real number: bytes pass the range of a 32-bit PetscInt, and every count up to 2^53 is exact.
PetscErrorCode ReadCount(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                         const char* setter, Index& value) {
  double real = static_cast<double>(value);

  PetscFunctionBegin;
  PetscCall(ReadNumber(PetscOptionsObject, entry, key, setter, real));
  PetscCheck(std::trunc(real) == real && std::abs(real) <= 9007199254740992., PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s%s takes a whole number of %s, not %g", kOptionPrefix, entry.name, entry.unit, real);
  value = static_cast<Index>(real);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadChoice(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                          const char* setter, const Choice& choice, Options& options) {
  const auto count = static_cast<PetscInt>(choice.names.size());
  PetscInt value = choice.get(options);

  PetscFunctionBegin;
  PetscCall(
      PetscOptionsEList(key, entry.help, setter, choice.names.data(), count, choice.names[value], &value, nullptr));
  choice.set(options, static_cast<int>(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOption(PC pc, OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, Options& options) {
  char key[64], setter[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(key, sizeof key, "%s%s", kOptionPrefix, entry.name));
  PetscCall(PetscSNPrintf(setter, sizeof setter, "PCOCLSPKTSet%s", entry.function));
  if (const auto* text = std::get_if<std::string Options::*>(&entry.field)) {
    PetscCall(ReadText(pc, PetscOptionsObject, entry, key, setter, options.**text));
  } else if (const auto* number = std::get_if<double Options::*>(&entry.field)) {
    PetscCall(ReadNumber(PetscOptionsObject, entry, key, setter, options.**number));
  } else if (const auto* count = std::get_if<Index Options::*>(&entry.field)) {
    PetscCall(ReadCount(PetscOptionsObject, entry, key, setter, options.**count));
  } else {
    PetscCall(ReadChoice(PetscOptionsObject, entry, key, setter, std::get<Choice>(entry.field), options));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode ReadOptions(PC pc, OclspktOptionItems PetscOptionsObject, Options& options) {
  PetscFunctionBegin;
  for (const OptionEntry& entry : option_table()) PetscCall(ReadOption(pc, PetscOptionsObject, entry, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChangeOptions(PC pc, const Options& options) {
  PetscFunctionBegin;
  if (options == data(pc)->solver.options()) PetscFunctionReturn(PETSC_SUCCESS);
  OclspktCall(pc, data(pc)->solver.set_options(options));
  pc->matstate = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

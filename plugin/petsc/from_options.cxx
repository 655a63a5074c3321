// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <cstring>

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

/// The largest count of an option: what its functions can say of it, and what a double holds exactly.
double largest_count(const OptionEntry& entry) {
  const bool narrow = std::strcmp(entry.argument, "PetscInt") == 0 && sizeof(PetscInt) == 4;
  return narrow ? 2147483647. : 9007199254740992.;
}

/// Counts go through a real number: bytes pass the range of a 32-bit PetscInt, and every count up to 2^53 is exact.
PetscErrorCode ReadCount(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                         const char* setter, Index& value) {
  double real = static_cast<double>(value);

  PetscFunctionBegin;
  PetscCall(ReadNumber(PetscOptionsObject, entry, key, setter, real));
  PetscCheck(std::trunc(real) == real && std::abs(real) <= largest_count(entry), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%s%s takes a whole number of %s up to %.0f, not %g", kOptionPrefix, entry.name,
             entry.unit, largest_count(entry), real);
  value = static_cast<Index>(real);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadSwitch(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                          const char* setter, bool& value) {
  PetscBool flag = value ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsBool(key, entry.help, setter, flag, &flag, nullptr));
  value = flag == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadChoice(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                          const char* setter, const Choice& choice, Settings& settings) {
  const auto count = static_cast<PetscInt>(choice.names.size());
  PetscInt value = choice.get(settings);

  PetscFunctionBegin;
  PetscCall(
      PetscOptionsEList(key, entry.help, setter, choice.names.data(), count, choice.names[value], &value, nullptr));
  choice.set(settings, static_cast<int>(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOption(PC pc, OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, Settings& settings) {
  char key[64], setter[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(key, sizeof key, "%s%s", kOptionPrefix, entry.name));
  PetscCall(PetscSNPrintf(setter, sizeof setter, "PCOCLSPKTSet%s", entry.function));
  if (const auto* text = std::get_if<std::string Settings::*>(&entry.field)) {
    PetscCall(ReadText(pc, PetscOptionsObject, entry, key, setter, settings.**text));
  } else if (const auto* number = std::get_if<double Settings::*>(&entry.field)) {
    PetscCall(ReadNumber(PetscOptionsObject, entry, key, setter, settings.**number));
  } else if (const auto* count = std::get_if<Index Settings::*>(&entry.field)) {
    PetscCall(ReadCount(PetscOptionsObject, entry, key, setter, settings.**count));
  } else if (const auto* flag = std::get_if<bool Settings::*>(&entry.field)) {
    PetscCall(ReadSwitch(PetscOptionsObject, entry, key, setter, settings.**flag));
  } else {
    PetscCall(ReadChoice(PetscOptionsObject, entry, key, setter, std::get<Choice>(entry.field), settings));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode ReadSettings(PC pc, OclspktOptionItems PetscOptionsObject, Settings& settings) {
  PetscFunctionBegin;
  for (const OptionEntry& entry : option_table()) PetscCall(ReadOption(pc, PetscOptionsObject, entry, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChangeSettings(PC pc, const Settings& settings) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  OclspktCall(pc, parse_directions(settings.lines); for (auto& sweep : o->sweeps) sweep->solver.set_options(settings));
  OclspktCall(pc, Settings quiet = settings; quiet.explain = o->settings.explain;
              if (!(quiet == o->settings)) pc->matstate = -1; o->settings = settings);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

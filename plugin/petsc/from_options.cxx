// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "boundary.hxx"
#include "options.hpp"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// What stands behind an option in the database; null if it is not there.
PetscErrorCode RawText(OclspktOptionItems PetscOptionsObject, const char* key, const char** text) {
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsFindPair(PetscOptionsObject->options, PetscOptionsObject->prefix, key, text, &set));
  if (!set) *text = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Text of any length: PetscOptionsString() cuts what its buffer does not hold without a word, so the buffer fits.
PetscErrorCode ReadText(PC pc, OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                        const char* setter, std::string& value) {
  const char* raw = nullptr;
  std::vector<char> text;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(RawText(PetscOptionsObject, key, &raw));
  OclspktCall(pc, text.resize(1 + std::max(value.size(), raw ? std::strlen(raw) : 0)));
  PetscCall(PetscOptionsString(key, entry.help, setter, value.c_str(), text.data(), text.size(), &set));
  if (set) OclspktCall(pc, value = text.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadNumber(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                          const char* setter, double& value) {
  PetscReal real = value;
  const char* raw = nullptr;

  PetscFunctionBegin;
  PetscCall(RawText(PetscOptionsObject, key, &raw));
  PetscCheck(!raw || !std::isnan(std::strtod(raw, nullptr)), PetscOptionsObject->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%s%s takes a number, not %s", kOptionPrefix, entry.name, raw);
  PetscCall(PetscOptionsReal(key, entry.help, setter, real, &real, nullptr));
  value = real;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PetscOptionsInt() cuts numbers that a PetscInt does not hold to their low bits; this is an error here.
PetscErrorCode ReadInt(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                       const char* setter, Index& value) {
  auto number = static_cast<PetscInt>(value);
  const char* raw = nullptr;
  char* end = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt(key, entry.help, setter, number, &number, nullptr));
  PetscCall(RawText(PetscOptionsObject, key, &raw));
  const double written = raw ? std::strtod(raw, &end) : 0;
  PetscCheck(!raw || end == raw || *end || written == static_cast<double>(number), PetscOptionsObject->comm,
             PETSC_ERR_ARG_OUTOFRANGE, "%s%s takes a number of %s up to %" PetscInt_FMT ", not %s", kOptionPrefix,
             entry.name, entry.unit, std::numeric_limits<PetscInt>::max(), raw);
  value = number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Numbers of 64 bits, for which PETSc has no reader, go through a real number, which is exact up to 2^53.
PetscErrorCode ReadInt64(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                         const char* setter, Index& value) {
  constexpr double kMost = 9007199254740992.;
  auto real = static_cast<double>(value);

  PetscFunctionBegin;
  PetscCall(ReadNumber(PetscOptionsObject, entry, key, setter, real));
  PetscCheck(std::trunc(real) == real && std::abs(real) <= kMost, PetscOptionsObject->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%s%s takes a whole number of %s up to %.0f, not %g", kOptionPrefix, entry.name, entry.unit, kMost, real);
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

/// The words of an enumeration of oclspkt.h as PetscOptionsEnum() takes them: its name, its prefix and a null pointer
/// stand behind the last word.
const char* const* words_of(const OptionEntry& entry) {
  for (const char* const* words :
       {PCOCLSPKTMethods, PCOCLSPKTPrecisions, PCOCLSPKTOnDeviceFailures, PCOCLSPKTSingulars, PCOCLSPKTAboveBounds,
        PCOCLSPKTTransfers, PCOCLSPKTCombines, PCOCLSPKTDiagonals, PCOCLSPKTIgnoreds}) {
    const char* const* end = words;
    while (*end != nullptr) ++end;
    if (std::strcmp(end[-2], entry.argument) == 0) return words;
  }
  return nullptr;
}

PetscErrorCode ReadChoice(OclspktOptionItems PetscOptionsObject, const OptionEntry& entry, const char* key,
                          const char* setter, const Choice& choice, Settings& settings) {
  const char* const* words = words_of(entry);
  int value = choice.get(settings);  // a PetscEnum has but one value in C++

  PetscFunctionBegin;
  PetscCheck(words, PetscOptionsObject->comm, PETSC_ERR_PLIB, "oclspkt.h has no words for the enumeration %s",
             entry.argument);
  PetscCall(PetscOptionsEnum(key, entry.help, setter, words, static_cast<PetscEnum>(value),
                             reinterpret_cast<PetscEnum*>(&value), nullptr));
  choice.set(settings, value);
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
    const bool narrow = std::strcmp(entry.argument, "PetscInt") == 0;
    PetscCall((narrow ? ReadInt : ReadInt64)(PetscOptionsObject, entry, key, setter, settings.**count));
  } else if (const auto* flag = std::get_if<bool Settings::*>(&entry.field)) {
    PetscCall(ReadSwitch(PetscOptionsObject, entry, key, setter, settings.**flag));
  } else {
    PetscCall(ReadChoice(PetscOptionsObject, entry, key, setter, std::get<Choice>(entry.field), settings));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Refuse an option that earlier releases had, which PETSc would only list as unused.
PetscErrorCode RefuseRemoved(PC pc, OclspktOptionItems PetscOptionsObject) {
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(
      PetscOptionsHasName(PetscOptionsObject->options, PetscOptionsObject->prefix, "-pc_oclspkt_lock_vectors", &given));
  PetscCheck(!given, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONG,
             "-pc_oclspkt_lock_vectors was removed, because the solver cannot tell whether vectors keep their memory: "
             "leave it out, and use -oclspkt_types to keep vectors on the device");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode ReadSettings(PC pc, OclspktOptionItems PetscOptionsObject, Settings& settings) {
  PetscFunctionBegin;
  PetscCall(RefuseRemoved(pc, PetscOptionsObject));
  for (const OptionEntry& entry : option_table()) PetscCall(ReadOption(pc, PetscOptionsObject, entry, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChangeSettings(PC pc, const Settings& settings, PetscBool* changed) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  const auto change = [&] {
    parse_directions(settings.lines);  // throws
    for (auto& sweep : o->sweeps) sweep->solver.set_options(settings);
    Settings quiet = settings;
    quiet.explain = o->settings.explain;
    *changed = static_cast<PetscBool>(!(quiet == o->settings));
    o->settings = settings;
  };
  OclspktCall(pc, change());
  if (*changed) forget_operator(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

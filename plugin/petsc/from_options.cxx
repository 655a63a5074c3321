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

/// Reads one option of the table from the database into a value of its type.
class Reader {
 public:
  Reader(OclspktOptionItems items, const OptionEntry& entry)
      : PetscOptionsObject(items),
        entry_(entry),
        key_(std::string(kOptionPrefix) + entry.name),
        setter_(std::string("PCOCLSPKTSet") + entry.function) {}

  void read(Settings& settings) const {
    if (const auto* text = std::get_if<std::string Settings::*>(&entry_.field)) {
      read_text(settings.**text);
    } else if (const auto* number = std::get_if<double Settings::*>(&entry_.field)) {
      read_number(settings.**number);
    } else if (const auto* count = std::get_if<Index Settings::*>(&entry_.field)) {
      std::strcmp(entry_.argument, "PetscInt") == 0 ? read_int(settings.**count) : read_int64(settings.**count);
    } else if (const auto* flag = std::get_if<bool Settings::*>(&entry_.field)) {
      read_switch(settings.**flag);
    } else {
      read_choice(std::get<Choice>(entry_.field), settings);
    }
  }

 private:
  /// What stands behind the option in the database; null if it is not there.
  const char* raw_text() const {
    const char* text;
    PetscBool set;
    must(PetscOptionsFindPair(PetscOptionsObject->options, PetscOptionsObject->prefix, key_.c_str(), &text, &set));
    return set ? text : nullptr;
  }

  /// Text of any length: PetscOptionsString() cuts what its buffer does not hold without a word, so the buffer fits.
  void read_text(std::string& value) const {
    const char* const raw = raw_text();
    std::vector<char> text(1 + std::max(value.size(), raw ? std::strlen(raw) : 0));
    PetscBool set;
    must(PetscOptionsString(key(), entry_.help, setter(), value.c_str(), text.data(), text.size(), &set));
    if (set) value = text.data();
  }

  void read_number(double& value) const {
    const char* const raw = raw_text();
    PetscReal real = value;
    OclspktCheck(!raw || !std::isnan(std::strtod(raw, nullptr)), comm(), PETSC_ERR_ARG_OUTOFRANGE,
                 "%s takes a number, not %s", key(), raw);
    must(PetscOptionsReal(key(), entry_.help, setter(), real, &real, nullptr));
    value = real;
  }

  /// PetscOptionsInt() cuts numbers that a PetscInt does not hold to their low bits; this is an error here.
  void read_int(Index& value) const {
    auto number = static_cast<PetscInt>(value);
    char* end = nullptr;
    must(PetscOptionsInt(key(), entry_.help, setter(), number, &number, nullptr));
    const char* const raw = raw_text();
    const double written = raw ? std::strtod(raw, &end) : 0;
    OclspktCheck(!raw || end == raw || *end || written == static_cast<double>(number), comm(), PETSC_ERR_ARG_OUTOFRANGE,
                 "%s takes a number of %s up to %" PetscInt_FMT ", not %s", key(), entry_.unit,
                 std::numeric_limits<PetscInt>::max(), raw);
    value = number;
  }

  /// Numbers of 64 bits, for which PETSc has no reader, go through a real number, which is exact up to 2^53.
  void read_int64(Index& value) const {
    constexpr double kMost = 9007199254740992.;
    auto real = static_cast<double>(value);
    read_number(real);
    OclspktCheck(std::trunc(real) == real && std::abs(real) <= kMost, comm(), PETSC_ERR_ARG_OUTOFRANGE,
                 "%s takes a whole number of %s up to %.0f, not %g", key(), entry_.unit, kMost, real);
    value = static_cast<Index>(real);
  }

  void read_switch(bool& value) const {
    PetscBool flag = value ? PETSC_TRUE : PETSC_FALSE;
    must(PetscOptionsBool(key(), entry_.help, setter(), flag, &flag, nullptr));
    value = flag == PETSC_TRUE;
  }

  void read_choice(const Choice& choice, Settings& settings) const {
    const char* const* const words = words_of(entry_);
    int value = choice.get(settings);  // a PetscEnum has but one value in C++
    OclspktCheck(words, comm(), PETSC_ERR_PLIB, "oclspkt.h has no words for the enumeration %s", entry_.argument);
    must(PetscOptionsEnum(key(), entry_.help, setter(), words, static_cast<PetscEnum>(value),
                          reinterpret_cast<PetscEnum*>(&value), nullptr));
    choice.set(settings, value);
  }

  const char* key() const { return key_.c_str(); }
  const char* setter() const { return setter_.c_str(); }
  MPI_Comm comm() const { return PetscOptionsObject->comm; }

  OclspktOptionItems PetscOptionsObject;  ///< the name that PETSc's macros want
  const OptionEntry& entry_;
  std::string key_, setter_;
};

}  // namespace

void read_settings(OclspktOptionItems items, Settings& settings) {
  PetscBool removed;
  must(PetscOptionsHasName(items->options, items->prefix, "-pc_oclspkt_lock_vectors", &removed));
  /* PETSc would only list an option of earlier releases as unused. */
  OclspktCheck(
      !removed, items->comm, PETSC_ERR_ARG_WRONG,
      "-pc_oclspkt_lock_vectors was removed, because the solver cannot tell whether vectors keep their memory: "
      "leave it out, and use -oclspkt_types to keep vectors on the device");
  for (const OptionEntry& entry : option_table()) Reader(items, entry).read(settings);
}

bool change_settings(PC pc, const Settings& settings) {
  PC_OCLSPKT* o = data(pc);
  parse_directions(settings.lines);  // throws
  for (auto& sweep : o->sweeps) sweep->solver.set_options(settings);
  Settings quiet = settings;
  quiet.explain = o->settings.explain;
  const bool changed = !(quiet == o->settings);
  o->settings = settings;
  if (changed) forget_operator(pc);
  return changed;
}

}  // namespace oclspkt::petsc

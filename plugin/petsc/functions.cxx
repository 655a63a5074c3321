// SPDX-License-Identifier: BSD-2-Clause
/* The functions of oclspkt.h set and get options and return results of the last set-up. The second half of the file
   reads options from PETSc's options database. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "oclspkt/rows.h"  // generated from options.cpp
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

constexpr char kAllDirections[] = "all";

/// The data of a PC that has been set up. @throws PetscFailure for other PCs
PC_OCLSPKT& chosen(PC pc) {
  OclspktCheck(data(pc)->ready, comm_of(pc), PETSC_ERR_ARG_WRONGSTATE,
               "PCOCLSPKT has chosen nothing yet: call PCSetUp() or KSPSetUp() first, and see that it does not fail");
  return *data(pc);
}

std::string directions_of(const PC_OCLSPKT& o) {
  std::string words;
  for (const auto& sweep : o.sweeps) words.append(words.empty() ? "" : ",").append(name(sweep->direction));
  return words;
}

/// The sweep along the named direction; all sweeps for kAllDirections.
std::vector<Sweep*> sweeps_along(PC pc, const char* direction) {
  PC_OCLSPKT& o = chosen(pc);
  std::vector<Sweep*> sweeps;
  for (const auto& sweep : o.sweeps) {
    if (direction == kAllDirections || std::strcmp(name(sweep->direction), direction) == 0)
      sweeps.push_back(sweep.get());
  }
  o.told.directions = directions_of(o);
  OclspktCheck(!sweeps.empty(), comm_of(pc), PETSC_ERR_ARG_OUTOFRANGE,
               "This PCOCLSPKT does not solve along '%s'; its directions are %s, as PCOCLSPKTGetDirectionsUsed() tells",
               direction, o.told.directions.c_str());
  return sweeps;
}

/// The error bounds of a direction on this rank, including cuts between ranks; Inf if unknown.
Bounds bounds_here(const Sweep& sweep, bool transpose) {
  const Report& report = sweep.report(transpose);
  const CutReport& cut = sweep.cut_report(transpose);
  Bounds bounds{without_nan(report.certificate), without_nan(largest_bound(report.rounding, cut.rounding)),
                report.certificate_above_tolerance || cut.above_tolerance};
  if (sweep.layout.exchange && cut.truncated) bounds.truncation = std::max(bounds.truncation, without_nan(cut.bound));
  return bounds;
}

/// Return a text about one direction, or about all directions as in "x: truncated-halo; y: pivot".
/// @param to  null if the caller does not want the value
template <typename F>
void give_text(PC pc, const char* direction, std::string Told::*member, const F& text, const char** to) {
  const std::vector<Sweep*> sweeps = sweeps_along(pc, direction);
  std::string& all = (direction == kAllDirections ? data(pc)->told : sweeps.front()->told).*member;
  all.clear();
  for (Sweep* const sweep : sweeps) {
    if (sweeps.size() > 1) all.append(all.empty() ? "" : "; ").append(name(sweep->direction)).append(": ");
    all.append(text(sweep->solver.report()));
  }
  if (to) *to = all.c_str();
}

void give(PetscReal* to, double value) {
  if (to) *to = value;
}

void get_directions_used(PC pc, const char* direction, const char** directions) {
  sweeps_along(pc, direction);
  *directions = data(pc)->told.directions.c_str();
}

void get_method_used(PC pc, const char* direction, const char** method, const char** why) {
  give_text(
      pc, direction, &Told::method, [](const Report& r) { return name(r.method); }, method);
  give_text(
      pc, direction, &Told::why, [](const Report& r) { return r.why; }, why);
}

void get_device_used(PC pc, const char* direction, const char** device, const char** type) {
  give_text(
      pc, direction, &Told::device, [](const Report& r) { return r.device.name; }, device);
  give_text(
      pc, direction, &Told::device_type, [](const Report& r) { return r.device.type; }, type);
}

/// The largest bounds over the named directions, for the operator and for its transpose if the transpose is set up.
void get_certificate(PC pc, const char* direction, PetscReal* certificate, PetscReal* rounding, PetscReal* tolerance) {
  Bounds largest;
  const std::vector<Sweep*> sweeps = sweeps_along(pc, direction);
  for (const Sweep* sweep : sweeps) {
    for (const Bounds& bounds : sweep->bounds) {
      largest.truncation = std::max(largest.truncation, bounds.truncation);
      largest.rounding = std::max(largest.rounding, bounds.rounding);
    }
  }
  give(certificate, largest.truncation);
  give(rounding, largest.rounding);
  give(tolerance, sweeps.front()->solver.report().tolerance);
}

void get_ignored_entries(PC pc, const char* direction, PetscInt64* ignored) {
  const Sweep& sweep = *sweeps_along(pc, direction).front();
  *ignored = direction == kAllDirections ? ignored_entries(*data(pc)) : sweep.extraction.ignored();
}

/// A function for PetscTryMethod() and PetscUseMethod(). It calls `function` and returns exceptions as error codes.
template <auto function, typename... Arguments>
PetscErrorCode Composed_OCLSPKT(PC pc, Arguments... arguments) {
  PetscFunctionBegin;
  OclspktCall(pc, function(pc, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Set a member of Settings. @param member  function that returns a reference to this member
template <auto member, typename Argument>
void set(PC pc, Argument value) {
  Settings settings = data(pc)->settings;
  member(settings) = static_cast<std::remove_cvref_t<decltype(member(settings))>>(value);
  change_settings(pc, settings);
}

/// Get a member of Settings. Text stays valid until the setting changes.
template <auto member, typename Result>
void get(PC pc, Result* value) {
  const auto& setting = member(data(pc)->settings);
  if constexpr (std::is_same_v<Result, const char*>) {
    *value = setting.c_str();
  } else {
    *value = static_cast<Result>(setting);
  }
}

/// Define member_X, which returns a reference to the member X of Settings, for set() and get().
#define OCLSPKT_MEMBER(Name, Type, Member)                       \
  constexpr auto member_##Member = [](auto& settings) -> auto& { \
    if constexpr (requires { settings.Member; }) {               \
      return settings.Member;                                    \
    } else {                                                     \
      return settings.use.Member;                                \
    }                                                            \
  };
OCLSPKT_EACH_OPTION(OCLSPKT_MEMBER)

/// A pointer to a function of any type. PETSc's name for this pointer depends on the release.
using UntypedFunction = void (*)();

/// The address of Composed_OCLSPKT<function>. The argument's type gives the parameters of `function`.
template <auto function, typename... Arguments>
UntypedFunction composed(void (*)(PC, Arguments...)) {
  return reinterpret_cast<UntypedFunction>(&Composed_OCLSPKT<function, Arguments...>);
}

const struct {
  const char* name;
  UntypedFunction function;
} kComposed[] = {
#define OCLSPKT_COMPOSED(begin, Name, ...) {"PCOCLSPKT" begin #Name "_C", composed<&__VA_ARGS__>(&__VA_ARGS__)},
#define OCLSPKT_COMPOSED_OPTION(Name, Type, Member)         \
  OCLSPKT_COMPOSED("Set", Name, set<member_##Member, Type>) \
  OCLSPKT_COMPOSED("Get", Name, get<member_##Member, Type>)
#define OCLSPKT_COMPOSED_RESULT(Name, function, ...) OCLSPKT_COMPOSED("Get", Name, function)
    OCLSPKT_EACH_OPTION(OCLSPKT_COMPOSED_OPTION)  //
    OCLSPKT_EACH_RESULT(OCLSPKT_COMPOSED_RESULT)  //
    OCLSPKT_COMPOSED("Set", Lines, set_lines)     //
    OCLSPKT_COMPOSED("Set", Bands, set_bands)
#undef OCLSPKT_COMPOSED
};

/// The number of words that the setter's option accepts; 0 if it has no list of words.
std::size_t choices(std::string_view setter) {
  for (const OptionEntry& entry : option_table()) {
    if (setter == std::string("PCOCLSPKTSet") + entry.function) return words_of(entry).size();
  }
  return 0;
}

/// Call a setter if the PC has it. Ranks may pass different values; the next set-up compares values that must agree.
template <typename Argument>
PetscErrorCode TrySetter(PC pc, const char* name, const char* composed, Argument value) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  if constexpr (std::is_pointer_v<Argument>) {
    PetscCall(CheckPointer(comm_of(pc), "second", name, value));
  } else if constexpr (std::is_enum_v<Argument> && !std::is_same_v<Argument, PetscBool>) {
    const int number = static_cast<int>(value);
    PetscCheck(number >= 0 && static_cast<std::size_t>(number) < choices(name), comm_of(pc), PETSC_ERR_ARG_OUTOFRANGE,
               "There is no choice number %d: use the names of the enumeration in oclspkt.h", number);
  }
  PetscTryMethod(pc, composed, (PC, Argument), (pc, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Call a getter, and fail if the PC does not have it. Input texts must not be null. A getter of one value needs a
/// pointer to the value. A getter of several values accepts null pointers.
template <typename... Arguments>
PetscErrorCode UseGetter(PC pc, const char* name, const char* composed, Arguments... arguments) {
  constexpr int kValues = (0 + ... + (std::is_same_v<Arguments, const char*> ? 0 : 1));
  const struct {
    const void* value;
    bool is_needed;
  } all[] = {{arguments, kValues == 1 || std::is_same_v<Arguments, const char*>}...};
  const char* place = "second";

  PetscFunctionBegin;
  OclspktValidPC(pc);
  for (const auto& argument : all) {
    if (argument.value == kAllDirections) continue;
    if (argument.is_needed) PetscCall(CheckPointer(comm_of(pc), place, name, argument.value));
    place = "third";
  }
  PetscUseMethod(pc, composed, (PC, Arguments...), (pc, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

void agree_on_bounds(PC pc, bool transpose) {
  for (const auto& sweep : data(pc)->sweeps) {
    const Bounds own = bounds_here(*sweep, transpose);
    double bounds[] = {own.truncation, own.rounding, own.above_limits ? 1. : 0.};
    OclspktReduce(MPI_IN_PLACE, bounds, 3, MPI_DOUBLE, MPI_MAX, comm_of(pc));
    sweep->bounds[transpose] = {bounds[0], bounds[1], bounds[2] > 0};
  }
}

void compose_functions(PC pc, bool remove) {
  for (const auto& f : kComposed) {
    must(PetscObjectComposeFunction((PetscObject)pc, f.name, remove ? nullptr : f.function));
  }
}

namespace {

/// Reads one option of the table from the database into a value of its type.
class Reader {
 public:
  Reader(OclspktOptionItems items, const OptionEntry& entry)
      : PetscOptionsObject(items),
        entry_(entry),
        key_(std::string(kOptionPrefix) + entry.name),
        setter_(std::string("PCOCLSPKTSet") + entry.function) {}

  void read(Settings& settings) const {
    const auto into = [&](const auto& field) {
      if constexpr (std::is_same_v<decltype(field), const Choice&>) {
        read_choice(field, settings);
      } else {
        read_value(field(settings));
      }
    };
    std::visit(into, entry_.field);
  }

 private:
  /// The value of the option in the database as text; null if the option is not set.
  const char* raw_text() const {
    const char* text;
    PetscBool set;
    must(PetscOptionsFindPair(PetscOptionsObject->options, PetscOptionsObject->prefix, key_.c_str(), &text, &set));
    return set ? text : nullptr;
  }

  /// Read text of any length. The buffer has the length of the text, because PetscOptionsString() cuts longer text
  /// silently.
  void read_value(std::string& value) const {
    const char* const raw = raw_text();
    std::vector<char> text(1 + std::max(value.size(), raw ? std::strlen(raw) : 0));
    PetscBool set;
    must(PetscOptionsString(key(), entry_.help, setter(), value.c_str(), text.data(), text.size(), &set));
    if (set) value = text.data();
  }

  void read_value(double& value) const {
    const char* const raw = raw_text();
    PetscReal real = value;
    OclspktCheck(!raw || !std::isnan(std::strtod(raw, nullptr)), comm(), PETSC_ERR_ARG_OUTOFRANGE,
                 "%s takes a number, not %s", key(), raw);
    must(PetscOptionsReal(key(), entry_.help, setter(), real, &real, nullptr));
    value = real;
  }

  /// Read a whole number. A number too large for PetscInt is an error; PetscOptionsInt() would keep its low bits.
  void read_value(Index& value) const {
    if (std::strcmp(entry_.argument, "PetscInt64") == 0) return read_int64(value);
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

  /// Read a 64-bit whole number as a real number, exact up to 2^53, because PETSc has no reader for 64 bits.
  void read_int64(Index& value) const {
    constexpr double kMost = 9007199254740992.;
    auto real = static_cast<double>(value);
    read_value(real);
    OclspktCheck(std::trunc(real) == real && std::abs(real) <= kMost, comm(), PETSC_ERR_ARG_OUTOFRANGE,
                 "%s takes a whole number of %s up to %.0f, not %g", key(), entry_.unit, kMost, real);
    value = static_cast<Index>(real);
  }

  void read_value(bool& value) const {
    PetscBool flag = value ? PETSC_TRUE : PETSC_FALSE;
    must(PetscOptionsBool(key(), entry_.help, setter(), flag, &flag, nullptr));
    value = flag == PETSC_TRUE;
  }

  void read_choice(const Choice& choice, Settings& settings) const {
    int value = choice.get(settings);  // int, because PetscEnum has a single value in C++
    std::vector<const char*> words(choice.names.begin(), choice.names.end());
    words.insert(words.end(), {entry_.argument, "PC_OCLSPKT_", nullptr});  // type name, prefix, end
    must(PetscOptionsEnum(key(), entry_.help, setter(), words.data(), static_cast<PetscEnum>(value),
                          reinterpret_cast<PetscEnum*>(&value), nullptr));
    choice.set(settings, value);
  }

  const char* key() const { return key_.c_str(); }
  const char* setter() const { return setter_.c_str(); }
  MPI_Comm comm() const { return PetscOptionsObject->comm; }

  OclspktOptionItems PetscOptionsObject;  ///< PETSc's macros require this name
  const OptionEntry& entry_;
  std::string key_, setter_;
};

}  // namespace

void read_settings(OclspktOptionItems items, Settings& settings) {
  PetscBool removed;
  must(PetscOptionsHasName(items->options, items->prefix, "-pc_oclspkt_lock_vectors", &removed));
  /* Raise an error for an option of earlier releases, which PETSc would only list as unused. */
  OclspktCheck(
      !removed, items->comm, PETSC_ERR_ARG_WRONG,
      "-pc_oclspkt_lock_vectors was removed, because the solver cannot tell whether vectors keep their memory: "
      "leave it out, and use -oclspkt_types to keep vectors on the device");
  for (const OptionEntry& entry : option_table()) Reader(items, entry).read(settings);
}

bool change_settings(PC pc, const Settings& settings) {
  PC_OCLSPKT* o = data(pc);
  parse_directions(settings.lines);  // throws for wrong words
  for (auto& sweep : o->sweeps) sweep->solver.set_options(settings);
  Settings quiet = settings;
  quiet.explain = o->settings.explain;
  const bool changed = !(quiet == o->settings);
  o->settings = settings;
  if (changed) forget_operator(pc);
  return changed;
}

}  // namespace oclspkt::petsc

#define OCLSPKT_NAMES(name) "PCOCLSPKT" name, "PCOCLSPKT" name "_C"
#define OCLSPKT_GETTER(Name, function, parameters, ...)                            \
  PetscErrorCode PCOCLSPKTGet##Name parameters {                                   \
    return oclspkt::petsc::UseGetter(pc, OCLSPKT_NAMES("Get" #Name), __VA_ARGS__); \
  }
OCLSPKT_EACH_RESULT(OCLSPKT_GETTER)

#define OCLSPKT_SETTER_AND_GETTER(Name, Type, Member)                        \
  PetscErrorCode PCOCLSPKTSet##Name(PC pc, Type value) {                     \
    return oclspkt::petsc::TrySetter(pc, OCLSPKT_NAMES("Set" #Name), value); \
  }                                                                          \
  OCLSPKT_GETTER(Name, , (PC pc, Type * value), value)
OCLSPKT_EACH_OPTION(OCLSPKT_SETTER_AND_GETTER)

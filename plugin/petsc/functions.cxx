// SPDX-License-Identifier: BSD-2-Clause
#include <iterator>
#include <type_traits>

#include "arguments.hxx"
#include "boundary.hxx"
#include "pc_oclspkt.hxx"

using oclspkt::Options;
using oclspkt::petsc::ChangeSettings;
using oclspkt::petsc::CheckPointer;
using oclspkt::petsc::data;
using oclspkt::petsc::Settings;

// Every option: the end of its functions' names, the C type of its value, the member behind it.
#define OCLSPKT_EACH_OPTION(ROW)                                             \
  ROW(Directions, const char*, Settings::lines)                              \
  ROW(Combine, PCOCLSPKTCombine, Settings::combine)                          \
  ROW(Diagonal, PCOCLSPKTDiagonal, Settings::diagonal)                       \
  ROW(Ignored, PCOCLSPKTIgnored, Settings::ignored)                          \
  ROW(Devices, const char*, Options::devices)                                \
  ROW(Balance, const char*, Options::balance)                                \
  ROW(Profile, const char*, Options::profile)                                \
  ROW(FpgaBinary, const char*, Options::fpga_binary)                         \
  ROW(FpgaBanks, const char*, Options::fpga_banks)                           \
  ROW(Energy, PetscBool, Options::energy)                                    \
  ROW(RatedPower, const char*, Options::rated_power)                         \
  ROW(Reproducible, PetscBool, Options::reproducible)                        \
  ROW(Chunk, PetscInt, Options::chunk)                                       \
  ROW(Method, PCOCLSPKTMethod, Options::method)                              \
  ROW(Variant, const char*, Options::variant)                                \
  ROW(Precision, PCOCLSPKTPrecision, Options::precision)                     \
  ROW(Rtol, PetscReal, Options::rtol)                                        \
  ROW(Partition, PetscInt, Options::partition)                               \
  ROW(DeviceMemory, PetscInt64, Options::device_memory)                      \
  ROW(Timeout, PetscReal, Options::timeout)                                  \
  ROW(OnDeviceFailure, PCOCLSPKTOnDeviceFailure, Options::on_device_failure) \
  ROW(Singular, PCOCLSPKTSingular, Options::singular)                        \
  ROW(AboveBound, PCOCLSPKTAboveBound, Options::above_bound)                 \
  ROW(Transfer, PCOCLSPKTTransfer, Options::transfer)                        \
  ROW(GatherLimit, PetscInt, Options::gather_limit)                          \
  ROW(Explain, PetscBool, Settings::explain)

// Every function that tells what the last set-up chose: the end of its name, its parameters, the arguments behind the
// PC.
#define OCLSPKT_EACH_RESULT(ROW)                                                                                     \
  ROW(DirectionsUsed, (PC pc, const char* directions[]), directions)                                                 \
  ROW(MethodUsed, (PC pc, const char* method[], const char* why[]), method, why)                                     \
  ROW(DeviceUsed, (PC pc, const char* device[], const char* type[]), device, type)                                   \
  ROW(Certificate, (PC pc, PetscReal * certificate, PetscReal * rounding, PetscReal * tolerance), certificate,       \
      rounding, tolerance)                                                                                           \
  ROW(IgnoredEntries, (PC pc, PetscInt64 * ignored), ignored)                                                        \
  ROW(DirectionMethodUsed, (PC pc, const char direction[], const char* method[], const char* why[]), direction,      \
      method, why)                                                                                                   \
  ROW(DirectionDeviceUsed, (PC pc, const char direction[], const char* device[], const char* type[]), direction,     \
      device, type)                                                                                                  \
  ROW(DirectionCertificate,                                                                                          \
      (PC pc, const char direction[], PetscReal* certificate, PetscReal* rounding, PetscReal* tolerance), direction, \
      certificate, rounding, tolerance)                                                                              \
  ROW(DirectionIgnoredEntries, (PC pc, const char direction[], PetscInt64* ignored), direction, ignored)

namespace {

/// A setter behind PetscTryMethod(): one for each member of Settings.
template <auto Member, typename Argument>
PetscErrorCode Set_OCLSPKT(PC pc, Argument value) {
  using Type = std::remove_cvref_t<decltype(Settings{}.*Member)>;
  Settings settings;
  PetscBool changed;

  PetscFunctionBegin;
  OclspktCall(pc, settings = data(pc)->settings);
  OclspktCall(pc, settings.*Member = static_cast<Type>(value));
  PetscCall(ChangeSettings(pc, settings, &changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A getter behind PetscUseMethod(): one for each member of Settings. Text stays valid until the setting changes.
template <auto Member, typename Result>
PetscErrorCode Get_OCLSPKT(PC pc, Result* value) {
  const auto& member = data(pc)->settings.*Member;

  PetscFunctionBegin;
  if constexpr (std::is_same_v<Result, const char*>) {
    *value = member.c_str();
  } else {
    *value = static_cast<Result>(member);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Any function; releases of PETSc have different names for this type.
using UntypedFunction = void (*)();

struct Composed {
  const char* name;
  UntypedFunction function;
};

template <typename Function>
UntypedFunction untyped(Function* function) {
  return reinterpret_cast<UntypedFunction>(function);
}

const Composed kComposed[] = {
#define OCLSPKT_COMPOSED(Name, Type, Member)                         \
  {"PCOCLSPKTSet" #Name "_C", untyped(&Set_OCLSPKT<&Member, Type>)}, \
      {"PCOCLSPKTGet" #Name "_C", untyped(&Get_OCLSPKT<&Member, Type>)},
    OCLSPKT_EACH_OPTION(OCLSPKT_COMPOSED)
#undef OCLSPKT_COMPOSED
#define OCLSPKT_COMPOSED(Name, ...) {"PCOCLSPKTGet" #Name "_C", untyped(&oclspkt::petsc::Get##Name##_OCLSPKT)},
        OCLSPKT_EACH_RESULT(OCLSPKT_COMPOSED)
#undef OCLSPKT_COMPOSED
            {"PCOCLSPKTSetLines_C", untyped(&oclspkt::petsc::SetLines_OCLSPKT)},
    {"PCOCLSPKTSetBands_C", untyped(&oclspkt::petsc::SetBands_OCLSPKT)},
};

/// How many choices an enumeration has.
std::size_t choices(PCOCLSPKTCombine) { return std::size(oclspkt::petsc::kCombineNames); }
std::size_t choices(PCOCLSPKTDiagonal) { return std::size(oclspkt::petsc::kDiagonalNames); }
std::size_t choices(PCOCLSPKTIgnored) { return std::size(oclspkt::petsc::kIgnoredNames); }
std::size_t choices(PCOCLSPKTMethod) { return std::size(oclspkt::kMethodChoiceNames); }
std::size_t choices(PCOCLSPKTPrecision) { return std::size(oclspkt::kPrecisionNames); }
std::size_t choices(PCOCLSPKTOnDeviceFailure) { return std::size(oclspkt::kOnDeviceFailureNames); }
std::size_t choices(PCOCLSPKTSingular) { return std::size(oclspkt::kSingularNames); }
std::size_t choices(PCOCLSPKTAboveBound) { return std::size(oclspkt::kAboveBoundNames); }
std::size_t choices(PCOCLSPKTTransfer) { return std::size(oclspkt::kTransferNames); }

/// Call a setter of any PC that has it. Ranks may give different values: the set-up compares those that have to agree.
template <typename Argument>
PetscErrorCode TrySetter(PC pc, const char* name, Argument value) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  if constexpr (std::is_pointer_v<Argument>) {
    PetscCall(CheckPointer(PetscObjectComm((PetscObject)pc), "second", name, value));
  } else if constexpr (std::is_enum_v<Argument> && !std::is_same_v<Argument, PetscBool>) {
    const int number = static_cast<int>(value);
    PetscCheck(number >= 0 && static_cast<std::size_t>(number) < choices(value), PetscObjectComm((PetscObject)pc),
               PETSC_ERR_ARG_OUTOFRANGE, "There is no choice number %d: use the names of the enumeration in oclspkt.h",
               number);
  }
  PetscTryMethod(pc, name, (PC, Argument), (pc, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Call a getter of a PC that must have it. Text that the caller gives and an only value have to be there; of several
/// values any may be left out.
template <typename... Arguments>
PetscErrorCode UseGetter(PC pc, const char* name, Arguments... arguments) {
  constexpr int kValues = (0 + ... + (std::is_same_v<Arguments, const char*> ? 0 : 1));
  const struct {
    const void* value;
    bool is_needed;
  } all[] = {{arguments, kValues == 1 || std::is_same_v<Arguments, const char*>}...};
  const char* place = "second";

  PetscFunctionBegin;
  OclspktValidPC(pc);
  for (const auto& argument : all) {
    if (argument.is_needed) PetscCall(CheckPointer(PetscObjectComm((PetscObject)pc), place, name, argument.value));
    place = "third";
  }
  PetscUseMethod(pc, name, (PC, Arguments...), (pc, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode oclspkt::petsc::ComposeFunctions(PC pc) {
  PetscFunctionBegin;
  for (const Composed& f : kComposed) PetscCall(PetscObjectComposeFunction((PetscObject)pc, f.name, f.function));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode oclspkt::petsc::RemoveFunctions(PC pc) {
  PetscFunctionBegin;
  for (const Composed& f : kComposed) PetscCall(PetscObjectComposeFunction((PetscObject)pc, f.name, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define OCLSPKT_GETTER(Name, parameters, ...)                         \
  PetscErrorCode PCOCLSPKTGet##Name parameters {                      \
    PetscFunctionBegin;                                               \
    PetscCall(UseGetter(pc, "PCOCLSPKTGet" #Name "_C", __VA_ARGS__)); \
    PetscFunctionReturn(PETSC_SUCCESS);                               \
  }
OCLSPKT_EACH_RESULT(OCLSPKT_GETTER)

#define OCLSPKT_SETTER_AND_GETTER(Name, Type, Member)           \
  PetscErrorCode PCOCLSPKTSet##Name(PC pc, Type value) {        \
    PetscFunctionBegin;                                         \
    PetscCall(TrySetter(pc, "PCOCLSPKTSet" #Name "_C", value)); \
    PetscFunctionReturn(PETSC_SUCCESS);                         \
  }                                                             \
  OCLSPKT_GETTER(Name, (PC pc, Type * value), value)
OCLSPKT_EACH_OPTION(OCLSPKT_SETTER_AND_GETTER)

// SPDX-License-Identifier: BSD-2-Clause
#include <iterator>
#include <type_traits>

#include "arguments.hxx"
#include "boundary.hxx"
#include "pc_oclspkt.hxx"

using oclspkt::kAboveBoundNames;
using oclspkt::kMethodChoiceNames;
using oclspkt::kOnDeviceFailureNames;
using oclspkt::kPrecisionNames;
using oclspkt::kSingularNames;
using oclspkt::kTransferNames;
using oclspkt::Options;
using oclspkt::petsc::ChangeSettings;
using oclspkt::petsc::data;
using oclspkt::petsc::Settings;

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

/// The getter of the same member, behind PetscUseMethod(). Text stays valid until the setting changes.
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

PetscErrorCode GetExplain_OCLSPKT(PC pc, PetscBool* explain) {
  PetscFunctionBegin;
  *explain = data(pc)->settings.explain ? PETSC_TRUE : PETSC_FALSE;
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

template <auto Member, typename Argument>
Composed setter(const char* name) {
  return {name, untyped(&Set_OCLSPKT<Member, Argument>)};
}

template <auto Member, typename Result>
Composed getter(const char* name) {
  return {name, untyped(&Get_OCLSPKT<Member, Result>)};
}

const Composed kComposed[] = {
    setter<&Settings::lines, const char*>("PCOCLSPKTSetDirections_C"),
    getter<&Settings::lines, const char*>("PCOCLSPKTGetDirections_C"),
    setter<&Settings::combine, PCOCLSPKTCombine>("PCOCLSPKTSetCombine_C"),
    getter<&Settings::combine, PCOCLSPKTCombine>("PCOCLSPKTGetCombine_C"),
    setter<&Settings::diagonal, PCOCLSPKTDiagonal>("PCOCLSPKTSetDiagonal_C"),
    getter<&Settings::diagonal, PCOCLSPKTDiagonal>("PCOCLSPKTGetDiagonal_C"),
    setter<&Settings::ignored, PCOCLSPKTIgnored>("PCOCLSPKTSetIgnored_C"),
    getter<&Settings::ignored, PCOCLSPKTIgnored>("PCOCLSPKTGetIgnored_C"),
    setter<&Options::devices, const char*>("PCOCLSPKTSetDevices_C"),
    getter<&Options::devices, const char*>("PCOCLSPKTGetDevices_C"),
    setter<&Options::balance, const char*>("PCOCLSPKTSetBalance_C"),
    getter<&Options::balance, const char*>("PCOCLSPKTGetBalance_C"),
    setter<&Options::profile, const char*>("PCOCLSPKTSetProfile_C"),
    getter<&Options::profile, const char*>("PCOCLSPKTGetProfile_C"),
    setter<&Options::fpga_binary, const char*>("PCOCLSPKTSetFpgaBinary_C"),
    getter<&Options::fpga_binary, const char*>("PCOCLSPKTGetFpgaBinary_C"),
    setter<&Options::fpga_banks, const char*>("PCOCLSPKTSetFpgaBanks_C"),
    getter<&Options::fpga_banks, const char*>("PCOCLSPKTGetFpgaBanks_C"),
    setter<&Options::energy, PetscBool>("PCOCLSPKTSetEnergy_C"),
    getter<&Options::energy, PetscBool>("PCOCLSPKTGetEnergy_C"),
    setter<&Options::rated_power, const char*>("PCOCLSPKTSetRatedPower_C"),
    getter<&Options::rated_power, const char*>("PCOCLSPKTGetRatedPower_C"),
    setter<&Options::reproducible, PetscBool>("PCOCLSPKTSetReproducible_C"),
    getter<&Options::reproducible, PetscBool>("PCOCLSPKTGetReproducible_C"),
    setter<&Options::lock_vectors, PetscBool>("PCOCLSPKTSetLockVectors_C"),
    getter<&Options::lock_vectors, PetscBool>("PCOCLSPKTGetLockVectors_C"),
    setter<&Options::chunk, PetscInt>("PCOCLSPKTSetChunk_C"),
    getter<&Options::chunk, PetscInt>("PCOCLSPKTGetChunk_C"),
    setter<&Options::method, PCOCLSPKTMethod>("PCOCLSPKTSetMethod_C"),
    getter<&Options::method, PCOCLSPKTMethod>("PCOCLSPKTGetMethod_C"),
    setter<&Options::variant, const char*>("PCOCLSPKTSetVariant_C"),
    getter<&Options::variant, const char*>("PCOCLSPKTGetVariant_C"),
    setter<&Options::precision, PCOCLSPKTPrecision>("PCOCLSPKTSetPrecision_C"),
    getter<&Options::precision, PCOCLSPKTPrecision>("PCOCLSPKTGetPrecision_C"),
    setter<&Options::rtol, PetscReal>("PCOCLSPKTSetRtol_C"),
    getter<&Options::rtol, PetscReal>("PCOCLSPKTGetRtol_C"),
    setter<&Options::partition, PetscInt>("PCOCLSPKTSetPartition_C"),
    getter<&Options::partition, PetscInt>("PCOCLSPKTGetPartition_C"),
    setter<&Options::device_memory, PetscInt64>("PCOCLSPKTSetDeviceMemory_C"),
    getter<&Options::device_memory, PetscInt64>("PCOCLSPKTGetDeviceMemory_C"),
    setter<&Options::timeout, PetscReal>("PCOCLSPKTSetTimeout_C"),
    getter<&Options::timeout, PetscReal>("PCOCLSPKTGetTimeout_C"),
    setter<&Options::on_device_failure, PCOCLSPKTOnDeviceFailure>("PCOCLSPKTSetOnDeviceFailure_C"),
    getter<&Options::on_device_failure, PCOCLSPKTOnDeviceFailure>("PCOCLSPKTGetOnDeviceFailure_C"),
    setter<&Options::singular, PCOCLSPKTSingular>("PCOCLSPKTSetSingular_C"),
    getter<&Options::singular, PCOCLSPKTSingular>("PCOCLSPKTGetSingular_C"),
    setter<&Options::above_bound, PCOCLSPKTAboveBound>("PCOCLSPKTSetAboveBound_C"),
    getter<&Options::above_bound, PCOCLSPKTAboveBound>("PCOCLSPKTGetAboveBound_C"),
    setter<&Options::transfer, PCOCLSPKTTransfer>("PCOCLSPKTSetTransfer_C"),
    getter<&Options::transfer, PCOCLSPKTTransfer>("PCOCLSPKTGetTransfer_C"),
    setter<&Options::gather_limit, PetscInt>("PCOCLSPKTSetGatherLimit_C"),
    getter<&Options::gather_limit, PetscInt>("PCOCLSPKTGetGatherLimit_C"),
    setter<&Settings::explain, PetscBool>("PCOCLSPKTSetExplain_C"),
    {"PCOCLSPKTGetExplain_C", untyped(&GetExplain_OCLSPKT)},
    {"PCOCLSPKTSetLines_C", untyped(&oclspkt::petsc::SetLines_OCLSPKT)},
    {"PCOCLSPKTSetBands_C", untyped(&oclspkt::petsc::SetBands_OCLSPKT)},
    {"PCOCLSPKTGetDirectionsUsed_C", untyped(&oclspkt::petsc::GetDirectionsUsed_OCLSPKT)},
    {"PCOCLSPKTGetMethodUsed_C", untyped(&oclspkt::petsc::GetMethodUsed_OCLSPKT)},
    {"PCOCLSPKTGetDeviceUsed_C", untyped(&oclspkt::petsc::GetDeviceUsed_OCLSPKT)},
    {"PCOCLSPKTGetCertificate_C", untyped(&oclspkt::petsc::GetCertificate_OCLSPKT)},
    {"PCOCLSPKTGetIgnoredEntries_C", untyped(&oclspkt::petsc::GetIgnoredEntries_OCLSPKT)},
    {"PCOCLSPKTGetDirectionMethodUsed_C", untyped(&oclspkt::petsc::GetDirectionMethodUsed_OCLSPKT)},
    {"PCOCLSPKTGetDirectionDeviceUsed_C", untyped(&oclspkt::petsc::GetDirectionDeviceUsed_OCLSPKT)},
    {"PCOCLSPKTGetDirectionCertificate_C", untyped(&oclspkt::petsc::GetDirectionCertificate_OCLSPKT)},
    {"PCOCLSPKTGetDirectionIgnoredEntries_C", untyped(&oclspkt::petsc::GetDirectionIgnoredEntries_OCLSPKT)},
};

}  // namespace

PetscErrorCode oclspkt::petsc::CheckChoice(PC pc, int value, std::size_t count) {
  PetscFunctionBegin;
  PetscCheck(value >= 0 && static_cast<std::size_t>(value) < count, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "There is no choice number %d: use the names of the enumeration in oclspkt.h",
             value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

PetscErrorCode PCOCLSPKTSetDevices(PC pc, const char devices[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, devices);
  PetscTryMethod(pc, "PCOCLSPKTSetDevices_C", (PC, const char[]), (pc, devices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetDevices(PC pc, const char* devices[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, devices);
  PetscUseMethod(pc, "PCOCLSPKTGetDevices_C", (PC, const char*[]), (pc, devices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetBalance(PC pc, const char balance[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, balance);
  PetscTryMethod(pc, "PCOCLSPKTSetBalance_C", (PC, const char[]), (pc, balance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetBalance(PC pc, const char* balance[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, balance);
  PetscUseMethod(pc, "PCOCLSPKTGetBalance_C", (PC, const char*[]), (pc, balance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetProfile(PC pc, const char profile[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, profile);
  PetscTryMethod(pc, "PCOCLSPKTSetProfile_C", (PC, const char[]), (pc, profile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetProfile(PC pc, const char* profile[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, profile);
  PetscUseMethod(pc, "PCOCLSPKTGetProfile_C", (PC, const char*[]), (pc, profile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetFpgaBinary(PC pc, const char files[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, files);
  PetscTryMethod(pc, "PCOCLSPKTSetFpgaBinary_C", (PC, const char[]), (pc, files));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetFpgaBinary(PC pc, const char* files[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, files);
  PetscUseMethod(pc, "PCOCLSPKTGetFpgaBinary_C", (PC, const char*[]), (pc, files));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetFpgaBanks(PC pc, const char banks[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, banks);
  PetscTryMethod(pc, "PCOCLSPKTSetFpgaBanks_C", (PC, const char[]), (pc, banks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetFpgaBanks(PC pc, const char* banks[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, banks);
  PetscUseMethod(pc, "PCOCLSPKTGetFpgaBanks_C", (PC, const char*[]), (pc, banks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetEnergy(PC pc, PetscBool energy) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveBool(pc, energy, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetEnergy_C", (PC, PetscBool), (pc, energy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetEnergy(PC pc, PetscBool* energy) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, energy);
  PetscUseMethod(pc, "PCOCLSPKTGetEnergy_C", (PC, PetscBool*), (pc, energy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetRatedPower(PC pc, const char watts[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, watts);
  PetscTryMethod(pc, "PCOCLSPKTSetRatedPower_C", (PC, const char[]), (pc, watts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetRatedPower(PC pc, const char* watts[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, watts);
  PetscUseMethod(pc, "PCOCLSPKTGetRatedPower_C", (PC, const char*[]), (pc, watts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetReproducible(PC pc, PetscBool reproducible) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveBool(pc, reproducible, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetReproducible_C", (PC, PetscBool), (pc, reproducible));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetReproducible(PC pc, PetscBool* reproducible) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, reproducible);
  PetscUseMethod(pc, "PCOCLSPKTGetReproducible_C", (PC, PetscBool*), (pc, reproducible));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetLockVectors(PC pc, PetscBool lock) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveBool(pc, lock, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetLockVectors_C", (PC, PetscBool), (pc, lock));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetLockVectors(PC pc, PetscBool* lock) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, lock);
  PetscUseMethod(pc, "PCOCLSPKTGetLockVectors_C", (PC, PetscBool*), (pc, lock));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetChunk(PC pc, PetscInt rows) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveInt(pc, rows, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetChunk_C", (PC, PetscInt), (pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetChunk(PC pc, PetscInt* rows) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, rows);
  PetscUseMethod(pc, "PCOCLSPKTGetChunk_C", (PC, PetscInt*), (pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetMethod(PC pc, PCOCLSPKTMethod method) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveEnum(pc, method, 2);
  PetscCall(oclspkt::petsc::CheckChoice(pc, method, std::size(kMethodChoiceNames)));
  PetscTryMethod(pc, "PCOCLSPKTSetMethod_C", (PC, PCOCLSPKTMethod), (pc, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetMethod(PC pc, PCOCLSPKTMethod* method) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, method);
  PetscUseMethod(pc, "PCOCLSPKTGetMethod_C", (PC, PCOCLSPKTMethod*), (pc, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetVariant(PC pc, const char variant[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, variant);
  PetscTryMethod(pc, "PCOCLSPKTSetVariant_C", (PC, const char[]), (pc, variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetVariant(PC pc, const char* variant[]) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, variant);
  PetscUseMethod(pc, "PCOCLSPKTGetVariant_C", (PC, const char*[]), (pc, variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetPrecision(PC pc, PCOCLSPKTPrecision precision) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscCall(oclspkt::petsc::CheckChoice(pc, precision, std::size(kPrecisionNames)));
  PetscTryMethod(pc, "PCOCLSPKTSetPrecision_C", (PC, PCOCLSPKTPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetPrecision(PC pc, PCOCLSPKTPrecision* precision) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, precision);
  PetscUseMethod(pc, "PCOCLSPKTGetPrecision_C", (PC, PCOCLSPKTPrecision*), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetRtol(PC pc, PetscReal rtol) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveReal(pc, rtol, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetRtol_C", (PC, PetscReal), (pc, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetRtol(PC pc, PetscReal* rtol) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, rtol);
  PetscUseMethod(pc, "PCOCLSPKTGetRtol_C", (PC, PetscReal*), (pc, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetPartition(PC pc, PetscInt rows) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveInt(pc, rows, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetPartition_C", (PC, PetscInt), (pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetPartition(PC pc, PetscInt* rows) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, rows);
  PetscUseMethod(pc, "PCOCLSPKTGetPartition_C", (PC, PetscInt*), (pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetDeviceMemory(PC pc, PetscInt64 bytes) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscTryMethod(pc, "PCOCLSPKTSetDeviceMemory_C", (PC, PetscInt64), (pc, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetDeviceMemory(PC pc, PetscInt64* bytes) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, bytes);
  PetscUseMethod(pc, "PCOCLSPKTGetDeviceMemory_C", (PC, PetscInt64*), (pc, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetTimeout(PC pc, PetscReal seconds) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveReal(pc, seconds, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetTimeout_C", (PC, PetscReal), (pc, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetTimeout(PC pc, PetscReal* seconds) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, seconds);
  PetscUseMethod(pc, "PCOCLSPKTGetTimeout_C", (PC, PetscReal*), (pc, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetOnDeviceFailure(PC pc, PCOCLSPKTOnDeviceFailure action) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveEnum(pc, action, 2);
  PetscCall(oclspkt::petsc::CheckChoice(pc, action, std::size(kOnDeviceFailureNames)));
  PetscTryMethod(pc, "PCOCLSPKTSetOnDeviceFailure_C", (PC, PCOCLSPKTOnDeviceFailure), (pc, action));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetOnDeviceFailure(PC pc, PCOCLSPKTOnDeviceFailure* action) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, action);
  PetscUseMethod(pc, "PCOCLSPKTGetOnDeviceFailure_C", (PC, PCOCLSPKTOnDeviceFailure*), (pc, action));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetSingular(PC pc, PCOCLSPKTSingular singular) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveEnum(pc, singular, 2);
  PetscCall(oclspkt::petsc::CheckChoice(pc, singular, std::size(kSingularNames)));
  PetscTryMethod(pc, "PCOCLSPKTSetSingular_C", (PC, PCOCLSPKTSingular), (pc, singular));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetSingular(PC pc, PCOCLSPKTSingular* singular) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, singular);
  PetscUseMethod(pc, "PCOCLSPKTGetSingular_C", (PC, PCOCLSPKTSingular*), (pc, singular));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetAboveBound(PC pc, PCOCLSPKTAboveBound action) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveEnum(pc, action, 2);
  PetscCall(oclspkt::petsc::CheckChoice(pc, action, std::size(kAboveBoundNames)));
  PetscTryMethod(pc, "PCOCLSPKTSetAboveBound_C", (PC, PCOCLSPKTAboveBound), (pc, action));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetAboveBound(PC pc, PCOCLSPKTAboveBound* action) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, action);
  PetscUseMethod(pc, "PCOCLSPKTGetAboveBound_C", (PC, PCOCLSPKTAboveBound*), (pc, action));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetTransfer(PC pc, PCOCLSPKTTransfer transfer) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveEnum(pc, transfer, 2);
  PetscCall(oclspkt::petsc::CheckChoice(pc, transfer, std::size(kTransferNames)));
  PetscTryMethod(pc, "PCOCLSPKTSetTransfer_C", (PC, PCOCLSPKTTransfer), (pc, transfer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetTransfer(PC pc, PCOCLSPKTTransfer* transfer) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, transfer);
  PetscUseMethod(pc, "PCOCLSPKTGetTransfer_C", (PC, PCOCLSPKTTransfer*), (pc, transfer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetExplain(PC pc, PetscBool explain) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscValidLogicalCollectiveBool(pc, explain, 2);
  PetscTryMethod(pc, "PCOCLSPKTSetExplain_C", (PC, PetscBool), (pc, explain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTGetExplain(PC pc, PetscBool* explain) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  OclspktValidPointer(pc, explain);
  PetscUseMethod(pc, "PCOCLSPKTGetExplain_C", (PC, PetscBool*), (pc, explain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

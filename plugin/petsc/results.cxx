// SPDX-License-Identifier: BSD-2-Clause
/* What the last set-up chose, over all directions and for each of them: the composed functions behind
   PCOCLSPKTGetMethodUsed(), PCOCLSPKTGetDirectionMethodUsed() and their like. */
#include <algorithm>
#include <cstring>

#include "boundary.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

PetscErrorCode CheckChosen(PC pc) {
  PetscFunctionBegin;
  PetscCheck(data(pc)->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCOCLSPKT has chosen nothing yet: call PCSetUp() or KSPSetUp() first, and see that it does not fail");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "x,y"
std::string directions_of(const PC_OCLSPKT& o) {
  std::string words;
  for (const auto& sweep : o.sweeps) words.append(words.empty() ? "" : ",").append(name(sweep->direction));
  return words;
}

/// The text of the only direction, or of several: "x: truncated-halo; y: pivot".
template <typename F>
std::string of_directions(const PC_OCLSPKT& o, const F& text) {
  if (o.sweeps.size() == 1) return text(o.first().solver.report());
  std::string all;
  for (const auto& sweep : o.sweeps) {
    all.append(all.empty() ? "" : "; ").append(name(sweep->direction)).append(": ");
    all.append(text(sweep->solver.report()));
  }
  return all;
}

/// The direction that a caller names, after a good set-up.
PetscErrorCode FindDirection(PC pc, const char* direction, const Sweep** found) {
  PC_OCLSPKT* o = data(pc);
  const auto place = std::find_if(o->sweeps.begin(), o->sweeps.end(), [direction](const auto& sweep) {
    return std::strcmp(name(sweep->direction), direction) == 0;
  });

  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  OclspktCall(pc, o->told.directions = directions_of(*o));
  PetscCheck(place != o->sweeps.end(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "This PCOCLSPKT does not solve along '%s'; its directions are %s, as PCOCLSPKTGetDirectionsUsed() tells",
             direction, o->told.directions.c_str());
  *found = place->get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The bounds of a direction on this rank, cuts among ranks included; infinite where unknown.
Bounds bounds_here(const Sweep& sweep, bool transpose) {
  const Report& report = sweep.report(transpose);
  const CutReport& cut = sweep.cut_report(transpose);
  Bounds bounds{without_nan(report.certificate), without_nan(rounding_of(sweep, transpose)),
                report.certificate_above_tolerance || cut.above_tolerance};
  if (sweep.layout.exchange && cut.truncated) bounds.truncation = std::max(bounds.truncation, without_nan(cut.bound));
  return bounds;
}

/// The larger bounds of the operator and, once that is set up, of its transpose.
Bounds largest_bounds(const Sweep& sweep) {
  const auto& [plain, transposed] = sweep.bounds;
  return {std::max(plain.truncation, transposed.truncation), std::max(plain.rounding, transposed.rounding)};
}

}  // namespace

PetscErrorCode AgreeOnBounds(PC pc, bool transpose) {
  PetscFunctionBegin;
  for (const auto& sweep : data(pc)->sweeps) {
    const Bounds here = bounds_here(*sweep, transpose);
    double bounds[] = {here.truncation, here.rounding, here.above_limits ? 1. : 0.};
    OclspktAllreduce(MPI_IN_PLACE, bounds, 3, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)pc));
    sweep->bounds[transpose] = {bounds[0], bounds[1], bounds[2] > 0};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirectionsUsed_OCLSPKT(PC pc, const char** directions) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  OclspktCall(pc, o->told.directions = directions_of(*o));
  *directions = o->told.directions.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetMethodUsed_OCLSPKT(PC pc, const char** method, const char** why) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  OclspktCall(pc, o->told.method = of_directions(*o, [](const Report& r) { return std::string(name(r.method)); }));
  OclspktCall(pc, o->told.why = of_directions(*o, [](const Report& r) { return r.why; }));
  if (method) *method = o->told.method.c_str();
  if (why) *why = o->told.why.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirectionMethodUsed_OCLSPKT(PC pc, const char direction[], const char** method, const char** why) {
  const Sweep* sweep;

  PetscFunctionBegin;
  PetscCall(FindDirection(pc, direction, &sweep));
  if (method) *method = name(sweep->solver.report().method);
  if (why) *why = sweep->solver.report().why.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDeviceUsed_OCLSPKT(PC pc, const char** device, const char** type) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  OclspktCall(pc, o->told.device = of_directions(*o, [](const Report& r) { return r.device.name; }));
  OclspktCall(pc, o->told.device_type = of_directions(*o, [](const Report& r) { return r.device.type; }));
  if (device) *device = o->told.device.c_str();
  if (type) *type = o->told.device_type.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirectionDeviceUsed_OCLSPKT(PC pc, const char direction[], const char** device, const char** type) {
  const Sweep* sweep;

  PetscFunctionBegin;
  PetscCall(FindDirection(pc, direction, &sweep));
  if (device) *device = sweep->solver.report().device.name.c_str();
  if (type) *type = sweep->solver.report().device.type.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetCertificate_OCLSPKT(PC pc, PetscReal* certificate, PetscReal* rounding, PetscReal* tolerance) {
  Bounds largest;

  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  for (const auto& sweep : data(pc)->sweeps) {
    const Bounds bounds = largest_bounds(*sweep);
    largest.truncation = std::max(largest.truncation, bounds.truncation);
    largest.rounding = std::max(largest.rounding, bounds.rounding);
  }
  if (certificate) *certificate = largest.truncation;
  if (rounding) *rounding = largest.rounding;
  if (tolerance) *tolerance = data(pc)->first().solver.report().tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirectionCertificate_OCLSPKT(PC pc, const char direction[], PetscReal* certificate,
                                               PetscReal* rounding, PetscReal* tolerance) {
  const Sweep* sweep;

  PetscFunctionBegin;
  PetscCall(FindDirection(pc, direction, &sweep));
  if (certificate) *certificate = largest_bounds(*sweep).truncation;
  if (rounding) *rounding = largest_bounds(*sweep).rounding;
  if (tolerance) *tolerance = sweep->solver.report().tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetIgnoredEntries_OCLSPKT(PC pc, PetscInt64* ignored) {
  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  *ignored = ignored_entries(*data(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirectionIgnoredEntries_OCLSPKT(PC pc, const char direction[], PetscInt64* ignored) {
  const Sweep* sweep;

  PetscFunctionBegin;
  PetscCall(FindDirection(pc, direction, &sweep));
  *ignored = sweep->extraction.ignored();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

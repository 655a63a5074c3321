// SPDX-License-Identifier: BSD-2-Clause
/* What the last set-up chose, over all directions: the composed functions behind PCOCLSPKTGetMethodUsed() and its
   like. */
#include <algorithm>

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

}  // namespace

Bounds bounds_here(const PC_OCLSPKT& o) {
  Bounds largest;
  for (const auto& sweep : o.sweeps) {
    largest.rounding = std::max(largest.rounding, without_nan(rounding_of(*sweep)));
    largest.truncation = std::max(largest.truncation, without_nan(sweep->solver.report().certificate));
    if (!sweep->layout.exchange || !sweep->solver.cut_report().truncated) continue;
    largest.truncation = std::max(largest.truncation, without_nan(sweep->solver.cut_report().bound));
  }
  return largest;
}

PetscErrorCode GetMethodUsed_OCLSPKT(PC pc, const char** method, const char** why) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  OclspktCall(pc, o->told.method = of_directions(*o, [](const Report& r) { return std::string(name(r.method)); });
              o->told.why = of_directions(*o, [](const Report& r) { return r.why; }));
  if (method) *method = o->told.method.c_str();
  if (why) *why = o->told.why.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDeviceUsed_OCLSPKT(PC pc, const char** device, const char** type) {
  PC_OCLSPKT* o = data(pc);

  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  OclspktCall(pc, o->told.device = of_directions(*o, [](const Report& r) { return r.device.name; });
              o->told.device_type = of_directions(*o, [](const Report& r) { return r.device.type; }));
  if (device) *device = o->told.device.c_str();
  if (type) *type = o->told.device_type.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetCertificate_OCLSPKT(PC pc, PetscReal* certificate, PetscReal* rounding, PetscReal* tolerance) {
  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  if (certificate) *certificate = data(pc)->bounds.truncation;
  if (rounding) *rounding = data(pc)->bounds.rounding;
  if (tolerance) *tolerance = data(pc)->first().solver.report().tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetIgnoredEntries_OCLSPKT(PC pc, PetscInt64* ignored) {
  PetscFunctionBegin;
  PetscCall(CheckChosen(pc));
  *ignored = ignored_entries(*data(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

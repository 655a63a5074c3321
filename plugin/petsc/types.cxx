// SPDX-License-Identifier: BSD-2-Clause
/* Where the values of a dressed vector are, and how they get where they are wanted. */
#include "types.hxx"

#include <algorithm>
#include <limits>
#include <vector>

#include "boundary.hxx"
#include "node.hpp"
#include "selection.hpp"

namespace oclspkt::petsc {
namespace {

template <typename T>
std::shared_ptr<Space<T>> make_space(DeviceModule& module, int device) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return module.space_double(device, {});
  } else {
    return module.space_float(device, {});
  }
}

/// The device of this rank: ranks of a node take turns among the GPUs that the selection names; by `auto` among those
/// with a memory of their own, since on others vectors of the host are as good.
/// @return null if `auto` finds none. @throws InvalidInput, DeviceError
std::shared_ptr<DeviceSpace> open_space(const std::string& words) {
  std::string why;
  DeviceModule* const module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  std::vector<int> devices;
  if (words != "auto") {
    devices = select_devices(words, module->devices(), module->problems()).devices;
    if (devices.empty()) {
      throw InvalidInput("-oclspkt_types_device " + words + " names no device: oclspkt-devices lists what there is");
    }
  } else {
    for (const DeviceInfo& info : module->devices()) {
      const bool fits = info.fp64 || sizeof(PetscScalar) == sizeof(float);
      if (!info.host_unified && !info.emulated && fits) devices.push_back(info.index);
    }
    if (devices.empty()) return nullptr;
  }
  return make_space<PetscScalar>(*module, devices_of_rank(devices, module->devices(), node_place()).front());
}

/// Open the device at its first use.
PetscErrorCode OpenSpace() {
  Types& t = types();
  std::string failure;

  PetscFunctionBegin;
  OclspktCall(
      nullptr, try { t.space = open_space(t.devices); } catch (const DeviceError& e) { failure = e.what(); });
  if (t.space) PetscFunctionReturn(PETSC_SUCCESS);
  t.failed = true;
  t.why = failure.empty() ? "no device has a memory of its own" : failure;
  PetscCall(PetscInfo(nullptr, "vectors stay on the host: %s\n", t.why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

Types& types() {
  static auto* const all = new Types;
  return *all;
}

PetscErrorCode LoseDevice(const std::string& why) {
  Types& t = types();

  PetscFunctionBegin;
  if (!t.failed) PetscCall((*PetscErrorPrintf)("oclspkt: vectors go on on the host: %s\n", why.c_str()));
  t.failed = true;
  t.why = why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpaceFor(PetscInt local_rows, DeviceSpace** space) {
  Types& t = types();

  PetscFunctionBegin;
  *space = nullptr;
  if (!t.on || t.failed || local_rows < t.least || local_rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!t.space) PetscCall(OpenSpace());
  *space = t.space.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ToHost(Vec vector) {
  Types& t = types();
  Side& side = side_of(vector);

  PetscFunctionBegin;
  if (side.host) PetscFunctionReturn(PETSC_SUCCESS);
  try {
    t.space->take(*side.array, host_array(vector));
  } catch (const std::exception& e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "the values of a vector were on a device only, and cannot be copied: %s",
            e.what());
  }
  ++t.downs;
  side.host = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void BringToDevice(DeviceSpace& space, Vec vector, bool overwritten, DeviceArray** array) {
  Side& side = side_of(vector);
  if (!side.array) side.array = space.make(vector->map->n);
  *array = side.array.get();
  if (overwritten || (side.device && side.out == 0)) return;
  space.bring(host_array(vector), *side.array);
  ++types().ups;
  side.device = true;
}

PetscErrorCode WroteOnDevice(Vec vector) {
  Side& side = side_of(vector);

  PetscFunctionBegin;
  side.device = true;
  side.host = false;
  if (side.out > 0) {
    PetscCall(ToHost(vector));
  } else if (types().poison) {
    std::fill_n(host_array(vector), vector->map->n, std::numeric_limits<PetscReal>::quiet_NaN());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

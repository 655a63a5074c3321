// SPDX-License-Identifier: BSD-2-Clause
// Modules of the fake cards, and launches.
#include <sstream>

#include "fake_state.hpp"

using namespace oclspkt::cuda;
using namespace fake_driver;
using oclspkt::test::fake::Arguments;

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  IN_CONTEXT(cuModuleLoadData);
  std::istringstream text(static_cast<const char*>(code));
  std::string word, form, symmetry, scalar;
  int architecture = 0, version = 0, kind = 0;
  CUmod_st made{stack.back(), {}, {0, 0, 0}};
  text >> word >> form >> architecture >> version >> made.kernel.name >> scalar >> symmetry;
  if (word != "fake" || !text) return kInvalidImage;
  made.kernel.is_double = scalar == "double";
  made.kernel.symmetric = symmetry == "symmetric";
  while (text >> kind) {
    made.kernel.kinds.push_back(kind);
    made.signature.push_back(kind);
  }
  if (version / 1000 > fake().version / 1000) return form == "ptx" ? kTooNewPtx : kNoBinary;
  const int own = 10 * fake().major + fake().minor;
  if (form == "cubin" ? architecture != own : architecture > own) return kNoBinary;
  fake().last_module = form + " " + std::to_string(architecture);
  *module = new CUmod_st(made);
  fake().modules[*module] = std::make_unique<CUfunc_st>(CUfunc_st{*module});
  fake().memory[reinterpret_cast<CUdeviceptr>((*module)->signature.data())] = {made.signature.size() * sizeof(int),
                                                                               stack.back()->card, Kind::module};
  return kSuccess;
}
CUresult cuModuleUnload(CUmodule module) {
  IN_CONTEXT(cuModuleUnload);
  if (fake().modules.count(module) == 0) return wrong("unloading no module", kInvalidHandle);
  fake().memory.erase(reinterpret_cast<CUdeviceptr>(module->signature.data()));
  fake().modules.erase(module);
  delete module;
  return kSuccess;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  IN_CONTEXT(cuModuleGetFunction);
  if (fake().modules.count(module) == 0 || module->kernel.name != name) return kNotFound;
  *function = fake().modules[module].get();
  return kSuccess;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
  IN_CONTEXT(cuModuleGetGlobal_v2);
  if (fake().modules.count(module) == 0 || "oclspkt_parameters_" + module->kernel.name != name) return kNotFound;
  *address = reinterpret_cast<CUdeviceptr>(module->signature.data());
  *bytes = module->signature.size() * sizeof(int);
  return kSuccess;
}
CUresult cuFuncGetAttribute(int* value, int which, CUfunction /*function*/) {
  IN_CONTEXT(cuFuncGetAttribute);
  *value = which == kFunctionMaxThreads ? 1024 : 0;
  return kSuccess;
}
CUresult cuLaunchKernel(CUfunction function, unsigned groups, unsigned /*y*/, unsigned /*z*/, unsigned items,
                        unsigned /*items_y*/, unsigned /*items_z*/, unsigned /*local*/, CUstream stream, void** values,
                        void** /*extra*/) {
  IN_CONTEXT(cuLaunchKernel);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  if (fake().modules.count(function->module) == 0) return wrong("launching no kernel", kInvalidHandle);
  if (at->context != stack.back() || function->module->context != stack.back()) {
    return wrong("a launch in another context", kInvalidContext);
  }
  if (groups == 0 || items == 0 || items > 1024) return kInvalidValue;
  const FakeKernel kernel = function->module->kernel;
  const Arguments arguments(kernel, values);
  for (std::size_t i = 0; i < kernel.kinds.size(); ++i) {
    const CUdeviceptr address = kernel.kinds[i] == 1 ? arguments.address(i) : 0;
    if (address == 0) continue;
    const Allocation* held = allocation_of(address, 1);
    if (held == nullptr) {
      mistake("a kernel is given memory that is none");
    } else if (held->card != stack.back()->card) {
      mistake("a kernel is given memory of another card");
    }
  }
  enqueue(at, [=] {
    if (kernel.name != "tile_halo") return;
    const auto check = [](unsigned long long address, long long bytes) {
      touch(address, static_cast<std::size_t>(bytes));
    };
    if (kernel.is_double) {
      oclspkt::test::fake::run_tile_halo<double>(kernel, arguments, check);
    } else {
      oclspkt::test::fake::run_tile_halo<float>(kernel, arguments, check);
    }
  });
  return kSuccess;
}

}  // extern "C"

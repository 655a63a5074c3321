// SPDX-License-Identifier: BSD-2-Clause
#include "logged.hxx"

#include <mutex>

#include "check_flavour.hxx"
#include "pc_oclspkt.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

/// The state of the package. PetscFinalize() resets it, because the library stays mapped.
struct Package {
  bool initialized = false;
  PetscBool cited = PETSC_FALSE;
  Events events;
};
Package package;
/// Guards changes of `package`: in a PETSc with thread safety, any thread may make the first preconditioner. Readers of
/// events need no lock, because events do not change after the type is registered.
std::mutex package_lock;

const char kCitation[] =
    "@article{oclspkt2019,\n"
    "  author  = {Hamish J. Macintosh and Jasmine E. Banks and Neil A. Kelson},\n"
    "  title   = {Implementing and Evaluating an Heterogeneous, Scalable, Tridiagonal Linear System Solver with "
    "{OpenCL} to Target {FPGA}s, {GPU}s, and {CPU}s},\n"
    "  journal = {International Journal of Reconfigurable Computing},\n"
    "  volume  = {2019},\n"
    "  pages   = {3679839},\n"
    "  year    = {2019},\n"
    "  doi     = {10.1155/2019/3679839}\n"
    "}\n";

}  // namespace

const Events& events() { return package.events; }

PetscErrorCode Cite() {
  const std::lock_guard hold(package_lock);

  PetscFunctionBegin;
  PetscCall(PetscCitationsRegister(kCitation, &package.cited));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

using oclspkt::petsc::package;
using oclspkt::petsc::package_lock;

PetscErrorCode PCOCLSPKTFinalizePackage(void) {
  const std::lock_guard hold(package_lock);

  PetscFunctionBegin;
  package = {};
  OclspktCall(nullptr, oclspkt::petsc::finalize_types());
  OclspktCall(nullptr, oclspkt::release_devices());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTInitializePackage(void) {
  const std::lock_guard hold(package_lock);

  PetscFunctionBegin;
  if (package.initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(oclspkt::petsc::CheckFlavour());
  if (oclspkt::petsc::is_newer_than_tested(oclspkt::petsc::BuiltFlavour())) {
    PetscCall(PetscInfo(nullptr, "WARNING: this PETSc is newer than %d.%d, the newest that oclspkt was tested with\n",
                        oclspkt::petsc::kNewestTestedMajor, oclspkt::petsc::kNewestTestedMinor));
  }
  PetscCall(PCRegister(PCOCLSPKT, PCCreate_OCLSPKT));
  PetscCall(oclspkt::petsc::RegisterFactor());
  OclspktCall(nullptr, oclspkt::petsc::register_types());
  PetscCall(PetscLogEventRegister("OCLSPKTSetUp", PC_CLASSID, &package.events.set_up));
  PetscCall(PetscLogEventRegister("OCLSPKTBands", PC_CLASSID, &package.events.bands));
  PetscCall(PetscLogEventRegister("OCLSPKTSolve", PC_CLASSID, &package.events.solve));
  PetscCall(PetscLogEventRegister("OCLSPKTDegraded", PC_CLASSID, &package.events.degraded));
  PetscCall(PetscLogEventRegister("OCLSPKTToDevice", VEC_CLASSID, &package.events.up));
  PetscCall(PetscLogEventRegister("OCLSPKTToHost", VEC_CLASSID, &package.events.down));
  /* These events are not collective: a single rank may lose its device or make a copy. */
  for (const PetscLogEvent event : {package.events.degraded, package.events.up, package.events.down}) {
    PetscCall(PetscLogEventSetCollective(event, PETSC_FALSE));
  }
  PetscCall(PetscRegisterFinalize(PCOCLSPKTFinalizePackage));
  package.initialized = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

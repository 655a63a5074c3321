// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// Names and types that changed between releases of PETSc. No other file depends on the release.

#include <petscdevice.h>

#include <petsc/private/pcimpl.h>

#include <dlfcn.h>

#include "oclspkt/device_handles.hpp"

#if PETSC_VERSION_LT(3, 18, 0)
#error "oclspkt needs PETSc 3.18 or newer"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

/// True if PETSc has VecErrorWeightedNorms() as an operation of vector types.
#define OCLSPKT_HAS_ERROR_NORMS PETSC_VERSION_GE(3, 20, 0)

#if PETSC_VERSION_LT(3, 23, 0)
using OclspktOptionItems = PetscOptionItems*;
#else
using OclspktOptionItems = PetscOptionItems;
#endif

#if PETSC_VERSION_LT(3, 24, 0)
#define OCLSPKT_MPI_BOOL MPIU_BOOL
#else
#define OCLSPKT_MPI_BOOL MPI_C_BOOL
#endif

/// Call MPIU_Allreduce(), which returns an error code of PETSc or of MPI, depending on the release.
#if PETSC_VERSION_LT(3, 23, 0)
#define OclspktAllreduce(...) PetscCall(MPIU_Allreduce(__VA_ARGS__))
#else
#define OclspktAllreduce(...) PetscCallMPI(MPIU_Allreduce(__VA_ARGS__))
#endif

/// Call the program's function of PCSetPreSolve(), because PETSc calls only the type's function if both exist. PETSc
/// 3.24 has no PCSetPreSolve().
inline PetscErrorCode OclspktOwnPreSolve(PC pc, KSP ksp) {
#if PETSC_VERSION_LT(3, 24, 0)
  return pc->presolve ? (*pc->presolve)(pc, ksp) : PETSC_SUCCESS;
#else
  (void)pc, (void)ksp;
  return PETSC_SUCCESS;
#endif
}

/// True if CG that meets a negative curvature has converged (KSPSetConvergedNegativeCurve() of newer releases).
template <typename Solver>
bool OclspktConvergesByCurvature(Solver ksp) {
  if constexpr (requires { ksp->converged_neg_curve; }) return ksp->converged_neg_curve;
  return false;
}
/// PCGetDiagonalScale(), which the newest releases lack.
template <typename Preconditioner>
bool OclspktScalesSystem(Preconditioner pc) {
  if constexpr (requires { pc->diagonalscale; }) return pc->diagonalscale;
  return false;
}
/// KSP_CONVERGED_NEG_CURVE, which PETSc 3.18 calls KSP_CONVERGED_CG_NEG_CURVE.
#define OCLSPKT_CONVERGED_NEG_CURVE static_cast<KSPConvergedReason>(5)

/// Log flops of a device. A PETSc that was built for GPUs counts these flops separately from flops of the host.
inline PetscErrorCode OclspktLogGpuFlops(PetscLogDouble flops) {
#if PetscDefined(HAVE_DEVICE)
  return PetscLogGpuFlops(flops);
#else
  return PetscLogFlops(flops);
#endif
}

/// Add messages to the counts of -log_view, at the sender and at the receiver, as PETSc does.
/// @param bytes  total over all messages
inline void OclspktCountMessage(PetscLogDouble messages, PetscLogDouble bytes) {
#if !PetscDefined(USE_LOG)
  (void)messages, (void)bytes;
#elif defined(PetscAddLogDouble) /* events use the counts of their thread */
  (void)PetscAddLogDouble(&petsc_isend_ct, &petsc_isend_ct_th, messages);
  (void)PetscAddLogDouble(&petsc_irecv_ct, &petsc_irecv_ct_th, messages);
  (void)PetscAddLogDouble(&petsc_isend_len, &petsc_isend_len_th, bytes);
  (void)PetscAddLogDouble(&petsc_irecv_len, &petsc_irecv_len_th, bytes);
#else
  petsc_isend_ct += messages;
  petsc_irecv_ct += messages;
  petsc_isend_len += bytes;
  petsc_irecv_len += bytes;
#endif
}

/// Fill a vector with Inf, by which the outer solver recognises a failed preconditioner. Collective.
inline PetscErrorCode OclspktVecSetInf(Vec vector) {
#if PETSC_VERSION_LT(3, 22, 0)
  return VecSetInf(vector);
#else
  return VecFlag(vector, 1);
#endif
}

#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 19, 0)
/// Get the CUDA stream of the current device context. Without CUDA in PETSc, the queue stays unchanged.
inline PetscErrorCode OclspktCudaQueue(oclspkt::DeviceQueue* queue) {
  PetscDeviceContext context;
  PetscDeviceType type;
  void* stream = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDeviceType(context, &type));
  if (type == PETSC_DEVICE_CUDA) {
    void** handle; /* address of the stream */
    PetscCall(PetscDeviceContextGetStreamHandle(context, (void**)&handle));
    stream = *handle;
  }
  *queue = {oclspkt::DeviceQueue::Kind::cuda, stream};
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
inline PetscErrorCode OclspktCudaQueue(oclspkt::DeviceQueue*) { return PETSC_SUCCESS; }
#endif

#if PetscDefined(HAVE_CUDA) && PetscDefined(HAVE_KOKKOS) && !PetscDefined(HAVE_KOKKOS_WITHOUT_GPU)
/// Get the stream of Kokkos's vectors. It belongs to the device context in which Kokkos began, which may differ from
/// the current context. Only nvcc compiles the header of PetscGetKokkosExecutionSpace().cuda_stream(), so this function
/// looks up the symbols.
inline PetscErrorCode OclspktKokkosQueue(oclspkt::DeviceQueue* queue) {
  static void* const* const space = (void* const*)dlsym(RTLD_DEFAULT, "PetscKokkosExecutionSpacePtr");
  static void* (*const stream_of)(const void*) =
      (void* (*)(const void*))dlsym(RTLD_DEFAULT, "_ZNK6Kokkos4Cuda11cuda_streamEv");

  PetscFunctionBegin;
  PetscCall(OclspktCudaQueue(queue));
  if (*queue && space && *space && stream_of) queue->handle = stream_of(*space);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
inline PetscErrorCode OclspktKokkosQueue(oclspkt::DeviceQueue* queue) { return OclspktCudaQueue(queue); }
#endif

#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
#define OclspktDenseRead MatDenseGetArrayReadAndMemType
#define OclspktDenseWrite MatDenseGetArrayWriteAndMemType
#define OclspktDenseRestoreRead MatDenseRestoreArrayReadAndMemType
#define OclspktDenseRestoreWrite MatDenseRestoreArrayWriteAndMemType
#else
/// In this build of PETSc, columns of a dense matrix are available in host memory only.
inline PetscErrorCode OclspktDenseRead(Mat matrix, const PetscScalar** array, PetscMemType* type) {
  *type = PETSC_MEMTYPE_HOST;
  return MatDenseGetArrayRead(matrix, array);
}
inline PetscErrorCode OclspktDenseWrite(Mat matrix, PetscScalar** array, PetscMemType* type) {
  *type = PETSC_MEMTYPE_HOST;
  return MatDenseGetArrayWrite(matrix, array);
}
#define OclspktDenseRestoreRead MatDenseRestoreArrayRead
#define OclspktDenseRestoreWrite MatDenseRestoreArrayWrite
#endif

#if PetscDefined(HAVE_VIENNACL) && PetscDefined(HAVE_OPENCL)
/// Functions of libOpenCL, which a PETSc with ViennaCL loads. They are weak because this library is not linked with it.
extern "C" {
[[gnu::weak]] int clReleaseCommandQueue(_cl_command_queue*);
[[gnu::weak]] int clReleaseMemObject(_cl_mem*);
}

/// Get the queue of ViennaCL; none if its vectors lie on the host. The queue lives as long as the process.
inline PetscErrorCode OclspktViennaCLQueue(Vec vector, oclspkt::DeviceQueue* queue) {
  char backend[20];
  PetscBool given, opencl = PETSC_FALSE;
  PETSC_UINTPTR_T handle = 0;

  PetscFunctionBegin;
  *queue = {};
  PetscCall(PetscOptionsGetString(NULL, NULL, "-viennacl_backend", backend, sizeof backend, &given));
  if (given) PetscCall(PetscStrcasecmp(backend, "opencl", &opencl));
  if (given && !opencl) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecViennaCLGetCLQueue(vector, &handle));
  *queue = {oclspkt::DeviceQueue::Kind::opencl, reinterpret_cast<void*>(handle)};
  clReleaseCommandQueue(reinterpret_cast<_cl_command_queue*>(handle)); /* callers own a reference (PETSc's manual) */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Get the device memory of a vector. The memory lives as long as the vector.
inline PetscErrorCode OclspktViennaCLGet(Vec vector, PetscErrorCode (*get)(Vec, PETSC_UINTPTR_T*), void** memory) {
  PETSC_UINTPTR_T handle = 0;

  PetscFunctionBegin;
  PetscCall((*get)(vector, &handle));
  *memory = reinterpret_cast<void*>(handle);
  clReleaseMemObject(reinterpret_cast<_cl_mem*>(handle)); /* callers own a reference (PETSc's manual) */
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode OclspktViennaCLRead(Vec vector, void** memory) {
  return OclspktViennaCLGet(vector, VecViennaCLGetCLMemRead, memory);
}
inline PetscErrorCode OclspktViennaCLWrite(Vec vector, void** memory) {
  return OclspktViennaCLGet(vector, VecViennaCLGetCLMemWrite, memory);
}
inline PetscErrorCode OclspktViennaCLRestoreWrite(Vec vector) { return VecViennaCLRestoreCLMemWrite(vector); }
#else
inline PetscErrorCode OclspktViennaCLQueue(Vec, oclspkt::DeviceQueue*) { return PETSC_SUCCESS; }
inline PetscErrorCode OclspktViennaCLRead(Vec, void**) { return PETSC_ERR_SUP; }
inline PetscErrorCode OclspktViennaCLWrite(Vec, void**) { return PETSC_ERR_SUP; }
inline PetscErrorCode OclspktViennaCLRestoreWrite(Vec) { return PETSC_ERR_SUP; }
#endif

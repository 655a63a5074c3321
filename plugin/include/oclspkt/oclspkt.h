/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OCLSPKT_H
#define OCLSPKT_H

#include <petscpc.h>

/* The preconditioner PCOCLSPKT for programs that use PETSc. Link the library for your PETSc (target
   oclspkt::petsc, pkg-config oclspkt) and call PCOCLSPKTInitializePackage() after PetscInitialize(); programs that load
   liboclspkt.so with -dll_append need neither.
   Each function has a page in docs/manual. */

#define PCOCLSPKT "oclspkt"

/* The words of -pc_oclspkt_method and its like, indexed by the values below. */
typedef enum {
  PC_OCLSPKT_METHOD_AUTO,
  PC_OCLSPKT_METHOD_TRUNCATED,
  PC_OCLSPKT_METHOD_TRUNCATED_HALO,
  PC_OCLSPKT_METHOD_TRUNCATED_STREAMED,
  PC_OCLSPKT_METHOD_EXACT,
  PC_OCLSPKT_METHOD_EXACT_TWOPASS,
  PC_OCLSPKT_METHOD_EXACT_FACTORED,
  PC_OCLSPKT_METHOD_PIVOT
} PCOCLSPKTMethod;
PETSC_EXTERN const char* const PCOCLSPKTMethods[];

typedef enum { PC_OCLSPKT_PRECISION_SAME, PC_OCLSPKT_PRECISION_NARROW } PCOCLSPKTPrecision;
PETSC_EXTERN const char* const PCOCLSPKTPrecisions[];

typedef enum {
  PC_OCLSPKT_ON_DEVICE_FAILURE_DEGRADE,
  PC_OCLSPKT_ON_DEVICE_FAILURE_QUIET,
  PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR
} PCOCLSPKTOnDeviceFailure;
PETSC_EXTERN const char* const PCOCLSPKTOnDeviceFailures[];

typedef enum { PC_OCLSPKT_SINGULAR_AUTO, PC_OCLSPKT_SINGULAR_FAIL, PC_OCLSPKT_SINGULAR_PIN } PCOCLSPKTSingular;
PETSC_EXTERN const char* const PCOCLSPKTSingulars[];

typedef enum { PC_OCLSPKT_ABOVE_BOUND_WARN, PC_OCLSPKT_ABOVE_BOUND_ERROR } PCOCLSPKTAboveBound;
PETSC_EXTERN const char* const PCOCLSPKTAboveBounds[];

typedef enum { PC_OCLSPKT_TRANSFER_AUTO, PC_OCLSPKT_TRANSFER_COPY } PCOCLSPKTTransfer;
PETSC_EXTERN const char* const PCOCLSPKTTransfers[];

typedef enum {
  PC_OCLSPKT_COMBINE_ADDITIVE,
  PC_OCLSPKT_COMBINE_FACTORED,
  PC_OCLSPKT_COMBINE_SYMMETRIC,
  PC_OCLSPKT_COMBINE_MULTIPLICATIVE
} PCOCLSPKTCombine;
PETSC_EXTERN const char* const PCOCLSPKTCombines[];

typedef enum { PC_OCLSPKT_DIAGONAL_FULL, PC_OCLSPKT_DIAGONAL_SPLIT } PCOCLSPKTDiagonal;
PETSC_EXTERN const char* const PCOCLSPKTDiagonals[];

typedef enum { PC_OCLSPKT_IGNORED_IGNORE, PC_OCLSPKT_IGNORED_WARN, PC_OCLSPKT_IGNORED_ERROR } PCOCLSPKTIgnored;
PETSC_EXTERN const char* const PCOCLSPKTIgnoreds[];

PETSC_EXTERN PetscErrorCode PCOCLSPKTInitializePackage(void);
PETSC_EXTERN PetscErrorCode PCOCLSPKTFinalizePackage(void);

/* Settings; a change takes effect at the next PCSetUp(). Setters do nothing for other types of PC. */
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetDirections(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDirections(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetCombine(PC, PCOCLSPKTCombine);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetCombine(PC, PCOCLSPKTCombine*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetDiagonal(PC, PCOCLSPKTDiagonal);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDiagonal(PC, PCOCLSPKTDiagonal*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetIgnored(PC, PCOCLSPKTIgnored);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetIgnored(PC, PCOCLSPKTIgnored*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetDevices(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDevices(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetBalance(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetBalance(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetProfile(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetProfile(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetFpgaBinary(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetFpgaBinary(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetFpgaBanks(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetFpgaBanks(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetEnergy(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetEnergy(PC, PetscBool*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetRatedPower(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetRatedPower(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetReproducible(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetReproducible(PC, PetscBool*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetChunk(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetChunk(PC, PetscInt*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetMethod(PC, PCOCLSPKTMethod);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetMethod(PC, PCOCLSPKTMethod*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetVariant(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetVariant(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetPrecision(PC, PCOCLSPKTPrecision);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetPrecision(PC, PCOCLSPKTPrecision*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetRtol(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetRtol(PC, PetscReal*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetPartition(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetPartition(PC, PetscInt*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetDeviceMemory(PC, PetscInt64);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDeviceMemory(PC, PetscInt64*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetTimeout(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetTimeout(PC, PetscReal*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetOnDeviceFailure(PC, PCOCLSPKTOnDeviceFailure);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetOnDeviceFailure(PC, PCOCLSPKTOnDeviceFailure*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetSingular(PC, PCOCLSPKTSingular);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetSingular(PC, PCOCLSPKTSingular*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetAboveBound(PC, PCOCLSPKTAboveBound);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetAboveBound(PC, PCOCLSPKTAboveBound*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetTransfer(PC, PCOCLSPKTTransfer);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetTransfer(PC, PCOCLSPKTTransfer*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetGatherLimit(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetGatherLimit(PC, PetscInt*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetExplain(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetExplain(PC, PetscBool*);

/* Data that only a program can set. */
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetLines(PC, IS, IS, IS);
PETSC_EXTERN PetscErrorCode PCOCLSPKTSetBands(PC, const char[], Vec, Vec, Vec);

/* Results of the last PCSetUp(); to call these before it is an error. Functions with "Direction" in their name take one
   of the directions that PCOCLSPKTGetDirectionsUsed() lists; the others report on all directions. */
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDirectionsUsed(PC, const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetMethodUsed(PC, const char*[], const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDeviceUsed(PC, const char*[], const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetCertificate(PC, PetscReal*, PetscReal*, PetscReal*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetIgnoredEntries(PC, PetscInt64*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDirectionMethodUsed(PC, const char[], const char*[], const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDirectionDeviceUsed(PC, const char[], const char*[], const char*[]);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDirectionCertificate(PC, const char[], PetscReal*, PetscReal*, PetscReal*);
PETSC_EXTERN PetscErrorCode PCOCLSPKTGetDirectionIgnoredEntries(PC, const char[], PetscInt64*);

#endif

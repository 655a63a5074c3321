! SPDX-License-Identifier: BSD-2-Clause
! One function of each kind of argument in both directions, and errors that come back as codes.
program fortran_test
#include <petsc/finclude/petscksp.h>
  use petscksp
  use oclspkt
  implicit none
  PetscInt, parameter :: n = 3, first = 0, last = 2
  character(len=16) :: text, why
  character(len=4) :: short
  PetscEnum :: method
  PetscReal :: real_value, rounding, tolerance
  PetscInt :: rows, i
  PetscInt64 :: bytes, ignored
  PetscBool :: flag
  PetscErrorCode :: ierr
  PC :: pc, never_created
  Mat :: A

  PetscCallA(PetscInitialize(ierr))
  PetscCallA(PCOCLSPKTInitializePackage(ierr))
  PetscCallA(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, n, PETSC_NULL_INTEGER, A, ierr))
  do i = 0, n - 1
    PetscCallA(MatSetValue(A, i, i, 4.0_8, INSERT_VALUES, ierr))
  end do
  PetscCallA(MatSetValue(A, first, last, 1.0_8, INSERT_VALUES, ierr))
  PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(PCCreate(PETSC_COMM_SELF, pc, ierr))
  PetscCallA(PCSetType(pc, PCOCLSPKT, ierr))
  PetscCallA(PCSetOperators(pc, A, A, ierr))

  PetscCallA(PCOCLSPKTSetDevices(pc, 'host   ', ierr))
  PetscCallA(PCOCLSPKTGetDevices(pc, text, ierr))
  call check(text == 'host', 'text comes back without the blanks behind it')
  PetscCallA(PCOCLSPKTGetVariant(pc, short, ierr))
  call check(short == 'defa', 'long text is cut to the variable')
  PetscCallA(PCOCLSPKTSetMethod(pc, PC_OCLSPKT_METHOD_PIVOT, ierr))
  PetscCallA(PCOCLSPKTGetMethod(pc, method, ierr))
  call check(method == PC_OCLSPKT_METHOD_PIVOT, 'enumerations')
  PetscCallA(PCOCLSPKTSetRtol(pc, 0.25_8, ierr))
  PetscCallA(PCOCLSPKTGetRtol(pc, real_value, ierr))
  call check(real_value == 0.25_8, 'real numbers')
  PetscCallA(PCOCLSPKTSetPartition(pc, 16*n, ierr))
  PetscCallA(PCOCLSPKTGetPartition(pc, rows, ierr))
  call check(rows == 48, 'integers')
  PetscCallA(PCOCLSPKTSetDeviceMemory(pc, 6000000000_8, ierr))
  PetscCallA(PCOCLSPKTGetDeviceMemory(pc, bytes, ierr))
  call check(bytes == 6000000000_8, 'integers of 64 bits')
  PetscCallA(PCOCLSPKTSetExplain(pc, PETSC_TRUE, ierr))
  PetscCallA(PCOCLSPKTGetExplain(pc, flag, ierr))
  call check(flag, 'switches that are on')
  PetscCallA(PCOCLSPKTSetExplain(pc, PETSC_FALSE, ierr))
  PetscCallA(PCOCLSPKTGetExplain(pc, flag, ierr))
  call check(.not. flag, 'switches that are off')

  PetscCallA(PCSetUp(pc, ierr))
  PetscCallA(PCOCLSPKTGetMethodUsed(pc, text, why, ierr))
  call check(text == 'pivot' .and. why /= ' ', 'the method used')
  PetscCallA(PCOCLSPKTGetCertificate(pc, real_value, rounding, tolerance, ierr))
  call check(real_value == 0 .and. rounding > 0 .and. rounding <= 100 .and. tolerance == 0.25_8, 'the certificate')
  PetscCallA(PCOCLSPKTGetIgnoredEntries(pc, ignored, ierr))
  call check(ignored == 1, 'entries off the bands')
  PetscCallA(PCOCLSPKTGetDirectionsUsed(pc, text, ierr))
  call check(text == 'matrix', 'the directions')
  PetscCallA(PCOCLSPKTGetDirectionMethodUsed(pc, 'matrix', text, why, ierr))
  call check(text == 'pivot' .and. why /= ' ', 'the method of a direction')
  PetscCallA(PCOCLSPKTGetDirectionDeviceUsed(pc, 'matrix', text, short, ierr))
  call check(text == 'host' .and. short == 'host', 'the device of a direction')
  PetscCallA(PCOCLSPKTGetDirectionCertificate(pc, 'matrix', real_value, rounding, tolerance, ierr))
  call check(real_value == 0 .and. rounding > 0 .and. tolerance == 0.25_8, 'the certificate of a direction')
  PetscCallA(PCOCLSPKTGetDirectionIgnoredEntries(pc, 'matrix', ignored, ierr))
  call check(ignored == 1, 'entries off the bands of a direction')

  PetscCallA(PetscPushErrorHandler(PetscIgnoreErrorHandler, PETSC_NULL_INTEGER, ierr))
  call PCOCLSPKTGetDirectionMethodUsed(pc, 'y', text, why, ierr)
  call check(ierr /= 0, 'a direction that is not there is an error')
  call PCOCLSPKTSetPartition(pc, -last, ierr)
  call check(ierr /= 0, 'a value that makes no sense is an error')
  call PCOCLSPKTSetRtol(never_created, 0.5_8, ierr)
  call check(ierr == PETSC_ERR_ARG_NULL, 'an object that was never created is an error')
  call PCOCLSPKTGetDevices(PETSC_NULL_PC, text, ierr)
  call check(ierr == PETSC_ERR_ARG_NULL .and. text == ' ', 'a null object is an error')
  PetscCallA(PetscPopErrorHandler(ierr))

  PetscCallA(PCDestroy(pc, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(PetscFinalize(ierr))

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print *, 'failed: ', what
    error stop 1
  end subroutine
end program

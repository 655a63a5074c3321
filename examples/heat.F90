! SPDX-License-Identifier: BSD-2-Clause
! The heat equation in one dimension by Crank-Nicolson, every step solved by oclspkt.
!
!   u_t = u_xx on (0,1), u(t,0) = u(t,1) = 0, u(0,x) = sin(pi x)
!
! The start is an eigenvector of the second difference, so every step multiplies it by the same known number.
!   -n <rows>      points inside the interval
!   -steps <count> time steps
!   -end <time>    where to stop
program heat
#include <petsc/finclude/petscksp.h>
  use petscksp
  use oclspkt
  implicit none
  PetscReal, parameter :: pi = acos(-1.0_8)
  PetscInt :: n, steps, step
  PetscReal :: end_time, h, dt, mu, factor, error
  PetscBool :: given
  PetscErrorCode :: ierr
  Mat :: explicit_half, implicit_half
  Vec :: u, right, exact
  KSP :: solver
  PC :: preconditioner

  PetscCallA(PetscInitialize(ierr))
  PetscCallA(PCOCLSPKTInitializePackage(ierr))
  n = 1000
  steps = 100
  end_time = 0.1
  PetscCallA(PetscOptionsGetInt(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-n', n, given, ierr))
  PetscCallA(PetscOptionsGetInt(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-steps', steps, given, ierr))
  PetscCallA(PetscOptionsGetReal(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-end', end_time, given, ierr))
  if (n < 1 .or. steps < 1 .or. .not. end_time > 0) error stop '-n, -steps and -end must be positive'
  h = 1.0_8/(n + 1)
  dt = end_time/steps

  call create_matrix(dt/(2*h**2), implicit_half)
  call create_matrix(-dt/(2*h**2), explicit_half)
  PetscCallA(MatCreateVecs(implicit_half, u, right, ierr))
  PetscCallA(VecDuplicate(u, exact, ierr))
  call set_sine(u)
  call set_sine(exact)

  PetscCallA(KSPCreate(PETSC_COMM_SELF, solver, ierr))
  PetscCallA(KSPSetOperators(solver, implicit_half, implicit_half, ierr))
  PetscCallA(KSPSetType(solver, KSPPREONLY, ierr))
  PetscCallA(KSPGetPC(solver, preconditioner, ierr))
  PetscCallA(PCSetType(preconditioner, PCOCLSPKT, ierr))
  PetscCallA(KSPSetFromOptions(solver, ierr))
  do step = 1, steps
    PetscCallA(MatMult(explicit_half, u, right, ierr))
    PetscCallA(KSPSolve(solver, right, u, ierr))
  end do

  call report()
  mu = (2*sin(pi*h/2)/h)**2
  factor = ((1 - dt*mu/2)/(1 + dt*mu/2))**steps
  PetscCallA(VecAXPY(u, -factor, exact, ierr))
  PetscCallA(VecNorm(u, NORM_INFINITY, error, ierr))
  print '(i0, a, i0, a, es9.2)', n, ' rows, ', steps, ' steps, largest error ', error
  ! A step multiplies the rounding of the one before by at most 1 and adds that of products as large as dt / h^2.
  if (.not. error <= epsilon(error)*steps*(4 + dt/h**2)) error stop 'the answer is wrong'

  PetscCallA(KSPDestroy(solver, ierr))
  PetscCallA(VecDestroy(exact, ierr))
  PetscCallA(VecDestroy(right, ierr))
  PetscCallA(VecDestroy(u, ierr))
  PetscCallA(MatDestroy(explicit_half, ierr))
  PetscCallA(MatDestroy(implicit_half, ierr))
  PetscCallA(PetscFinalize(ierr))

contains

  ! 1 + weight (2 u_i - u_(i-1) - u_(i+1)) with zero boundary values.
  subroutine create_matrix(weight, A)
    PetscReal, intent(in) :: weight
    Mat, intent(out) :: A
    PetscInt :: i, columns(3), first, last
    PetscInt, parameter :: one = 1
    PetscScalar :: values(3)
    values = [-weight, 1 + 2*weight, -weight]
    PetscCallA(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, size(columns, kind=kind(n)), PETSC_NULL_INTEGER, A, ierr))
    do i = 0, n - 1
      columns = [i - 1, i, i + 1]
      first = merge(2, 1, i == 0)
      last = merge(2, 3, i == n - 1)
      PetscCallA(MatSetValues(A, one, [i], last - first + 1, columns(first:last), values(first:last), INSERT_VALUES, ierr))
    end do
    PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
    PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  end subroutine

  subroutine set_sine(x)
    Vec, intent(inout) :: x
    PetscScalar, pointer :: values(:)
    PetscInt :: i
    PetscCallA(VecGetArrayF90(x, values, ierr))
    values = [(sin(pi*h*i), i=1, n)]
    PetscCallA(VecRestoreArrayF90(x, values, ierr))
  end subroutine

  ! Which method and device oclspkt took; another PC may have been asked for by option.
  subroutine report()
    character(len=256) :: method, why, device, device_type
    PCType :: chosen
    PetscCallA(PCGetType(preconditioner, chosen, ierr))
    if (chosen /= PCOCLSPKT) return
    PetscCallA(PCOCLSPKTGetMethodUsed(preconditioner, method, why, ierr))
    PetscCallA(PCOCLSPKTGetDeviceUsed(preconditioner, device, device_type, ierr))
    print '(5a)', 'solved by ', trim(method), ' (', trim(why), ')'
    print '(5a)', 'on ', trim(device), ' (', trim(device_type), ')'
  end subroutine
end program

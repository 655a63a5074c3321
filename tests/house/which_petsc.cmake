# SPDX-License-Identifier: BSD-2-Clause
# Which PETSc find_package(oclspkt) takes: the one of PETSC_DIR if it is set, as PETSc's own makefiles do.
#   cmake -DPREFIX=... -DOUTSIDE=... -DWORK=... -P which_petsc.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
unset(ENV{PETSC_ARCH})
unset(ENV{PETSC_DIR})

# outside(MATCHES...): the output, on any end, must match each.
function(outside)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${OUTSIDE} -B ${WORK} -DCMAKE_PREFIX_PATH=${PREFIX} -DLANGUAGE=C
                  OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  foreach(pattern IN LISTS ARGN)
    if(NOT said MATCHES "${pattern}")
      message(SEND_ERROR "no match of '${pattern}' with PETSC_DIR=$ENV{PETSC_DIR} in: ${said}")
    endif()
  endforeach()
endfunction()

outside("oclspkt: PETSc [0-9.]+-real in ")
set(ENV{PETSC_DIR} ${WORK}/nowhere)
outside("There is no PETSc in PETSC_DIR=.*nowhere.*: build PETSc there, or set PETSC_DIR")
set(other /usr/lib/petscdir/petsc64-real)
if(EXISTS ${other}/lib/pkgconfig/PETSc.pc)
  set(takes_other "oclspkt: PETSc [0-9.]+-real-64 in |of the kind [0-9.]+-real-64, for which none is installed")
  set(ENV{PETSC_DIR} ${other})
  outside("${takes_other}")
  # It stays that of the build folder.
  unset(ENV{PETSC_DIR})
  outside("${takes_other}")
  set(ENV{PETSC_DIR} ${WORK}/nowhere)
  outside("${takes_other}" "This build folder belongs to PETSC_DIR=${other}")
endif()

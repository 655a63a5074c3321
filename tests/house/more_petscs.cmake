# SPDX-License-Identifier: BSD-2-Clause
# Which builds of PETSc the plugin is built for: the ones of Debian by themselves, others by name, mistakes with the cure.
#   cmake -DSOURCE=... -DLIBRARIES=... -DWORK=... -P more_petscs.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
unset(ENV{PETSC_DIR})
unset(ENV{PETSC_ARCH})
set(debian /usr/lib/petscdir)

# configure(SETTING MATCHES...): the output, on any end, must match each.
function(configure setting)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK} -DOCLSPKT_SOLVER_FOLDER=${LIBRARIES}
                          -DOCLSPKT_WITH_FORTRAN=OFF ${setting} OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  foreach(pattern IN LISTS ARGN)
    if(NOT said MATCHES "${pattern}")
      message(SEND_ERROR "no match of '${pattern}' with ${setting} in: ${said}")
    endif()
  endforeach()
endfunction()

if(EXISTS ${debian}/petsc64-real/lib/pkgconfig/PETSc.pc)
  configure(-DOCLSPKT_MORE_PETSCS=auto "oclspkt: PETSc [0-9.]+-real in .*oclspkt: also PETSc [0-9.]+-real-64 in ")
  configure("-DOCLSPKT_MORE_PETSCS=${debian}/petsc64-real" "oclspkt: also PETSc [0-9.]+-real-64 in ")
endif()
if(EXISTS ${debian}/petsc-complex/lib/pkgconfig/PETSc.pc)
  configure(-DOCLSPKT_MORE_PETSCS=${debian}/petsc-complex "oclspkt: also PETSc [0-9.]+-complex in ")
endif()
configure(-DOCLSPKT_MORE_PETSCS=${debian}/petsc-real "of the kind [0-9.]+-real, as another one is")
configure(-DOCLSPKT_MORE_PETSCS=nowhere "There is no PETSc in .*nowhere")
configure("-DOCLSPKT_MORE_PETSCS=;-DOCLSPKT_SOLVER_FOLDER=${WORK}" "There is no liboclspkt-solver.so.* in OCLSPKT_SOLVER_FOLDER")

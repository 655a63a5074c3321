# SPDX-License-Identifier: BSD-2-Clause
# Each room is a target of its own: what ninja would run for it in an empty build folder compiles that room alone. The
# folder is left for static analysis.
#   cmake -DSOURCE=... -DWORK=... -DPARTS=petsc,opencl -DMADE=... -P rooms.cmake
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" PARTS "${PARTS}")
file(REMOVE_RECURSE ${WORK})
find_program(NINJA ninja REQUIRED)
# As many files at a time as the sanitizers' build has: half the time of clang-tidy, which reads the headers for each unit.
set(switches -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 -DOCLSPKT_TESTS=OFF -DOCLSPKT_BENCH=OFF -DOCLSPKT_EXAMPLES=OFF -DOCLSPKT_MORE_PETSCS=)
foreach(part PETSC OPENCL)
  string(TOLOWER ${part} name)
  if(NOT name IN_LIST PARTS)
    list(APPEND switches -DOCLSPKT_WITH_${part}=OFF)
  endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK} ${switches} OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${SOURCE}/.clang-tidy DESTINATION ${WORK})

# rooms_of(TARGET OUT): the folders under plugin/ whose sources the target compiles.
function(rooms_of target out)
  execute_process(COMMAND ${NINJA} -C ${WORK} -t commands ${target} OUTPUT_VARIABLE steps
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "plugin/[a-z]+/CMakeFiles/[^ ]+\\.o -c " compiled "${steps}")
  list(TRANSFORM compiled REPLACE "plugin/([a-z]+)/.*" "\\1")
  list(REMOVE_DUPLICATES compiled)
  list(SORT compiled)
  set(${out} "${compiled}" PARENT_SCOPE)
endfunction()

set(targets core power balance solver)
set(expected_core core)
set(expected_power power)
set(expected_balance balance)
set(expected_solver solver)
set(expected_solver_shared balance core power solver)
list(APPEND targets solver_shared)
if("opencl" IN_LIST PARTS)
  list(APPEND targets ocl cuda)
  set(expected_ocl ocl)
  set(expected_cuda cuda)
endif()
if("petsc" IN_LIST PARTS)
  file(COPY ${MADE} DESTINATION ${WORK})  # headers that a build makes, for static analysis
  list(APPEND targets petsc)
  set(expected_petsc balance core petsc power solver)
endif()
foreach(target IN LISTS targets)
  rooms_of(oclspkt_${target} rooms)
  if(NOT rooms STREQUAL expected_${target})
    message(SEND_ERROR "oclspkt_${target} compiles '${rooms}', expected '${expected_${target}}'")
  endif()
endforeach()

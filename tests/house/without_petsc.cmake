# SPDX-License-Identifier: BSD-2-Clause
# Without PETSc the libraries and the examples are made by steps that the build with PETSc has, too, each to the letter, and
# out of the same generated files: what comes of them there comes of them here. Only what differs would have to be built.
#   cmake -DSOURCE=... -DBUILD=... -DWORK=... "-DSETTINGS=-D...,-D..." -P without_petsc.cmake
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" SETTINGS "${SETTINGS}")
file(REMOVE_RECURSE ${WORK})
find_program(NINJA ninja REQUIRED)
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK} -DOCLSPKT_WITH_PETSC=OFF -DOCLSPKT_TESTS=ON
                        -DOCLSPKT_EXAMPLES=ON -DOCLSPKT_BENCH=OFF ${SETTINGS}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# steps_of(FOLDER OUT [TARGET...]): the commands that make the targets, or all, as they would read in BUILD.
function(steps_of folder out)
  execute_process(COMMAND ${NINJA} -C ${folder} -t commands ${ARGN} OUTPUT_VARIABLE steps COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "," steps "${steps}")
  string(REPLACE "[" "(" steps "${steps}")
  string(REPLACE "]" ")" steps "${steps}")
  string(REPLACE ${folder} ${BUILD} steps "${steps}")
  string(REPLACE "\n" ";" steps "${steps}")
  list(FILTER steps INCLUDE REGEX " ")
  list(FILTER steps EXCLUDE REGEX "^ninja: ")
  set(${out} "${steps}" PARENT_SCOPE)
endfunction()
steps_of(${BUILD} all)
steps_of(${WORK} steps plugin/all examples/all)
list(LENGTH steps count)
if(count LESS 20)
  message(SEND_ERROR "${count} steps make the libraries and the examples without PETSc: something is missing")
endif()
list(REMOVE_ITEM steps ${all})
foreach(step IN LISTS steps)
  message(SEND_ERROR "only the build without PETSc has the step: ${step}")
endforeach()

# What CMake writes and these steps read.
file(GLOB_RECURSE generated RELATIVE ${WORK} ${WORK}/plugin/*.cxx ${WORK}/plugin/*.c ${WORK}/plugin/*.[ch]pp ${WORK}/plugin/*.h)
list(LENGTH generated count)
if(count LESS 5)
  message(SEND_ERROR "${count} generated files are too few")
endif()
foreach(file IN LISTS generated)
  foreach(folder WORK BUILD)
    file(READ ${${folder}}/${file} text_${folder})
    string(REPLACE ${${folder}} "" text_${folder} "${text_${folder}}")
  endforeach()
  if(NOT text_WORK STREQUAL text_BUILD)
    message(SEND_ERROR "${file} differs without PETSc")
  endif()
endforeach()

# SPDX-License-Identifier: BSD-2-Clause
# PETSc's own example programs, compiled as they lie on disk and told to use the plugin by options alone.
# Where a link in the include folder leads tells where a distribution keeps the parts that all its builds share.
get_filename_component(petsc_shared ${OCLSPKT_PETSC_PRIVATE_DIR}/petsc/.. REALPATH)
find_path(OCLSPKT_PETSC_EXAMPLES ksp/ksp/tutorials/ex23.c
  HINTS ${petsc_shared}/.. ${PETSC_PREFIX} PATH_SUFFIXES share/petsc/examples/src src NO_DEFAULT_PATH)
if(NOT OCLSPKT_PETSC_EXAMPLES)
  message(FATAL_ERROR "PETSc's example sources, which the tests run, are not there: install them (Debian: "
                      "libpetsc3.18-dev-examples), set OCLSPKT_PETSC_EXAMPLES to their src folder, or configure with "
                      "-DOCLSPKT_TESTS=OFF")
endif()

# petsc_example(NAME SOURCE): the program foreign-NAME. Not ours, hence without our warnings and sanitizers.
function(petsc_example name source)
  add_executable(foreign-${name} ${OCLSPKT_PETSC_EXAMPLES}/${source})
  target_link_libraries(foreign-${name} PRIVATE PkgConfig::PETSC MPI::MPI_C m)
  target_compile_options(foreign-${name} PRIVATE -w)
endfunction()

# Those of C, Fortran and Python, a time step, blocks, lines of a grid and no OpenCL platform; `./run.sh test` leaves the
# others to `./run.sh test all`.
set(few ksp-ex23 ksp-ex1f petsc4py ts-ex3 bjacobi.3 lines.ksp-ex50.xy.3 without-platform)

# foreign_test(NAME PROGRAM...): the answer of PROGRAM with the plugin and with LU, on what `auto` takes and on a CPU
# device. CHECK goes to foreign.py, OUTER are options of the program, ANSWER the name of what PETSc 3.18 computed.
function(foreign_test name)
  cmake_parse_arguments(ARG "HOST_ONLY" "ANSWER" "CHECK;RUN;LABELS;ENV;OUTER" ${ARGN})
  if(ARG_ANSWER)
    list(APPEND ARG_CHECK --answers ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/answers.json --answer ${ARG_ANSWER})
  endif()
  list(JOIN ARG_OUTER " " outer)
  set(command ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/foreign.py --plugin ${plugin} --mpiexec ${MPIEXEC_EXECUTABLE}
              "--outer=${outer}" ${ARG_CHECK})
  if(NOT name IN_LIST few)
    list(APPEND ARG_LABELS full)
  endif()
  petsc_test(foreign.${name} COMMAND ${command} -- ${ARG_RUN} LABELS ${ARG_LABELS} ENV ${ARG_ENV})
  if(OCLSPKT_WITH_OPENCL AND NOT ARG_HOST_ONLY)
    petsc_test(foreign.${name}.cpu COMMAND ${command} --device cpu -- ${ARG_RUN} LABELS ${ARG_LABELS} ENV ${ARG_ENV})
    # Not for programs that PETSc may end with an error of its own, one of which has this number.
    set_tests_properties(petsc.foreign.${name}.cpu PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endfunction()

petsc_example(ksp-ex1 ksp/ksp/tutorials/ex1.c)
petsc_example(ksp-ex23 ksp/ksp/tutorials/ex23.c)
petsc_example(ksp-ex25 ksp/ksp/tutorials/ex25.c)
petsc_example(ksp-ex65 ksp/ksp/tutorials/ex65.c)
petsc_example(snes-ex2 snes/tutorials/ex2.c)
petsc_example(snes-ex3 snes/tutorials/ex3.c)
petsc_example(ts-ex2 ts/tutorials/ex2.c)
petsc_example(ts-ex3 ts/tutorials/ex3.c)
petsc_example(ts-ex4 ts/tutorials/ex4.c)
petsc_example(ts-ex22 ts/tutorials/ex22.c)
if(NOT OCLSPKT_PETSC_KIND MATCHES complex)  # whose Tao has no complementarity solvers
  petsc_example(tao-blackscholes tao/complementarity/tutorials/blackscholes.c)
endif()

set(one --one-iteration)
# foreign_on_ranks(NAME RANKS n... SOLUTION kind [OUTER ...]): the program foreign-NAME on several numbers of ranks.
function(foreign_on_ranks name)
  cmake_parse_arguments(ARG "" "SOLUTION" "RANKS;OUTER" ${ARGN})
  set(run RUN $<TARGET_FILE:foreign-${name}> OUTER ${ARG_OUTER})
  foreach(ranks IN LISTS ARG_RANKS)
    if(ranks EQUAL 1)
      foreign_test(${name} ANSWER ${name} CHECK --solution ${ARG_SOLUTION} ${one} ${run})
    else()
      foreign_test(${name}.${ranks} HOST_ONLY ANSWER ${name} LABELS mpi
                   CHECK --solution ${ARG_SOLUTION} ${one} --ranks ${ranks} ${run})
    endif()
  endforeach()
endfunction()

foreign_on_ranks(ksp-ex1 SOLUTION ksp RANKS 1)
foreign_on_ranks(ksp-ex23 SOLUTION ksp RANKS 1 3 OUTER -n 1000)
foreign_on_ranks(ksp-ex25 SOLUTION ksp RANKS 1 3 OUTER -da_grid_x 1000)
foreign_test(ksp-ex65 CHECK --solution monitor ${one} RUN $<TARGET_FILE:foreign-ksp-ex65>)
foreign_on_ranks(snes-ex2 SOLUTION snes RANKS 1 OUTER -n 1000)
foreign_on_ranks(snes-ex3 SOLUTION snes RANKS 1 3 OUTER -n 1000)
foreign_on_ranks(ts-ex2 SOLUTION ts RANKS 1 3 OUTER -M 600)
foreign_on_ranks(ts-ex3 SOLUTION ts RANKS 1 OUTER -m 600 -ts_type beuler)
foreign_on_ranks(ts-ex4 SOLUTION ts RANKS 1 3 OUTER -m 600 -ts_type beuler)
foreign_on_ranks(ts-ex22 SOLUTION ts RANKS 1 3)
if(TARGET foreign-tao-blackscholes)
  foreign_on_ranks(tao-blackscholes SOLUTION tao RANKS 1 OUTER -ms 400)
endif()

if(OCLSPKT_FORTRAN)
  find_package(MPI REQUIRED COMPONENTS Fortran)
  petsc_example(ksp-ex1f ksp/ksp/tutorials/ex1f.F90)
  set_target_properties(foreign-ksp-ex1f PROPERTIES Fortran_FORMAT FREE)
  target_link_libraries(foreign-ksp-ex1f PRIVATE MPI::MPI_Fortran)
  target_compile_options(foreign-ksp-ex1f PRIVATE -ffree-line-length-none)
  foreign_test(ksp-ex1f ANSWER ksp-ex1f CHECK --solution ksp ${one} RUN $<TARGET_FILE:foreign-ksp-ex1f>)
elseif(CMAKE_Fortran_COMPILER)
  oclspkt_skipped_test(petsc.foreign.ksp-ex1f "this PETSc or this MPI has no Fortran modules as ours uses them")
else()
  message(FATAL_ERROR "the tests run a Fortran program: install a Fortran compiler (Debian: gfortran) and leave OCLSPKT_WITH_FORTRAN on")
endif()

# petsc4py belongs to the interpreter it was built for, which may not be the first on the path.
find_program(OCLSPKT_PETSC4PY_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH
             DOC "a Python that has petsc4py for this PETSc")
execute_process(COMMAND ${OCLSPKT_PETSC4PY_PYTHON} -c
  "import os, petsc4py; c = petsc4py.get_config(); print(os.path.realpath(os.path.join(c['PETSC_DIR'], c['PETSC_ARCH'])), end='')"
  RESULT_VARIABLE no_petsc4py OUTPUT_VARIABLE PETSC4PY_PETSC ERROR_QUIET)
file(REAL_PATH ${OCLSPKT_PETSCCONF_DIR} petscconf)
set(petsc4py_is_ours FALSE)
if(NOT no_petsc4py)
  cmake_path(IS_PREFIX PETSC4PY_PETSC ${petscconf} petsc4py_is_ours)
elseif(NOT OCLSPKT_PETSC_FOLDER)
  message(FATAL_ERROR "the tests run a petsc4py program and ${OCLSPKT_PETSC4PY_PYTHON} has none: install it (Debian: "
                      "python3-petsc4py) or set OCLSPKT_PETSC4PY_PYTHON")
endif()
if(petsc4py_is_ours)
  foreign_test(petsc4py CHECK --solution ksp ${one}
               RUN ${OCLSPKT_PETSC4PY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/solve.py)
else()
  oclspkt_skipped_test(petsc.foreign.petsc4py
    "${OCLSPKT_PETSC4PY_PYTHON} has no petsc4py for the PETSc of ${petscconf}; OCLSPKT_PETSC4PY_PYTHON names one that has")
endif()

# Each rank's part by the plugin inside bjacobi.
foreach(ranks 2 3)
  foreign_test(bjacobi.${ranks} HOST_ONLY LABELS mpi RUN $<TARGET_FILE:foreign-ksp-ex23>
               CHECK --solution ksp --ranks ${ranks} --prefix sub_
               OUTER -n 1000 -pc_type bjacobi -ksp_rtol 1e-12 -ksp_max_it 1000)
endforeach()

# Lines of grids: as many iterations on any number of ranks. ex34 and ex50 are singular (Neumann), LU is not for them.
petsc_example(ksp-ex34 ksp/ksp/tutorials/ex34.c)
petsc_example(ksp-ex45 ksp/ksp/tutorials/ex45.c)
petsc_example(ksp-ex50 ksp/ksp/tutorials/ex50.c)
petsc_example(ts-ex13 ts/tutorials/ex13.c)

# foreign_lines_test(NAME PROGRAM CHECK... OUTER... RANKS...). The answer is that of the program.
function(foreign_lines_test name program)
  cmake_parse_arguments(ARG "" "" "CHECK;OUTER;RANKS" ${ARGN})
  foreach(ranks ${ARG_RANKS})
    foreign_test(lines.${name}.${ranks} HOST_ONLY ANSWER ${program} LABELS mpi RUN $<TARGET_FILE:foreign-${program}>
                 CHECK --ranks ${ranks} ${ARG_CHECK} OUTER ${ARG_OUTER})
  endforeach()
endfunction()

set(neumann --solution ksp --reference jacobi --tolerance 1e-7 --answer-tolerance 1e-7)
foreign_lines_test(ksp-ex50.x ksp-ex50 RANKS 4 OUTER -da_grid_x 65 -da_grid_y 65 -ksp_rtol 1e-10
                   CHECK ${neumann} --iterations 140 "--inner=-pc_oclspkt_lines x")
foreign_lines_test(ksp-ex50.xy ksp-ex50 RANKS 1 3 OUTER -da_grid_x 65 -da_grid_y 65 -ksp_rtol 1e-10
                   CHECK ${neumann} --iterations 89 "--inner=-pc_oclspkt_lines x,y")
foreign_lines_test(ksp-ex34 ksp-ex34 RANKS 1 3 OUTER -ksp_rtol 1e-10
                   CHECK ${neumann} --iterations 19 "--inner=-pc_oclspkt_lines x,y,z")
set(ex45_grid -da_grid_x 21 -da_grid_y 21 -da_grid_z 21 -ksp_rtol 1e-12)
foreign_lines_test(ksp-ex45.factored ksp-ex45 RANKS 1 4 OUTER ${ex45_grid}
                   CHECK --solution ksp --iterations 27 "--inner=-pc_oclspkt_lines x,y,z -pc_oclspkt_combine factored")
foreign_lines_test(ksp-ex45.multiplicative ksp-ex45 RANKS 3 OUTER ${ex45_grid}
                   CHECK --solution ksp --iterations 22 "--inner=-pc_oclspkt_lines x,y,z -pc_oclspkt_combine multiplicative")
foreign_lines_test(ts-ex13 ts-ex13 RANKS 1 4 OUTER -da_grid_x 20 -da_grid_y 20 -ts_max_steps 20 -ksp_rtol 1e-12
                   CHECK --solution ts --iterations 18 "--inner=-pc_oclspkt_lines x,y")

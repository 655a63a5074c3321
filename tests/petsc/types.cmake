# SPDX-License-Identifier: BSD-2-Clause
# PETSc's own examples with -oclspkt_types print what they print without. Those here show one trap each;
# `./run.sh test types` runs all of them.
if(NOT OCLSPKT_WITH_OPENCL)
  return()
endif()

set(libraries "-L$<JOIN:${PETSC_LIBRARY_DIRS}, -L>" "$<JOIN:${PETSC_LDFLAGS}, >" "-Wl,-rpath,$<JOIN:${PETSC_LIBRARY_DIRS},:>"
              "$<JOIN:${MPI_C_LIBRARIES}, >" -lm)
list(JOIN libraries " " libraries)
set(env ${OCLSPKT_TEST_ENV} OMPI_MCA_orte_create_session_dirs=1)
list(TRANSFORM env PREPEND "--env=")
list(JOIN env "\n" env)
set(includes ${PETSC_INCLUDE_DIRS} ${MPI_C_INCLUDE_DIRS})
set(types_options ${CMAKE_CURRENT_BINARY_DIR}/types_programs.options)
file(GENERATE OUTPUT ${types_options} CONTENT "\
--examples=${OCLSPKT_PETSC_EXAMPLES}
--plugin=${plugin}
--compile=${CMAKE_C_COMPILER} -O1 -I$<JOIN:${includes}, -I>
--link=${libraries}
--folder=${CMAKE_CURRENT_BINARY_DIR}/types-programs
--mpiexec=${MPIEXEC_EXECUTABLE}
${env}
")

# types_program(NAME PROGRAM [RANKS n...] [TYPES options])
function(types_program name program)
  cmake_parse_arguments(ARG "" "TYPES" "RANKS" ${ARGN})
  set(types)
  if(ARG_TYPES)
    set(types "--types=${ARG_TYPES}")
  endif()
  list(TRANSFORM ARG_RANKS PREPEND --ranks= OUTPUT_VARIABLE ranks)
  petsc_test(types.${name} LABELS mpi device slow
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/types_programs.py @${types_options} ${types} ${ranks} ${program})
endfunction()

# Parts of a vector, with entries of other ranks.
types_program(SubVectors.vec-ex38 vec/vec/tests/ex38)
types_program(SubVectors.vec-ex44 "vec/vec/tests/ex44 -vec_type standard")
types_program(SubVectors.mat-ex23 mat/tests/ex23 RANKS 1)
# A norm after a product.
types_program(StateAfterAProduct.mat-ex109 mat/tests/ex109 RANKS 1 3)
types_program(StateAfterAProduct.ksp-ex21 ksp/ksp/tests/ex21 RANKS 2)
# An array got to be written that is read.
types_program(ArrayToBeWritten.mat-ex114 mat/tests/ex114)
# Names of types compared: orderings, the shift of ILU, products with interpolations, Galerkin's.
types_program(TypeNames.ksp-ex7 ksp/ksp/tests/ex7)
types_program(TypeNames.ksp-ex32 ksp/ksp/tests/ex32)
types_program(TypeNames.ksp-ex43 ksp/ksp/tutorials/ex43 RANKS 1)
types_program(Galerkin.ksp-ex29 ksp/ksp/tutorials/ex29 RANKS 1)
types_program(Multigrid.snes-ex19 snes/tutorials/ex19 RANKS 1)
# The types by their names: of a program, of a grid with Galerkin's products, and under multigrid.
types_program(ByName.ksp-ex2 "ksp/ksp/tutorials/ex2 -m 20 -n 20 -ksp_monitor_short" RANKS 3
              TYPES "-vec_type opencl -mat_type aijopencl")
types_program(ByName.ksp-ex29 "ksp/ksp/tutorials/ex29 -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both -ksp_monitor_short -da_refine 2"
              RANKS 2 TYPES "-dm_vec_type opencl -dm_mat_type aijopencl")
types_program(ByName.snes-ex19 snes/tutorials/ex19 RANKS 2 TYPES "-dm_vec_type opencl -dm_mat_type aijopencl")
# Messages of borders: rectangular matrices of ranks without rows, coarse levels below the limit, products of matrices.
types_program(Borders.ksp-ex45 "ksp/ksp/tutorials/ex45 -da_refine 1 -pc_type mg -mg_levels_pc_type jacobi -ksp_monitor_short" RANKS 3)
types_program(Borders.ksp-ex54 ksp/ksp/tutorials/ex54 RANKS 4)
types_program(Borders.ksp-ex50 ksp/ksp/tutorials/ex50 RANKS 4)
types_program(Borders.mat-ex96 mat/tests/ex96 RANKS 3)
# As many iterations of each method.
foreach(method cg gmres bcgs chebyshev)
  types_program(Iterations.${method} "ksp/ksp/tutorials/ex2 -m 20 -n 20 -ksp_type ${method} -pc_type jacobi -ksp_converged_reason"
                RANKS 1 3)
endforeach()

if(petsc4py_is_ours)
  expect(Types.ArraysThatPythonKeeps LABELS device CHECK "--match=all arrays are right"
         RUN ${OCLSPKT_PETSC4PY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/types_arrays.py -dll_append ${plugin} ${dressed})
endif()

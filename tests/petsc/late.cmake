# SPDX-License-Identifier: BSD-2-Clause
# PCs and vectors that outlive PETSc, and a thousand PCs.
if(NOT OCLSPKT_WITH_OPENCL)
  return()
endif()
add_executable(oclspkt-petsc-late late_test.c)
target_link_libraries(oclspkt-petsc-late PRIVATE oclspkt_flags oclspkt::petsc PkgConfig::PETSC MPI::MPI_C)
expect(PCsMayOutlivePetscFinalize CHECK "--match=destroyed after the end" RUN $<TARGET_FILE:oclspkt-petsc-late>)
expect(VectorsMayOutlivePetscFinalize CHECK "--match=destroyed after the end"
       RUN $<TARGET_FILE:oclspkt-petsc-late> -dll_append ${plugin} ${dressed})
# Products would wait for messages that ranks without the types do not send.
set(late_loaded $<TARGET_FILE:oclspkt-petsc-late> -dll_append ${plugin})
expect(TypesOnSomeRanksOnlyAreRefused LABELS mpi CHECK --rc failure "--match=-oclspkt_types is given on 1 of 2 ranks"
       RUN ${MPIEXEC_EXECUTABLE} -n 1 ${late_loaded} ${dressed} : -n 1 ${late_loaded})
# PETSc leaks its options database when petsc4py ends it like this, hence no sanitizers: `slow`.
if(petsc4py_is_ours)
  expect(PythonMayEndWithSolversAlive LABELS slow CHECK "--match=ends with solvers alive"
         RUN ${OCLSPKT_PETSC4PY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/late.py -dll_append ${plugin})
endif()
foreign_test(bjacobi.1000-blocks HOST_ONLY RUN $<TARGET_FILE:foreign-ksp-ex23> LABELS slow
             CHECK --solution ksp --prefix sub_ "--expect=device: .*Portable" "--expect=number of blocks = 1000"
             OUTER -n 50000 -pc_type bjacobi -pc_bjacobi_blocks 1000 -ksp_max_it 3 -ksp_convergence_test skip
                   -sub_pc_oclspkt_devices portable)

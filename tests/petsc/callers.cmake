# SPDX-License-Identifier: BSD-2-Clause
# Callers in other languages, and PETSc's own objects that hold the preconditioner inside.
if(OCLSPKT_FORTRAN)
  add_executable(oclspkt-petsc-fortran fortran_test.F90)
  set_target_properties(oclspkt-petsc-fortran PROPERTIES Fortran_FORMAT FREE)
  target_compile_options(oclspkt-petsc-fortran PRIVATE -ffree-line-length-none -Wall -Wextra)
  target_link_libraries(oclspkt-petsc-fortran PRIVATE oclspkt::fortran PkgConfig::PETSC MPI::MPI_Fortran)
  petsc_test(Fortran.PassesEveryKindOfArgument COMMAND oclspkt-petsc-fortran)
endif()

if(petsc4py_is_ours)
  set(helper ${OCLSPKT_PETSC4PY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/helper.py)
  set(helper_path PYTHONPATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/python)
  petsc_test(Python.FindsThePluginBesideThePackage COMMAND ${helper} ENV ${helper_path})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/python-linked)
  file(CREATE_LINK ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/python/oclspkt ${CMAKE_CURRENT_BINARY_DIR}/python-linked/oclspkt SYMBOLIC)
  petsc_test(Python.FindsThePluginBehindALink COMMAND ${helper} ENV PYTHONPATH=${CMAKE_CURRENT_BINARY_DIR}/python-linked)
  petsc_test(Python.TakesThePathOfThePlugin COMMAND ${helper} ${plugin} ENV ${helper_path})
  petsc_test(Python.UsesThePluginThatPetscLoaded COMMAND ${helper} -dll_append ${plugin} ENV ${helper_path})
  petsc_test(Python.WorksFromWhereItIsInstalled COMMAND ${helper} LABELS house
             ENV PYTHONPATH=${PROJECT_BINARY_DIR}/tests/house/installed/${CMAKE_INSTALL_LIBDIR}/python)
  set_tests_properties(petsc.Python.WorksFromWhereItIsInstalled PROPERTIES FIXTURES_REQUIRED installed)
endif()

# PETSc's own programs. Each rank's part with an overlap, on several ranks; the two answers may differ by the residual's
# tolerance, 1e-12, times the condition of 100 rows, 4e3.
foreign_test(asm.2 HOST_ONLY LABELS mpi RUN $<TARGET_FILE:foreign-ksp-ex23>
             CHECK --solution ksp --ranks 2 --prefix sub_ --tolerance 4e-9
             OUTER -n 100 -pc_type asm -pc_asm_overlap 1 -ksp_rtol 1e-12)
foreign_test(asm.3 HOST_ONLY LABELS mpi slow RUN $<TARGET_FILE:foreign-ksp-ex23>
             CHECK --solution ksp --ranks 3 --prefix sub_ --tolerance 4e-9
             OUTER -n 100 -pc_type asm -pc_asm_overlap 2 -pc_asm_blocks 6 -ksp_rtol 1e-12)

# Multigrid on a DMDA, 257 points down to 3, with the equation discretised anew on each level or by Galerkin.
set(multigrid -da_grid_x 3 -da_refine 7 -pc_type mg -pc_mg_levels 8 -ksp_rtol 1e-12)
foreign_test(multigrid.richardson HOST_ONLY RUN $<TARGET_FILE:foreign-ksp-ex25>
             CHECK --solution ksp --prefix mg_levels_ OUTER ${multigrid} -mg_levels_ksp_type richardson)
foreign_test(multigrid.chebyshev.galerkin HOST_ONLY RUN $<TARGET_FILE:foreign-ksp-ex25>
             CHECK --solution ksp --prefix mg_levels_
             OUTER ${multigrid} -mg_levels_ksp_type chebyshev -pc_mg_galerkin both)
foreign_test(multigrid.2 HOST_ONLY LABELS mpi slow RUN $<TARGET_FILE:foreign-ksp-ex25>
             CHECK --solution ksp --ranks 2 --prefix mg_levels_sub_
             OUTER -da_grid_x 9 -da_refine 5 -pc_type mg -pc_mg_levels 6 -ksp_rtol 1e-12 -mg_levels_pc_type bjacobi
                   -mg_levels_ksp_type richardson)
# On the host by name: whether 257 rows are worth a driver depends on how busy the machine is.
expect(CoarseGridOfThreeRowsIsSolvedByIt
       CHECK "--match=(?s)Coarse grid solver.*type: oclspkt.*rows: 3 in 1 line.*Down solver" "--match=CONVERGED_RTOL"
             "--without=Option left: name:-(mg|dll)"
       RUN $<TARGET_FILE:foreign-ksp-ex25> ${multigrid} -dll_append ${plugin} -mg_coarse_pc_type oclspkt
           -mg_levels_pc_type oclspkt -mg_levels_pc_oclspkt_devices host -ksp_view -ksp_converged_reason -options_left)

# Lines of grids inside PETSc's own objects: as many iterations as exact lines take, on any number of ranks.
set(ex50_grid -da_grid_x 65 -da_grid_y 65)
set(ex45_grid -da_grid_x 21 -da_grid_y 21 -da_grid_z 21)
set(lines_of -dll_append ${plugin} -pc_type oclspkt -pc_oclspkt_devices host -ksp_converged_reason -pc_oclspkt_lines)
foreach(ranks 1 2 3 4)
  set(on_ranks ${MPIEXEC_EXECUTABLE} -n ${ranks})
  expect(IterationsOfLines.ex50.x.${ranks} LABELS mpi slow CHECK "--match=RTOL iterations 82\n"
         RUN ${on_ranks} $<TARGET_FILE:foreign-ksp-ex50> ${ex50_grid} ${lines_of} x)
  expect(IterationsOfLines.ex50.xy.${ranks} LABELS mpi slow CHECK "--match=RTOL iterations 37\n"
         RUN ${on_ranks} $<TARGET_FILE:foreign-ksp-ex50> ${ex50_grid} ${lines_of} x,y)
  expect(IterationsOfLines.ex45.${ranks} LABELS mpi slow CHECK "--match=RTOL iterations 13\n"
         RUN ${on_ranks} $<TARGET_FILE:foreign-ksp-ex45> ${ex45_grid} ${lines_of} x,y,z
             -pc_oclspkt_combine multiplicative)
endforeach()
foreach(ranks 1 2)
  expect(IterationsOfLines.composite.${ranks} LABELS mpi slow CHECK "--match=RTOL iterations 13\n"
         RUN ${MPIEXEC_EXECUTABLE} -n ${ranks} $<TARGET_FILE:foreign-ksp-ex45> ${ex45_grid} -dll_append ${plugin}
             -pc_type composite -pc_composite_type multiplicative -pc_composite_pcs oclspkt,oclspkt,oclspkt
             -sub_0_pc_oclspkt_lines x -sub_1_pc_oclspkt_lines y -sub_2_pc_oclspkt_lines z -ksp_converged_reason)
endforeach()
expect(IterationsOfLines.cg LABELS slow CHECK "--match=RTOL iterations [12][0-9]\n"
       RUN $<TARGET_FILE:foreign-ksp-ex45> ${ex45_grid} ${lines_of} x,y,z -pc_oclspkt_combine symmetric -ksp_type cg)

# Smoothers of multigrid, with the equation discretised anew on each level or by Galerkin.
set(grid_levels -da_grid_x 3 -da_grid_y 3 -da_refine 5 -pc_type mg -pc_mg_levels 6 -dll_append ${plugin}
    -mg_levels_pc_type oclspkt -mg_levels_pc_oclspkt_lines x,y -mg_levels_ksp_type richardson -ksp_converged_reason)
foreach(ranks 1 2)
  foreach(galerkin none both)
    expect(SmoothsOnGrids.${galerkin}.${ranks} LABELS mpi slow CHECK "--match=RTOL iterations [1-9]\n"
           RUN ${MPIEXEC_EXECUTABLE} -n ${ranks} $<TARGET_FILE:foreign-ksp-ex50> ${grid_levels}
               -pc_mg_galerkin ${galerkin})
  endforeach()
endforeach()

# A block of bjacobi has no grid where there are several ranks, and says so.
expect(LinesOfABlockAreRefusedWithTheCure LABELS mpi
       CHECK --rc=failure "--match=bjacobi, asm or fieldsplit" "--match=PCOCLSPKTSetLines" "--match=PCSetDM"
       RUN ${MPIEXEC_EXECUTABLE} -n 2 $<TARGET_FILE:foreign-ksp-ex50> ${ex50_grid} -dll_append ${plugin}
           -pc_type bjacobi -sub_pc_type oclspkt -sub_pc_oclspkt_lines x)

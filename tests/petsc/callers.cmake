# SPDX-License-Identifier: BSD-2-Clause
# Callers in other languages, and PETSc's own objects that hold the preconditioner inside.
if(OCLSPKT_FORTRAN)
  add_executable(oclspkt-petsc-fortran fortran_test.F90)
  set_target_properties(oclspkt-petsc-fortran PROPERTIES Fortran_FORMAT FREE)
  target_compile_options(oclspkt-petsc-fortran PRIVATE -ffree-line-length-none -Wall -Wextra)
  target_link_options(oclspkt-petsc-fortran PRIVATE $<$<BOOL:${OCLSPKT_SANITIZE}>:-fsanitize=${OCLSPKT_SANITIZE}>)
  target_link_libraries(oclspkt-petsc-fortran PRIVATE oclspkt::fortran PkgConfig::PETSC MPI::MPI_Fortran)
  petsc_test(Fortran.PassesEveryKindOfArgument COMMAND oclspkt-petsc-fortran)
endif()

set(helper ${OCLSPKT_PETSC4PY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/helper.py)
set(helper_path PYTHONPATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/python)
petsc_test(Python.FindsThePluginBesideThePackage COMMAND ${helper} ENV ${helper_path})
petsc_test(Python.TakesThePathOfThePlugin COMMAND ${helper} ${plugin} ENV ${helper_path})
petsc_test(Python.UsesThePluginThatPetscLoaded COMMAND ${helper} -dll_append ${plugin} ENV ${helper_path})
petsc_test(Python.WorksFromWhereItIsInstalled COMMAND ${helper} LABELS house
           ENV PYTHONPATH=${PROJECT_BINARY_DIR}/tests/house/installed/${CMAKE_INSTALL_LIBDIR}/python)
set_tests_properties(petsc.Python.WorksFromWhereItIsInstalled PROPERTIES FIXTURES_REQUIRED installed)

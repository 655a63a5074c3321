# SPDX-License-Identifier: BSD-2-Clause
# SLEPc's own program for the eigenvalues of tridiag(-1, 2, -1), told by options to invert with the plugin. They are
# 2 - 2 cos(k pi / (n + 1)); those next to 0.5 have k = 230, 231, 229 for n = 1000. The shifted matrix is not definite.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SLEPC QUIET IMPORTED_TARGET slepc)
if(SLEPC_FOUND)
  find_path(OCLSPKT_SLEPC_EXAMPLES eps/tutorials/ex1.c
    HINTS ${SLEPC_PREFIX} ${SLEPC_slepc_PREFIX} PATHS /usr/share/slepc/3.18
    PATH_SUFFIXES share/slepc/examples/src src NO_DEFAULT_PATH)
endif()
if(SLEPC_FOUND)
  # A SLEPc of another build of PETSc would bring a second libpetsc along.
  get_filename_component(libpetsc ${OCLSPKT_LIBPETSC} NAME)
  string(REGEX REPLACE "\\.[0-9]+$" "" libpetsc ${libpetsc})
  list(GET SLEPC_LINK_LIBRARIES 0 libslepc)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${libslepc} OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
  if(NOT needed MATCHES "NEEDED +${libpetsc}\n")
    oclspkt_skipped_test(petsc.eigenvalues "${libslepc} is for another PETSc than ${libpetsc}")
    return()
  endif()
endif()
if(NOT SLEPC_FOUND OR NOT OCLSPKT_SLEPC_EXAMPLES)
  oclspkt_skipped_test(petsc.eigenvalues
    "there is no SLEPc with its examples (Debian: libslepc-real3.18-dev, libslepc3.18-dev-examples)")
  return()
endif()

add_executable(foreign-eps-ex1 ${OCLSPKT_SLEPC_EXAMPLES}/eps/tutorials/ex1.c)
target_link_libraries(foreign-eps-ex1 PRIVATE PkgConfig::SLEPC PkgConfig::PETSC MPI::MPI_C m)
target_compile_options(foreign-eps-ex1 PRIVATE -w)
set(inverted -n 1000 -eps_nev 3 -eps_target 0.5 -st_type sinvert -dll_append ${plugin} -st_ksp_type preonly
             -st_pc_type oclspkt -eps_view)
set(found "--match=type: oclspkt" "--match=\n +0\\.498824 +[0-9.]+e-[01]" "--match=\n +0\\.502979 +[0-9.]+e-[01]"
          "--match=\n +0\\.494683 +[0-9.]+e-[01]")
expect(eigenvalues CHECK ${found} RUN $<TARGET_FILE:foreign-eps-ex1> ${inverted})
expect(eigenvalues.3 CHECK ${found} RUN ${MPIEXEC_EXECUTABLE} -n 3 $<TARGET_FILE:foreign-eps-ex1> ${inverted} LABELS mpi)

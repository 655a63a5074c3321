# SPDX-License-Identifier: BSD-2-Clause
# ./run.sh test petsc 3.24 kokkos: vectors and matrices of a Kokkos without a GPU. With a PETSc whose Kokkos has CUDA, the
# same tests need a card.
file(STRINGS ${OCLSPKT_PETSCCONF_DIR}/petscconf.h found REGEX "define +PETSC_HAVE_KOKKOS_KERNELS ")
if(NOT found)
  return()
endif()

add_executable(oclspkt-kokkos-test main.cxx kokkos_test.cxx)
target_link_libraries(oclspkt-kokkos-test PRIVATE oclspkt_flags oclspkt::petsc PkgConfig::PETSC MPI::MPI_C GTest::gtest)
foreach(ranks 1 3)
  petsc_test(Kokkos.${ranks} LABELS mpi ENV "PETSC_OPTIONS=-use_gpu_aware_mpi 0"
             COMMAND ${MPIEXEC_EXECUTABLE} -n ${ranks} $<TARGET_FILE:oclspkt-kokkos-test>)
endforeach()

file(STRINGS ${OCLSPKT_PETSCCONF_DIR}/petscconf.h found REGEX "define +PETSC_HAVE_KOKKOS_WITHOUT_GPU ")
if(NOT found)
  return()
endif()

# PETSc's own programs, with its own options for the types.
set(said "--expect=vectors: in host memory: the Kokkos of this PETSc has no GPU")
set(of_program -vec_type kokkos -mat_type aijkokkos)
set(of_grid -dm_vec_type kokkos -dm_mat_type aijkokkos)
set(run RUN $<TARGET_FILE:foreign-ksp-ex23> OUTER -n 1000 ${of_program})
foreign_test(kokkos.ksp-ex23.1 ANSWER ksp-ex23 CHECK --solution ksp ${one} ${said} ${run})
foreign_test(kokkos.ksp-ex23.3 HOST_ONLY ANSWER ksp-ex23 LABELS mpi CHECK --solution ksp ${one} ${said} --ranks 3 ${run})
foreign_lines_test(kokkos.ksp-ex45 ksp-ex45 RANKS 1 3 OUTER ${ex45_grid} ${of_grid}
                   CHECK --solution ksp ${said} --iterations 27 "--inner=-pc_oclspkt_lines x,y,z -pc_oclspkt_combine factored")

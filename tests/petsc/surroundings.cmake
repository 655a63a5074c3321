# SPDX-License-Identifier: BSD-2-Clause
# What may be wrong around the plugin: paths, ranks, builds of PETSc, OpenCL.
set(ex23 $<TARGET_FILE:foreign-ksp-ex23>)
set(loaded -dll_append ${plugin} -pc_type oclspkt)

# PETSc stops every program with its own error, before anything of ours runs.
expect(WrongPathStopsTheProgram
       CHECK --rc=65 "--match=Unable to locate dynamic library" "--match=nowhere/liboclspkt.so"
       RUN ${ex23} -dll_append ${CMAKE_CURRENT_BINARY_DIR}/nowhere/liboclspkt.so -pc_type oclspkt)
# PETSc calls a function that is named after the file, and goes on where there is none. Whichever of our libraries is named,
# or their folder, the plugin is loaded.
set(parts petsc-${OCLSPKT_PETSC_KIND}.so solver.so.${PROJECT_VERSION_MAJOR})
if(OCLSPKT_WITH_OPENCL)
  list(APPEND parts cl.so cuda.so)
endif()
set(by_host -pc_type oclspkt -pc_oclspkt_devices host -ksp_view)
foreach(part IN LISTS parts)
  expect(AnyLibraryOfOursLoadsThePlugin.${part} CHECK "--match=type: oclspkt"
         RUN ${ex23} -dll_append ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/liboclspkt-${part} ${by_host})
endforeach()
expect(AnyLibraryOfOursLoadsThePlugin.folder CHECK "--match=type: oclspkt"
       RUN ${ex23} -dll_append ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${by_host})
expect(UnknownMethodListsTheChoices
       CHECK --rc=failure "--match=foo.*pc_oclspkt_method.*truncated-halo.*pivot"
       RUN ${ex23} ${loaded} -pc_oclspkt_method foo)
expect(HelpListsTheOptions
       CHECK "--match=-pc_oclspkt_method:? .*choose one of.*exact-twopass" "--match=-pc_oclspkt_on_device_failure"
       RUN ${ex23} ${loaded} -help)
expect(CitationNamesThePaper CHECK "--match=10.1155/2019/3679839" RUN ${ex23} ${loaded} -citations)
expect(InfoSaysTheMethodAndWhy CHECK "--match=method exact-[a-z]+ on host: "
       RUN ${ex23} ${loaded} -pc_oclspkt_devices host -info)

# As a direct solver of programs that ask for LU.
foreach(ranks 1 3)
  expect(FactorsForLu.${ranks} LABELS mpi
         CHECK "--match=package used to perform factorization: oclspkt" "--match=CONVERGED_RTOL iterations 1"
               "--match=rows: 1000 in 1 line" "--match=\n *1 KSP .*true resid norm [0-9.]+e-1[0-9]"
         RUN ${MPIEXEC_EXECUTABLE} -n ${ranks} ${ex23} -n 1000 -dll_append ${plugin} -pc_type lu
             -pc_factor_mat_solver_type oclspkt -ksp_rtol 1e-10 -ksp_monitor_true_residual
             -ksp_converged_reason -ksp_view)
endforeach()

# The same state as under a program whose own libpetsc is hidden from the plugin: ours is there, and nobody started it.
add_executable(too-early too_early.c)
target_link_libraries(too-early PRIVATE oclspkt_flags oclspkt::petsc PkgConfig::PETSC MPI::MPI_C)
expect(RefusesALibpetscThatNobodyInitialized CHECK "--match=PetscInitialize\\(\\) was not called" "--match=refused"
       RUN $<TARGET_FILE:too-early>)

# Without a platform, and with a libOpenCL that has no functions: the host solves.
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/no-vendors)
add_library(oclspkt-no-opencl SHARED no_opencl.c)
set_target_properties(oclspkt-no-opencl PROPERTIES OUTPUT_NAME OpenCL VERSION 1 SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/no-opencl)
# By gold, it would define versions, and the loader would ask it for those of a real libOpenCL.
target_link_options(oclspkt-no-opencl PRIVATE -fuse-ld=bfd)
set(no_platform OCL_ICD_VENDORS=${CMAKE_CURRENT_BINARY_DIR}/no-vendors/)
set(no_library LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/no-opencl)
foreach(missing platform library)
  foreign_test(without-${missing} HOST_ONLY RUN ${ex23} ENV ${no_${missing}} OUTER -n 200000
               CHECK --solution ksp --one-iteration --tolerance 1e-4 "--expect=device: host \\(host\\), ")
  if(OCLSPKT_WITH_OPENCL)
    expect(NamingADeviceIsAnErrorWithout.${missing} ENV ${no_${missing}}
           CHECK --rc=failure "--match=cpu" "--match=host"
           RUN ${ex23} ${loaded} -pc_oclspkt_devices cpu)
  endif()
endforeach()

# A device that is lost in the middle (it gets a nanosecond): the host solves, and says so unless told not to. An
# abandoned device is never freed, which is a leak to the sanitizers: `slow` keeps these to the release build.
if(OCLSPKT_WITH_OPENCL)
  set(lost ${loaded} -n 100000 -pc_oclspkt_devices portable -pc_oclspkt_transfer copy -pc_oclspkt_timeout 1e-9
           -ksp_converged_reason -ksp_view)
  set(solved "converged due to CONVERGED_RTOL iterations 1.*device: host \\(host\\), every device of 'portable' failed"
             "degraded: .*did not finish within")
  list(TRANSFORM solved PREPEND "--match=(?s)")
  expect(LosesADeviceAndSaysSo LABELS slow ENV ${late_events}
         CHECK "--match=PCOCLSPKT degraded: .*its rows are solved on host" ${solved}
         RUN ${ex23} ${lost})
  expect(LosesADeviceQuietly LABELS slow ENV ${late_events}
         CHECK "--without=PCOCLSPKT degraded" ${solved}
         RUN ${ex23} ${lost} -pc_oclspkt_on_device_failure quiet)
  expect(LosesADeviceWithAnError LABELS slow ENV ${late_events}
         CHECK --rc=failure "--match=GPU error" "--match=did not finish within"
         RUN ${ex23} ${lost} -pc_oclspkt_on_device_failure error)
endif()

# Unlike devices share the rows of one system, by options alone; what is told is told by the view.
if(OCLSPKT_WITH_OPENCL)
  foreach(ranks 1 3)
    expect(SharesRowsEvenly.${ranks} LABELS mpi
           CHECK "--match=CONVERGED_RTOL iterations 1" "--match=share: [0-9.]+ % of the rows.*on host"
                 "--match=share: .*Intel"
                 "--match=shares together: predicted"
           RUN ${MPIEXEC_EXECUTABLE} -n ${ranks} ${ex23} ${loaded} -n 30000 -pc_oclspkt_devices host,portable,intel
               -pc_oclspkt_balance even -pc_oclspkt_profile none -ksp_converged_reason
               -ksp_view ::ascii_info_detail)
  endforeach()
  expect(SharesRowsByTimeWhereItPays
         CHECK "--match=CONVERGED_RTOL iterations 1" "--match=sharing: "
         RUN ${ex23} ${loaded} -n 30000 -pc_oclspkt_devices all,host -ksp_converged_reason
             -ksp_view ::ascii_info_detail)
  expect(WeightsThatDoNotFitAreAnError
         CHECK --rc=failure "--match=3 weights" "--match=but 2 processors"
         RUN ${ex23} ${loaded} -n 30000 -pc_oclspkt_devices host,portable -pc_oclspkt_balance 1,2,3)
endif()

# What `cmake --install` gives: libraries that find each other by $ORIGIN, public headers, a CMake package, pkg-config.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/oclspkt)
# The prefix is found from where the .pc file lies, so that an installed tree may be moved.
file(RELATIVE_PATH OCLSPKT_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})

# oclspkt_pkg_config(NAME INPUT [COMPONENT name])
function(oclspkt_pkg_config name input)
  if(OCLSPKT_KIND MATCHES "^([0-9]+)\\.([0-9]+)")  # releases of PETSc are not binary compatible
    math(EXPR next "${CMAKE_MATCH_2} + 1")
    set(OCLSPKT_RELEASE ${CMAKE_MATCH_0})
    set(OCLSPKT_NEXT_RELEASE ${CMAKE_MATCH_1}.${next})
  endif()
  configure_file(cmake/${input}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${ARGN})
endfunction()

if(OCLSPKT_WITH_PETSC)
  # A component of its own: what another build adds to an installed tree, of which nothing else changes.
  get_property(flavours GLOBAL PROPERTY OCLSPKT_FLAVOURS)
  foreach(flavour IN LISTS flavours)
    get_target_property(kind ${flavour} OCLSPKT_KIND)
    install(TARGETS ${flavour} EXPORT oclspkt-petsc-${kind}-targets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT flavours)
    install(EXPORT oclspkt-petsc-${kind}-targets NAMESPACE oclspkt:: DESTINATION ${package_folder} COMPONENT flavours)
  endforeach()
  # PETSc's .pc file of Debian has no MPI in it, ours has.
  find_package(MPI REQUIRED COMPONENTS C)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE OCLSPKT_PC_MPI_CFLAGS)
  list(JOIN OCLSPKT_PC_MPI_CFLAGS " " OCLSPKT_PC_MPI_CFLAGS)
  list(JOIN MPI_C_LIBRARIES " " OCLSPKT_PC_MPI_LIBS)
  foreach(flavour IN LISTS flavours)
    get_target_property(OCLSPKT_KIND ${flavour} OCLSPKT_KIND)
    oclspkt_pkg_config(oclspkt-petsc-${OCLSPKT_KIND} oclspkt COMPONENT flavours)
  endforeach()
endif()
if(OCLSPKT_SOLVER_FOLDER)
  return()
endif()

# A file of targets for each component: programs that need the solver alone have no PETSc.
install(TARGETS oclspkt_solver_shared EXPORT oclspkt-solver-targets)
set(components solver)
install(DIRECTORY plugin/include/oclspkt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
# The README links docs/ and examples/ beside itself, and docs/tuning.md tuning/.
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples tuning DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(pkgconfig_names oclspkt-solver)

if(OCLSPKT_WITH_OPENCL)
  # Opened at run time from the folder of the solver library; nothing links it.
  install(TARGETS oclspkt_cl_shared oclspkt_cuda_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS oclspkt-devices oclspkt-fpga-build)
  # Beside the module, which tries drivers by it.
  install(TARGETS oclspkt-driver-check RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}
          PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()
if(OCLSPKT_WITH_PETSC)
  install(TARGETS oclspkt_dispatcher LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES cmake/OclspktPetscKind.cmake DESTINATION ${package_folder})
  install(FILES ${PROJECT_BINARY_DIR}/include/oclspkt/oclspkt.h plugin/include/oclspkt/oclspkt_vec.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/oclspkt)
  install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/python/oclspkt DESTINATION ${CMAKE_INSTALL_LIBDIR}/python
          FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
endif()
if(OCLSPKT_FORTRAN)
  # The source lies beside the module file, which only the compiler that made it can read.
  install(TARGETS oclspkt_fortran EXPORT oclspkt-fortran-targets)
  list(APPEND components fortran)
  install(FILES ${PROJECT_BINARY_DIR}/fortran/oclspkt.mod ${PROJECT_BINARY_DIR}/fortran/oclspkt.F90
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/oclspkt/fortran)
  list(APPEND pkgconfig_names oclspkt-fortran)
endif()

foreach(component IN LISTS components)
  install(EXPORT oclspkt-${component}-targets NAMESPACE oclspkt:: DESTINATION ${package_folder})
endforeach()
write_basic_package_version_file(oclspktConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(cmake/oclspktConfig.cmake.in oclspktConfig.cmake INSTALL_DESTINATION ${package_folder}
                              NO_SET_AND_CHECK_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/oclspktConfig.cmake ${PROJECT_BINARY_DIR}/oclspktConfigVersion.cmake
        DESTINATION ${package_folder})

foreach(name IN LISTS pkgconfig_names)
  oclspkt_pkg_config(${name} ${name})
endforeach()
if(OCLSPKT_WITH_PETSC)
  set(OCLSPKT_KIND ${OCLSPKT_PETSC_KIND})
  oclspkt_pkg_config(oclspkt oclspkt)
endif()

# OCLSPKT_TEST_ENV: what every test has in its environment, as a list of VAR=value; OCLSPKT_PETSC_TEST_ENV: the same for
# programs that use PETSc.
set(OCLSPKT_ICD_FOLDER "" CACHE PATH "Folder of the ICD files that tests see; empty: the system's")
set(OCLSPKT_REQUIRE_DEVICES "" CACHE STRING
    "Parts of platform names, joined by commas: a platform that is missing fails the device tests")

# Open MPI refuses to start as root and on fewer cores than ranks; both are usual in a container.
set(OCLSPKT_TEST_ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
                     OCLSPKT_REQUIRE_DEVICES=${OCLSPKT_REQUIRE_DEVICES})
# Profiles of devices are the user's; compiled kernels may be shared with all builds.
list(APPEND OCLSPKT_TEST_ENV XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/tests/cache)
if(DEFINED ENV{HOME})
  list(APPEND OCLSPKT_TEST_ENV POCL_CACHE_DIR=$ENV{HOME}/.cache/pocl
                               OCLSPKT_KERNEL_CACHE=$ENV{HOME}/.cache/oclspkt/kernels)
endif()
if(OCLSPKT_ICD_FOLDER)
  list(APPEND OCLSPKT_TEST_ENV OCL_ICD_VENDORS=${OCLSPKT_ICD_FOLDER})
endif()

if(OCLSPKT_SANITIZE)
  # Programs that were built without sanitizers (PETSc's examples, python3, mpiexec) must have the run-time in them
  # before they open our libraries. libstdc++ comes along because the run-time looks up __cxa_throw when it starts, and
  # a C program loads libstdc++ too late for that.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so.6 OUTPUT_VARIABLE libstdcxx
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(REAL_PATH "${libstdcxx}" libstdcxx)
  set(suppressions ${CMAKE_CURRENT_LIST_DIR}/sanitizers)
  list(APPEND OCLSPKT_TEST_ENV
    LD_PRELOAD=${OCLSPKT_SANITIZER_RUNTIME}:${libstdcxx}
    ASAN_OPTIONS=detect_leaks=1:suppressions=${suppressions}/asan.supp
    LSAN_OPTIONS=print_suppressions=0:suppressions=${suppressions}/lsan.supp
    UBSAN_OPTIONS=print_stacktrace=1:suppressions=${suppressions}/ubsan.supp)
endif()
# A program that is started without mpiexec needs no daemon and no folder under /tmp, and tests that run side by side would
# remove each other's. mpiexec needs the folder: see petsc_test().
set(OCLSPKT_PETSC_TEST_ENV ${OCLSPKT_TEST_ENV} OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_orte_create_session_dirs=0)
if(OCLSPKT_SANITIZE)
  # oclspkt-keep-mapped of tests/sanitizers: Open MPI unmaps its modules before leaks are looked for.
  list(TRANSFORM OCLSPKT_PETSC_TEST_ENV REPLACE "^LD_PRELOAD=.*$"
       "\\0:${PROJECT_BINARY_DIR}/tests/sanitizers/liboclspkt-keep-mapped.so")
endif()

# At the end of a folder whose tests load drivers: where a thread of a driver ends while leaks are looked for, the process
# that looks may die (twice in some ten thousand tests). Everything else has been tested by then: such a test counts as
# skipped, not as failed.
macro(oclspkt_skip_if_leaks_cannot_be_told)
  if(OCLSPKT_SANITIZE)
    get_property(tests_of_folder DIRECTORY PROPERTY TESTS)
    set_property(TEST ${tests_of_folder} APPEND PROPERTY
                 SKIP_REGULAR_EXPRESSION "LeakSanitizer has encountered a fatal error")
  endif()
endmacro()

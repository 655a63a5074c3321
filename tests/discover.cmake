# Register the cases of a GoogleTest program as tests, with OCLSPKT_TEST_ENV in their environment.
#
#   oclspkt_discover_tests(target LABELS label ... [TIMEOUT seconds] [PREFIX text])
#
# gtest_discover_tests() takes lists apart when it writes properties, so that of several labels or variables only the
# first would arrive: they are set by a file of our own that ctest reads after the one with the tests.
function(oclspkt_discover_tests target)
  cmake_parse_arguments(ARG "" "TIMEOUT;PREFIX" "LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 120 TEST_LIST ${target}_TESTS TEST_PREFIX "${ARG_PREFIX}")
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake)
  file(WRITE ${file}
    "foreach(test IN LISTS ${target}_TESTS)\n"
    "  set_tests_properties(\"\${test}\" PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS [==[${ARG_LABELS}]==]\n"
    "                       ENVIRONMENT [==[${OCLSPKT_TEST_ENV}]==])\n"
    "endforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# A test whose program is not on this machine: `./run.sh test all` shows it as skipped, with the reason.
function(oclspkt_skipped_test name reason)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
  set_tests_properties(${name} PROPERTIES LABELS full SKIP_REGULAR_EXPRESSION "skipped: ")
endfunction()

# oclspkt_precompile_headers([LIBRARY ...]): compile GoogleTest's headers once for all programs of this folder that use it.
# The libraries are those whose flags all these programs have.
function(oclspkt_precompile_headers)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  string(MAKE_C_IDENTIFIER oclspkt_headers_${folder} headers)
  file(CONFIGURE OUTPUT headers.cpp CONTENT "")
  add_library(${headers} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/headers.cpp)
  target_link_libraries(${headers} PRIVATE oclspkt_flags GTest::gtest ${ARGN})
  target_precompile_headers(${headers} PRIVATE <gtest/gtest.h> <algorithm> <cmath> <functional> <memory> <random> <string> <vector>)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  list(REMOVE_ITEM targets ${headers})
  foreach(target IN LISTS targets)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(libraries MATCHES "GTest::|-test,LINK_LIBRARIES")
      target_precompile_headers(${target} REUSE_FROM ${headers})
    endif()
  endforeach()
endfunction()

# oclspkt-devices and solvers, with drivers as they are and as they should not be.
function(oclspkt_devices_test name regex)
  add_test(NAME device.command.${name} COMMAND ${CMAKE_COMMAND} -D "REGEX=${regex}"
           -P ${CMAKE_CURRENT_SOURCE_DIR}/expect.cmake -- ${CMAKE_COMMAND} -E env ${ARGN} $<TARGET_FILE:oclspkt-devices>)
  set_tests_properties(device.command.${name} PROPERTIES LABELS device TIMEOUT 300 ENVIRONMENT "${OCLSPKT_TEST_ENV}")
endfunction()

set(good_icds ${OCLSPKT_ICD_FOLDER})
if(NOT good_icds)
  set(good_icds /etc/OpenCL/vendors)
endif()
file(GLOB good_icds ${good_icds}/pocl*.icd)
list(GET good_icds 0 good_icd)
file(STRINGS ${good_icd} good_driver LIMIT_COUNT 1)

set(drivers ${CMAKE_CURRENT_BINARY_DIR}/drivers)
file(MAKE_DIRECTORY ${drivers}/none)
oclspkt_devices_test(Table "cpu +.*Portable Computing Language.*truncated-halo.*auto, all")
oclspkt_devices_test(Emulated "fpga +[^\n]*Emulation[^\n]*; emulated, only if named")
oclspkt_devices_test(NoDriver "No OpenCL device was found.*no OpenCL platform" OCL_ICD_VENDORS=${drivers}/none)

# oclspkt_fake_driver(FAULT [FOLDER folder]): fake_driver.cpp with one fault.
function(oclspkt_fake_driver fault)
  cmake_parse_arguments(ARG "" "FOLDER" "" ${ARGN})
  set(target oclspkt_driver_${fault})
  add_library(${target} MODULE EXCLUDE_FROM_ALL fake_driver.cpp)
  target_compile_definitions(${target} PRIVATE FAULT=${fault} "GOOD_DRIVER=\"${good_driver}\"")
  target_include_directories(${target} SYSTEM PRIVATE ${OpenCL_INCLUDE_DIRS})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME driver-${fault}
    LIBRARY_OUTPUT_DIRECTORY "${drivers}/${ARG_FOLDER}")
  add_dependencies(oclspkt-device ${target})
endfunction()

# Drivers that are refused: each alone, where the host answers and the report says why, and beside a good one, which
# works. The bad one's name comes first in the folder.
set(ends "ends the process that loads it and lists its devices: ")
set(hangs "does not list its devices within 15 s")
set(crash "Segmentation fault")
if(OCLSPKT_SANITIZE)  # a sanitizer ends the process in its own way
  set(crash "exit status")
endif()
set(says_missing "does not load")
set(says_throws_at_load "${ends}Aborted, after .what.*: *no board in this machine.")
set(says_exits_at_load "${ends}exit status 0")
set(says_aborts_at_load "${ends}Aborted")
set(says_hangs_at_load "${hangs}")
set(says_throws_when_asked "${ends}Aborted, after .what.*: *no licence.")
set(says_crashes_when_asked "${ends}${crash}")
set(says_fails_when_asked "offers no platform, CL_OUT_OF_HOST_MEMORY")
set(says_offers_nothing "offers no platform")
set(says_garbage_platforms "${ends}${crash}")
set(says_null_dispatch "${ends}${crash}")
set(says_crashes_in_device_list "${ends}${crash}")
set(says_aborts_in_device_list "${ends}Aborted")
set(says_exits_in_device_list "${ends}exit status")
set(says_hangs_in_device_list "${hangs}")
set(says_crashes_in_device_info "${ends}${crash}")
set(says_aborts_in_context "${ends}Aborted")
foreach(fault missing throws_at_load exits_at_load aborts_at_load hangs_at_load throws_when_asked crashes_when_asked
        fails_when_asked offers_nothing garbage_platforms null_dispatch crashes_in_device_list aborts_in_device_list
        exits_in_device_list hangs_in_device_list crashes_in_device_info aborts_in_context)
  if(fault STREQUAL missing)
    set(driver libthere-is-no-such-driver.so)
  else()
    oclspkt_fake_driver(${fault})
    set(driver $<TARGET_FILE:oclspkt_driver_${fault}>)
  endif()
  set(environment OCLSPKT_DRIVER_SECONDS=15)
  set(alone ${drivers}/alone-${fault})
  file(GENERATE OUTPUT ${alone}/0.icd CONTENT "${driver}\n")
  oclspkt_device_test(Module.Alone.${fault} NoDriver.* PROGRAM oclspkt-module-test
    ENVIRONMENT OCL_ICD_VENDORS=${alone} ${environment} "OCLSPKT_EXPECTED=0.icd, ${says_${fault}}")
  set(beside ${drivers}/beside-${fault})
  file(COPY ${good_icds} DESTINATION ${beside})
  file(GENERATE OUTPUT ${beside}/0.icd CONTENT "${driver}\n")
  oclspkt_devices_test(Beside.${fault} "cpu +.*Portable Computing Language.*problem: driver .*0.icd, ${says_${fault}}"
    OCL_ICD_VENDORS=${beside} ${environment})
  # Those below show one of these drivers.
  set_property(TEST device.Module.Alone.${fault} device.command.Beside.${fault} APPEND PROPERTY LABELS full)
  if(fault MATCHES hangs)  # one at a time and early: each sleeps until its limit, and two would leave a processor idle
    set_tests_properties(device.Module.Alone.${fault} device.command.Beside.${fault} PROPERTIES RESOURCE_LOCK hangs COST 50)
  endif()
endforeach()
oclspkt_device_test(Module.Beside Module.* PROGRAM oclspkt-module-test
  ENVIRONMENT OCL_ICD_VENDORS=${drivers}/beside-aborts_in_device_list)
# The loader can be pointed to an ICD file, or to a driver.
oclspkt_devices_test(IcdFile "problem: driver .*0.icd, ${ends}Aborted"
  OCL_ICD_VENDORS=${drivers}/alone-aborts_in_device_list/0.icd)
oclspkt_devices_test(Library "problem: driver .*, named in OCL_ICD_VENDORS, ${ends}Aborted"
  OCL_ICD_VENDORS=$<TARGET_FILE:oclspkt_driver_aborts_in_device_list>)

# Good ones: a driver that takes its time, unless it takes too much, and one whose path holds spaces.
oclspkt_fake_driver(slow)
oclspkt_fake_driver(good FOLDER "folder with spaces")
foreach(fault slow good)
  file(GENERATE OUTPUT ${drivers}/alone-${fault}/0.icd CONTENT "$<TARGET_FILE:oclspkt_driver_${fault}>\n")
endforeach()
oclspkt_devices_test(Slow "cpu +.*Portable Computing Language" OCL_ICD_VENDORS=${drivers}/alone-slow)
oclspkt_devices_test(TooSlow "does not list its devices within 1 s"
  OCL_ICD_VENDORS=${drivers}/alone-slow OCLSPKT_DRIVER_SECONDS=1)
oclspkt_devices_test(PathWithSpaces "cpu +.*Portable Computing Language" OCL_ICD_VENDORS=${drivers}/alone-good)

# A board: it has no compiler, and is listed and refused with a cure.
oclspkt_fake_driver(board)
file(GENERATE OUTPUT ${drivers}/alone-board/0.icd CONTENT "$<TARGET_FILE:oclspkt_driver_board>\n")
oclspkt_devices_test(Board "fpga +fake +Fake platform.*only with -pc_oclspkt_fpga_binary" OCL_ICD_VENDORS=${drivers}/alone-board)
oclspkt_device_test(Module.Board Board.* PROGRAM oclspkt-module-test ENVIRONMENT OCL_ICD_VENDORS=${drivers}/alone-board)

# A driver whose cache folder cannot be written, or is full, and one named in a pipe that nobody writes to.
oclspkt_devices_test(CacheFolder
  "cpu +.*Portable Computing Language.*problem: driver .*its cache folder /dev/null/pocl cannot be used: Not a directory"
  POCL_CACHE_DIR=/dev/null/pocl)
add_test(NAME device.command.FullCacheFolder COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/full_cache.sh
         $<TARGET_FILE:oclspkt-devices> ${CMAKE_CURRENT_BINARY_DIR}/full-cache)
set_tests_properties(device.command.FullCacheFolder PROPERTIES LABELS device TIMEOUT 300 SKIP_RETURN_CODE 77
                     ENVIRONMENT "${OCLSPKT_TEST_ENV}")
file(COPY ${good_icds} DESTINATION ${drivers}/pipe)
if(NOT EXISTS ${drivers}/pipe/0.icd)
  execute_process(COMMAND mkfifo ${drivers}/pipe/0.icd COMMAND_ERROR_IS_FATAL ANY)
endif()
oclspkt_devices_test(Pipe "cpu +.*Portable Computing Language.*problem: driver .*0.icd, cannot be read or names no library"
  OCL_ICD_VENDORS=${drivers}/pipe)

# Where drivers cannot be tried, none is loaded.
oclspkt_device_test(Module.NoTemporaryFolder NoDriver.* PROGRAM oclspkt-module-test
  ENVIRONMENT TMPDIR=${drivers}/there-is-no-such-folder
  "OCLSPKT_EXPECTED=cannot write to the temporary folder .*there-is-no-such-folder: No such file or directory. set TMPDIR")
add_test(NAME device.Helper COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/helper.sh $<TARGET_FILE:oclspkt-devices>
         ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_CURRENT_BINARY_DIR}/helper)
set_tests_properties(device.Helper PROPERTIES LABELS device TIMEOUT 300 ENVIRONMENT "${OCLSPKT_TEST_ENV}")
# By libraries of a relative path, in one program that links the module as those with schemes of their own do.
foreach(program oclspkt-moved oclspkt-moved-with-module)
  add_executable(${program} moved.cpp)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/plugin/core)
  target_link_libraries(${program} PRIVATE oclspkt_flags oclspkt_solver_shared)
  set_target_properties(${program} PROPERTIES SKIP_BUILD_RPATH ON)
endforeach()
add_dependencies(oclspkt-moved oclspkt_cl_shared)
target_link_libraries(oclspkt-moved-with-module PRIVATE -Wl,--no-as-needed oclspkt_cl_shared)
add_test(NAME device.Moved COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/moved.sh $<TARGET_FILE:oclspkt-moved>
         $<TARGET_FILE:oclspkt-moved-with-module> ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_CURRENT_BINARY_DIR}/moved)
set_tests_properties(device.Moved PROPERTIES LABELS device TIMEOUT 300 ENVIRONMENT "${OCLSPKT_TEST_ENV}")
add_test(NAME device.FpgaBuild COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fpga_build.sh $<TARGET_FILE:oclspkt-fpga-build>
         ${CMAKE_CURRENT_BINARY_DIR}/fpga-build)
set_tests_properties(device.FpgaBuild PROPERTIES LABELS device TIMEOUT 300 ENVIRONMENT "${OCLSPKT_TEST_ENV}")

# What every target of the project is compiled with.
add_library(oclspkt_flags INTERFACE)
target_compile_options(oclspkt_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-unknown-pragmas
                                               $<$<BOOL:${OCLSPKT_WERROR}>:-Werror>)
# Files that are compiled together (UNITY_BUILD) are headers to GCC, whose unnamed namespaces it warns of.
target_compile_options(oclspkt_flags INTERFACE
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>)
# Excess and two-sum rely on the order in which sums are written; nothing may be re-associated or contracted there.
target_compile_options(oclspkt_flags INTERFACE -ffp-contract=off)
if(OCLSPKT_SANITIZE)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "OCLSPKT_SANITIZE needs Clang: use `cmake --preset asan`")
  endif()
  # What tests do themselves is looked at for addresses alone: with both, they take twice as long to compile.
  define_property(TARGET PROPERTY OCLSPKT_ADDRESSES_ALONE INITIALIZE_FROM_VARIABLE OCLSPKT_ADDRESSES_ALONE)
  # What the fuzzing targets are made of tells libFuzzer which branches an input takes.
  define_property(TARGET PROPERTY OCLSPKT_FUZZED)
  target_compile_options(oclspkt_flags INTERFACE -fsanitize=${OCLSPKT_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined -D__SANITIZE_ADDRESS__  # as GCC defines it
    $<$<AND:$<BOOL:${OCLSPKT_FUZZ}>,$<BOOL:$<TARGET_PROPERTY:OCLSPKT_FUZZED>>>:-fsanitize=fuzzer-no-link>
    $<$<BOOL:$<TARGET_PROPERTY:OCLSPKT_ADDRESSES_ALONE>>:-fno-sanitize=undefined>)
  # The run-time is a library of its own, but for the fuzzers: programs that are built without it open our libraries.
  set(runtime libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime} OUTPUT_VARIABLE OCLSPKT_SANITIZER_RUNTIME
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT IS_ABSOLUTE "${OCLSPKT_SANITIZER_RUNTIME}")
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} has no ${runtime}: install Clang's run-times (Debian: libclang-rt-14-dev)")
  endif()
  cmake_path(GET OCLSPKT_SANITIZER_RUNTIME PARENT_PATH folder)
  set(is_fuzzer $<AND:$<BOOL:$<TARGET_PROPERTY:OCLSPKT_FUZZED>>,$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>>)
  target_link_options(oclspkt_flags INTERFACE -fsanitize=${OCLSPKT_SANITIZE}
                                              $<$<NOT:${is_fuzzer}>:-shared-libsan;-Wl,-rpath,${folder}>)
endif()

# oclspkt_part_of_plugin(TARGET): a library that hands over to liboclspkt.so if -dll_append names it. The name of its
# function is made of the file's, as PETSc makes it.
function(oclspkt_part_of_plugin target)
  get_target_property(name ${target} OUTPUT_NAME)
  string(REPLACE - _ function ${name})
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/plugin/core/part_of_plugin.cpp)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/plugin/core)
  target_compile_definitions(${target} PRIVATE OCLSPKT_FILE_NAME="lib${name}.so" OCLSPKT_REGISTERS_AS="${function}")
endfunction()

# A room of the house: an object library that builds alone.
function(oclspkt_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;NEEDS" ${ARGN})
  add_library(oclspkt_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(oclspkt_${name} PUBLIC ${PROJECT_SOURCE_DIR}/plugin/include
                                                    ${PROJECT_SOURCE_DIR}/plugin/${name})
  set_target_properties(oclspkt_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                                   C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                                   UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef OCLSPKT_INSTANTIATE")
  target_link_libraries(oclspkt_${name} PRIVATE oclspkt_flags)
  foreach(need IN LISTS ARG_NEEDS)
    target_include_directories(oclspkt_${name} PUBLIC ${PROJECT_SOURCE_DIR}/plugin/${need})
  endforeach()
endfunction()

# Run a program under oclgrind, once for each case, and look at what it reports.
#
# cmake -D OCLGRIND=... -D PROGRAM=... -D LOG=file -D "CASES=arguments|arguments" -D EXPECT=silence|<regex>
#       -P oclgrind.cmake
#
# A case "kinds SCHEME float|double" stands for one case for each kind of plan that the program counts.
# PLAIN_TRANSPOSE: with the compiler's shuffle builtin oclgrind 21.10 crashes, or reports what is not (--uninitialized).
string(REPLACE "|" ";" CASES "${CASES}")
set(all "")
foreach(case IN LISTS CASES)
  if(case MATCHES "^kinds ([^ ]+) ([a-z]+)$")
    set(scheme ${CMAKE_MATCH_1})
    set(scalar ${CMAKE_MATCH_2})
    execute_process(COMMAND ${OCLGRIND} ${PROGRAM} count ${scheme} ${scalar} OUTPUT_VARIABLE count)
    if(NOT count MATCHES "count ([1-9][0-9]*)")
      message(FATAL_ERROR "${scheme} has no plans: ${count}")
    endif()
    math(EXPR last "${CMAKE_MATCH_1} - 1")
    foreach(kind RANGE ${last})
      list(APPEND all "plan ${scheme} ${kind} ${scalar}")
    endforeach()
  else()
    list(APPEND all "${case}")
  endif()
endforeach()
foreach(case IN LISTS all)
  separate_arguments(arguments UNIX_COMMAND "${case}")
  file(REMOVE ${LOG})
  execute_process(COMMAND ${OCLGRIND} --build-options "-D PLAIN_TRANSPOSE ${BUILD_OPTIONS}" --data-races --uninitialized --check-api
                          --max-errors 20 --log ${LOG} ${PROGRAM} ${arguments}
                  RESULT_VARIABLE result)
  set(report "")
  if(EXISTS ${LOG})
    file(READ ${LOG} report)
  endif()
  string(STRIP "${report}" report)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "case ${case}: the program ended with ${result}\n${report}")
  endif()
  if(EXPECT STREQUAL "silence" AND report)
    message(FATAL_ERROR "case ${case}: oclgrind reports\n${report}")
  elseif(NOT EXPECT STREQUAL "silence" AND NOT report MATCHES "${EXPECT}")
    message(FATAL_ERROR "case ${case}: oclgrind should report '${EXPECT}', it says\n${report}")
  endif()
endforeach()

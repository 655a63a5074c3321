# SPDX-License-Identifier: BSD-2-Clause
# The committed pages are what oclspkt-options prints: cmake -DTOOL=... -DDOCS=... -P compare_pages.cmake
function(compare page)
  execute_process(COMMAND ${TOOL} ${ARGN} OUTPUT_VARIABLE made COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${DOCS}/${page} committed)
  if(NOT made STREQUAL committed)
    message(FATAL_ERROR "docs/${page} is not what `oclspkt-options ${ARGN}` prints; write its output there")
  endif()
endfunction()

compare(options.md)
execute_process(COMMAND ${TOOL} --list OUTPUT_VARIABLE pages COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" pages "${pages}")
foreach(page IN LISTS pages)
  compare(manual/${page}.md ${page})
endforeach()

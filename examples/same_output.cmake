# cmake -D MPIEXEC=mpiexec -D RANKS=4 -D PROGRAM=program -D ARGUMENTS=list -P same_output.cmake
# What the program prints is the same, digit by digit, on one rank and on several.
foreach(ranks 1 ${RANKS})
  execute_process(COMMAND ${MPIEXEC} -n ${ranks} ${PROGRAM} ${ARGUMENTS} OUTPUT_VARIABLE printed_${ranks}
                  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  message("${printed_${ranks}}")
endforeach()
string(LENGTH "${printed_1}" length)
if(length EQUAL 0)
  message(FATAL_ERROR "it prints nothing")
endif()
if(NOT printed_1 STREQUAL printed_${RANKS})
  message(FATAL_ERROR "it prints something else on ${RANKS} ranks than on one")
endif()

# SPDX-License-Identifier: BSD-2-Clause
# The quick cases twice, one process beside the other: all lines are the same.
#   cmake -D PROGRAM=... -D WORK=folder -P twice.cmake
foreach(run first second)
  execute_process(COMMAND ${PROGRAM} --quick OUTPUT_FILE ${WORK}/${run}.txt COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND diff ${WORK}/first.txt ${WORK}/second.txt COMMAND_ERROR_IS_FATAL ANY)

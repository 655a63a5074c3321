# SPDX-License-Identifier: BSD-2-Clause
# cmake -DOTHER=... -DBUILD=... -DPREFIX=... -P install_both.cmake: all of the build folder OTHER, and the plugin of BUILD.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${OTHER} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --component flavours COMMAND_ERROR_IS_FATAL ANY)

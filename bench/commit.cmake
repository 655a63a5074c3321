cmake_minimum_required(VERSION 3.25)
# Write a header with the commit that is checked out, only if it changed.
# cmake -D SOURCE=folder -D OUTPUT=file -P commit.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=40 --dirty --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "inline constexpr const char* kCommit = \"@commit@\";\n" @ONLY)

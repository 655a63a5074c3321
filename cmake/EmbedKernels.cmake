# Write a C++ file that holds OpenCL C files with their #include "..." resolved, each file at most once per kernel.
#
# cmake -D OUTPUT=file.cpp -D ROOT=kernels -D "KERNELS=common/stream.cl|cpu/reduce.cl" -P EmbedKernels.cmake
# cmake -D OUTPUT=file.cpp -D ROOT=kernels -D PRELUDE=cuda/prelude.cuh -P EmbedKernels.cmake
# Dependencies for the build system are the caller's business.

function(resolve_includes text_variable)
  set(text "${${text_variable}}")
  set(done "|")
  while(text MATCHES "#include \"([^\"\n]+)\"")
    set(line "${CMAKE_MATCH_0}")
    set(file "${CMAKE_MATCH_1}")
    if(NOT EXISTS ${ROOT}/${file})
      message(FATAL_ERROR "a kernel includes ${file}, which is not in ${ROOT}")
    endif()
    string(FIND "${text}" "${line}" at)
    string(LENGTH "${line}" length)
    string(SUBSTRING "${text}" 0 ${at} before)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${text}" ${at} -1 after)
    string(FIND "${done}" "|${file}|" seen)
    if(seen EQUAL -1)
      string(APPEND done "${file}|")
      file(READ ${ROOT}/${file} included)
    else()
      set(included "")
    endif()
    set(text "${before}${included}${after}")
  endwhile()
  set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()

if(DEFINED PRELUDE)
  file(READ ${ROOT}/${PRELUDE} text)
  resolve_includes(text)
  file(WRITE ${OUTPUT} "// Generated from kernels/${PRELUDE}.
#include \"translate.hpp\"

namespace oclspkt::cuda {
const char* const kPrelude = R\"prelude(${text})prelude\";
}  // namespace oclspkt::cuda
")
  return()
endif()

string(REPLACE "|" ";" KERNELS "${KERNELS}")
set(entries "")
foreach(kernel IN LISTS KERNELS)
  file(READ ${ROOT}/${kernel} source)
  resolve_includes(source)
  get_filename_component(name ${kernel} NAME_WE)
  get_filename_component(folder ${kernel} DIRECTORY)
  string(APPEND entries "    {\"${name}\", \"${folder}\", R\"kernel(${source})kernel\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from kernels/.
#include \"kernel_source.hpp\"

namespace oclspkt::ocl {
const KernelSource kKernelSources[] = {
${entries}    {nullptr, nullptr, nullptr}};
}  // namespace oclspkt::ocl
")

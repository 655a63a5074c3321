# What makes builds of PETSc incompatible. Installed beside the CMake package, which asks the same of the PETSc of others.

# oclspkt_petsc_kind(FOLDER KIND UNSUPPORTED [MORE_FOLDERS...]): of the PETSc whose petscconf.h is in FOLDER, and
# petscversion.h there or in MORE_FOLDERS: 3.18-real, 3.18-complex, 3.24-real-64 (flavour.hpp), and what of it oclspkt
# does not support, in words.
function(oclspkt_petsc_kind folder kind unsupported)
  file(STRINGS ${folder}/petscconf.h conf REGEX "define +PETSC_USE_(COMPLEX|64BIT_INDICES|REAL_SINGLE|REAL___FLOAT128|REAL___FP16) ")
  find_file(version_file petscversion.h HINTS ${folder} ${ARGN} NO_DEFAULT_PATH NO_CACHE)
  file(STRINGS ${version_file} version REGEX "define +PETSC_VERSION_(MAJOR|MINOR) ")
  string(REGEX REPLACE "[^;]*MAJOR +([0-9]+)[^;]*;[^;]*MINOR +([0-9]+).*" "\\1.\\2" version "${version}")
  set(text "${version}-real")
  set(bad "")
  if(conf MATCHES COMPLEX)
    set(text "${version}-complex")
    list(APPEND bad "complex scalars")
  endif()
  if(conf MATCHES "REAL_(SINGLE|__FLOAT128|__FP16)")
    list(APPEND bad "another precision than double")
  endif()
  if(conf MATCHES 64BIT_INDICES)
    string(APPEND text -64)
  endif()
  list(JOIN bad ", " bad)
  set(${kind} ${text} PARENT_SCOPE)
  set(${unsupported} "${bad}" PARENT_SCOPE)
endfunction()

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# pkg_config.sh PREFIX LIBDIR SOURCES WORK CXX [CC [MPIFORT EXAMPLE]]: build the outside programs by pkg-config alone and run
# them; with CC the one that uses PETSc, as C and as C++. Only Fortran needs MPI's wrapper, for its modules.
set -euo pipefail
prefix=$1 libdir=$2 sources=$3 work=$4 cxx=$5 cc=${6:-} mpifort=${7:-} example=${8:-}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
mkdir -p "$work"

# build NAME MODULE COMPILER...: what follows the module is the compiler with its options and sources.
build() {
  local name=$1 module=$2 flags
  shift 2
  read -ra flags <<<"$(pkg-config --cflags --libs "$module")"
  "$@" -o "$work/$name" "${flags[@]}" "-Wl,-rpath,$prefix/$libdir"
  "$work/$name"
}

build solve oclspkt-solver "$cxx" -std=c++20 "$sources/solve.cpp"
if [ -n "$cc" ]; then
  test -f "$(pkg-config --variable plugin oclspkt)"
  # Another release of PETSc than the plugin's is not linked with it.
  mkdir -p "$work/other"
  printf 'Name: PETSc\nDescription: of another release\nVersion: 3.99.0\n' >"$work/other/PETSc.pc"
  if PKG_CONFIG_PATH=$work/other:$PKG_CONFIG_PATH pkg-config --cflags oclspkt; then
    echo "oclspkt takes a PETSc 3.99"
    exit 1
  fi
  build precondition oclspkt "$cc" "$sources/precondition.c"
  build precondition-cxx oclspkt "$cxx" -x c++ "$sources/precondition.c" -x none
  build tridiagonal oclspkt "$cc" "$prefix/share/doc/oclspkt/examples/tridiagonal.c"
  build heat oclspkt "$cc" "$prefix/share/doc/oclspkt/examples/heat.c" -lm
fi
if [ -n "$mpifort" ]; then
  build fortran oclspkt-fortran "$mpifort" -ffree-line-length-none "$example"
fi

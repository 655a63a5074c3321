#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# pkg_config.sh PREFIX LIBDIR SOURCES WORK CC CXX [petsc]: build the outside programs by pkg-config alone and run them.
set -euo pipefail
prefix=$1 libdir=$2 sources=$3 work=$4 cc=$5 cxx=$6 with=${7:-}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
mkdir -p "$work"

read -ra flags <<<"$(pkg-config --cflags --libs oclspkt-solver)"
"$cxx" -std=c++20 "$sources/solve.cpp" -o "$work/solve" "${flags[@]}" "-Wl,-rpath,$prefix/$libdir"
"$work/solve"

if [ "$with" = petsc ]; then
  test -f "$(pkg-config --variable plugin oclspkt)"
  petsc=PETSc
  pkg-config --exists $petsc || petsc=petsc
  read -ra flags <<<"$(pkg-config --cflags --libs oclspkt $petsc)"
  "$cc" "$sources/precondition.c" -o "$work/precondition" "${flags[@]}" "-Wl,-rpath,$prefix/$libdir"
  "$work/precondition"
fi

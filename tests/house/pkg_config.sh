#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# pkg_config.sh PREFIX LIBDIR SOURCES WORK CXX [MPICC [MPIFORT EXAMPLE]]: build the outside programs by pkg-config alone and run them; the
# one that uses PETSc only with an MPI compiler, as PETSc's own .pc files ask for.
set -euo pipefail
prefix=$1 libdir=$2 sources=$3 work=$4 cxx=$5 mpicc=${6:-} mpifort=${7:-} example=${8:-}
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
mkdir -p "$work"

read -ra flags <<<"$(pkg-config --cflags --libs oclspkt-solver)"
"$cxx" -std=c++20 "$sources/solve.cpp" -o "$work/solve" "${flags[@]}" "-Wl,-rpath,$prefix/$libdir"
"$work/solve"

if [ -n "$mpicc" ]; then
  test -f "$(pkg-config --variable plugin oclspkt)"
  petsc=PETSc
  pkg-config --exists $petsc || petsc=petsc
  read -ra flags <<<"$(pkg-config --cflags --libs oclspkt $petsc)"
  "$mpicc" "$sources/precondition.c" -o "$work/precondition" "${flags[@]}" "-Wl,-rpath,$prefix/$libdir"
  "$work/precondition"
fi

if [ -n "$mpifort" ]; then
  read -ra flags <<<"$(pkg-config --cflags --libs oclspkt-fortran $petsc)"
  "$mpifort" -ffree-line-length-none "$example" -o "$work/fortran" "${flags[@]}" "-Wl,-rpath,$prefix/$libdir"
  "$work/fortran"
fi

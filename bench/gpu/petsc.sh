#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# PETSc itself on a GPU: a PETSc program that knows nothing of oclspkt solves by the GPU, by the CPU and by whatever
# `auto` takes, with PETSc's vectors on the host, and writes a log of each, with -log_view and the bytes that were moved.
#   bench/gpu/petsc.sh FOLDER [--petsc PREFIX] [--rows N,...] [--lambda L] [--devices WORD,...] [--method WORD]
# Or -oclspkt_types beside PETSc's own CUDA types, if it has them, and beside ranks of the host (petsc_types.py says what):
#   bench/gpu/petsc.sh FOLDER [--petsc PREFIX] --types FILE [options of petsc_types.py]
# FOLDER: where the logs go. PREFIX: an installed PETSc, with lib/pkgconfig in it, wherever it was built for; without it
# the one that pkg-config finds. Wants MPI besides what run.sh wants. More options for CMake in CMAKE_EXTRA, the build
# folder in BUILD. Ends with 1 if an answer was wrong.
set -eu
usage='usage: bench/gpu/petsc.sh FOLDER [--petsc PREFIX] [--rows N,...] [--lambda L] [--devices WORD,...] [--method WORD]
   or: bench/gpu/petsc.sh FOLDER [--petsc PREFIX] --types FILE [options of petsc_types.py]'
folder=${1:?$usage}
shift
petsc='' types='' rows=1000000,50000000 lambda=10 devices=gpu,cpu,auto method=auto
while [ $# -gt 1 ]; do
  case $1 in
    --petsc) petsc=$2 ;;
    --rows) rows=$2 ;;
    --lambda) lambda=$2 ;;
    --devices) devices=$2 ;;
    --method) method=$2 ;;
    --types) types=$2; shift 2; break ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
  shift 2
done
[ $# -eq 0 ] || [ -n "$types" ] || { echo "$usage" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build/gpu-petsc}
mkdir -p "$folder" "$build/pkgconfig"

# PETSc's file for pkg-config names the prefix it was built for.
if [ -n "$petsc" ]; then
  [ -f "$petsc/lib/pkgconfig/PETSc.pc" ] || { echo "petsc.sh: no lib/pkgconfig/PETSc.pc in $petsc" >&2; exit 2; }
  petsc=$(cd "$petsc" && pwd)
  sed "s|^prefix=.*|prefix=$petsc|" "$petsc/lib/pkgconfig/PETSc.pc" >"$build/pkgconfig/PETSc.pc"
  export PKG_CONFIG_PATH="$build/pkgconfig:${PKG_CONFIG_PATH:-}"
  export LD_LIBRARY_PATH="$petsc/lib:${LD_LIBRARY_PATH:-}"
fi
# shellcheck disable=SC2086  # several options
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOCLSPKT_BENCH=OFF -DOCLSPKT_EXAMPLES=OFF \
  -DOCLSPKT_TESTS=OFF -DOCLSPKT_WITH_FORTRAN=OFF -DOCLSPKT_MORE_PETSCS= ${CMAKE_EXTRA:-} >"$build.log" || { cat "$build.log"; exit 1; }
cmake --build "$build" --target oclspkt_dispatcher oclspkt_cl_shared oclspkt_cuda_shared oclspkt-devices >>"$build.log" ||
  { tail -40 "$build.log"; exit 1; }
program() {  # NAME: one of PETSc's programs beside this script
  # shellcheck disable=SC2046  # several options
  mpicc -O2 -o "$build/$1" "$root/bench/gpu/$1.c" $(pkg-config --cflags --libs PETSc) -lm
}
program petsc_solve
if [ -n "$types" ]; then
  program petsc_apply
  program petsc_krylov
  cuda=
  grep -q 'define PETSC_HAVE_CUDA ' "$(pkg-config --variable=includedir PETSc)/petscconf.h" && cuda=--cuda
  exec python3 "$root/bench/gpu/petsc_types.py" "$build" "$types" $cuda "$@"
fi

status=0
for size in $(echo "$rows" | tr , ' '); do
  n=$(printf %.0f "$size")  # PETSc takes no 5e7
  for device in $(echo "$devices" | tr , ' '); do
    log=$folder/petsc-$n-$device.log
    echo "== $n rows, devices $device"
    if "$build/petsc_solve" -dll_append "$build/lib/liboclspkt.so" -n "$n" -lambda "$lambda" -ksp_type preonly \
      -pc_type oclspkt -pc_oclspkt_devices "$device" -pc_oclspkt_method "$method" -solver_view ::ascii_info_detail \
      -log_view >"$log" 2>&1; then
      grep -E 'rows: set-up|^ *(method|device|bytes|solves): |^KSPSolve' "$log"
    else
      status=1
      head -5 "$log"
    fi
  done
done
exit $status

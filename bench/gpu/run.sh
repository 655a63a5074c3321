#!/bin/sh
# Build and run oclspkt-bench-gpu on a machine with a GPU: bench/gpu/run.sh FILE [REPETITIONS]
# Wants CMake, Ninja, GCC 12 or newer, an OpenCL loader with headers and CLHPP, LAPACKE and nlohmann-json, and the GPU's
# driver among the loader's (OCL_ICD_VENDORS).
set -eu
file=${1:?usage: bench/gpu/run.sh FILE [REPETITIONS]}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/gpu
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOCLSPKT_WITH_PETSC=OFF -DOCLSPKT_BENCH=OFF \
  -DOCLSPKT_BENCH_GPU=ON -DOCLSPKT_EXAMPLES=OFF ${CMAKE_EXTRA:-} >"$build.log" || { cat "$build.log"; exit 1; }
cmake --build "$build" --target oclspkt-bench-gpu >>"$build.log" || { tail -40 "$build.log"; exit 1; }
"$build"/bin/oclspkt-bench-gpu "$file" "${2:-7}"

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Build oclspkt-bench-gpu, and oclspkt-bench-cusparse where there is nvcc, run both on the same cases, and merge what
# they wrote: bench/gpu/run.sh FILE [options of oclspkt-bench-gpu, see its --help]
# Wants CMake, Ninja, GCC 12 or newer, an OpenCL loader with headers and CLHPP, LAPACKE and nlohmann-json, and the GPU's
# driver among the loader's (OCL_ICD_VENDORS). More options for CMake in CMAKE_EXTRA, the build folder in BUILD.
# Ends with 1 if one of our answers was wrong, a case of ours failed or a program did not run; FILE is written all the
# same.
set -eu
file=${1:?usage: bench/gpu/run.sh FILE [options]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build/gpu}
parts=$build/results
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
set_cuda=-DOCLSPKT_BENCH_CUDA=OFF
peers=
if [ -n "$nvcc" ]; then
  set_cuda="-DOCLSPKT_BENCH_CUDA=ON -DCMAKE_CUDA_COMPILER=$nvcc"
  peers=oclspkt-bench-cusparse
fi

mkdir -p "$parts"
# shellcheck disable=SC2086  # several options each
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOCLSPKT_WITH_PETSC=OFF -DOCLSPKT_BENCH=OFF \
  -DOCLSPKT_BENCH_GPU=ON -DOCLSPKT_EXAMPLES=OFF -DOCLSPKT_TESTS=OFF $set_cuda ${CMAKE_EXTRA:-} >"$build.log" ||
  { cat "$build.log"; exit 1; }
# shellcheck disable=SC2086
cmake --build "$build" --target oclspkt-bench-gpu oclspkt-devices $peers >>"$build.log" ||
  { tail -40 "$build.log"; exit 1; }

status=0
for program in $peers oclspkt-bench-gpu; do
  rm -f "$parts/$program.json"
  "$build/bin/$program" "$parts/$program.json" "$@" || status=1
done
python3 "$root/bench/gpu/merge.py" "$file" "$parts"/oclspkt-bench-gpu.json ${peers:+"$parts/$peers.json"} || status=1
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mkl_tridiagonal.sh FOLDER: make FOLDER/libmkl-tridiagonal.so, MKL's dtsvb, dttrfb and dttrsb for one thread, from the
# static libraries of the PyPI package mkl-static (200 MB). It has 0.5 MB and travels with oclspkt-bench-paper to a machine
# without MKL, where the bench finds it in LD_LIBRARY_PATH or by OCLSPKT_BENCH_MKL. MKL's licence applies: do not commit it.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --no-deps --dest "$scratch" mkl-static==2024.2.2
python3 - "$scratch" <<'END'
import pathlib, sys, zipfile
scratch = pathlib.Path(sys.argv[1])
wanted = ("libmkl_intel_lp64.a", "libmkl_sequential.a", "libmkl_core.a")
with zipfile.ZipFile(next(scratch.glob("*.whl"))) as wheel:
    for name in wheel.namelist():
        if name.endswith(wanted):
            (scratch / pathlib.Path(name).name).write_bytes(wheel.read(name))
END
names=()
for scalar in s d; do
  for routine in dtsvb dttrfb dttrsb; do names+=("-Wl,-u,$scalar${routine}_"); done
done
cc -shared -s -o "$1/libmkl-tridiagonal.so" "${names[@]}" -Wl,--start-group "$scratch"/libmkl_{intel_lp64,sequential,core}.a \
  -Wl,--end-group -lpthread -lm -ldl
ls -l "$1/libmkl-tridiagonal.so"

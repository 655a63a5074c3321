# SPDX-License-Identifier: BSD-2-Clause
# Benchmarks: what they can use beside Debian's packages, and all of them in a row for docs/performance.md.

BENCH_PACKAGES=$PWD/build/bench-packages
MKL_VERSION=2026.2.0
MATPLOTLIB_VERSION=3.11.2

# install_optional NAME VERSION WHAT: by pip into the build folder; without it the benchmarks go on.
install_optional() {
  local installed=$BENCH_PACKAGES/$1-$2.installed
  [ ! -f "$installed" ] || return 0
  echo "== installing $1 $2 into build/bench-packages: $3"
  if { [ -x "$BENCH_PACKAGES/bin/pip" ] || /usr/bin/python3 -m venv "$BENCH_PACKAGES"; } &&
    "$BENCH_PACKAGES/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --retries 1 --timeout 15 \
      "$1==$2"; then
    touch "$installed"
  else
    echo "run.sh: $1 could not be installed; going on without $3" >&2
  fi
}

# Installs what is optional, and tells oclspkt-bench where it is.
prepare_bench() {
  local library
  install_optional mkl "$MKL_VERSION" "MKL's solvers as peers (1 GB)"
  install_optional matplotlib "$MATPLOTLIB_VERSION" "pictures"
  for library in "$BENCH_PACKAGES"/lib/libmkl_rt.so.*; do
    if [ -e "$library" ]; then export OCLSPKT_BENCH_MKL=$library; fi
  done
}

# bench_all [--to ROWS] [--grids N,...] [--device SELECTION] [--page FILE] [--results FOLDER]: all JSON files, then the
# page and its pictures. In the folder of the page lie the pictures, too.
bench_all() {
  local to=1e7 grids=64,128 device=cpu page=docs/performance.md results=bench/results lambda precision
  while [ $# -gt 0 ]; do
    case $1 in
      --to | --grids | --device | --page | --results)
        if [ $# -lt 2 ]; then
          echo "run.sh: $1 takes a value" >&2
          exit 2
        fi
        local "${1#--}=$2"
        shift 2
        ;;
      *)
        echo "run.sh: bench all takes --to ROWS, --grids N,..., --device SELECTION, --page FILE, --results FOLDER, not '$1'" >&2
        exit 2
        ;;
    esac
  done
  if [ ! -f "$page" ]; then
    echo "run.sh: there is no page $page, whose tables would be replaced: copy docs/performance.md there" >&2
    exit 2
  fi
  local rows grid=${grids##*,}
  rows=$(printf %.0f "$to")
  mkdir -p "$results"
  bench sweep --device "$device" --to "$to" --json "$results/sweep.json"
  for lambda in 10 100 1000; do
    bench solve --device "$device" --rows "$to" --matrix conduction --lambda "$lambda" --repetitions 7 \
      --methods truncated-halo,exact-twopass,exact-factored,gtsv,gttrs,pttrs,thomas,thomas-stored,dtsvb,dttrsb,dtsvb-halves \
      --json "$results/lambda-$lambda.json"
  done
  for precision in double float; do
    bench lines --precision "$precision" --grids "$grids" --rows "$((rows < 4194304 ? rows : 4194304))" \
      --json "$results/lines-$precision.json"
  done
  bench petsc -rows "$((rows < 2000000 ? rows : 2000000)),$((rows < 2000000 ? 0 : rows < 20000000 ? rows : 20000000))" \
    -grid "$grid" -json "$results/petsc.json"
  bench adi -size "$grid" -steps 5 -json "$results/adi.json"
  write_page "$results" "$page"
}

# A benchmark that finds a wrong answer says so and ends with 1; the others still run.
bench() {
  echo "== oclspkt-bench $*"
  build/release/bin/oclspkt-bench "$@" || echo "run.sh: that ended with exit code $?" >&2
}

# write_page RESULTS PAGE: pictures and tables.
write_page() {
  local results=$1 page=$2 python=/usr/bin/python3 status=0
  if [ -f "$BENCH_PACKAGES/matplotlib-$MATPLOTLIB_VERSION.installed" ]; then python=$BENCH_PACKAGES/bin/python; fi
  "$python" bench/plot.py "$results" "$(dirname "$page")" || status=$?
  if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then return "$status"; fi
  "$python" bench/tables.py "$results" "$page"
}

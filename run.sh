#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# One entry for everything: installs what is missing, configures, builds, runs. See `./run.sh help`.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
source scripts/packages.sh
source scripts/build.sh

usage() {
  cat <<'TEXT'
usage: ./run.sh VERB

  setup   install the Debian packages and OpenCL run-times that the verbs below need
  build   build the libraries, the examples and oclspkt-devices        -> build/release
  demo    build, then solve 1e6 rows with one of PETSc's own programs and run the heat equation in
          one and two dimensions
  test    build the libraries and the examples and test them, in at most ten minutes on two processors.
          `test all` runs the rest as well: every test of the release build, those of the PETSc plugin with PETSc 3.26 of
          64-bit indices, which it builds, and with Debian's of complex scalars, a build with address and undefined
          behaviour sanitizers, and some fuzzing.
          `test petsc VERSION` tests the plugin with another release of PETSc, such as 3.25 or 3.22.4, which it
          downloads from PyPI and builds in ~/.cache/oclspkt, once (five minutes); options of PETSc's configure may
          follow the version, such as --with-threadsafety --with-openmp, or first among them the word viennacl or
          kokkos: a PETSc with vectors of ViennaCL, or of Kokkos, which it builds as well (one more minute).
          `test types` runs PETSc's own examples with and without -oclspkt_types and compares what they print (half an
          hour); folders or examples may follow, such as ksp/ksp/tutorials/ex2. `test types names` does so with the
          types opencl and aijopencl
  fuzz    fuzz the solver, what reads options, and both under PETSc, each for the seconds that follow (default: 600);
          `fuzz attack SECONDS` solves hard systems on every device and judges each answer; `fuzz climb SECONDS`
          changes single numbers of small ones as long as the error grows against its bound
  bench   build oclspkt-bench and run it; what follows the verb goes to it: solve, sweep, lines, weak-line, choices,
          petsc, adi, krylov, paper (default: solve --device cpu --precision double --rows 2e7 --dominance 3).
          `bench schemes FILE` times every scheme (`--variant fpga`: those for FPGAs), see oclspkt-bench-schemes --help;
          `bench all` runs the lot and writes docs/performance.md, see there
  help    this text

Each verb installs what it needs itself, with apt-get as root; without root it names the packages that are missing.
`bench` also installs CLBlast (a peer) and, into build/ by pip, mkl (a peer, 1 GB) and matplotlib (pictures); it goes on
without them.
Environment: JOBS (how many processes build and test, default: the processors).
TEXT
}

verb=${1:-help}
[ $# -eq 0 ] || shift
case $verb in
  setup)
    need_packages build demo bench test all
    want_packages peers
    source scripts/drivers.sh
    install_drivers
    ;;
  build)
    need_packages build
    build_release plugin/all examples/all
    ;;
  demo)
    need_packages build demo
    source scripts/demo.sh
    run_demo
    ;;
  test)
    case "$*" in
      '') lists=(build demo test) steps=(release) ;;
      all) lists=(build demo bench test all) steps=(whole fortran64 complex newest asan) ;;
      types | 'types '*)
        lists=(build demo test) examples="${*:2}"
        case $examples in
          '' | names) examples="$examples $(echo {vec/vec,ksp/ksp,snes,mat,ts}/{tests,tutorials})" ;;
        esac
        steps=("types:$examples")
        ;;
      'petsc '[0-9]*) lists=(build demo test all) steps=("petsc:${*:2}")
        for word in viennacl kokkos; do
          if [[ " $* " == *" $word "* ]]; then
            lists+=("$word")
          fi
        done
        ;;
      *)
        echo "run.sh: test takes nothing, the word 'all', 'types', or 'petsc' and a version such as 3.22, not '$*'" >&2
        exit 2
        ;;
    esac
    need_packages "${lists[@]}"
    source scripts/drivers.sh
    source scripts/petsc.sh
    source scripts/test.sh
    run_tests "${steps[@]}"
    ;;
  fuzz)
    need_packages build test all
    source scripts/drivers.sh
    source scripts/fuzz.sh
    run=run_fuzz options=()
    if [ "${1:-}" = attack ] || [ "${1:-}" = climb ]; then
      [ "$1" = attack ] || options=(--climb yes)
      run=run_attack
      shift
    fi
    seconds=${1:-600}
    if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
      echo "run.sh: fuzz takes a number of seconds, not '$seconds'" >&2
      exit 2
    fi
    "$run" "$seconds" "${options[@]}"
    ;;
  bench)
    need_packages build bench
    want_packages peers
    build_release --with-bench bench/all plugin/all
    source scripts/bench.sh
    prepare_bench
    if [ "${1:-}" = all ]; then
      shift
      bench_all "$@"
    elif [ "${1:-}" = schemes ]; then
      shift
      build/release/bin/oclspkt-bench-schemes "$@"
    else
      [ $# -gt 0 ] || set -- solve --device cpu --precision double --rows 2e7 --dominance 3
      build/release/bin/oclspkt-bench "$@"
    fi
    ;;
  help | -h | --help)
    usage
    ;;
  *)
    echo "run.sh: there is no verb '$verb'" >&2
    usage >&2
    exit 2
    ;;
esac

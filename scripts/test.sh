# SPDX-License-Identifier: BSD-2-Clause
# `test`: a release build and what shows that it works. `test all`: the rest of its tests, those of the PETSc plugin with
# the newest PETSc, which has 64-bit indices, the tests under the sanitizers and some fuzzing of each target.
# `test petsc VERSION`: those of the plugin with another release of PETSc. `test types`: PETSc's own examples with
# -oclspkt_types. All end with one line that sums up.

# Tests with one of these labels are left to `test all`: what checks the sources and the installed tree (house), what
# compares builds (freeze), what takes long (slow), and what repeats what other tests show (full).
LEFT_TO_ALL='^(house|freeze|slow|full)$'
# What the other tests need.
TARGETS=(plugin/all examples/all tests/unit/all tests/cuda/all tests/device/all tests/solver/all tests/petsc/all)

passed=0 failed=0 skipped=0
summary=()

# count FILE NAME: read one attribute of the test suite out of ctest's JUnit file.
count() {
  sed -n "s/^[[:space:]]*$2=\"\([0-9]*\)\".*/\1/p; s/.*<testsuite.* $2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1
}

# note NAME PASSED FAILED SKIPPED
note() {
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  summary+=("$(printf '%-12s %5d passed, %d failed, %d skipped' "$@")")
}

# test_preset NAME PRESET [ctest options]: configure with $settings, build with the options $goals and test. A build that
# fails counts as one failed test. The build folder is that of the preset, or $folder. Plugins for other builds of PETSc
# that the folder has, as that of the demo, are taken away: they would be found beside the one under test.
test_preset() {
  local name=$1 preset=$2 results=$PWD/build/$1.tests.xml all bad skip good status=0 begin=$SECONDS
  local in_folder=() build=(--preset "$2") run=(--preset "$2")
  if [ -n "${folder:-}" ]; then
    in_folder=(-B "$folder") build=("$folder") run=(--test-dir "$folder" --output-on-failure)
  fi
  shift 2
  if ! configure "$preset" "${in_folder[@]}" -DOCLSPKT_TESTS=ON "-DOCLSPKT_ICD_FOLDER=$ICD_FOLDER" \
    "-DOCLSPKT_REQUIRE_DEVICES=$REQUIRED_PLATFORMS" -DOCLSPKT_MORE_PETSCS= "${settings[@]}" ||
    ! rm -f "${folder:-build/$preset}"/lib/liboclspkt-petsc-*.so ||
    ! cmake --build "${build[@]}" -j "$JOBS" "${goals[@]}"; then
    note "$name" 0 1 0
    return
  fi
  echo "== built $name in $((SECONDS - begin)) s, testing"
  rm -f "$results"
  # One more than there are processors: many tests wait, for MPI, for drivers that hang, for each other.
  ctest "${run[@]}" -j $((JOBS + 1)) --no-tests=error --output-junit "$results" "$@" || status=$?
  if [ ! -s "$results" ]; then
    note "$name" 0 1 0
    return
  fi
  all=$(count "$results" tests) bad=$(count "$results" failures)
  skip=$(($(count "$results" skipped) + $(count "$results" disabled)))
  good=$((all - bad - skip))
  # ctest fails where there is no test at all, or no program of a test; the file has no failure then.
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    bad=1
  fi
  note "$name" "$good" "$bad" "$skip"
  echo "== $name took $((SECONDS - begin)) s"
}

# What users build, and the tests of it.
test_release() {
  settings=(-DOCLSPKT_BENCH=OFF -DOCLSPKT_ATTACK=OFF)
  goals=(--target "${TARGETS[@]}")
  test_preset release release -LE "$LEFT_TO_ALL"
}

# The same with what test_release leaves.
test_whole() {
  install_nvrtc
  settings=(-DOCLSPKT_BENCH=ON -DOCLSPKT_ATTACK=ON "-DOCLSPKT_NVRTC=$NVRTC")
  goals=()
  test_preset release release
}

# The plugin on the solver of the release build, beside whose plugin this one is installed.
OF_RELEASE=-DOCLSPKT_SOLVER_FOLDER=$PWD/build/release/lib

# test_plugin NAME DIR ARCH [-DNAME=VALUE...]: the PETSc part, with another build of PETSc, but for tests that match
# $LEFT_OUT; of them those that match $ONLY, for which $PROGRAMS are built.
test_plugin() {
  local folder=$PWD/build/$1
  settings=("-DPETSC_DIR=$2" "-DPETSC_ARCH=$3" "${@:4}")
  read -ra goals <<<"--target plugin/all ${PROGRAMS:-tests/petsc/all}"
  test_preset "$1" petsc -R "^petsc\.${ONLY:-}" -LE 'house|slow' ${LEFT_OUT:+-E "$LEFT_OUT"}
}

# test_petsc "VERSION [options]": a release of PETSc that is built here, with more options of its configure; first
# among them may be the word viennacl or kokkos.
test_petsc() {
  local words name petsc4py_python= petsc_kokkos=()
  read -ra words <<<"$1"
  name=petsc-${1// --with-/-}
  name=${name//[^[:alnum:].-]/-}
  if [ "${words[1]:-}" = viennacl ]; then
    words=("${words[0]}" "${PETSC_VIENNACL[@]}" "${words[@]:2}")
  elif [ "${words[1]:-}" = kokkos ]; then
    if ! build_kokkos; then
      note "$name" 0 1 0
      return
    fi
    words=("${words[0]}" "${petsc_kokkos[@]}" "${words[@]:2}")
  fi
  if build_petsc "${words[@]}"; then
    build_petsc4py
    test_plugin "$name" "$petsc_dir" "$petsc_arch" ${petsc4py_python:+"-DOCLSPKT_PETSC4PY_PYTHON=$petsc4py_python"}
  else
    note "$name" 0 1 0
  fi
}

# Left out beside a release build: of PETSc's own programs those that are not of KSP call nothing more of ours; what happens
# on devices depends on no build of PETSc.
BESIDE_RELEASE='foreign\.(snes|ts|tao)|foreign.*\.cpu$|petsc\.fpga\.'

# Debian's PETSc with 64-bit indices: what the newest does not have, the Fortran module and a program of PETSc's in Fortran.
test_fortran64() {
  ONLY='(Fortran|foreign\.ksp-ex1f$)' PROGRAMS='oclspkt-petsc-fortran foreign-ksp-ex1f' \
    test_plugin fortran-64 /usr/lib/petscdir/petsc64-real "" "$OF_RELEASE"
}

# Debian's PETSc with complex scalars: the plugin's functions, lines that ranks cut, and a few of PETSc's own programs.
test_complex() {
  ONLY='(Functions|GridLines\.[13]|LongLine\.[13]|foreign\.(ksp-ex1|ksp-ex23|ksp-ex23\.3|ts-ex3|lines\.ksp-ex50\.xy\.3))$' \
    PROGRAMS='oclspkt-petsc-test oclspkt-grid-test oclspkt-long-line-test foreign-ksp-ex1 foreign-ksp-ex23 foreign-ts-ex3 foreign-ksp-ex50' \
    test_plugin complex /usr/lib/petscdir/petsc-complex "" "$OF_RELEASE"
}

# The newest release of PETSc that is supported, with 64-bit indices. `test petsc` has 32-bit ones, and petsc4py.
NEWEST_PETSC=3.26.1
test_newest() {
  if OMPI_CC=clang-14 build_petsc "$NEWEST_PETSC" --with-64-bit-indices; then
    LEFT_OUT=$BESIDE_RELEASE test_plugin "petsc-newest" "$petsc_dir" "$petsc_arch" "$OF_RELEASE"
  else
    note petsc-newest 0 1 0
  fi
}

# The debug build is the one with the sanitizers: no NDEBUG, assertions of the standard library. Installing, building by
# others, static analysis and the examples say nothing new in it. PETSc's own programs run our release build; here those of
# KSP do, the others call nothing more of ours. Random systems are drawn, allocations fail one after the other, and drivers
# that hang are waited for, in the release build; so are the systems that attack has found, forks, two programs at once, and
# several devices under PETSc. Two run-times see all that ours does: what compiled kernels do to memory, sanitizers do not
# see. Unit tests of both scalars run in double: the code is the same. Under sanitizers dlerror() tells nothing, which two
# tests ask for.
test_asan() {
  settings=(-DOCLSPKT_BENCH=OFF -DOCLSPKT_EXAMPLES=OFF -DOCLSPKT_ATTACK=OFF "-DOCLSPKT_ICD_FOLDER=$FEWER_ICD_FOLDER"
    "-DOCLSPKT_REQUIRE_DEVICES=${REQUIRED_PLATFORMS/Intel(R) OpenCL,/}" -DOCLSPKT_FUZZ_SECONDS=30)
  goals=(--target plugin/all tests/{unit,cuda,cuda/fakes,device,solver,petsc,sanitizers,fuzz}/all)
  test_preset asan asan -LE 'house|slow|freeze' -E 'foreign\.(snes|ts|tao|lines|asm|multigrid)|foreign.*\.cpu$|foreign\.ksp-.*\.3$|solver\.(Memory|Contexts)$|device\..*hangs|petsc\.GridLines\.3$|petsc\.Types(|Named)\.3$|petsc\.Types\.(4|UnlikeDevices)$|petsc\.CgDevice\.(Intel|3)$|petsc\.SharesRowsEvenly|petsc\.Python\.TakesThePath|petsc\.Flavours\.AreNotBeside|solver\.(Fork|Sharing\.TwoPrograms)$|attack\.found$|<float>$'
}

# PETSc's own examples with -oclspkt_types, or after the word `names` with types by their names: all that run here, or those
# named (tests/petsc/types_programs.py).
test_types() {
  local programs output good bad status=0 by=()
  read -ra programs <<<"$1"
  if [ "${programs[0]}" = names ]; then
    by=("--types=-vec_type opencl -mat_type aijopencl" --like "-mat_type aij" --like "-mat_type aijperm")
    programs=("${programs[@]:1}")
  fi
  settings=(-DOCLSPKT_BENCH=OFF -DOCLSPKT_ATTACK=OFF -DOCLSPKT_TESTS=ON "-DOCLSPKT_ICD_FOLDER=$ICD_FOLDER"
    "-DOCLSPKT_REQUIRE_DEVICES=$REQUIRED_PLATFORMS" -DOCLSPKT_MORE_PETSCS=)
  if ! configure release "${settings[@]}" || ! cmake --build --preset release -j "$JOBS" --target plugin/all; then
    note types 0 1 0
    return
  fi
  output=$PWD/build/types.log
  python3 tests/petsc/types_programs.py @build/release/tests/petsc/types_programs.options "${by[@]}" "${programs[@]}" 2>&1 |
    tee "$output" || status=$?
  good=$(grep -cE '^(same|rounded|alike.*): ' "$output" || true)
  bad=$(grep -cE '^differs: ' "$output" || true)
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    bad=1
  fi
  note types "$good" "$bad" "$(grep -c ' here: ' "$output" || true)"
}

# run_tests STEP...: each step is one of the functions above, with what it takes after a colon.
run_tests() {
  local step
  mkdir -p build
  install_drivers
  for step in "$@"; do
    case $step in
      *:*) "test_${step%%:*}" "${step#*:}" ;;
      *) "test_$step" ;;
    esac
  done
  echo
  printf '%s\n' "${summary[@]}" "in $SECONDS s"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}

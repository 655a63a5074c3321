# SPDX-License-Identifier: BSD-2-Clause
# Two builds and their tests and half a minute of fuzzing for each target, with one closing line that sums them up.

passed=0 failed=0 skipped=0
summary=()

# count FILE NAME: read one attribute of the test suite out of ctest's JUnit file.
count() {
  sed -n "s/^[[:space:]]*$2=\"\([0-9]*\)\".*/\1/p; s/.*<testsuite.* $2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1
}

# note PRESET PASSED FAILED SKIPPED
note() {
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  summary+=("$(printf '%-8s %5d passed, %d failed, %d skipped' "$@")")
}

# test_preset PRESET [ctest options]: a build that fails counts as one failed test.
test_preset() {
  local preset=$1 results=$PWD/build/$1.tests.xml all bad skip begin=$SECONDS
  shift
  if ! configure "$preset" -DOCLSPKT_TESTS=ON "-DOCLSPKT_ICD_FOLDER=$ICD_FOLDER" \
    "-DOCLSPKT_REQUIRE_DEVICES=$REQUIRED_PLATFORMS" "${settings[@]}" || ! cmake --build --preset "$preset" -j "$JOBS"; then
    note "$preset" 0 1 0
    return
  fi
  echo "== built $preset in $((SECONDS - begin)) s, testing"
  rm -f "$results"
  ctest --preset "$preset" -j "$JOBS" --no-tests=error --output-junit "$results" "$@" || true
  if [ ! -s "$results" ]; then
    note "$preset" 0 1 0
    return
  fi
  all=$(count "$results" tests) bad=$(count "$results" failures)
  skip=$(($(count "$results" skipped) + $(count "$results" disabled)))
  note "$preset" $((all - bad - skip)) "$bad" "$skip"
  echo "== $preset took $((SECONDS - begin)) s"
}

run_tests() {
  mkdir -p build
  install_drivers
  # The libraries file by file, as users build them.
  settings=(-DOCLSPKT_BENCH=ON -DOCLSPKT_UNITY_TESTS=ON)
  test_preset release
  # The debug build is the one with the sanitizers: no NDEBUG, assertions of the standard library. Installing, building by
  # others, static analysis and the examples say nothing new in it, nor do kernels under oclgrind. PETSc's own programs run
  # our release build; here those of KSP do, the others call nothing more of ours.
  settings=(-DOCLSPKT_BENCH=OFF -DOCLSPKT_EXAMPLES=OFF)
  test_preset asan -LE 'house|slow' -E 'oclgrind|foreign\.(snes|ts|tao|lines|asm|multigrid)|foreign.*\.cpu$'
  settings=(-DOCLSPKT_TESTS=OFF -DOCLSPKT_FUZZ_SECONDS=30)
  test_preset fuzz -j 3  # all at once: what counts is half a minute each
  echo
  printf '%s\n' "${summary[@]}" "in $SECONDS s"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}

# SPDX-License-Identifier: BSD-2-Clause
# Fuzzing for as long as asked, beyond what scripts/test.sh does.

# run_fuzz SECONDS: every target for so long; says what was run and where the findings are.
run_fuzz() {
  local work=build/fuzz/tests/fuzz status=0
  mkdir -p build
  configure fuzz "-DOCLSPKT_FUZZ_SECONDS=$1"
  cmake --build --preset fuzz -j "$JOBS"
  ctest --preset fuzz -j "$JOBS" --no-tests=error || status=$?
  grep -aE '^[0-9]+/[0-9]+ Test: |FINDING|runtime error:|ERROR: |DONE|stat::number_of_executed_units' \
    build/fuzz/Testing/Temporary/LastTest.log
  if [ "$status" -ne 0 ]; then
    echo "run.sh: findings are in $work/found; one runs again with build/fuzz/bin/oclspkt-fuzz-<target> <finding>" >&2
  fi
  return "$status"
}

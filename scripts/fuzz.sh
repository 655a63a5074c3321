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

# run_attack SECONDS [OPTION ...]: every device, the kernels for GPUs and both scalars share the seconds; tables and
# findings lie in build/attack. The options are those of oclspkt-attack.
run_attack() {
  local program=build/release/bin/oclspkt-attack where=build/attack status=0 setting device variant name each seed
  local settings=('host default' 'portable default' 'portable gpu' 'intel(r)_opencl default' 'intel(r)_opencl gpu')
  local seconds=$1
  shift
  mkdir -p "$where"
  install_drivers
  configure release -DOCLSPKT_ATTACK=ON
  cmake --build build/release -j "$JOBS" --target oclspkt-attack
  each=$((seconds / (2 * ${#settings[@]}) + 1))
  for setting in "${settings[@]}"; do
    read -r device variant <<<"$setting"
    for scalar in float double; do
      name=${device%%(*}-$variant-$scalar
      seed=$RANDOM
      echo "== $name for $each s, seed $seed"
      OCL_ICD_VENDORS=$ICD_FOLDER "$program" "$each" --seed "$seed" --device "${device/_/ }" --variant "$variant" \
        --scalar "$scalar" "$@" --json "$where/$name.json" >"$where/$name.txt" || status=1
      tail -n 1 "$where/$name.txt"
    done
  done
  if [ "$status" -ne 0 ]; then
    echo "run.sh: findings, with the commands that run them again, are at the ends of $where/*.txt" >&2
  fi
  return "$status"
}

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Build two commits and compare, bit for bit, what they choose, launch and compute.
#   compare.sh COMMIT_A COMMIT_B [ARGUMENTS OF OCLSPKT-FREEZE...]
# Both are built with the oclspkt-freeze beside this script. If its cases of plans do not compile with one of the
# commits, whose internal headers may differ, both go without them. The outputs stay in build/freeze/; with equal ones
# the script says so and succeeds. Environment: JOBS, OCLSPKT_ICD_FOLDER, COMPARE_FOLDER.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -ge 2 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2; }
work=${COMPARE_FOLDER:-$root/build/freeze}
jobs=${JOBS:-$(nproc)}
icds=${OCLSPKT_ICD_FOLDER:-}
if [ -z "$icds" ] && [ -d "$root/build/icd" ]; then icds=$root/build/icd; fi
a=$(git -C "$root" rev-parse --short "$1^{commit}")
b=$(git -C "$root" rev-parse --short "$2^{commit}")
shift 2
mkdir -p "$work"

# check_out COMMIT: a worktree of it with the freeze program of this one
check_out() {
  local tree=$work/$1
  [ -e "$tree/.git" ] || git -C "$root" worktree add --quiet --force --detach "$tree" "$1"
  git -C "$tree" checkout --quiet --force --detach "$1"
  rm -rf "$tree/tests/freeze"
  cp -r "$here" "$tree/tests/freeze"
  for header in cut_case.hpp hard_matrices.hpp hard_matrices.cpp matrices.hpp thread_exchange.hpp; do
    cp "$root/tests/support/$header" "$tree/tests/support/$header"
  done
  grep -q 'add_subdirectory(freeze)' "$tree/tests/CMakeLists.txt" ||
    sed -i 's/^  add_subdirectory(solver)$/&\n  add_subdirectory(freeze)/' "$tree/tests/CMakeLists.txt"
}

# build COMMIT PLANS: PLANS is ON or OFF
build() {
  local tree=$work/$1
  cmake -S "$tree" -B "$tree/build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D OCLSPKT_WITH_PETSC=OFF \
    -D OCLSPKT_BENCH=OFF -D OCLSPKT_EXAMPLES=OFF -D OCLSPKT_ATTACK=OFF -D OCLSPKT_ICD_FOLDER="$icds" \
    -D OCLSPKT_FREEZE_PLANS="$2" >"$work/$1.build.txt" 2>&1 &&
    cmake --build "$tree/build" -j "$jobs" --target oclspkt-freeze >>"$work/$1.build.txt" 2>&1
}

for commit in "$a" "$b"; do check_out "$commit"; done
plans=ON
for commit in "$a" "$b"; do
  echo "building $commit"
  if ! build "$commit" ON; then
    plans=OFF
    echo "the cases of plans do not build with $commit, see $work/$commit.build.txt; both go without them"
    break
  fi
done
if [ "$plans" = OFF ]; then
  for commit in "$a" "$b"; do
    build "$commit" OFF || { tail -n 30 "$work/$commit.build.txt"; exit 1; }
  done
fi

for commit in "$a" "$b"; do
  echo "running $commit"
  "$work/$commit/build/bin/oclspkt-freeze" --log "$work/$commit.log.txt" "$@" >"$work/$commit.txt"
done
if diff -q "$work/$a.txt" "$work/$b.txt" >/dev/null; then
  echo "$a and $b: $(wc -l <"$work/$a.txt") cases, all the same$([ "$plans" = ON ] || echo ', those of plans left out')"
else
  diff "$work/$a.txt" "$work/$b.txt" >"$work/$a-$b.diff" || true
  echo "$a and $b differ in $(grep -c '^>' "$work/$a-$b.diff" || true) cases, see $work/$a-$b.diff; the first are:"
  grep '^[<>]' "$work/$a-$b.diff" | head -n 6 | cut -c 1-400
  echo "what devices were told: $work/$a.log.txt, $work/$b.log.txt"
  exit 1
fi

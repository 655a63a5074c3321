#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two processes of one program at the same time: both must end well, and print the same line that begins with "bits".
#   at_once.sh WORK_FOLDER PROGRAM [ARGUMENT...]
set -eu
work=$1
shift
mkdir -p "$work"
"$@" >"$work/one" 2>&1 & one=$!
"$@" >"$work/other" 2>&1 & other=$!
failed=0
wait "$one" || failed=1
wait "$other" || failed=1
if [ "$failed" = 0 ] && grep -q '^bits' "$work/one" && [ "$(grep '^bits' "$work/one")" = "$(grep '^bits' "$work/other")" ]; then
  echo right
  exit 0
fi
if [ "$failed" = 0 ] && grep -q 'there is no emulator' "$work/one"; then exit 0; fi
cat "$work/one" "$work/other"
exit 1

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Run a program that keeps limits of rows in a profile, then once more for each limit of conjugate gradients that is
# given; operations on vectors pay off from 1000000 rows on there.
#   limits.sh PROFILE "LIMIT ..." COMMAND ...
set -eu
profile=$1 limits=$2
shift 2
rm -f "$profile"
"$@" >/dev/null
for rows in $limits; do
  awk -F '\t' -v OFS='\t' -v rows="$rows" '$5 ~ /[|]vectors$/ {$3 = 1000000} $5 ~ /[|]conjugate gradients$/ {$3 = rows} 1' \
    "$profile" >"$profile.new"
  mv "$profile.new" "$profile"
  "$@"
done

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Run a program twice at once; fails if one of both does.
#   two_at_once.sh PROGRAM ARGUMENT...
"$@" &
first=$!
"$@"
second=$?
wait "$first" && exit "$second"

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Where the solver looks for its module and the program that tries drivers: beside its own file, whatever the path by which
# it was loaded means later; and what it says of a module that is cut short.
#   moved.sh MOVED MOVED_WITH_MODULE LIBRARY_FOLDER WORK_FOLDER
set -eu
moved=$1 with_module=$2 from=$3 work=$4
preload=${LD_PRELOAD-}  # sanitizers, for our programs only
unset LD_PRELOAD

# expect NAME PATTERN PROGRAM FOLDER: by libraries in lib/ of this folder, the program goes to FOLDER.
expect() {
  said=$(env ${preload:+"LD_PRELOAD=$preload"} LD_LIBRARY_PATH="lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$3" "$4") ||
    { echo "$1: the program ended with $?"; exit 1; }
  printf '%s: %s\n' "$1" "$said"
  printf '%s' "$said" | grep -q "$2" || { echo "it should print '$2'"; exit 1; }
  if [ -e "$work/planted-program-ran" ]; then echo "the planted program ran"; exit 1; fi
}

rm -rf "$work"
mkdir -p "$work/installed/lib" "$work/elsewhere/lib" "$work/linked/lib" "$work/cut/lib"
chmod -R go-w "$work"
cp -P "$from"/liboclspkt-solver.so* "$from"/liboclspkt-cl.so "$from"/oclspkt-driver-check "$work/installed/lib"

# What is planted: a module that does not open, and a program that finds every driver in order.
printf 'planted\n' >"$work/elsewhere/lib/liboclspkt-cl.so"
printf '#!/bin/sh\ntouch "%s"\nprintf "%%s\\n" "$1"\n' "$work/planted-program-ran" >"$work/elsewhere/lib/oclspkt-driver-check"
chmod 755 "$work/elsewhere/lib/oclspkt-driver-check"
cd "$work/installed"
expect 'in another folder' 'Portable Computing Language' "$moved" "$work/elsewhere"
expect 'in another folder, with the module' 'Portable Computing Language' "$with_module" "$work/elsewhere"

cd "$work/linked"
ln -s "$work"/installed/lib/liboclspkt-solver.so.? lib
expect 'by a link' 'Portable Computing Language' "$moved" .

cd "$work/cut"
ln -s "$work"/installed/lib/liboclspkt-solver.so.? lib
head -c 4096 "$work/installed/lib/liboclspkt-cl.so" >lib/liboclspkt-cl.so
expect 'a module cut short' "no module: .*$work/cut/lib/liboclspkt-cl.so is cut short: it has 4096 bytes of .*install it anew" "$moved" .

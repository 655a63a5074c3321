#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The program that tries drivers, missing, planted, or open to others: it is not run, no driver is loaded, and the host
# is left.
#   helper.sh OCLSPKT_DEVICES LIBRARY_FOLDER WORK_FOLDER
set -eu
devices=$1 from=$2 work=$3
helper=$work/oclspkt-driver-check
mark=$work/planted-program-ran
preload=${LD_PRELOAD-}  # sanitizers, for our program only
unset LD_PRELOAD

fresh() {
  rm -rf "$work"
  mkdir -p "$work"
  chmod 755 "$work"
  cp -P "$from"/liboclspkt-solver.so* "$from"/liboclspkt-cl.so "$from"/oclspkt-driver-check "$work"
}

plant() {
  printf '#!/bin/sh\ntouch "%s"\nprintf "%%s\\n" "$1"\n' "$mark" >"$helper"
  chmod 755 "$helper"
}

# expect NAME PATTERN
expect() {
  said=$(env ${preload:+"LD_PRELOAD=$preload"} LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$devices")
  printf '%s: %s\n' "$1" "$said"
  printf '%s' "$said" | grep -q "$2" || { echo "it should print '$2'"; exit 1; }
  if [ -e "$mark" ]; then echo "the planted program ran"; exit 1; fi
}

fresh
expect 'as installed' 'Portable Computing Language'

fresh
rm "$helper"
expect missing 'no driver is loaded.*is not there.*install it beside the library'

fresh
plant
mv "$helper" "$work/elsewhere"
ln -s elsewhere "$helper"
expect 'a link' 'no driver is loaded.*is no regular file'

fresh
plant
chmod g+w "$helper"
expect 'open to the group' 'no driver is loaded.*can be written by others.*chmod go-w'

fresh
plant
chmod o+w "$helper"
expect 'open to all' 'no driver is loaded.*can be written by others.*chmod go-w'

fresh
plant
chmod o+w "$work"
expect 'in a folder open to all' 'no driver is loaded.*in a folder that everybody can write.*chmod o-w'

fresh
plant
chmod a-x "$helper"
if [ "$(id -u)" -ne 0 ]; then
  expect 'not executable' 'no driver is loaded.*cannot be run'
  exit 0
fi
plant
chown 65534 "$helper"
expect 'of another user' 'no driver is loaded.*is owned by user 65534, the library by user 0.*install both as one user'

# Beside the folder of the programs nobody looks.
fresh
mkdir -p "$work/lib"
mv "$work"/liboclspkt* "$work/lib"
mkdir "$work/bin"
plant
mv "$helper" "$work/bin/oclspkt-devices"
work=$work/lib
expect 'in ../bin' 'no driver is loaded.*is not there'

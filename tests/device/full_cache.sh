#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# PoCL's cache folder on a full disk: kernels are built elsewhere, and the folder is named.
#   full_cache.sh OCLSPKT_DEVICES WORK_FOLDER
set -eu
devices=$1 work=$2
mkdir -p "$work"
if ! unshare -rm sh -c 'mount -t tmpfs -o size=64k tmpfs "$1"' - "$work" 2>/dev/null; then
  echo "skipped: this user may not mount a small disk in a name space of his own"
  exit 77
fi
said=$(unshare -rm sh -c 'mount -t tmpfs -o size=64k tmpfs "$1" && POCL_CACHE_DIR=$1 OCLSPKT_KERNEL_CACHE=none exec "$2"' \
       - "$work" "$devices")
printf '%s\n' "$said"
printf '%s' "$said" | grep -q 'cpu .*Portable Computing Language'
printf '%s' "$said" | grep -q "its cache folder $work cannot be used: No space left on device; set POCL_CACHE_DIR"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# format.sh CLANG_FORMAT ROOT: every C and C++ source lies as .clang-format says.
set -euo pipefail
cd "$2"
find plugin tests bench examples -regex '.*\.\(c\|h\|cpp\|hpp\|cxx\|hxx\)' -print0 | xargs -0 "$1" --dry-run -Werror

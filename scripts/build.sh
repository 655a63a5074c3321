# SPDX-License-Identifier: BSD-2-Clause
# Configure and build through the presets.
JOBS=${JOBS:-$(nproc)}

# configure PRESET [-DNAME=VALUE...]
configure() {
  local preset=$1
  shift
  echo "== configuring $preset"
  cmake --preset "$preset" "$@" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log"
    return 1
  }
}

# build_release [--with-bench] TARGET...: what a user needs; tests and bench only where they have been asked for.
build_release() {
  local settings=()
  mkdir -p build
  [ -f build/release/CMakeCache.txt ] || settings+=(-DOCLSPKT_TESTS=OFF -DOCLSPKT_BENCH=OFF)
  if [ "$1" = --with-bench ]; then
    settings+=(-DOCLSPKT_BENCH=ON)
    shift
  fi
  configure release -DOCLSPKT_MORE_PETSCS=auto "${settings[@]}"
  cmake --build build/release -j "$JOBS" --target "$@"
}

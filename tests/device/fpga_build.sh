#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# oclspkt-fpga-build: programs built on a device, and the command lines of vendors' compilers, which stand-ins record.
#   fpga_build.sh OCLSPKT_FPGA_BUILD WORK_FOLDER
set -eu
preload=${LD_PRELOAD-}  # sanitizers, for our program only
unset LD_PRELOAD
executable=$1 work=$2
build() { env ${preload:+"LD_PRELOAD=$preload"} "$executable" "$@"; }
rm -rf "$work"
mkdir -p "$work/bin" "$work/out"
log=$work/calls

# A compiler that writes down how it was called, and writes what it was asked for.
for name in aoc v++; do
  cat >"$work/bin/$name" <<'COMPILER'
#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then echo "an image" >"$2"; fi
  shift
done
COMPILER
  chmod 755 "$work/bin/$name"
done
CALLS=$log PATH=$work/bin:$PATH
export CALLS PATH

fail() { echo "$1"; exit 1; }
# refused PATTERN ARGUMENT...: ends with 2 and says so
refused() {
  pattern=$1
  shift
  status=0
  said=$(build "$@" 2>&1) || status=$?
  [ "$status" = 2 ] || fail "'$*' ended with $status"
  printf '%s' "$said" | grep -q "$pattern" || fail "'$*' said '$said', which has no '$pattern'"
}
called() { grep -qxF -- "$1" "$log" || fail "no call was '$1' among $(cat "$log")"; }

cat >"$work/board.settings" <<'SETTINGS'
# a board
board = a10pl4  # as aoc -list-boards has it
flags = -fp-relaxed -fpc
kernels = stream
device = A10PL4 : the card
platform = Intel(R) FPGA SDK for OpenCL(TM)
driver = 17.0
SETTINGS

build --help | grep -q -- --settings || fail "no help"
build --report --settings "$work/board.settings" --out "$work/out" -D EXTRA=1
defines="-DSCALAR=SCALAR_FLOAT -DLANES=16 -DNATIVE_LANES=16 -DFPGA -DEXTRA=1"
called "aoc -rtl -report -board=a10pl4 $defines -fp-relaxed -fpc $work/out/stream_f32_EXTRA1.cl -o $work/out/stream_f32_EXTRA1.aocr"
if [ -e "$work/out/stream_f32_EXTRA1.aocr.json" ]; then fail "a report is no program"; fi

build --image --settings "$work/board.settings" --out "$work/out"
defines="-DSCALAR=SCALAR_FLOAT -DLANES=16 -DNATIVE_LANES=16 -DFPGA"
called "aoc -board=a10pl4 $defines -fp-relaxed -fpc $work/out/stream_f32.cl -o $work/out/stream_f32.aocx"
grep -q '"device": "A10PL4 : the card"' "$work/out/stream_f32.aocx.json" || fail "the note has no device"
grep -q __kernel "$work/out/stream_f32.cl" || fail "the text has no kernel"

sed 's/^board.*/board=u280\ncompiler=v++/; s/^flags.*//' "$work/board.settings" >"$work/u280.settings"
build --image --settings "$work/u280.settings" --out "$work/out" --scalar float
called "v++ -t hw --platform u280 -c --report_level 2 -k stream $defines -o $work/out/stream_f32.xo $work/out/stream_f32.cl"
called "v++ -t hw --platform u280 -l -o $work/out/stream_f32.xclbin $work/out/stream_f32.xo"
[ -e "$work/out/stream_f32.xclbin.json" ] || fail "the image has no note"

echo "bord = x" >"$work/unknown.settings"
refused "unknown.settings:1: the key 'bord' is unknown; legal are compiler, board, flags" --image --settings "$work/unknown.settings" stream
echo "board = x" >"$work/short.settings"
refused "need a line device=VALUE" --image --settings "$work/short.settings" stream
echo "board" >"$work/broken.settings"
refused "is not KEY=VALUE" --report --settings "$work/broken.settings" stream
refused "cannot read the settings" --report --settings "$work/nowhere" stream
refused "need --settings" --report stream
refused "there is no option --images" --images stream
refused "scalar is 'half'; legal are float, double" --scalar half stream
refused "m is '33'; it must be a multiple of 32" --m 33 stream
refused "multiple of 16" --scalar double --m 24 stream
refused "there is no kernel nothing" nothing
refused "name a kernel" --out "$work/out"
refused "no device with a compiler matches 'nobody'" --device nobody stream
refused "cannot write" --device cpu --out "$work/nowhere" stream
printf '#!/bin/sh\nexit 3\n' >"$work/bin/aoc"
refused "aoc failed" --report --settings "$work/board.settings" --out "$work/out"
rm "$work/bin/aoc"
refused "aoc is not in PATH" --report --settings "$work/board.settings" --out "$work/out"

build --device cpu --scalar double --out "$work/out" stream
[ -s "$work/out/stream_f64.bin" ] && grep -q '"scalar": "double"' "$work/out/stream_f64.bin.json" || fail "nothing was built"
echo right

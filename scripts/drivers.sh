# SPDX-License-Identifier: BSD-2-Clause
# OpenCL run-times for the tests: PoCL from Debian, Intel's CPU run-time and FPGA emulator by pip, all inside build/.

# 2023.2.4 is a version that has both the CPU run-time and the FPGA emulator; those after 2024.0.3 have no emulator.
INTEL_VERSION=2023.2.4
ICD_FOLDER=$PWD/build/icd
# Without Intel's CPU run-time, which carries the same kernels as PoCL and compiles them for each program anew.
FEWER_ICD_FOLDER=$PWD/build/fewer-icds
# What the device tests must find.
REQUIRED_PLATFORMS='Portable Computing Language,Intel(R) OpenCL,Intel(R) FPGA Emulation Platform'

install_drivers() {
  local venv=$PWD/build/intel-$INTEL_VERSION
  if [ ! -f "$venv/installed" ]; then
    echo "== installing Intel's CPU run-time and FPGA emulator $INTEL_VERSION"
    rm -rf "$venv"
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir \
      "intel-opencl-rt==$INTEL_VERSION" "intel-cmplr-lib-rt==$INTEL_VERSION"
    touch "$venv/installed"
  fi
  # The packages' own ICD files hold a placeholder for the path. The loader takes one folder: PoCL's file is copied.
  mkdir -p "$ICD_FOLDER"
  cp /etc/OpenCL/vendors/pocl.icd "$ICD_FOLDER/"
  echo "$venv/lib/libintelocl.so" >"$ICD_FOLDER/intel-cpu.icd"
  echo "$venv/lib/libintelocl_emu.so" >"$ICD_FOLDER/intel-fpga-emulator.icd"
  mkdir -p "$FEWER_ICD_FOLDER"
  cp "$ICD_FOLDER"/{pocl,intel-fpga-emulator}.icd "$FEWER_ICD_FOLDER/"
}

# NVIDIA's run-time compiler, which needs no GPU, for `test all`: 60 MB by pip.
NVRTC_VERSION=13.5.37

# install_nvrtc: sets NVRTC to the library's file.
install_nvrtc() {
  local venv=$PWD/build/nvrtc-$NVRTC_VERSION
  if [ ! -f "$venv/installed" ]; then
    echo "== installing NVIDIA's run-time compiler $NVRTC_VERSION"
    rm -rf "$venv"
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "nvidia-cuda-nvrtc==$NVRTC_VERSION"
    touch "$venv/installed"
  fi
  NVRTC=$(echo "$venv"/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.[0-9]*)
}

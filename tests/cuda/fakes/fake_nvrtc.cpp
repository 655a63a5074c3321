// SPDX-License-Identifier: BSD-2-Clause
// A libnvrtc that compiles nothing: the code of a program is what the fake driver has to know of its kernel.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include "fake.hpp"

namespace {

constexpr int kGood = 0, kInvalidInput = 3, kInvalidOption = 5, kCompilation = 6;

std::mutex mutex;
std::vector<int> architectures = {75, 80, 90, 100};
std::atomic<int> compiled{0};
std::atomic<bool> refuses{false};

/// The kinds of the parameters in the text between brackets.
std::string kinds_of(const std::string& parameters) {
  std::string kinds;
  for (std::size_t begin = 0; begin <= parameters.size();) {
    const std::size_t end = std::min(parameters.find(',', begin), parameters.size());
    const std::string one = parameters.substr(begin, end - begin);
    if (one.find(' ') == std::string::npos) throw std::runtime_error("parameters by macro are not known to the fake");
    const bool local = one.find("LocalArgument") != std::string::npos;
    kinds += local ? " 2" : one.find('*') != std::string::npos ? " 1" : " 0";
    begin = end + 1;
  }
  return kinds;
}

/// name, scalar, symmetric or not, kinds
std::string kernel_of(const std::string& text) {
  const std::size_t body = text.find("#line 1 \"kernel\"");
  const std::string table = "OPENCL_KERNEL_TABLE(";
  const std::size_t at = text.find(table, body);
  if (body == std::string::npos || at == std::string::npos) throw std::runtime_error("there is no kernel");
  const std::string name = text.substr(at + table.size(), text.find(',', at) - at - table.size());
  const std::size_t open = text.find("void " + name + "(", body);
  const std::size_t first = open + 5 + name.size() + 1, close = text.find(')', first);
  const bool is_double = text.find("#define SCALAR SCALAR_DOUBLE") != std::string::npos;
  const bool symmetric = text.find("#define SYMMETRIC") != std::string::npos;
  return name + (is_double ? " double" : " float") + (symmetric ? " symmetric" : " general") +
         kinds_of(text.substr(first, close - first));
}

}  // namespace

struct oclspkt::cuda::_nvrtcProgram {
  std::string text, log, cubin, ptx;
};

namespace oclspkt::test::fake::nvrtc {

void restart() {
  compiled = 0;
  refuses = false;
  set_architectures({75, 80, 90, 100});
}
int compilations() { return compiled; }
void refuse(bool refused) { refuses = refused; }
void set_architectures(std::vector<int> known) {
  const std::lock_guard lock(mutex);
  architectures = std::move(known);
}

}  // namespace oclspkt::test::fake::nvrtc

using oclspkt::cuda::_nvrtcProgram, oclspkt::cuda::nvrtcProgram;

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return kGood;
}
const char* nvrtcGetErrorString(int result) { return result == kGood ? "NVRTC_SUCCESS" : "NVRTC_ERROR_OF_THE_FAKE"; }
int nvrtcGetNumSupportedArchs(int* count) {
  const std::lock_guard lock(mutex);
  *count = static_cast<int>(architectures.size());
  return kGood;
}
int nvrtcGetSupportedArchs(int* known) {
  const std::lock_guard lock(mutex);
  std::copy(architectures.begin(), architectures.end(), known);
  return kGood;
}
int nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char* /*name*/, int /*headers*/,
                       const char* const* /*texts*/, const char* const* /*names*/) {
  *program = new _nvrtcProgram{text, "", "", ""};
  return kGood;
}
int nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return kGood;
}
int nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  ++compiled;
  std::string architecture;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i], wanted = "--gpu-architecture=";
    if (option.starts_with(wanted)) architecture = option.substr(wanted.size());
  }
  const std::string number = architecture.substr(architecture.find('_') + 1);
  {
    const std::lock_guard lock(mutex);
    if (std::find(architectures.begin(), architectures.end(), std::atoi(number.c_str())) == architectures.end()) {
      program->log = "invalid value for --gpu-architecture: " + architecture;
      return kInvalidOption;
    }
  }
  if (refuses) {
    program->log = "kernel(7): error: the fake refuses this";
    return kCompilation;
  }
  try {
    const std::string kernel = kernel_of(program->text);
    program->ptx = "fake ptx " + number + " 13000 " + kernel + '\0';
    if (architecture.starts_with("sm_")) program->cubin = "fake cubin " + number + " 13000 " + kernel + '\0';
  } catch (const std::exception& error) {
    program->log = error.what();
    return kCompilation;
  }
  return kGood;
}
int nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return kGood;
}
int nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return kGood;
}
int nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* bytes) {
  *bytes = program->cubin.size();
  return program->cubin.empty() ? kInvalidInput : kGood;
}
int nvrtcGetCUBIN(nvrtcProgram program, char* code) {
  std::memcpy(code, program->cubin.data(), program->cubin.size());
  return kGood;
}
int nvrtcGetPTXSize(nvrtcProgram program, std::size_t* bytes) {
  *bytes = program->ptx.size();
  return kGood;
}
int nvrtcGetPTX(nvrtcProgram program, char* code) {
  std::memcpy(code, program->ptx.data(), program->ptx.size());
  return kGood;
}

}  // extern "C"

// SPDX-License-Identifier: BSD-2-Clause
#include "nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace oclspkt::test {
namespace {

/// A text by the two functions that tell its size and give it.
template <typename Program>
std::string text_of(Program program, int (*size)(Program, std::size_t*), int (*give)(Program, char*)) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != 0) return "";
  std::string text(bytes, '\0');
  if (give(program, text.data()) != 0) return "";
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace

template <typename F>
void Nvrtc::find(F& function, const char* name) const {
  function = reinterpret_cast<F>(dlsym(library_, name));
  if (function == nullptr) throw std::runtime_error(std::string("NVRTC lacks ") + name);
}

Nvrtc::Nvrtc() {
  const char* const file = std::getenv("OCLSPKT_NVRTC");
  if (file == nullptr) throw std::runtime_error("OCLSPKT_NVRTC names no file");
  library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw std::runtime_error(dlerror());
  find(version_, "nvrtcVersion");
  find(arch_count_, "nvrtcGetNumSupportedArchs");
  find(archs_, "nvrtcGetSupportedArchs");
  find(create_, "nvrtcCreateProgram");
  find(destroy_, "nvrtcDestroyProgram");
  find(compile_, "nvrtcCompileProgram");
  find(log_size_, "nvrtcGetProgramLogSize");
  find(log_, "nvrtcGetProgramLog");
  find(ptx_size_, "nvrtcGetPTXSize");
  find(ptx_, "nvrtcGetPTX");
}

const Nvrtc& Nvrtc::get() {
  static const Nvrtc nvrtc;
  return nvrtc;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  version_(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

int Nvrtc::lowest() const {
  int count = 0;
  arch_count_(&count);
  std::vector<int> archs(static_cast<std::size_t>(count));
  archs_(archs.data());
  return *std::min_element(archs.begin(), archs.end());
}

Compiled Nvrtc::compile(const std::string& text, const std::vector<std::string>& options) const {
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  Program program = nullptr;
  Compiled result;
  if (create_(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) return result;
  result.good = compile_(program, static_cast<int>(words.size()), words.data()) == 0;
  result.log = text_of(program, log_size_, log_);
  if (result.good) result.ptx = text_of(program, ptx_size_, ptx_);
  destroy_(&program);
  return result;
}

}  // namespace oclspkt::test

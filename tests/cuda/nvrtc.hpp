// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::test {

/// What NVRTC makes of a text.
struct Compiled {
  bool good = false;
  std::string log, ptx;
};

/// NVIDIA's run-time compiler, opened from the file that OCLSPKT_NVRTC names.
class Nvrtc {
 public:
  /// @throws std::runtime_error if there is none
  static const Nvrtc& get();

  std::string version() const;
  /// The lowest compute capability that it makes code for, such as 75.
  int lowest() const;
  /// Safe to call from many threads.
  Compiled compile(const std::string& text, const std::vector<std::string>& options) const;

 private:
  Nvrtc();
  template <typename F>
  void find(F& function, const char* name) const;

  using Program = void*;
  void* library_;
  int (*version_)(int*, int*);
  int (*arch_count_)(int*);
  int (*archs_)(int*);
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy_)(Program*);
  int (*compile_)(Program, int, const char* const*);
  int (*log_size_)(Program, std::size_t*);
  int (*log_)(Program, char*);
  int (*ptx_size_)(Program, std::size_t*);
  int (*ptx_)(Program, char*);
};

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace oclspkt::fuzz {

/// Choices out of a fuzzer's bytes, front to back; 0 once they are used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  bool empty() const { return left_ == 0; }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  /// One of 0 ... count-1. @pre 1 <= count <= 256
  int below(int count) { return byte() % count; }
  /// The bits of a number as they come.
  template <typename N>
  N number() {
    N value{};
    const std::size_t taken = std::min(sizeof value, left_);
    if (taken > 0) std::memcpy(&value, data_, taken);
    data_ += taken;
    left_ -= taken;
    return value;
  }
  /// A C string: up to the next byte 0, `longest` bytes or the end.
  std::string text(std::size_t longest) {
    std::string text;
    while (text.size() < longest && left_ > 0) {
      const auto letter = static_cast<char>(byte());
      if (letter == '\0') break;
      text.push_back(letter);
    }
    return text;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

/// End the process, so that the fuzzer keeps the input.
[[noreturn]] inline void finding(const std::string& text) {
  std::fprintf(stderr, "FINDING: %s\n", text.c_str());
  std::abort();
}

inline void require(bool holds, const char* text) {
  if (!holds) finding(text);
}

}  // namespace oclspkt::fuzz

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace oclspkt::freeze {

/// A hash of bits, the same on every run. It tells results apart, it protects nothing.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    const char* p = static_cast<const char*>(data);
    for (; bytes >= sizeof(std::uint64_t); p += sizeof(std::uint64_t), bytes -= sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, p, sizeof word);
      mix(word);
    }
    std::uint64_t rest = 0;
    if (bytes > 0) std::memcpy(&rest, p, bytes);
    mix(rest ^ (std::uint64_t{bytes} << 56));
  }
  std::string text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value_));
    return text;
  }

 private:
  void mix(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 29;
  }
  std::uint64_t value_ = 0x243f6a8885a308d3u;
};

inline std::string hash_of(const void* data, std::size_t bytes) {
  Hash hash;
  hash.add(data, bytes);
  return hash.text();
}
inline std::string hash_of(std::string_view text) { return hash_of(text.data(), text.size()); }
template <typename T>
std::string hash_of(const std::vector<T>& v) {
  return hash_of(v.data(), v.size() * sizeof(T));
}

}  // namespace oclspkt::freeze

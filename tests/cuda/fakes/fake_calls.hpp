// SPDX-License-Identifier: BSD-2-Clause
// How calls of the fakes are counted, and what kernels of their modules compute.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace oclspkt::test::fake {

/// Counts calls by name, and lets some fail. Not safe for threads.
class Calls {
 public:
  void forget() { *this = {}; }
  void fail(const std::string& function, int first, int result, int times) {
    rule_ = {function, first, result, times};
    seen_ = 0;
  }
  /// Note a call. @return what it answers in place of being done; 0: it is done
  int enter(const std::string& function) {
    ++counts_[function];
    if (rule_.times == 0 || (!rule_.function.empty() && rule_.function != function)) return 0;
    const int number = seen_++;
    if (number < rule_.first || number - rule_.first >= rule_.times) return 0;
    ++failed_;
    return rule_.result;
  }
  int count(const std::string& function) const {
    const auto at = counts_.find(function);
    return at != counts_.end() ? at->second : 0;
  }
  int failed() const { return failed_; }

 private:
  struct Rule {
    std::string function;
    int first = 0, result = 0, times = 0;
  };
  std::map<std::string, int> counts_;
  Rule rule_;
  int seen_ = 0, failed_ = 0;
};

/// A kernel of a fake module.
struct FakeKernel {
  std::string name;
  bool is_double = false, symmetric = false;
  std::vector<int> kinds;  ///< as cuda::ParameterKind
};

/// The arguments of a launch, as they were then.
class Arguments {
 public:
  Arguments(const FakeKernel& kernel, void** values) : values_(kernel.kinds.size()) {
    for (std::size_t i = 0; i < values_.size(); ++i) std::memcpy(values_[i].data(), values[i], values_[i].size());
  }
  template <typename V>
  V get(std::size_t index) const {
    V value;
    std::memcpy(&value, values_.at(index).data(), sizeof value);
    return value;
  }
  unsigned long long address(std::size_t index) const { return get<unsigned long long>(index); }

 private:
  std::vector<std::array<unsigned char, 16>> values_;
};

/// Checks that bytes from an address on are memory that kernels may touch.
using Touch = std::function<void(unsigned long long address, long long bytes)>;

/// truncated-halo as kernels/gpu/tile_halo.cl has it: a tile's rows come out of its rows and its halos alone.
template <typename T>
void run_tile_halo(const FakeKernel& kernel, const Arguments& arguments, const Touch& touch) {
  const long n = arguments.get<long>(7), origin = arguments.get<long>(8);
  const int kept = arguments.get<int>(11), halo = arguments.get<int>(12);
  std::vector<T> u, z;
  for (long tile = arguments.get<long>(9); tile < arguments.get<long>(10); ++tile) {
    const long first = tile * kept, end = std::min(n, first + kept);
    const long low = std::max(0L, first - halo), high = std::min(n, end + halo);
    const auto array = [&](std::size_t index) {
      touch(arguments.address(index) + static_cast<unsigned long long>(low - origin) * sizeof(T),
            (high - low) * static_cast<long>(sizeof(T)));
      return reinterpret_cast<T*>(arguments.address(index)) - origin;
    };
    const T *upper = array(2), *lower = kernel.symmetric ? upper - 1 : array(0), *diag = array(1), *y = array(3);
    u.assign(static_cast<std::size_t>(high - low), 0);
    z = u;
    T above_u = 0, above_z = 0;
    for (long i = low; i < high; ++i) {
      const T coupling = i > low ? lower[i] : T(0);
      const T pivot = diag[i] - coupling * above_u;
      above_u = u[static_cast<std::size_t>(i - low)] = i + 1 < n ? upper[i] / pivot : T(0);
      above_z = z[static_cast<std::size_t>(i - low)] = (y[i] - coupling * above_z) / pivot;
    }
    touch(arguments.address(4) + static_cast<unsigned long long>(first - origin) * sizeof(T),
          (end - first) * static_cast<long>(sizeof(T)));
    T* x = reinterpret_cast<T*>(arguments.address(4)) - origin;
    T below = 0;
    for (long i = high - 1; i >= first; --i) {
      below = z[static_cast<std::size_t>(i - low)] - u[static_cast<std::size_t>(i - low)] * below;
      if (i < end) x[i] = below;
    }
  }
}

}  // namespace oclspkt::test::fake

// SPDX-License-Identifier: BSD-2-Clause
#include "locked_vectors.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace oclspkt {
namespace {

/// Vectors that are worth it: what waits for commands is as long for shorter ones.
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
/// A Krylov method that restarts gives as many vectors in turn.
constexpr std::size_t kMostVectors = 64;
/// A vector that comes for this time is locked.
constexpr int kComesAgain = 2;

bool meet(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
  const auto *first = static_cast<const std::byte*>(a), *second = static_cast<const std::byte*>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

}  // namespace

void LockedVectors::see(DeviceModule& module, int device, const void* p, std::int64_t bytes) {
  if (bytes < kLeastBytes) return;
  const auto same = [&](const Seen& s) { return s.p == p && s.bytes == bytes; };
  const auto at = std::find_if(seen_.begin(), seen_.end(), same);
  Seen now{p, bytes, 0, nullptr};
  if (at != seen_.end()) {
    now = std::move(*at);
    seen_.erase(at);
  }
  // What lay in the same place is another vector.
  std::erase_if(seen_, [&](const Seen& s) { return meet(s.p, s.bytes, p, bytes); });
  if (++now.times == kComesAgain) now.lock = module.lock_pages(device, p, bytes);
  if (seen_.size() == kMostVectors) seen_.erase(seen_.begin());
  seen_.push_back(std::move(now));
}

}  // namespace oclspkt

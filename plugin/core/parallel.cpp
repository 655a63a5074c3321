// SPDX-License-Identifier: BSD-2-Clause
#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "node.hpp"

namespace oclspkt {

void for_pieces(Index count, Index piece, const std::function<void(Index, Index)>& f) {
  const Index pieces = (count + piece - 1) / piece;
  if (pieces <= 0) return;
  std::atomic<Index> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_pieces = [&] {
    try {
      for (Index k = next++; k < pieces; k = next++) f(k * piece, std::min(count, (k + 1) * piece));
    } catch (...) {
      next = pieces;
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  const Index wanted = pieces > 1 ? std::max<Index>(0, std::min<Index>(pieces, processor_share()) - 1) : 0;
  helpers.reserve(static_cast<std::size_t>(wanted));
  try {
    for (Index t = 0; t < wanted; ++t) helpers.emplace_back(take_pieces);
  } catch (const std::exception&) {
    // No more threads can start: those that run take all pieces.
  }
  take_pieces();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "largest_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> watched{false};
std::atomic<std::size_t> largest{0};

}  // namespace

void* operator new(std::size_t bytes) {
  if (watched.load(std::memory_order_relaxed)) {
    std::size_t seen = largest.load();
    while (bytes > seen && !largest.compare_exchange_weak(seen, bytes)) {
    }
  }
  if (void* p = std::malloc(bytes > 0 ? bytes : 1)) return p;
  throw std::bad_alloc();
}
// Sanitizers have one of their own, whose memory is not for free().
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes > 0 ? bytes : 1); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }

namespace oclspkt::test {

LargestNew::LargestNew() {
  largest = 0;
  watched = true;
}
LargestNew::~LargestNew() { watched = false; }
std::size_t LargestNew::bytes() const { return largest; }

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#include "failing_memory.hpp"

#include <execinfo.h>
#include <link.h>
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

namespace {

enum class Owner { ours, neutral, other };

/// Addresses of a library that is loaded.
struct Range {
  std::uintptr_t begin, end;
  Owner owner;
};
Range ranges[64];
int range_count = 0;

std::atomic<bool> armed{false};
std::atomic<int> counted{0}, failures{0};
int first_to_fail = 0;
bool all_after = false;
thread_local bool looking = false;  // the unwinder may allocate

int note_library(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
  const bool ours = std::strstr(info->dlpi_name, "liboclspkt-") != nullptr;
  // The program itself has no name; it holds operator new and templates of the standard library. Sanitizers stand
  // between callers and what they call.
  bool neutral = *info->dlpi_name == '\0';
  for (const char* name : {"libstdc++", "libasan", "libubsan"}) {
    neutral = neutral || std::strstr(info->dlpi_name, name) != nullptr;
  }
  if (!ours && !neutral) return 0;
  for (int i = 0; i < info->dlpi_phnum && range_count < static_cast<int>(std::size(ranges)); ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    ranges[range_count++] = {begin, begin + part.p_memsz, ours ? Owner::ours : Owner::neutral};
  }
  return 0;
}

Owner owner_of(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < range_count; ++i) {
    if (at >= ranges[i].begin && at < ranges[i].end) return ranges[i].owner;
  }
  return Owner::other;
}

/// True if the innermost caller that is a library's own is one of ours.
bool asked_by_us() {
  void* frames[24];
  const int depth = backtrace(frames, static_cast<int>(std::size(frames)));
  for (int i = 0; i < depth; ++i) {
    const Owner owner = owner_of(frames[i]);
    if (owner != Owner::neutral) return owner == Owner::ours;
  }
  return false;
}

bool fails_now() {
  if (!armed || looking) return false;
  looking = true;
  const bool by_us = asked_by_us();
  looking = false;
  if (!by_us) return false;
  const int number = counted++;
  const bool fails = all_after ? number >= first_to_fail : number == first_to_fail;
  if (fails) ++failures;
  return fails;
}

}  // namespace

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new(std::size_t bytes) {
  if (void* p = operator new(bytes, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return fails_now() ? nullptr : memalign(alignment, bytes);
}

namespace oclspkt::test {

FailingMemory::FailingMemory(int first, bool all) {
  range_count = 0;
  dl_iterate_phdr(note_library, nullptr);
  asked_by_us();  // the first backtrace loads the unwinder
  first_to_fail = first;
  all_after = all;
  counted = failures = 0;
  armed = true;
}
FailingMemory::~FailingMemory() { armed = false; }
int FailingMemory::failed() { return failures; }

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#include "failing_memory.hpp"

#include <execinfo.h>
#include <link.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
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

using oclspkt::test::FailingMemory;

std::atomic<bool> armed{false};
std::mutex asking;  // for what follows
int counted = 0, failures = 0, first_to_fail = 0;
bool all_after = false;
FailingMemory::Known* known_failures = nullptr;  // null: allocations are counted
std::map<std::vector<void*>, int> times_asked;
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

using Callers = std::array<void*, 24>;

/// True if the innermost caller that is a library's own is one of ours.
bool asked_by_us(Callers& callers) {
  callers.fill(nullptr);
  const int depth = backtrace(callers.data(), static_cast<int>(callers.size()));
  for (int i = 0; i < depth; ++i) {
    const Owner owner = owner_of(callers[static_cast<std::size_t>(i)]);
    if (owner != Owner::neutral) return owner == Owner::ours;
  }
  return false;
}

bool is_chosen(const Callers& callers) {
  if (known_failures == nullptr) return counted++ == first_to_fail;
  const std::vector<void*> key(callers.begin(), callers.end());
  const int before = std::min(times_asked[key]++, 1);
  return failures == 0 && known_failures->emplace(key, before).second;
}

bool fails_now() {
  if (!armed || looking) return false;
  looking = true;
  Callers callers;
  bool fails = false;
  if (asked_by_us(callers)) {
    const std::lock_guard lock(asking);
    fails = (all_after && failures > 0) || is_chosen(callers);
    failures += fails ? 1 : 0;
  }
  looking = false;
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

FailingMemory::FailingMemory(Known* known, int first, bool all) {
  range_count = 0;
  dl_iterate_phdr(note_library, nullptr);
  Callers callers;
  asked_by_us(callers);  // the first backtrace loads the unwinder
  first_to_fail = first;
  all_after = all;
  known_failures = known;
  counted = failures = 0;
  times_asked.clear();
  armed = true;
}
FailingMemory::~FailingMemory() { armed = false; }
int FailingMemory::failed() { return failures; }

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
// Memory of the fake cards that another run-time can import: a file without a name, mapped where the card "has" it.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "fake_state.hpp"

using namespace oclspkt::cuda;
using namespace fake_driver;

namespace {

constexpr std::size_t kPage = std::size_t{1} << 16;  // smaller than the cards' 2 MB, larger than the host's

bool is_whole(std::size_t bytes) { return bytes > 0 && bytes % kPage == 0; }

CUresult free_physical(CUmemGenericAllocationHandle handle) {
  const auto at = fake().shareable.find(handle);
  if (at == fake().shareable.end()) return wrong("memory is released that is none", kInvalidValue);
  close(at->second.descriptor);
  fake().shareable.erase(at);
  return kSuccess;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* /*properties*/, int /*which*/) {
  CALL(cuMemGetAllocationGranularity, false);
  *bytes = kPage;
  return kSuccess;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long /*flags*/) {
  CALL(cuMemCreate, false);
  const bool good = is_whole(bytes) && properties->type == 1 && properties->requestedHandleTypes == kFileDescriptor &&
                    properties->location.type == 1 && properties->location.id < fake().cards;
  if (!good) return wrong("memory of no kind", kInvalidValue);
  if (static_cast<long long>(bytes) > fake().memory_left) return kOutOfMemory;
  const int descriptor = memfd_create("fake card", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
  static CUmemGenericAllocationHandle last = 0;
  *handle = ++last;
  fake().shareable[*handle] = {descriptor, bytes, properties->location.id};
  return kSuccess;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  CALL(cuMemRelease, false);
  return free_physical(handle);
}
CUresult cuMemExportToShareableHandle(void* shared, CUmemGenericAllocationHandle handle, int kind,
                                      unsigned long long /*flags*/) {
  CALL(cuMemExportToShareableHandle, false);
  const auto at = fake().shareable.find(handle);
  if (at == fake().shareable.end() || kind != kFileDescriptor) return wrong("exporting nothing", kInvalidValue);
  const int copy = fcntl(at->second.descriptor, F_DUPFD_CLOEXEC, 0);
  std::memcpy(shared, &copy, sizeof copy);
  return copy >= 0 ? kSuccess : kOutOfMemory;
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t /*alignment*/, CUdeviceptr /*near*/,
                             unsigned long long /*flags*/) {
  CALL(cuMemAddressReserve, false);
  if (!is_whole(bytes)) return wrong("addresses of no whole pages", kInvalidValue);
  void* const p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return kOutOfMemory;
  *address = reinterpret_cast<CUdeviceptr>(p);
  fake().reserved[*address] = bytes;
  return kSuccess;
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  CALL(cuMemAddressFree, false);
  const auto at = fake().reserved.find(address);
  const bool there = at != fake().reserved.end() && at->second == bytes;
  if (!there || fake().memory.count(address) != 0) return wrong("addresses are freed that are in use", kInvalidValue);
  munmap(host_of(address), bytes);
  fake().reserved.erase(at);
  return kSuccess;
}
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long /*flags*/) {
  CALL(cuMemMap, false);
  const auto at = fake().shareable.find(handle);
  const auto where = fake().reserved.find(address);
  const bool good = offset == 0 && at != fake().shareable.end() && at->second.bytes == bytes &&
                    where != fake().reserved.end() && where->second == bytes;
  if (!good) return wrong("mapping what does not fit", kInvalidValue);
  void* const p = mmap(host_of(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, at->second.descriptor, 0);
  if (p == MAP_FAILED) return kOutOfMemory;
  fake().memory[address] = {bytes, at->second.card, Kind::shared};
  return kSuccess;
}
CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  CALL(cuMemUnmap, false);
  const auto at = fake().memory.find(address);
  if (at == fake().memory.end() || at->second.kind != Kind::shared || at->second.bytes != bytes) {
    return wrong("unmapping what is not mapped", kInvalidValue);
  }
  const bool in_use = std::any_of(fake().streams.begin(), fake().streams.end(),
                                  [](CUstream stream) { return stream->stream->done < stream->stream->work.size(); });
  if (in_use) mistake("memory is unmapped while streams are at work");
  mmap(host_of(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  fake().memory.erase(at);
  return kSuccess;
}
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count) {
  CALL(cuMemSetAccess, false);
  const auto at = fake().memory.find(address);
  const bool good = at != fake().memory.end() && at->second.kind == Kind::shared && at->second.bytes == bytes &&
                    count == 1 && access->flags == 3 && access->location.id == at->second.card;
  if (!good) return wrong("access to what is not mapped", kInvalidValue);
  if (mprotect(host_of(address), bytes, PROT_READ | PROT_WRITE) != 0) return kOutOfMemory;
  std::memset(host_of(address), kNever, bytes);
  return kSuccess;
}

}  // extern "C"

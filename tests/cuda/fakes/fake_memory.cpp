// SPDX-License-Identifier: BSD-2-Clause
// Memory of the fake cards, pinned memory, and copies.
#include <algorithm>
#include <cstdlib>

#include "fake_state.hpp"

using namespace oclspkt::cuda;
using namespace fake_driver;

namespace {

constexpr std::size_t kAlignment = 512;

bool is_pinned(const void* p, std::size_t bytes) {
  const Allocation* held = allocation_of(reinterpret_cast<CUdeviceptr>(p), bytes);
  return held != nullptr && (held->kind == Kind::pinned || held->kind == Kind::registered);
}

void copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

CUresult make_memory(Kind kind, std::size_t bytes, CUdeviceptr* address) {
  if (bytes == 0) return kInvalidValue;
  if (kind == Kind::device) {
    if (static_cast<long long>(bytes) > fake().memory_left) return kOutOfMemory;
  }
  void* p = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (p == nullptr) return kOutOfMemory;
  std::memset(p, kNever, bytes);
  *address = reinterpret_cast<CUdeviceptr>(p);
  fake().memory[*address] = {bytes, stack.back()->card, kind};
  return kSuccess;
}

CUresult free_memory(CUdeviceptr address, Kind kind) {
  const auto at = fake().memory.find(address);
  if (at == fake().memory.end() || at->second.kind != kind) return wrong("memory is freed that is none", kInvalidValue);
  if (kind == Kind::device) {  // waits, as CUDA does
    for (CUstream stream : fake().streams) finish(*stream->stream);
  }
  if (kind != Kind::registered) {
    std::memset(host_of(address), kNever, at->second.bytes);
    std::free(host_of(address));
  }
  fake().memory.erase(at);
  return kSuccess;
}

CUresult copy_between(CUdeviceptr device, const void* host, std::size_t bytes, CUstream stream,
                      const std::function<void()>& work) {
  const Allocation* held = allocation_of(device, bytes);
  if (held == nullptr) return wrong("a copy beyond an allocation", kInvalidValue);
  if (held->card != stack.back()->card) mistake("a copy in the context of another card");
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  // Memory that is not pinned is copied before the call is over.
  const bool pinned = is_pinned(host, bytes);
  enqueue(
      at,
      [=] {
        touch(device, bytes);
        if (pinned && !is_pinned(host, bytes)) mistake("pinned memory is gone before its copy");
        work();
      },
      !pinned);
  return kSuccess;
}

CUresult fill(CUdeviceptr to, std::size_t bytes, CUstream stream, const std::function<void()>& work) {
  const StreamAt at = stream_at(stream);
  if (at == nullptr || allocation_of(to, bytes) == nullptr) return wrong("filling beyond memory", kInvalidValue);
  enqueue(at, [=] {
    touch(to, bytes);
    work();
  });
  return kSuccess;
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  IN_CONTEXT(cuMemAlloc_v2);
  return make_memory(Kind::device, bytes, address);
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  IN_CONTEXT(cuMemFree_v2);
  return free_memory(address, Kind::device);
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  IN_CONTEXT(cuMemGetAddressRange_v2);
  auto at = fake().memory.upper_bound(address);
  if (at == fake().memory.begin()) return kNotFound;
  --at;
  if (address - at->first >= at->second.bytes) return kNotFound;
  *begin = at->first;
  *bytes = at->second.bytes;
  return kSuccess;
}
CUresult cuPointerGetAttribute(void* value, int which, CUdeviceptr address) {
  IN_CONTEXT(cuPointerGetAttribute);
  const Allocation* held = allocation_of(address, 1);
  if (which != kPointerDevice || held == nullptr) return kInvalidValue;
  *static_cast<int*>(value) = held->card;
  return kSuccess;
}
CUresult cuMemHostAlloc(void** host, std::size_t bytes, unsigned /*flags*/) {
  IN_CONTEXT(cuMemHostAlloc);
  CUdeviceptr address = 0;
  const CUresult result = make_memory(Kind::pinned, bytes, &address);
  if (result == kSuccess) *host = host_of(address);
  return result;
}
CUresult cuMemFreeHost(void* host) {
  IN_CONTEXT(cuMemFreeHost);
  return free_memory(reinterpret_cast<CUdeviceptr>(host), Kind::pinned);
}
CUresult cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned /*flags*/) {
  IN_CONTEXT(cuMemHostRegister_v2);
  const auto address = reinterpret_cast<CUdeviceptr>(host);
  if (host == nullptr || bytes == 0) return kInvalidValue;
  const auto next = fake().memory.lower_bound(address);
  if (allocation_of(address, 1) != nullptr || (next != fake().memory.end() && next->first < address + bytes)) {
    return kAlreadyRegistered;
  }
  fake().memory[address] = {bytes, stack.back()->card, Kind::registered};
  return kSuccess;
}
CUresult cuMemHostUnregister(void* host) {
  IN_CONTEXT(cuMemHostUnregister);
  return free_memory(reinterpret_cast<CUdeviceptr>(host), Kind::registered);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemcpyHtoDAsync_v2);
  return copy_between(to, from, bytes, stream, [=] { copy(host_of(to), from, bytes); });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemcpyDtoHAsync_v2);
  return copy_between(from, to, bytes, stream, [=] { copy(to, host_of(from), bytes); });
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  IN_CONTEXT(cuMemcpyDtoH_v2);
  if (allocation_of(from, bytes) == nullptr) return wrong("a copy beyond an allocation", kInvalidValue);
  copy(to, host_of(from), bytes);
  return kSuccess;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemcpyDtoDAsync_v2);
  if (allocation_of(from, bytes) == nullptr) return wrong("a copy beyond an allocation", kInvalidValue);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || allocation_of(to, bytes) == nullptr) return wrong("a copy to nowhere", kInvalidValue);
  enqueue(at, [=] {
    touch(from, bytes);
    touch(to, bytes);
    copy(host_of(to), host_of(from), bytes);
  });
  return kSuccess;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  IN_CONTEXT(cuMemsetD8Async);
  return fill(to, bytes, stream, [=] { std::memset(host_of(to), value, bytes); });
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  IN_CONTEXT(cuMemsetD32Async);
  return fill(to, 4 * count, stream, [=] { std::fill_n(static_cast<unsigned*>(host_of(to)), count, value); });
}

}  // extern "C"

// SPDX-License-Identifier: BSD-2-Clause
#include "page_locks.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "registry.hpp"

namespace oclspkt::ocl {
namespace {

struct Range {
  std::uintptr_t first, end;
  Range(const void* p, std::int64_t bytes)
      : first(reinterpret_cast<std::uintptr_t>(p)), end(first + static_cast<std::uintptr_t>(bytes)) {}
  bool holds(const Range& other) const { return first <= other.first && other.end <= end; }
};

class PageLock;

/// All page locks that pages_locked() considers.
struct Locks {
  std::mutex mutex;
  std::vector<const PageLock*> all;
};

Locks& locks() {
  static auto* locks = new Locks;  // outlives static objects
  return *locks;
}

/// A buffer over host memory. No command uses it, and it takes no device memory. NVIDIA's driver locks the pages when
/// the buffer is made (0.05 s for 800 MB). Copies then carry 6.0e9 doubles a second both ways instead of 0.6e9 (H100).
/// The CUDA module locks pages by cuMemHostRegister, which has no effect on OpenCL.
class PageLock final : public Holding {
 public:
  PageLock(const OpenDevice& device, const void* p, std::int64_t bytes)
      : range_(p, bytes), buffer_(device.buffer(CL_MEM_USE_HOST_PTR, bytes, const_cast<void*>(p))) {
    const std::lock_guard lock(locks().mutex);
    locks().all.push_back(this);
  }
  ~PageLock() override { forget(); }
  void drop() override {
    forget();
    buffer_ = cl::Buffer();
  }
  const Range& range() const { return range_; }

 private:
  void forget() {
    const std::lock_guard lock(locks().mutex);
    std::erase(locks().all, this);
  }
  Range range_;
  cl::Buffer buffer_;
};

/// True for drivers that copy directly from locked pages. Drivers of the host's cores are included, although they gain
/// nothing.
bool gains(const FoundDevice& found) {
  return found.info.host_unified || found.info.cuda || found.info.platform.find("NVIDIA") != std::string::npos;
}

}  // namespace

std::shared_ptr<void> lock_pages(int device, const void* p, std::int64_t bytes) {
  Registry& registry = Registry::instance();
  if (!gains(registry.device(device)) || registry.forked() || registry.is_lost(device)) return nullptr;
  try {
    auto lock = std::make_shared<PageLock>(*registry.open(device), p, bytes);
    registry.watch(lock);
    return {lock.get(), [lock, device](void*) mutable { Registry::instance().retire(std::move(lock), device); }};
  } catch (const cl::Error&) {
    return nullptr;  // copies of the memory work without a lock
  } catch (const DeviceError&) {
    return nullptr;
  }
}

bool pages_locked(const void* p, std::int64_t bytes) {
  const std::lock_guard lock(locks().mutex);
  return std::any_of(locks().all.begin(), locks().all.end(), [&](const PageLock* l) {
    return l->range().holds({p, bytes});
  });
}

}  // namespace oclspkt::ocl

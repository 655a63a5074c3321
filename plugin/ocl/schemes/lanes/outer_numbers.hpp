// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "schemes/part.hpp"

namespace oclspkt::ocl {

/// A number for the top and one for the bottom of every partition, on the host and on the device.
template <typename T>
class OuterNumbers {
 public:
  /// Room for `count` of either, all 0 on the host. @return bytes here and there
  std::int64_t resize(const OpenDevice& device, Index count) {
    bytes_ = count * static_cast<Index>(sizeof(T));
    for (AlignedArray<T>* array : {&tops_, &bottoms_}) {
      array->resize(count);
      std::fill_n(array->data(), count, T(0));
    }
    return ensure(device, top_, Access::read_write, bytes_) + ensure(device, bottom_, Access::read_write, bytes_) +
           tops_.bytes() + bottoms_.bytes();
  }
  Index count() const { return tops_.size(); }
  T* tops() { return tops_.data(); }
  T* bottoms() { return bottoms_.data(); }
  const Buffer& top() const { return top_; }
  const Buffer& bottom() const { return bottom_; }
  BufferNeed need_top(const char* name) const { return {name, &top_, bytes_, sizeof(T)}; }
  BufferNeed need_bottom(const char* name) const { return {name, &bottom_, bytes_, sizeof(T)}; }

  /// Bring the numbers of the host to the device.
  void give(const Site& site) {
    for (const auto& [buffer, host] : {std::pair{&top_, &tops_}, {&bottom_, &bottoms_}}) {
      const Event event = enqueue_write(site.device, host->data(), *buffer, bytes_);
      site.waiter.wait(event);
      site.times.transfer_seconds += seconds(event);
    }
  }

 private:
  std::int64_t bytes_ = 0;
  Buffer top_, bottom_;
  AlignedArray<T> tops_, bottoms_;
};

}  // namespace oclspkt::ocl

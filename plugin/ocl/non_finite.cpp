// SPDX-License-Identifier: BSD-2-Clause
#include "non_finite.hpp"

namespace oclspkt::ocl {

std::int64_t NonFinite::set_up(OpenDevice& device, const Waiter& waiter, Pipeline& pipeline, Times& times) {
  constexpr std::int64_t kBytes = sizeof(Int);
  constexpr Int kNone = 0;
  flag_ = make_buffer(device, Access::read_write, kBytes);
  pipeline.bring(&kNone, kBytes, flag_, waiter, times);
  if (!told_) told_ = std::make_unique<Staging>(device, device.queue(), kBytes);
  return kBytes;
}

Event NonFinite::ask(const OpenDevice& device) {
  Event event;
  device.queue().enqueueReadBuffer(flag_, CL_FALSE, 0, sizeof(Int), told_->data(), nullptr, &event);
  asked_ = true;
  return event;
}

bool NonFinite::met(const OpenDevice& device, const Waiter& waiter) {
  if (!asked_) waiter.wait(ask(device));
  asked_ = false;
  auto& told = *reinterpret_cast<Int*>(told_->data());
  if (told == 0) return false;
  told = 0;
  Event event;
  device.queue().enqueueWriteBuffer(flag_, CL_FALSE, 0, sizeof told, &told, nullptr, &event);
  waiter.wait(event);
  return true;
}

}  // namespace oclspkt::ocl

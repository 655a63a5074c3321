// SPDX-License-Identifier: BSD-2-Clause
#include "waiter.hpp"

#include <thread>

#include "error_name.hpp"
#include "fault.hpp"
#include "native.hpp"

namespace oclspkt::ocl {
namespace {

/// A wait first spins for kSpin, then it sleeps for kSleep between looks. A sleep may take twice as long as kSleep,
/// which is at most a tenth of the whole wait.
constexpr std::chrono::microseconds kSpin{1000}, kSleep{50};

std::string seconds_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", value);
  return text;
}

}  // namespace

void Pause::operator()() {
  const auto now = std::chrono::steady_clock::now();
  if (!waiting_) since_ = now;
  waiting_ = true;
  if (now - since_ < kSpin) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kSleep);
  }
}

void Waiter::wait(const cl::Event& event) const {
  try {
    fault_point(Place::wait, device_.info(), device_.queue()());
    if (limited_) {
      device_.queue().flush();
      for (Pause pause; !done(event);) pause();
      return;
    }
    if (device_.info().whole >= 0) {
      device_.queue().flush();
      sleep_until_ended(event);
    }
    event.wait();
  } catch (const cl::Error& error) {
    throw device_error(device_.info(), "waiting for it", error);
  }
}

void Waiter::drain(const cl::CommandQueue& queue) const {
  cl::Event event;
  queue.enqueueMarkerWithWaitList(nullptr, &event);
  queue.flush();
  wait(event);
}

bool Waiter::done(const cl::Event& event) const {
  const cl_int status = event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
  if (status == CL_COMPLETE) return true;
  if (status < 0) throw cl::Error(status, "a command");
  if (std::chrono::duration<double>(Clock::now() - start_).count() > limit_) {
    const std::string why = "it did not finish within " + seconds_text(limit_);
    Registry::instance().abandon(device_, why);
    throw DeviceError(describe(device_.info()) + ": " + why +
                      " and is not used again; raise timeout if it is only slow");
  }
  return false;
}

double seconds(const cl::Event& event) {
  cl_ulong begin = 0, end = 0;
  if (clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr) != CL_SUCCESS ||
      clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) != CL_SUCCESS ||
      end < begin) {
    return 0;
  }
  return 1e-9 * static_cast<double>(end - begin);
}

}  // namespace oclspkt::ocl

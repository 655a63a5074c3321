// SPDX-License-Identifier: BSD-2-Clause
// Device times of kernels by their names. The library tells what all kernels of an apply take together; the paper tells
// data marshalling apart. So the program stands between the library's OpenCL module and the driver: of two functions of
// a name the loader takes the program's, which keeps the event of each launch.
#pragma once

#include <map>
#include <string>

namespace oclspkt::bench::paper {

struct KernelTime {
  long launches = 0;
  double seconds = 0;
};

/// While one lives, launches of this process are kept. One at a time; launches come from one thread.
class KernelClock {
 public:
  KernelClock();
  ~KernelClock();
  KernelClock(const KernelClock&) = delete;
  KernelClock& operator=(const KernelClock&) = delete;
  /// All since the last call, by name. Launches in queues without profiling are left out. @pre they have ended
  std::map<std::string, KernelTime> take();
};

/// The part of all seconds that kernels take which only reorder data; 0 if there is none.
double marshalling_share(const std::map<std::string, KernelTime>& times);

}  // namespace oclspkt::bench::paper

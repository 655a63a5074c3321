// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "card.hpp"
#include "fake_opencl.hpp"

namespace oclspkt::test {

namespace opencl = fake::opencl;

inline constexpr const char* kCopied = "copied on the device, where each apply is waited for: ";

inline long open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// Nothing is left behind by both run-times, and nothing was used wrongly.
template <typename T>
class BesideOf : public OnCards<T> {
 protected:
  BesideOf() {
    opened().profile(0, sizeof(T) == sizeof(double));
    release_devices();
    fake::restart();
    fake::nvrtc::restart();
    opencl::restart();
    files_ = open_files();
  }
  ~BesideOf() override { expect_clean(); }

  void expect_clean() const {
    expect_clean_cards();
    // PoCL's threads let go of buffers a moment after the commands that used them have ended.
    for (int look = 0; look < 1000 && opencl::imported() > 0; ++look) usleep(1000);
    EXPECT_EQ(opencl::imported(), 0);
    EXPECT_EQ(open_files(), files_);
    EXPECT_EQ(all_of(opencl::mistakes()), "");
  }

  /// Vectors of the host are solved for by OpenCL on the same card, and rightly.
  void expect_by_opencl(Solver<T>& solver, const DeviceQueue& queue, const std::string& why) const {
    EXPECT_FALSE(solver.takes(queue));
    EXPECT_EQ(solver.report().device.platform, "NVIDIA CUDA of the fake");
    expect_copied("Fake card 0", solver, why);
  }
  void expect_by_host(Solver<T>& solver, const std::string& why) const { expect_copied("host", solver, why); }

 private:
  void expect_copied(const std::string& device, Solver<T>& solver, const std::string& why) const {
    EXPECT_EQ(solver.report().device.name, device);
    EXPECT_TRUE(solver.report().device.vectors.starts_with("copied: ")) << solver.report().device.vectors;
    expect_in(solver.report().device.vectors, why);
    EXPECT_LE(this->backward_error(solver, this->bands_), 100);
  }

  long files_ = 0;
};
using Beside = BesideOf<double>;

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#include "resident_stream.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "error_name.hpp"
#include "oclspkt/error.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {
namespace {

/// Work-items of a work-group, and the bytes that each reads at once.
constexpr std::size_t kItems = 256;
constexpr Index kBytes = kVectorBytes;
constexpr int kMostReads = 4;
constexpr double kTimeLimit = 10;

/// Fill a buffer with zeros, because other numbers might slow a device down. They come from the host: NVIDIA's OpenCL
/// (driver 580) never ends a fill of more than 2^31 bytes, and loses the queue if a fill ends behind them.
void fill_with_zeros(const cl::CommandQueue& queue, const cl::Buffer& buffer, std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 26;
  const std::vector<char> zeros(static_cast<std::size_t>(std::min(kMost, bytes)));
  for (std::int64_t first = 0; first < bytes; first += kMost) {
    const std::int64_t count = std::min(kMost, bytes - first);
    queue.enqueueWriteBuffer(buffer, CL_TRUE, static_cast<std::size_t>(first), static_cast<std::size_t>(count),
                             zeros.data());
  }
}

class ResidentStream final : public DeviceStream {
 public:
  ResidentStream(int device, Index n, int reads, bool is_double)
      : open_(Registry::instance().open(device)),
        kernel_(tile_stream(*open_, reads, is_double)),
        n_(n),
        reads_(reads),
        word_(is_double ? sizeof(double) : sizeof(float)) {
    try {
      for (int i = 0; i <= reads_; ++i) {
        arrays_[i] = open_->buffer(CL_MEM_READ_WRITE, n * word_);
        fill_with_zeros(open_->queue(), arrays_[i], n * word_);
      }
      open_->queue().finish();
    } catch (const cl::Error& error) {
      throw device_error(open_->info(), "making a stream of " + std::to_string(n) + " rows", error);
    }
  }

  double run() override {
    // The kernel needs all arguments, even for arrays that it does not read.
    const auto read = [&](int i) -> const cl::Buffer& { return arrays_[std::min(i, reads_ - 1)]; };
    const cl::Buffer& written = arrays_[reads_];
    const std::int64_t bytes = n_ * word_;
    try {
      set_arguments(*open_, kernel_, read(0), read(1), read(2), read(3), written, cl_long{n_});
      const cl::Event event = launch(*open_, kernel_, tile_stream_geometry(n_, word_),
                                     {{"a", &read(0), bytes, kBytes},
                                      {"b", &read(1), bytes, kBytes},
                                      {"c", &read(2), bytes, kBytes},
                                      {"y", &read(3), bytes, kBytes},
                                      {"x", &written, bytes, kBytes}});
      Waiter(*open_, !open_->info().host_unified, kTimeLimit).wait(event);
      return seconds(event);
    } catch (const cl::Error& error) {
      throw device_error(open_->info(), "streaming " + std::to_string(n_) + " rows", error);
    }
  }

 private:
  std::shared_ptr<OpenDevice> open_;
  Kernel kernel_;
  Index n_;
  int reads_, word_;
  std::array<cl::Buffer, kMostReads + 1> arrays_;  ///< the arrays that are read, then the one that is written
};

}  // namespace

Kernel tile_stream(OpenDevice& device, int reads, bool is_double) {
  return device.kernel("tile_stream", is_double, 1, "-D READS=" + std::to_string(reads));
}

Geometry tile_stream_geometry(Index n, int word) {
  return {std::max<Index>(1, quotient_up(n * word, kBytes * static_cast<Index>(kItems))), kItems};
}

std::unique_ptr<DeviceStream> make_resident_stream(int device, Index n, int reads, bool is_double) {
  if (n < 1 || reads < 1 || reads > kMostReads) {
    throw InvalidInput("a stream has at least one row and reads 1 to 4 arrays, not " + std::to_string(n) +
                       " rows and " + std::to_string(reads) + " arrays");
  }
  return std::make_unique<ResidentStream>(device, n, reads, is_double);
}

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "error_name.hpp"
#include "launch.hpp"
#include "layout.hpp"
#include "oclspkt/error.hpp"
#include "probe.hpp"
#include "scalars.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {
namespace {

/// Work-items of a work-group, and the bytes that each reads at once.
constexpr std::size_t kStreamItems = 256;
constexpr Index kStreamBytes = kVectorBytes;
constexpr int kMostReads = 4;
constexpr double kTimeLimit = 10;

/// Work-groups a core of kernel stream, which is for processors.
constexpr int kStreamGroupsACore = 4;

/// The kernels that stream on a device, over buffers.
class Streamer {
 public:
  /// @param reads    arrays that are read, 1 to 4; on processors always 4
  /// @param aligned  bytes that buffers are aligned to
  Streamer(std::shared_ptr<OpenDevice> open, bool by_groups, int reads, bool is_double, std::size_t aligned)
      : open_(std::move(open)),
        by_groups_(by_groups),
        word_(is_double ? sizeof(double) : sizeof(float)),
        aligned_(aligned),
        kernel_(by_groups ? open_->kernel("tile_stream", is_double, 1, "-D READS=" + std::to_string(reads))
                          : open_->kernel("stream", is_double)) {}

  OpenDevice& device() const { return *open_; }

  /// Call work(), whose errors name the stream. @param what  "making a stream of"
  template <typename Work>
  auto named(const char* what, Index n, const Work& work) const {
    try {
      return work();
    } catch (const cl::Error& error) {
      throw device_error(open_->info(), what + (" " + std::to_string(n)) + " rows", error);
    }
  }

  /// Stream n scalars, and wait. @return seconds on the device
  double run(const std::array<const cl::Buffer*, kMostReads + 1>& arrays, Index n) {
    const auto [a, b, c, y, x] = arrays;
    const std::int64_t bytes = n * word_;
    set_arguments(*open_, kernel_, *a, *b, *c, *y, *x, cl_long{n});
    const Geometry geometry =
        by_groups_ ? Geometry{std::max<Index>(1, quotient_up(bytes, kStreamBytes * Index{kStreamItems})), kStreamItems}
                   : Geometry{std::int64_t{kStreamGroupsACore} * open_->info().cores};
    const cl::Event event = launch(*open_, kernel_, geometry,
                                   {{"a", a, bytes, aligned_},
                                    {"b", b, bytes, aligned_},
                                    {"c", c, bytes, aligned_},
                                    {"y", y, bytes, aligned_},
                                    {"x", x, bytes, aligned_}});
    Waiter(*open_, !open_->info().host_unified, kTimeLimit).wait(event);
    return seconds(event);
  }

 private:
  std::shared_ptr<OpenDevice> open_;
  bool by_groups_;
  int word_;
  std::size_t aligned_;
  Kernel kernel_;
};

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
      : streamer_(Registry::instance().open(device), true, reads, is_double, kVectorBytes),
        n_(n),
        arrays_(size(reads + 1)) {
    const OpenDevice& open = streamer_.device();
    const std::int64_t bytes = n * static_cast<Index>(is_double ? sizeof(double) : sizeof(float));
    streamer_.named("making a stream of", n, [&] {
      for (cl::Buffer& array : arrays_) {
        array = open.buffer(CL_MEM_READ_WRITE, bytes);
        fill_with_zeros(open.queue(), array, bytes);
      }
      open.queue().finish();
    });
  }

  double run() override {
    // The kernel needs all arguments, even for arrays that it does not read.
    const auto read = [&](std::size_t i) { return &arrays_[std::min(i, arrays_.size() - 2)]; };
    return streamer_.named("streaming", n_, [&] {
      return streamer_.run({read(0), read(1), read(2), read(3), &arrays_.back()}, n_);
    });
  }

 private:
  Streamer streamer_;
  Index n_;
  std::vector<cl::Buffer> arrays_;  ///< the arrays that are read, then the one that is written
};

}  // namespace

std::unique_ptr<DeviceStream> make_resident_stream(int device, Index n, int reads, bool is_double) {
  if (n < 1 || reads < 1 || reads > kMostReads) {
    throw InvalidInput("a stream has at least one row and reads 1 to 4 arrays, not " + std::to_string(n) +
                       " rows and " + std::to_string(reads) + " arrays");
  }
  return std::make_unique<ResidentStream>(device, n, reads, is_double);
}

template <typename T>
double run_stream(int device, const StreamArrays<T>& arrays) {
  using Clock = std::chrono::steady_clock;
  const auto open = Registry::instance().open(device);
  if (arrays.n <= 0) return 0;
  const bool in_place = open->info().host_unified, by_groups = open->found().by_groups(Variant::by_type);
  Streamer streamer(open, by_groups, kMostReads, sizeof(T) == sizeof(double), sizeof(T));
  return streamer.named("streaming", arrays.n, [&] {
    const std::int64_t bytes = arrays.n * static_cast<Index>(sizeof(T));
    const auto give = [&](const T* p) {
      const cl_mem_flags flags = in_place ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
      return open->buffer(CL_MEM_READ_WRITE | flags, bytes, const_cast<T*>(p));
    };
    const cl::Buffer a = give(arrays.a), b = give(arrays.b), c = give(arrays.c), y = give(arrays.y), x = give(arrays.x);
    const auto run = [&](Index n) { return streamer.run({&a, &b, &c, &y, &x}, n); };
    run(0);  // the first launch may compile
    const auto start = Clock::now();
    const double device_time = run(arrays.n);
    const double time = by_groups ? device_time : std::chrono::duration<double>(Clock::now() - start).count();
    const auto size = static_cast<std::size_t>(bytes);
    if (in_place) {
      void* mapped = open->queue().enqueueMapBuffer(x, CL_TRUE, CL_MAP_READ, 0, size);
      open->queue().enqueueUnmapMemObject(x, mapped);
      open->queue().finish();
    } else {
      open->queue().enqueueReadBuffer(x, CL_TRUE, 0, size, arrays.x);
    }
    return time;
  });
}

#define OCLSPKT_INSTANTIATE(T) template double run_stream(int, const StreamArrays<T>&);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#include "probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <vector>

#include "cl_solver.hpp"
#include "error_name.hpp"
#include "scalars.hpp"
#include "schemes/scheme.hpp"
#include "tuning.hpp"

namespace oclspkt::ocl {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Seconds that the measurements of launches, of rates and of copies may take on a device.
constexpr double kLaunchShare = 0.005, kRateShare = 0.03, kCopyShare = 0.01;
constexpr int kRepeats = 7;
constexpr Index kProbeRows = 1'000'000, kFirstRows = 50'000;
constexpr std::int64_t kCopyBytes = 16 << 20, kLongCopyBytes = 64 << 20;
constexpr double kProbeTimeLimit = 10;
/// Rows of a partition, 16 times an odd number as in an ordinary plan, and the halo for dominance 3 in double.
constexpr Index kProbePartition = 16 * 31, kProbeHalo = 32;
constexpr int kRunsPerCore = 4;
/// Number of lines side by side, and rows of a line. The stride between rows is no power of two.
constexpr Index kProbeInner = 208, kProbeLength = 64;

/// Returns the seconds of the fastest of several calls of f: at least one, at most kRepeats, none begun after `share`
/// seconds. The fastest call counts, because other work on the machine makes calls longer, never shorter.
template <typename F>
double best_seconds(double share, const F& f) {
  double best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (int i = 0; i == 0 || (i < kRepeats && since(begin) < share); ++i) {
    const auto start = Clock::now();
    f();
    best = std::min(best, since(start));
  }
  return best;
}

/// A matrix of dominance 3 and a right-hand side of ones. The vectors are in small pages, as callers' vectors are. An
/// AlignedArray would use large pages.
template <typename T>
struct ProbeSystem {
  explicit ProbeSystem(const LineSet& lines)
      : bands(lines), y(static_cast<std::size_t>(lines.extent()), T(1)), x(y.size()) {
    std::fill_n(bands.lower(), lines.extent(), T(-1));
    std::fill_n(bands.diag(), lines.extent(), T(6));
    std::fill_n(bands.upper(), lines.extent(), T(-1));
  }
  Bands<T> bands;
  std::vector<T> y, x;
};

/// Returns the rows per second of a solver that is set up, without the launch cost. For a device with its own memory,
/// this is the rate of the kernels only, with vectors in that memory.
template <typename T>
double rate_of(DeviceSolver<T>& solver, const FoundDevice& found, double launch, double share, Index rows,
               ProbeSystem<T>& system) {
  const bool in_place = found.info.host_unified;
  const auto buffer = [&] {
    const auto bytes = static_cast<std::int64_t>(system.y.size() * sizeof(T));
    return Registry::instance()
        .open(found.info.index)
        ->buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, system.y.data());
  };
  const cl::Buffer y = in_place ? cl::Buffer() : buffer(), x = in_place ? cl::Buffer() : buffer();
  const auto once = [&] {
    const double before = solver.times().kernel_seconds;
    in_place ? solver.apply(system.y.data(), system.x.data()) : solver.apply_on_device(y(), x());
    return solver.times().kernel_seconds - before;
  };
  once();
  double kernel = std::numeric_limits<double>::infinity();
  const double wall = best_seconds(share, [&] { kernel = std::min(kernel, once()); });
  // On a busy machine the measured launch cost may exceed the time of the whole apply.
  const double work = in_place ? std::max(wall - launch, wall / 10) : kernel;
  return static_cast<double>(rows) / std::max(work, 1e-9);
}

/// Returns the plan of the first scheme that has a plan for this device, or no plan. Kernels of one work-item and other
/// kernels never run on the same device.
std::optional<Plan> find_plan(const PlanRequest& request) {
  for (const Scheme* scheme : all_schemes()) {
    if ((scheme->nature().kernels == Kernels::task) != request.traits.task) continue;
    if (std::optional<Plan> plan = scheme->make(request)) return plan;
  }
  return std::nullopt;
}

/// Measure the fixed cost of an apply, and the rate of method truncated-halo, or of truncated-streamed on FPGAs.
/// @return false if no scheme has the method for this device
template <typename T>
bool measure_halo(int device, const FoundDevice& found, DeviceProfile& profile) {
  const int lanes = found.tile_lanes(sizeof(T) == sizeof(double));
  const Index full = std::max<Index>(kFirstRows, std::min<Index>(kProbeRows, found.info.max_allocation / 16));
  ProbeSystem<T> system(LineSet::one(full));
  const std::unique_ptr<DeviceSolver<T>> solver = make_solver<T>(device, {.use = {.kernel_times = true}});
  const DeviceTraits traits = tuned_traits(found, sizeof(T) == sizeof(double), Variant::by_type);
  const auto set_up = [&](Index n) {
    system.bands.reshape(LineSet::one(n));
    const bool by_lanes = !traits.task && traits.group_items == 0;
    const Index fair = n / (static_cast<Index>(found.info.cores) * lanes) / lanes * lanes;
    std::optional<Plan> plan = find_plan({.method = traits.task ? Method::truncated_streamed : Method::truncated_halo,
                                          .lines = LineSet::one(n),
                                          .halo = kProbeHalo,
                                          .partition = by_lanes ? std::clamp<Index>(fair, lanes, kProbePartition) : 0,
                                          .word = sizeof(T),
                                          .traits = traits});
    if (!plan) return false;
    if (by_lanes) plan->runs = kRunsPerCore * found.info.cores;
    solver->set_up(*plan, system.bands);
    return true;
  };
  if (!set_up(lanes)) return false;
  const auto once = [&] { solver->apply(system.y.data(), system.x.data()); };
  once();  // the first launch may compile
  profile.launch_seconds = best_seconds(kLaunchShare, once);
  // If the device is slow with few rows, the measurement with many rows is skipped.
  for (const Index n : {kFirstRows, full}) {
    set_up(n);
    profile.rows_per_second = rate_of(*solver, found, profile.launch_seconds, kRateShare / 2, n, system);
    if (static_cast<double>(full) / profile.rows_per_second > kRateShare / 4) break;
  }
  return true;
}

/// Returns the pipeline's seconds for two vectors of `bytes` bytes: one to the device, one to the host.
double copy_seconds(OpenDevice& device, std::int64_t bytes) {
  const cl::Buffer up = device.buffer(CL_MEM_READ_WRITE, bytes), down = device.buffer(CL_MEM_READ_WRITE, bytes);
  AlignedArray<std::byte> from(bytes), to(bytes);
  std::fill_n(from.data(), bytes, std::byte{0});  // unwritten pages would all map to one page of zeros
  const std::int64_t piece = piece_bytes(bytes);
  Pipeline pipeline(device, piece, Pipeline::kSlots);
  Pieces pieces;
  make_pieces(pieces, bytes, piece, true, true);
  const auto put = [&](Index first, Index end, const std::byte* come) {
    std::copy_n(come, end - first, to.data() + first);
  };
  const Waiter waiter(device, true, kProbeTimeLimit);
  Times times;
  const auto there_and_back = [&] {
    pipeline.run({.pieces = pieces, .word = 1, .from = from.data(), .up = &up, .down = &down, .put = std::ref(put)},
                 waiter, times);
  };
  there_and_back();  // the first run touches the pages
  return best_seconds(kCopyShare, there_and_back);
}

/// Measure the transfer rate of a device with its own memory. With 16 MB, waking threads and the ends of the pipeline
/// halve the rate. Therefore longer vectors are measured as well.
void measure_copies(OpenDevice& device, DeviceProfile& profile) {
  const auto at_most = [&](std::int64_t bytes) { return std::min(bytes, device.info().max_allocation); };
  const std::int64_t bytes = at_most(kCopyBytes), more = at_most(kLongCopyBytes);
  const double seconds = copy_seconds(device, bytes);
  profile.copy_bytes_per_second = 2 * static_cast<double>(bytes) / seconds;
  // If the bus is slow, the measurement with short vectors suffices.
  if (more <= bytes || seconds > kCopyShare) return;
  const double longer = copy_seconds(device, more);
  if (!(longer > seconds)) return;
  profile.long_copy_bytes_per_second = 2 * static_cast<double>(more - bytes) / (longer - seconds);
  profile.long_copy_seconds =
      std::max(0.0, seconds - 2 * static_cast<double>(bytes) / profile.long_copy_bytes_per_second);
}

/// Work-items of a work-group, and the bytes that each work-item reads at once.
constexpr std::size_t kStreamItems = 256;
constexpr Index kStreamBytes = kVectorBytes;
constexpr int kMostReads = 4;

/// Work-groups for each core in the kernel `stream`, which runs on devices other than GPUs.
constexpr int kStreamGroupsACore = 4;

class Streamer {
 public:
  /// @param reads    number of arrays that are read, 1 to 4; always 4 on devices other than GPUs
  /// @param aligned  alignment of the buffers in bytes
  Streamer(std::shared_ptr<OpenDevice> open, bool by_groups, int reads, bool is_double, std::size_t aligned)
      : open_(std::move(open)),
        by_groups_(by_groups),
        word_(is_double ? sizeof(double) : sizeof(float)),
        aligned_(aligned),
        kernel_(by_groups ? open_->kernel("tile_stream", is_double, 1, "-D READS=" + std::to_string(reads))
                          : open_->kernel("stream", is_double)) {}

  OpenDevice& device() const { return *open_; }

  /// Call work(); its errors begin with `what` and the number of rows. @param what  such as "making a stream of"
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
    const std::int64_t bytes = n * word_;
    const Geometry geometry =
        by_groups_ ? Geometry{std::max<Index>(1, quotient_up(bytes, kStreamBytes * Index{kStreamItems})), kStreamItems}
                   : Geometry{std::int64_t{kStreamGroupsACore} * open_->info().cores};
    const auto need = [&](const char* name, std::size_t i) { return BufferNeed{name, arrays[i], bytes, aligned_}; };
    const Event event = launch(*open_, kernel_, geometry, need("a", 0), need("b", 1), need("c", 2), need("y", 3),
                               need("x", 4), Long{n});
    Waiter(*open_, !open_->info().host_unified, kProbeTimeLimit).wait(event);
    return seconds(event);
  }

 private:
  std::shared_ptr<OpenDevice> open_;
  bool by_groups_;
  int word_;
  std::size_t aligned_;
  Kernel kernel_;
};

/// Write zeros of the host to a buffer; other numbers might slow a device down. Fill commands of NVIDIA's OpenCL
/// (driver 580) fail: with more than 2^31 bytes a fill never ends, and a fill past byte 2^31 loses the queue.
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
  std::vector<cl::Buffer> arrays_;  ///< the arrays that are read, then the array that is written
};

}  // namespace

DeviceTraits tuned_traits(const FoundDevice& found, bool is_double, Variant variant) {
  DeviceTraits traits = found.traits(is_double, variant);
  traits.figures = &Tuning::of_device(found.info.name);
  return traits;
}

template <typename T>
DeviceProfile measure_profile(int device) {
  const FoundDevice& found = Registry::instance().device(device);
  const auto open = Registry::instance().open(device);
  try {
    DeviceProfile profile;
    // A device without kernels for lines end to end may have kernels for lines side by side. The rate must not be 0.
    if (!measure_halo<T>(device, found, profile)) profile.rows_per_second = std::max(1.0, measure_beside<T>(device, 0));
    if (found.info.host_unified) {
      profile.copy_bytes_per_second = std::numeric_limits<double>::infinity();
    } else {
      measure_copies(*open, profile);
    }
    return profile;
  } catch (const cl::Error& error) {
    throw device_error(found.info, "measuring it", error);
  }
}

template <typename T>
double measure_beside(int device, double launch) {
  const FoundDevice& found = Registry::instance().device(device);
  double rate = 0;
  for (const Index rows : {kFirstRows, kProbeRows}) {
    const Index blocks = std::max<Index>(1, rows / (kProbeInner * kProbeLength));
    const LineSet lines = LineSet::grid_axis(1, kProbeInner, kProbeLength, blocks);
    const DeviceTraits traits = tuned_traits(found, sizeof(T) == sizeof(double), Variant::by_type);
    const std::optional<Plan> plan =
        find_plan({.method = Method::exact_factored, .lines = lines, .word = sizeof(T), .traits = traits});
    if (!plan || plan->cut().blocks == 0) break;  // no scheme has the method, or memory does not hold one block
    ProbeSystem<T> system(lines);
    system.bands.close_lines();
    const std::unique_ptr<DeviceSolver<T>> solver = make_solver<T>(device, {.use = {.kernel_times = true}});
    solver->set_up(*plan, system.bands);
    rate = rate_of(*solver, found, launch, kRateShare / 2, lines.rows(), system);
    if (static_cast<double>(kProbeRows) / rate > kRateShare / 4) break;
  }
  return rate;
}

std::unique_ptr<DeviceStream> make_resident_stream(int device, Index n, int reads, bool is_double) {
  if (n < 1 || reads < 1 || reads > kMostReads) {
    throw InvalidInput("a stream has at least one row and reads 1 to 4 arrays, not " + std::to_string(n) +
                       " rows and " + std::to_string(reads) + " arrays");
  }
  return std::make_unique<ResidentStream>(device, n, reads, is_double);
}

template <typename T>
double run_stream(int device, const StreamArrays<T>& arrays) {
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
    const double time = by_groups ? device_time : since(start);
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

#define OCLSPKT_INSTANTIATE(T)                    \
  template DeviceProfile measure_profile<T>(int); \
  template double measure_beside<T>(int, double); \
  template double run_stream(int, const StreamArrays<T>&);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl

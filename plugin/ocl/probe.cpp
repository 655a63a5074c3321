// SPDX-License-Identifier: BSD-2-Clause
#include "probe.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "cl_solver.hpp"
#include "error_name.hpp"
#include "scalars.hpp"
#include "tuning.hpp"

namespace oclspkt::ocl {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Seconds all measurements of one device may take together; each part stops when its share is used up.
constexpr double kLaunchShare = 0.005, kRateShare = 0.03, kCopyShare = 0.01;
constexpr int kRepeats = 7;
constexpr Index kProbeRows = 1'000'000, kFirstRows = 50'000;
constexpr std::int64_t kCopyBytes = 16 << 20, kLongCopyBytes = 64 << 20;
constexpr double kProbeTimeLimit = 10;
/// The shape of an ordinary plan: 16 times an odd number of rows a partition, and the halo for dominance 3 in double.
constexpr Index kProbePartition = 16 * 31, kProbeHalo = 32;
constexpr int kRunsPerCore = 4;
/// Lines side by side; the distance of their rows is no power of two.
constexpr Index kProbeInner = 208, kProbeLength = 64;

/// Seconds of the fastest of several calls of f, at least one, at most kRepeats within the share. The fastest counts,
/// because other work on a machine makes calls longer, never shorter.
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

/// A matrix of dominance 3 and right-hand sides of ones. Like callers' vectors, these are in small pages, unlike those
/// of an AlignedArray.
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

/// Rows a second of a solver that is set up, for the work without the launch. On a device with its own memory, for the
/// kernels only, with vectors in that memory.
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

/// Measure the fixed cost of an apply, and its rate by truncated-halo; on FPGAs by their own kernels.
template <typename T>
void measure_halo(int device, const FoundDevice& found, DeviceProfile& profile) {
  const int lanes = found.tile_lanes(sizeof(T) == sizeof(double));
  const Index full = std::max<Index>(kFirstRows, std::min<Index>(kProbeRows, found.info.max_allocation / 16));
  ProbeSystem<T> system(LineSet::one(full));
  const std::unique_ptr<DeviceSolver<T>> solver = make_solver<T>(device, {.kernel_times = true});
  const DeviceTraits traits = tuned_traits(found, sizeof(T) == sizeof(double), Variant::by_type);
  const auto set_up = [&](Index n) {
    system.bands.reshape(LineSet::one(n));
    const bool by_lanes = !traits.task && traits.group_items == 0;
    const Index fair = n / (static_cast<Index>(found.info.cores) * lanes) / lanes * lanes;
    Plan plan = make_plan(traits.task ? Method::truncated_streamed : Method::truncated_halo, n, kProbeHalo,
                          by_lanes ? std::clamp<Index>(fair, lanes, kProbePartition) : 0, sizeof(T), traits);
    if (by_lanes) plan.runs = kRunsPerCore * found.info.cores;
    solver->set_up(plan, system.bands);
  };
  set_up(lanes);
  const auto once = [&] { solver->apply(system.y.data(), system.x.data()); };
  once();  // the first launch may compile
  profile.launch_seconds = best_seconds(kLaunchShare, once);
  // A slow device is recognised by few rows, and spared the many.
  for (const Index n : {kFirstRows, full}) {
    set_up(n);
    profile.rows_per_second = rate_of(*solver, found, profile.launch_seconds, kRateShare / 2, n, system);
    if (static_cast<double>(full) / profile.rows_per_second > kRateShare / 4) break;
  }
}

/// Seconds that two vectors of so many bytes take through the pipeline, one up and one down.
double copy_seconds(OpenDevice& device, std::int64_t bytes) {
  const cl::Buffer up = device.buffer(CL_MEM_READ_WRITE, bytes), down = device.buffer(CL_MEM_READ_WRITE, bytes);
  AlignedArray<std::byte> from(bytes), to(bytes);
  std::fill_n(from.data(), bytes, std::byte{0});  // pages never written would all be the same one
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
  there_and_back();  // touch pages for the first time
  return best_seconds(kCopyShare, there_and_back);
}

/// Measure the transfer rate to a device with its own memory. Waking threads and the ends of the pipeline halve the
/// rate for 16 MB, so longer vectors are measured, too.
void measure_copies(OpenDevice& device, DeviceProfile& profile) {
  const auto at_most = [&](std::int64_t bytes) { return std::min(bytes, device.info().max_allocation); };
  const std::int64_t bytes = at_most(kCopyBytes), more = at_most(kLongCopyBytes);
  const double seconds = copy_seconds(device, bytes);
  profile.copy_bytes_per_second = 2 * static_cast<double>(bytes) / seconds;
  // A slow bus is recognised by the shorter vectors.
  if (more <= bytes || seconds > kCopyShare) return;
  const double longer = copy_seconds(device, more);
  if (!(longer > seconds)) return;
  profile.long_copy_bytes_per_second = 2 * static_cast<double>(more - bytes) / (longer - seconds);
  profile.long_copy_seconds =
      std::max(0.0, seconds - 2 * static_cast<double>(bytes) / profile.long_copy_bytes_per_second);
}

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
    measure_halo<T>(device, found, profile);
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
    const Plan plan = make_factored_plan(lines, Form::general, sizeof(T), traits);
    if (plan.cut().blocks == 0) break;  // there is nothing else to measure
    ProbeSystem<T> system(lines);
    system.bands.close_lines();
    const std::unique_ptr<DeviceSolver<T>> solver = make_solver<T>(device, {.kernel_times = true});
    solver->set_up(plan, system.bands);
    rate = rate_of(*solver, found, launch, kRateShare / 2, lines.rows(), system);
    if (static_cast<double>(kProbeRows) / rate > kRateShare / 4) break;
  }
  return rate;
}

#define OCLSPKT_INSTANTIATE(T)                    \
  template DeviceProfile measure_profile<T>(int); \
  template double measure_beside<T>(int, double);
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl

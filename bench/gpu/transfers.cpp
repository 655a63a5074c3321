// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-transfers FILE [ROUNDS [DEVICE [ROWS]]]: what an apply costs with vectors on the host, as a share of
// the slower of bus and host memory, measured in turn with it; and from the call to the end with vectors on the device.
// The first GPU unless a device is named by its number (-1: the first GPU), as many rows as are given at most. Every
// answer is checked before its time is kept.
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backward_error.hpp"
#include "device.hpp"
#include "json_file.hpp"
#include "matrices.hpp"
#include "memory.hpp"
#include "node.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "parallel.hpp"
#include "past_caches.hpp"
#include "provenance.hpp"
#include "statistics.hpp"

namespace oclspkt::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kRows[] = {1'000'000, 10'000'000, 50'000'000};
/// Bytes each way of a measurement of the bus, and of one of the host's memory, whose copies go through a ring.
constexpr std::size_t kBusBytes = std::size_t{64} << 20, kHostBytes = std::size_t{256} << 20,
                      kRingBytes = std::size_t{16} << 20;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The bus by itself: pinned memory there and back at once, in one piece each way.
class Bus {
 public:
  explicit Bus(const DeviceHandles& handles)
      : pinned_(handles.context, CL_MEM_ALLOC_HOST_PTR, 2 * kBusBytes),
        up_(handles.context, CL_MEM_READ_WRITE, kBusBytes),
        down_(handles.context, CL_MEM_READ_WRITE, kBusBytes),
        from_(kHostBytes),
        to_(kHostBytes) {
    cl_int error = CL_SUCCESS;
    for (cl_command_queue& queue : queues_) {
      queue = clCreateCommandQueue(handles.context, handles.device, 0, &error);
      check(error, "clCreateCommandQueue");
    }
    host_ = static_cast<std::byte*>(clEnqueueMapBuffer(queues_[0], pinned_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                                       0, 2 * kBusBytes, 0, nullptr, nullptr, &error));
    check(error, "clEnqueueMapBuffer");
    std::memset(host_, 0, 2 * kBusBytes);
  }
  ~Bus() {
    clEnqueueUnmapMemObject(queues_[0], pinned_.get(), host_, 0, nullptr, nullptr);
    for (cl_command_queue queue : queues_) {
      clFinish(queue);
      clReleaseCommandQueue(queue);
    }
  }
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  /// Bytes a second, both ways added.
  double rate() const {
    const auto start = Clock::now();
    check(clEnqueueWriteBuffer(queues_[0], up_.get(), CL_FALSE, 0, kBusBytes, host_, 0, nullptr, nullptr), "a write");
    check(clEnqueueReadBuffer(queues_[1], down_.get(), CL_FALSE, 0, kBusBytes, host_ + kBusBytes, 0, nullptr, nullptr),
          "a read");
    for (cl_command_queue queue : queues_) clFlush(queue);
    for (cl_command_queue queue : queues_) check(clFinish(queue), "clFinish");
    return 2 * kBusBytes / since(start);
  }

  /// Bytes a second that all processors copy between two vectors and a ring of pinned memory, both ways added.
  double host_rate() {
    constexpr Index kPart = 256 << 10;
    const auto start = Clock::now();
    for_pieces(static_cast<Index>(kHostBytes), kPart, [&](Index first, Index end) {
      std::byte* slot = host_ + static_cast<std::size_t>(first) % kRingBytes;
      copy_past_caches(from_.data() + first, end - first, slot);
      copy_past_caches(slot + kRingBytes, end - first, to_.data() + first);
      order_stores();
    });
    return 2 * kHostBytes / since(start);
  }

 private:
  Memory pinned_, up_, down_;
  cl_command_queue queues_[2] = {};
  std::byte* host_ = nullptr;
  std::vector<std::byte> from_, to_;
};

/// A system that is set up on the device.
template <typename T>
struct System {
  System(int device, Index n) : solver(options(device)), kept(LineSet::one(n)), y(static_cast<std::size_t>(n)), x(y) {
    const MatrixSpec matrix{.matrix = Matrix::random, .dominance = 3};
    fill_bands(matrix, solver.bands(kept.lines()));
    fill_bands(matrix, kept);
    fill_solution(matrix.seed, n, x.data());
    multiply(kept.lines(), kept.view(), x.data(), y.data());
    std::fill(x.begin(), x.end(), T(0));
    solver.set_up();
    if (!solver.device_handles()) throw DeviceError("the host took the system: " + solver.report().device.why);
  }
  static Options options(int device) {
    Options options;
    options.devices = std::to_string(device);
    options.on_device_failure = OnDeviceFailure::error;
    options.use.transfer = Transfer::copy;
    return options;
  }
  void check_answer() const {
    const double error = normwise_backward_error(kept.lines(), kept.view(), x.data(), y.data()) /
                         static_cast<double>(std::numeric_limits<T>::epsilon());
    if (!(error <= 10)) throw Breakdown("the answer is wrong, " + std::to_string(error) + " eps");
  }
  Solver<T> solver;
  Bands<T> kept;
  std::vector<T> y, x;
};

template <typename T>
nlohmann::ordered_json head(const System<T>& system) {
  const Report& report = system.solver.report();
  return {{"precision", sizeof(T) == 8 ? "double" : "float"},
          {"rows", system.kept.lines().rows()},
          {"method", name(report.method)},
          {"shape", report.shape}};
}

/// Vectors on the host: seconds of an apply beside the time that their bytes take on the bus and in the host's memory.
template <typename T>
nlohmann::ordered_json measure_host_vectors(int device, Index n, int rounds) {
  System<T> system(device, n);
  Bus bus(system.solver.device_handles());
  const double bytes = 2 * static_cast<double>(n) * sizeof(T);
  std::vector<double> seconds, limits, buses, hosts, transfers, kernels;
  for (int r = -1; r < rounds; ++r) {
    const double on_bus = bus.rate(), in_memory = bus.host_rate();
    const Times before = system.solver.times();
    const auto start = Clock::now();
    system.solver.apply(system.y.data(), system.x.data());
    const double spent = since(start);
    if (r < 0) continue;  // warm
    const Times times = system.solver.times() - before;
    seconds.push_back(spent);
    buses.push_back(on_bus);
    hosts.push_back(in_memory);
    limits.push_back(bytes / std::min(on_bus, in_memory));
    transfers.push_back(times.transfer_seconds);
    kernels.push_back(times.kernel_seconds);
  }
  system.check_answer();
  nlohmann::ordered_json record = head(system);
  record["vectors"] = "host";
  record["seconds"] = seconds;
  record["bus_bytes_per_second"] = median(buses);
  record["host_bytes_per_second"] = median(hosts);
  record["transfer_seconds"] = median(transfers);
  record["kernel_seconds"] = median(kernels);
  record["share_of_limit"] = median_ratio(limits, seconds);
  std::printf("%-6s %9lld rows, vectors on the host: %9.1f us, %5.1f GB/s of %5.1f (bus) and %5.1f (host), %.2f\n",
              sizeof(T) == 8 ? "double" : "float", static_cast<long long>(n), 1e6 * median(seconds),
              1e-9 * bytes / median(seconds), 1e-9 * median(buses), 1e-9 * median(hosts),
              median_ratio(limits, seconds));
  std::fflush(stdout);
  return record;
}

/// Vectors on the device: seconds from the call to its end.
template <typename T>
nlohmann::ordered_json measure_device_vectors(int device, Index n, int rounds) {
  System<T> system(device, n);
  const DeviceHandles handles = system.solver.device_handles();
  const std::size_t bytes = system.y.size() * sizeof(T);
  const Memory y(handles.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, system.y.data()),
      x(handles.context, CL_MEM_READ_WRITE, bytes);
  std::vector<double> seconds;
  for (int r = -1; r < 20 * rounds; ++r) {
    const auto start = Clock::now();
    system.solver.apply_on_device(y.get(), x.get());
    const double spent = since(start);
    if (r < 0) continue;
    seconds.push_back(spent);
  }
  check(clEnqueueReadBuffer(handles.queue, x.get(), CL_TRUE, 0, bytes, system.x.data(), 0, nullptr, nullptr), "a read");
  system.check_answer();
  nlohmann::ordered_json record = head(system);
  record["vectors"] = "device";
  record["seconds"] = median(seconds);
  record["spread"] = spread(seconds);
  std::printf("%-6s %9lld rows, vectors on the device: %7.1f us from the call to its end\n",
              sizeof(T) == 8 ? "double" : "float", static_cast<long long>(n), 1e6 * median(seconds));
  std::fflush(stdout);
  return record;
}

int run(const std::string& file, int rounds, int number, Index most, const std::string& command) {
  JsonFile json(file);
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  const auto& devices = module->devices();
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& d) {
    return number >= 0 ? d.index == number : d.type == DeviceType::gpu;
  });
  if (device == devices.end()) throw DeviceError("there is no such device; oclspkt-devices lists what was found");
  nlohmann::ordered_json results;
  results["provenance"] = provenance(*device, command);
  results["processors"] = processor_share();
  results["records"] = nlohmann::ordered_json::array();
  for (const Index n : kRows) {
    if (n > most) continue;
    results["records"].push_back(measure_device_vectors<float>(device->index, n, rounds));
    results["records"].push_back(measure_device_vectors<double>(device->index, n, rounds));
    results["records"].push_back(measure_host_vectors<float>(device->index, n, rounds));
    results["records"].push_back(measure_host_vectors<double>(device->index, n, rounds));
  }
  json.write(results);
  return 0;
}

}  // namespace
}  // namespace oclspkt::bench

int main(int argc, char** argv) {
  const int rounds = argc >= 3 ? std::atoi(argv[2]) : 7, device = argc >= 4 ? std::atoi(argv[3]) : -1;
  const long long rows = argc == 5 ? std::atoll(argv[4]) : std::numeric_limits<long long>::max();
  if (argc < 2 || argc > 5 || argv[1][0] == '-' || rounds < 1) {
    std::fputs("usage: oclspkt-bench-transfers FILE [ROUNDS [DEVICE [ROWS]]]\n", stderr);
    return 2;
  }
  try {
    oclspkt::bench::require_release();
    return oclspkt::bench::run(argv[1], rounds, device, rows, "oclspkt-bench-transfers FILE " + std::to_string(rounds));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: BSD-2-Clause
// What Solver chooses for devices of every kind, and what it tells them. No kernel runs: where trial solves judge a
// method they refuse it, unless it is named.
#include "run_solver.hpp"

namespace oclspkt::freeze {
namespace {

constexpr MethodChoice kMethods[] = {MethodChoice::automatic, MethodChoice::truncated_halo,
                                     MethodChoice::truncated_streamed, MethodChoice::exact_twopass,
                                     MethodChoice::exact_factored};

Options options_of(const char* device, MethodChoice method) {
  return {.devices = device, .method = method, .on_device_failure = OnDeviceFailure::error};
}

bool is_gpu(const std::string& device) { return device.ends_with("gpu"); }

template <typename T>
void add_of(Cases& cases, const std::string& what, const Options& options, Kind kind, const Shape& shape,
            const Life& life, bool quick = false) {
  if (options.devices == "recorded-small-gpu" && sizeof(T) == sizeof(double)) return;
  add_solver_case<T>(cases, options.devices + " " + what, options, kind, shape, life, quick);
}
void add_both(Cases& cases, const std::string& what, const Options& options, Kind kind, const Shape& shape,
              const Life& life, bool quick = false) {
  add_of<float>(cases, what, options, kind, shape, life, quick);
  add_of<double>(cases, what, options, kind, shape, life, quick);
}

void add_methods(Cases& cases, const char* device) {
  const Shape shapes[] = {one_line(1),
                          one_line(600),
                          one_line(20011),
                          one_line(1'000'000),
                          equal_lines(5000, 20),
                          equal_lines(200, 96),
                          equal_lines(300, 1024),
                          equal_lines(40, 16384),
                          unequal_lines(500),
                          grid_lines(1, 64, 64, 20),
                          grid_lines(2, 40, 30, 100),
                          grid_lines(1, 20, 3000, 1),
                          gapped_lines()};
  for (const MethodChoice method : kMethods) {
    const bool automatic = method == MethodChoice::automatic;
    for (const Shape& shape : shapes) {
      for (const Kind kind : {Kind::dominant, Kind::weak, Kind::symmetric, Kind::alike, Kind::advection,
                              Kind::diffusion, Kind::poisson}) {
        const bool usual = kind == Kind::dominant || kind == Kind::alike || kind == Kind::symmetric;
        if (!usual && !automatic) continue;
        add_both(cases, name(method), options_of(device, method), kind, shape,
                 Life{.again = automatic && usual, .on_device = automatic}, automatic && kind == Kind::dominant);
      }
    }
  }
}

void add_options(Cases& cases, const char* device) {
  const auto with = [&](const char* what, const auto& change) {
    Options options = options_of(device, MethodChoice::automatic);
    change(options);
    for (const Kind kind : {Kind::dominant, Kind::symmetric, Kind::alike}) {
      for (const Shape& shape : {one_line(50021), equal_lines(400, 128), grid_lines(1, 64, 64, 20)}) {
        add_both(cases, what, options, kind, shape, Life{.again = true, .transpose = true, .on_device = true});
      }
    }
  };
  with("narrow", [](Options& o) { o.precision = Precision::narrow; });
  with("rtol", [](Options& o) { o.rtol = 1e-4; });
  with("partition", [](Options& o) { o.partition = 16; });
  with("copy", [](Options& o) { o.use.transfer = Transfer::copy; });
  with("little-memory", [](Options& o) { o.use.device_memory = 1'500'000; });
  with("kernel-times", [](Options& o) { o.use.kernel_times = true; });
  if (is_gpu(device)) {
    with("as-cpu", [](Options& o) { o.variant = "cpu"; });
    with("paper", [](Options& o) { o.variant = "paper"; });
  } else {
    with("as-gpu", [](Options& o) { o.variant = "gpu"; });
  }
}

}  // namespace

void add_recorded_cases(Cases& cases) {
  for (const char* device : kRecordedDevices) {
    add_methods(cases, device);
    add_options(cases, device);
  }
}

}  // namespace oclspkt::freeze

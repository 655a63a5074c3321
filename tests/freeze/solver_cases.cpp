// SPDX-License-Identifier: BSD-2-Clause
// Systems that are solved: by the host, and by PoCL with the kernels for CPUs and with those for GPUs. Devices are
// named, because measured rates, which differ from run to run, decide among several.
#include "run_solver.hpp"

namespace oclspkt::freeze {
namespace {

constexpr MethodChoice kMethods[] = {MethodChoice::automatic,      MethodChoice::truncated,
                                     MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
                                     MethodChoice::exact,          MethodChoice::exact_twopass,
                                     MethodChoice::exact_factored, MethodChoice::pivot};

struct Place {
  const char *name, *devices, *variant;
};
constexpr Place kPlaces[] = {{"host", "host", "default"},
                             {"pocl", kRunningDevice, "default"},
                             {"pocl-gpu", kRunningDevice, "gpu"},
                             {"pocl-paper", kRunningDevice, "paper-gpu"},
                             {"pocl-paper-cpu", kRunningDevice, "paper"}};

Options options_at(const Place& place, MethodChoice method = MethodChoice::automatic) {
  return {.devices = place.devices,
          .method = method,
          .variant = place.variant,
          .on_device_failure = OnDeviceFailure::error};
}

std::string title(const Place& place, MethodChoice method) { return std::string(place.name) + " " + name(method); }

/// Every method for every kind of matrix, a line and lines of every arrangement.
void add_methods(Cases& cases) {
  const Shape line = one_line(3001), equal = equal_lines(40, 96), unequal = unequal_lines(50),
              beside = grid_lines(1, 20, 70, 3);
  for (const Place& place : kPlaces) {
    const bool paper = std::string(place.name).starts_with("pocl-paper");
    for (const MethodChoice method : kMethods) {
      if (paper && method > MethodChoice::truncated_halo) continue;
      const bool automatic = method == MethodChoice::automatic;
      for (const Kind kind : kKinds) {
        const bool quick = place.devices != std::string(kRunningDevice) || (automatic && kind == Kind::dominant);
        for (const Shape& shape : {line, equal, unequal, beside}) {
          add_solver_cases_of_both(cases, title(place, method), options_at(place, method), kind, shape,
                                   Life{.again = automatic, .transpose = automatic, .on_device = automatic}, quick);
        }
      }
    }
  }
}

/// Lengths, with the method that auto takes.
void add_sizes(Cases& cases) {
  for (const Place& place : kPlaces) {
    const bool many = place.variant == std::string("default");
    for (const Index n : {1, 2, 3, 7, 64, 511, 4096, 20011, 100'003, 1'000'000}) {
      if (n > 50'000 && !many) continue;
      for (const Kind kind : {Kind::dominant, Kind::symmetric, Kind::alike, Kind::poisson, Kind::weak}) {
        if (n > 200'000 && kind == Kind::weak) continue;
        add_solver_cases_of_both(cases, title(place, MethodChoice::automatic), options_at(place), kind, one_line(n));
      }
    }
  }
}

/// Further arrangements of lines.
void add_arrangements(Cases& cases) {
  const Shape shapes[] = {equal_lines(300, 7),        equal_lines(3, 4096),      equal_lines(1000, 64),
                          grid_lines(1, 3, 5, 7),     grid_lines(2, 17, 3, 64),  grid_lines(1, 9, 700, 1),
                          grid_lines(2, 128, 8, 300), grid_lines(1, 300, 40, 2), gapped_lines(),
                          unequal_lines(300)};
  for (const Place& place : kPlaces) {
    for (const Shape& shape : shapes) {
      for (const Kind kind : {Kind::dominant, Kind::alike, Kind::symmetric, Kind::poisson}) {
        add_solver_cases_of_both(cases, title(place, MethodChoice::automatic), options_at(place), kind, shape,
                                 Life{.transpose = kind == Kind::dominant});
      }
    }
  }
}

/// Options that change plans, or what of them is taken.
void add_options(Cases& cases) {
  const auto with = [&](const char* what, const auto& change) {
    for (const Place& place : kPlaces) {
      Options options = options_at(place);
      change(options);
      for (const Kind kind : {Kind::dominant, Kind::symmetric, Kind::poisson}) {
        for (const Shape& shape : {one_line(5003), equal_lines(50, 100), grid_lines(1, 20, 70, 3)}) {
          add_solver_cases_of_both(cases, std::string(place.name) + " " + what, options, kind, shape,
                                   Life{.again = true, .on_device = true});
        }
      }
    }
  };
  with("narrow", [](Options& o) { o.precision = Precision::narrow; });
  with("narrow-streamed", [](Options& o) {
    o.precision = Precision::narrow;
    o.method = MethodChoice::truncated_streamed;
  });
  with("rtol", [](Options& o) { o.rtol = 1e-4; });
  with("partition", [](Options& o) { o.partition = 16; });
  with("copy", [](Options& o) { o.use.transfer = Transfer::copy; });
  with("little-memory", [](Options& o) {
    o.use.transfer = Transfer::copy;
    o.use.device_memory = 250'000;
  });
}

/// What callers know, singular systems, and devices that auto does not measure for so few rows.
void add_known(Cases& cases) {
  for (const Place& place : kPlaces) {
    Options options = options_at(place);
    for (const Shape& shape : {one_line(1000), equal_lines(30, 50), grid_lines(1, 10, 50, 2)}) {
      add_solver_cases_of_both(cases, std::string(place.name) + " known-symmetric", options, Kind::symmetric, shape,
                               Life{.known = {.symmetric = true}});
      add_solver_cases_of_both(cases, std::string(place.name) + " strict", options, Kind::poisson, shape,
                               Life{.known = {.rounding_limit = 3}});
    }
  }
  for (const Index n : {1, 20}) {
    add_solver_cases_of_both(cases, std::string("auto"), Options{}, Kind::dominant, one_line(n), Life{.again = true},
                             true);
  }
}

}  // namespace

void add_solver_cases(Cases& cases) {
  add_methods(cases);
  add_sizes(cases);
  add_arrangements(cases);
  add_options(cases);
  add_known(cases);
}

}  // namespace oclspkt::freeze

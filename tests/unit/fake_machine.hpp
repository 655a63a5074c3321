// SPDX-License-Identifier: BSD-2-Clause
// A machine whose energy fakes count, on a clock of its own.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "fake_power.hpp"
#include "meter.hpp"
#include "surroundings.hpp"

namespace oclspkt {

namespace fs = std::filesystem;

inline constexpr double kRange = 1000;  // joules at which the fakes' counters of the host wrap

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A machine with a host of two counters and two cards, on a clock of its own.
class Machine {
 public:
  Machine() {
    zone("intel-rapl:0", "package-0");
    zone("intel-rapl:0:0", "core");
    zone("intel-rapl:0:1", "dram");
    zone("intel-rapl:1", "psys");
    zone("intel-rapl-mmio:0", "package-0");
    cards() = {};
  }

  static FakeCards& cards() {
    void* library = dlopen(OCLSPKT_FAKE_POWER, RTLD_NOW | RTLD_LOCAL);
    return *static_cast<FakeCards*>(dlsym(library, "fake_cards"));
  }
  void zone(const std::string& name, const std::string& of, double joules = 10) {
    fs::create_directories(folder_ / name);
    write(name + "/name", of);
    write(name + "/max_energy_range_uj", std::to_string(static_cast<long long>(kRange * 1e6)));
    count(name, joules);
  }
  void count(const std::string& name, double joules) const {
    write(name + "/energy_uj", std::to_string(static_cast<long long>(joules * 1e6)));
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text << "\n"; }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  MeterSettings settings() {
    MeterSettings settings;
    settings.powercap = folder_.string();
    settings.nvml = settings.amdsmi = OCLSPKT_FAKE_POWER;
    settings.now = [this] { return now_; };
    return settings;
  }
  /// Let time pass with watts of the package, of memory and of the first card.
  void pass(double seconds, const std::array<double, 3>& watts) {
    now_ += seconds;
    for (std::size_t i = 0; i < 2; ++i) joules_[i] = std::fmod(joules_[i] + watts[i] * seconds, kRange);
    if (host_counts) {
      count("intel-rapl:0", joules_[0]);
      count("intel-rapl:0:1", joules_[1]);
    }
    cards().card[0].watts = watts[2];
    card_joules_ += watts[2] * seconds;
    if (!card_counts || now_ < shown_at_ + card_step) return;
    shown_at_ = now_;
    cards().card[0].joules += std::exchange(card_joules_, 0);
  }
  void work() { pass(0.05, at_work); }
  double now() const { return now_; }

  std::array<double, 3> idle{20, 5, 70}, at_work{100, 25, 700};
  bool host_counts = true, card_counts = true;
  double card_step = 0;  ///< seconds after which the card's counter moves

 private:
  const test::FreshFolder fresh_;
  const fs::path folder_ = fresh_.path();
  double now_ = 5, card_joules_ = 0, shown_at_ = 0;
  std::array<double, 2> joules_{10, 10};
};

inline const PoweredDevice kCard{"pci:0000:41:00.0", DeviceType::gpu, 1, "NVIDIA H200"};
inline const PoweredDevice kHost{};

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "probes.hpp"

namespace oclspkt {
namespace {

namespace fs = std::filesystem;

constexpr double kMicro = 1e-6;

template <typename T>
std::optional<T> first_word(const fs::path& file) {
  std::ifstream stream(file);
  T word{};
  return stream >> word ? std::optional(word) : std::nullopt;
}

/// Folders of packages and of memory. The other zones are parts of these (cores), or contain these (psys).
std::vector<fs::path> zones(const std::string& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    // "intel-rapl-mmio:0" has the same energy as "intel-rapl:0".
    if (!at->path().filename().string().starts_with("intel-rapl:")) continue;
    const std::string name = first_word<std::string>(at->path() / "name").value_or("");
    if (name.starts_with("package") || name == "dram") found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Probes powercap_probes(const std::string& folder) {
  Probes probes{{}, "the host's packages and memory by RAPL", {}};
  for (const fs::path& zone : zones(folder)) {
    const fs::path file = zone / "energy_uj";
    errno = 0;
    if (!first_word<double>(file)) {
      const std::string why = errno != 0 ? std::generic_category().message(errno) : "it holds no number";
      return {
          {}, "", file.string() + " cannot be read (" + why + "): let root permit it, by chmod a+r " + file.string()};
    }
    const auto joules = [file]() -> std::optional<double> {
      const std::optional<double> now = first_word<double>(file);
      return now ? std::optional(*now * kMicro) : std::nullopt;
    };
    probes.all.push_back({joules, kMicro * first_word<double>(zone / "max_energy_range_uj").value_or(0), {}});
  }
  if (probes.all.empty()) {
    return {{},
            "",
            folder +
                " has no counters of packages: load the module intel_rapl_msr, or show the folder to the "
                "container or virtual machine"};
  }
  return probes;
}

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "provenance.hpp"

#include <omp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <utility>

#include "commit.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt::bench {
namespace {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// Bytes of the caches that one core sees; levels that the system does not tell are left out.
nlohmann::ordered_json caches() {
  const std::pair<const char*, int> levels[] = {
      {"L1d", _SC_LEVEL1_DCACHE_SIZE}, {"L2", _SC_LEVEL2_CACHE_SIZE}, {"L3", _SC_LEVEL3_CACHE_SIZE}};
  nlohmann::ordered_json sizes = nlohmann::ordered_json::object();
  for (const auto& [level, name] : levels) {
    if (const long bytes = sysconf(name); bytes > 0) sizes[level] = bytes;
  }
  return sizes;
}

std::string architecture() {
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

}  // namespace

std::string instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
  if (__builtin_cpu_supports("avx")) return "avx";
#endif
  return "baseline";
}

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return architecture();
}

void require_release(const std::string& build_type, const std::string& sanitizers) {
  if (build_type == "Release" && sanitizers.empty()) return;
  const std::string kind = sanitizers.empty() ? "a build of type '" + build_type + "'" : "a build with sanitizers";
  throw InvalidInput(kind +
                     " is not timed: its figures would mean nothing. Configure with "
                     "-DCMAKE_BUILD_TYPE=Release and without OCLSPKT_SANITIZE");
}

void require_release() { require_release(OCLSPKT_BUILD_TYPE, OCLSPKT_SANITIZERS); }

nlohmann::ordered_json provenance(const DeviceInfo& device, const std::string& command) {
  return {{"commit", kCommit},
          {"date", now_utc()},
          {"cpu", cpu_model()},
          {"architecture", architecture()},
          {"instruction_set", instruction_set()},
          {"caches", caches()},
          {"cores", omp_get_num_procs()},
          {"threads", omp_get_max_threads()},
          {"compiler", OCLSPKT_COMPILER},
          {"build_type", OCLSPKT_BUILD_TYPE},
          {"device", device.name},
          {"device_type", name(device.type)},
          {"driver", device.driver_version},
          {"platform", device.platform},
          {"command", command}};
}

}  // namespace oclspkt::bench

// SPDX-License-Identifier: BSD-2-Clause
// The program's side of the recording driver.
#include <dlfcn.h>

#include <fstream>
#include <stdexcept>

#include "cases.hpp"
#include "hash.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "recording_driver.hpp"

namespace oclspkt::freeze {
namespace {

std::ofstream log_file;

template <typename F>
F of_driver(const char* name) {
  static void* const driver = dlopen(OCLSPKT_RECORDING_DRIVER, RTLD_NOW | RTLD_LOCAL);
  void* const function = driver != nullptr ? dlsym(driver, name) : nullptr;
  if (function == nullptr) throw std::runtime_error(std::string("the recording driver does not load: ") + dlerror());
  return reinterpret_cast<F>(function);
}

/// Set up a line, and lines side by side, by a device alone.
template <typename T>
void measure(const char* device) {
  Options options{.devices = device};
  for (const LineSet& lines : {LineSet::one(64), LineSet::grid_axis(1, 16, 16, 1)}) {
    Solver<T> solver(options);
    solver.bands(lines).copy_from(test::closed(test::constant<T>(lines, -1, 4, -1)).view());
    try {
      solver.set_up();
    } catch (const InvalidInput&) {  // no double precision
    }
  }
}

}  // namespace

void write_logs_to(const std::string& path) {
  log_file.open(path);
  if (!log_file) throw std::runtime_error("cannot write " + path);
}

void start_recording() { of_driver<StartRecording>(kStartRecording)(); }

std::string stop_recording(const std::string& name) {
  const RecordedTexts texts = of_driver<StopRecording>(kStopRecording)();
  const std::string launches = texts.launches, copies = texts.copies;
  if (launches.empty() && copies.empty()) return "";
  if (log_file.is_open()) log_file << "case " << name << "\n" << launches << "copies\n" << copies << "\n";
  std::size_t count = 0;
  for (std::size_t at = 0; (at = launches.find("\nlaunch ", at)) != std::string::npos; ++at) ++count;
  return std::to_string(count) + " launches " + hash_of(launches) + ", copies " + hash_of(copies);
}

void measure_devices() {
  static const bool measured = [] {
    for (const char* device : kRecordedDevices) {
      measure<float>(device);
      measure<double>(device);
    }
    return true;
  }();
  static_cast<void>(measured);
}

}  // namespace oclspkt::freeze

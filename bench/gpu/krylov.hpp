// SPDX-License-Identifier: BSD-2-Clause
// Parts of oclspkt-bench-krylov.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "clock.hpp"
#include "device.hpp"
#include "space.hpp"

namespace oclspkt::bench::gpu {

struct KrylovSettings {
  std::string file, device = "gpu";
  std::vector<Index> rows = {10'000, 1'000'000, 100'000'000};  ///< of vectors
  std::vector<std::string> matrices = {"stencil5", "stencil7", "fem", "power"}, files, scalars = {"float", "double"};
  std::vector<std::string> formats;  ///< of kSeedFormats, beside those of the library
  std::vector<std::string> cg = {"stencil5:1e4", "stencil5:1e6", "stencil5:1e7", "stencil7:8e6"};
  Index size = Index{1} << 30;  ///< rows of matrices at most, and of vectors that they are compared with
  int repetitions = 9;
  bool chosen_alone = false;  ///< leave out the formats that are not chosen for a matrix, and peers
  bool allow_debug = false;
};

/// @return nothing if the help was asked for, and printed
/// @throws InvalidInput that names the option and what it takes
std::optional<KrylovSettings> parse_krylov_settings(int argc, char** argv);

/// The mixes of reads and writes that streams differ by.
enum class Mix { write, copy, triad, read, other };
inline constexpr const char* kMixNames[] = {"write", "copy", "triad", "read", "other"};

/// What is measured, on what, and what was found.
struct KrylovRun {
  const KrylovSettings& settings;
  DeviceModule& module;
  int device;
  nlohmann::ordered_json& document;  ///< operations, products and cg, lists of records
  double best_read = 0;              ///< bytes a second of the scalar that is measured
  /// Joules of a call of some work, and where they come from; empty: nobody asks for them.
  std::function<std::pair<double, std::string>(const std::function<void()>&)> joules = {};
};

template <typename T>
std::shared_ptr<Space<T>> space_of(const KrylovRun& run) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return run.module.space_double(run.device, {});
  } else {
    return run.module.space_float(run.device, {});
  }
}

template <typename T>
inline constexpr const char* kPrecision = sizeof(T) == sizeof(double) ? "double" : "float";

template <typename T>
const char* run_time_of(const Space<T>& space) {
  return space.queue().kind == DeviceQueue::Kind::cuda ? "CUDA" : "OpenCL";
}

/// One thing that is timed.
struct Timed {
  double bytes;  ///< that a call moves at least
  bool waits;    ///< a call ends with numbers on the host
  std::function<void()> run;
};

/// Calls in a row, so that a round takes some milliseconds.
inline int calls_of(double bytes, bool waits) {
  constexpr double kBytes = 4e9, kMostWaiting = 100, kMostQueued = 400;
  return static_cast<int>(std::clamp(kBytes / bytes, 3., waits ? kMostWaiting : kMostQueued));
}

/// Rounds in which all are timed in turn, behind one that is not. @return seconds of a call: one list for each
template <typename T>
std::vector<std::vector<double>> time_in_turn(Space<T>& space, const std::vector<Timed>& all, int rounds) {
  std::vector<std::vector<double>> seconds(all.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int calls = calls_of(all[i].bytes, all[i].waits);
      space.finish();
      const double spent = seconds_of([&] {
        for (int call = 0; call < calls; ++call) all[i].run();
        if (!all[i].waits) space.finish();
      });
      if (round >= 0) seconds[i].push_back(spent / calls);
    }
  }
  return seconds;
}

/// Operations on vectors, beside cuBLAS or CLBlast, for all lengths.
/// @throws Breakdown if an answer is wrong
template <typename T>
void measure_operations(KrylovRun& run);

/// Products of all matrices, in all formats, beside cuSPARSE.
/// @throws Breakdown if an answer is wrong
template <typename T>
void measure_products(KrylovRun& run);

/// Iterations of CG with Jacobi.
/// @throws Breakdown if it does not do what CG does on the host
template <typename T>
void measure_cg(KrylovRun& run);

}  // namespace oclspkt::bench::gpu

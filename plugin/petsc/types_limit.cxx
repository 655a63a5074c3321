// SPDX-License-Identifier: BSD-2-Clause
/* The number of rows from which on a device works on vectors: with fewer, it takes longer to begin than the host to
   finish. */
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include "node.hpp"
#include "profile_store.hpp"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

/* The timed work is an iteration of conjugate gradients on a grid, 5 entries a row, as launches, sums and loops. */
constexpr int kLaunches = 5, kNumbers = 3, kEntries = 5;

/// The least of several times of a step. Other work on the machine makes a step only slower.
template <typename Step>
double least_seconds(const Step& step) {
  constexpr int kTimes = 12;
  double least = std::numeric_limits<double>::infinity();
  for (int time = 0; time <= kTimes; ++time) {
    const auto start = std::chrono::steady_clock::now();
    step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (time > 0) least = std::min(least, seconds); /* kernels are built in the first */
  }
  return least;
}

/// The host's work in an iteration, over rows that its caches hold.
class HostIteration {
 public:
  static constexpr std::size_t kRows = 4096;
  HostIteration() {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      columns_[k] = static_cast<PetscInt>((k / kEntries + 61 * (k % kEntries)) % kRows);
    }
  }
  void product() {
    for (std::size_t row = 0; row < kRows; ++row) {
      PetscScalar sum = 0;
      for (std::size_t k = kEntries * row; k < kEntries * (row + 1); ++k) {
        sum += entries_[k] * x_[static_cast<std::size_t>(columns_[k])];
      }
      y_[row] = sum;
    }
  }
  void vectors() {
    for (int k = 0; k < kNumbers; ++k) {
      std::array<PetscScalar, 8> sums = {}; /* one sum would wait for itself, BLAS has more */
      for (std::size_t row = 0; row < kRows; row += sums.size()) {
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += x_[row + i] * y_[row + i];
      }
      const PetscScalar number = std::accumulate(sums.begin(), sums.end(), PetscScalar(0));
      const PetscScalar factor = number > 0 ? 1e-3 : 1e-4; /* so that no loop is left out, or joined */
      for (std::size_t row = 0; row < kRows; ++row) x_[row] = 0.5 * x_[row] + factor * y_[row];
    }
  }

 private:
  std::vector<PetscScalar> x_ = std::vector<PetscScalar>(kRows, 1), y_ = x_,
                           entries_ = std::vector<PetscScalar>(kEntries * kRows, 0.1);
  std::vector<PetscInt> columns_ = std::vector<PetscInt>(kEntries * kRows);
};

/// Measure the time of an iteration that the device needs for any number of rows, and the host's time for each row.
Measured measure(DeviceSpace& space) {
  const std::unique_ptr<DeviceArray> x = space.make(1000), y = space.make(1000);
  const Term<PetscScalar> term{0.5, x.get()};
  const SumOf<PetscScalar> dot{SumKind::dot, x.get(), y.get()};
  SumValue<PetscScalar> number;
  HostIteration host;
  space.fill(*x, 1);
  space.fill(*y, 1);
  const double seconds = least_seconds([&] {
    for (int k = 0; k < kNumbers; ++k) {
      space.combine(*y, 0.5, {&term, 1});
      space.sums({&dot, 1}, {&number, 1});
    }
    for (int k = kNumbers; k < kLaunches; ++k) space.combine(*y, 0.5, {&term, 1});
    space.finish();
  });
  const double of_host = least_seconds([&] {
    host.product();
    host.vectors();
  });
  return {.seconds_per_row = of_host / HostIteration::kRows, .latency = seconds};
}

/// Measure a device that computes products only, with as many cores as the host: a row saves the time of one core less
/// its share of all cores. Cores without work fall asleep while the host works on vectors, and make a launch expensive.
Measured measure_shared(DeviceSpace& space) {
  constexpr int kPasses = 10;
  const std::unique_ptr<DeviceArray> x = space.make(1000), y = space.make(1000);
  const Term<PetscScalar> term{0.5, x.get()};
  HostIteration host;
  space.fill(*x, 1);
  space.fill(*y, 1);
  const auto vectors = [&] {
    for (int pass = 0; pass < kPasses; ++pass) host.vectors();
  };
  const double alone = least_seconds(vectors);
  const double with_launch = least_seconds([&] {
    space.combine(*y, 0.5, {&term, 1});
    space.finish();
    vectors();
  });
  const double product = least_seconds([&] { host.product(); });
  return {.seconds_per_row = product / HostIteration::kRows * (1 - 1. / space.device().cores),
          .latency = std::max(0., with_launch - alone)};
}

}  // namespace

PetscInt find_least_rows(DeviceSpace& space, const std::string& profile) {
  constexpr double kMost = 1e9;
  const DeviceInfo& info = space.device();
  if (types().shared && info.cores == 1) return static_cast<PetscInt>(kMost); /* it is the host's core */
  const std::string key = info.name + "|" + info.driver_version + (info.cuda ? "|CUDA" : "|OpenCL") +
                          (types().shared ? "|products saved" : "|vectors");
  ProfileStore store(profile);
  std::optional<Measured> found = store.find(key);
  if (!found) {
    found = types().shared ? measure_shared(space) : measure(space);
    store.put(key, *found);
    if (node_place().rank == 0) store.write();
  }
  const double rows = std::clamp(found->latency / found->seconds_per_row, double{kLeastRows}, kMost);
  const double digits = std::pow(10, std::floor(std::log10(rows)) - 1);
  return static_cast<PetscInt>(std::ceil(rows / digits) * digits);
}

}  // namespace oclspkt::petsc

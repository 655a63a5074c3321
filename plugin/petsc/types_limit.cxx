// SPDX-License-Identifier: BSD-2-Clause
/* From how many rows on a device works on vectors: fewer take it longer to begin than the host to finish. */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "node.hpp"
#include "profile_store.hpp"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

/* What is timed is an iteration of conjugate gradients on a grid with 5 entries a row, as launches, numbers and loops.
 */
constexpr int kLaunches = 5, kNumbers = 3, kEntries = 5;

/// The least of some times that a step takes. Others' work makes nothing faster.
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

/// Seconds of a device that has next to nothing to work on; of one that makes the products only, of one of these.
double device_seconds(DeviceSpace& space) {
  const std::unique_ptr<DeviceArray> x = space.make(1000), y = space.make(1000);
  const Term<PetscScalar> term{0.5, x.get()};
  const SumOf<PetscScalar> dot{SumKind::dot, x.get(), y.get()};
  SumValue<PetscScalar> number;
  space.fill(*x, 1);
  space.fill(*y, 1);
  if (types().shared) {
    return least_seconds([&] {
      space.combine(*y, 0.5, {&term, 1});
      space.finish();
    });
  }
  return least_seconds([&] {
    for (int k = 0; k < kNumbers; ++k) {
      space.combine(*y, 0.5, {&term, 1});
      space.sums({&dot, 1}, {&number, 1});
    }
    for (int k = kNumbers; k < kLaunches; ++k) space.combine(*y, 0.5, {&term, 1});
    space.finish();
  });
}

/// Seconds a row of the host, in its caches.
double host_seconds_per_row() {
  constexpr std::size_t kRows = 4096;
  std::vector<PetscScalar> x(kRows, 1), y(kRows, 1), entries(kEntries * kRows, 0.1);
  std::vector<PetscInt> columns(kEntries * kRows);
  for (std::size_t k = 0; k < columns.size(); ++k)
    columns[k] = static_cast<PetscInt>((k / kEntries + 61 * (k % kEntries)) % kRows);
  PetscScalar number = 0;
  return least_seconds([&] {
           for (std::size_t row = 0; row < kRows; ++row) {
             PetscScalar sum = 0;
             for (std::size_t k = kEntries * row; k < kEntries * (row + 1); ++k) {
               sum += entries[k] * x[static_cast<std::size_t>(columns[k])];
             }
             y[row] = sum;
           }
           for (int k = 0; k < kNumbers; ++k) {
             number = 0;
             for (std::size_t row = 0; row < kRows; ++row) number += x[row] * y[row];
             const PetscScalar factor = number > 0 ? 1e-3 : 1e-4; /* no loop may be left out or joined with another */
             for (std::size_t row = 0; row < kRows; ++row) x[row] = 0.5 * x[row] + factor * y[row];
           }
         }) /
         kRows;
}

}  // namespace

PetscInt find_least_rows(DeviceSpace& space, const std::string& profile) {
  const DeviceInfo& info = space.device();
  const std::string key = info.name + "|" + info.driver_version + (info.cuda ? "|CUDA" : "|OpenCL") +
                          (types().shared ? "|products" : "|vectors");
  ProfileStore store(profile);
  store.read();
  std::optional<Measured> found = store.find(key);
  if (!found) {
    found = Measured{device_seconds(space), host_seconds_per_row(), 1};
    store.put(key, *found);
    if (node_place().rank == 0) store.write();
  }
  const double rows = found->latency / found->seconds_per_row, digits = std::pow(10, std::floor(std::log10(rows)) - 1);
  const double rounded = std::ceil(rows / digits) * digits;
  return static_cast<PetscInt>(std::clamp(rounded, static_cast<double>(kLeastRows), 1e9));
}

}  // namespace oclspkt::petsc

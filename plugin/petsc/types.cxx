// SPDX-License-Identifier: BSD-2-Clause
/* Opening, measuring and losing the device of dressed vectors; copies of values between device and host. */
#include "types.hxx"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "logged.hxx"
#include "node.hpp"
#include "profile_store.hpp"
#include "selection.hpp"

namespace oclspkt::petsc {
namespace {

/// Open the device of this rank. The ranks of a node take the selected GPUs in turn. `auto` selects GPUs with their own
/// memory, because on other GPUs vectors gain nothing.
/// @return null if `auto` finds no such GPU. @throws InvalidInput, DeviceError
std::shared_ptr<DeviceSpace> open_space(const std::string& words) {
  std::string why;
  DeviceModule* const module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  std::vector<int> devices;
  if (words != "auto") {
    devices = select_devices(words, module->devices(), module->problems()).devices;
    if (devices.empty()) {
      throw InvalidInput("-oclspkt_types_device " + words + " names no device: oclspkt-devices lists what there is");
    }
  } else {
    for (const DeviceInfo& info : module->devices()) {
      if (!info.host_unified && !info.emulated && info.fp64) devices.push_back(info.index);
    }
    if (devices.empty()) return nullptr;
  }
  NodePlace place = node_place();
  const auto device_of = [&] { return devices_of_rank(devices, module->devices(), place).front(); };
  const int own = device_of();
  types().sharers = 0;
  for (place.rank = 0; place.rank < place.ranks; ++place.rank) types().sharers += device_of() == own ? 1 : 0;
#if defined(PETSC_USE_COMPLEX)
  throw InvalidInput("-oclspkt_types keeps no complex numbers on devices yet (" + module->info(own).name +
                     "): leave the option out");
#else
  return module->space_double(own, {});
#endif
}

/* The timed work is an iteration of conjugate gradients for a matrix with kEntries entries per row. It has kLaunches
   launches on the device, and kNumbers sums. */
constexpr int kLaunches = 5, kNumbers = 3, kEntries = 5;

/// The least of several measured times of a step, because other work on the machine can only make a step slower.
template <typename Step>
double least_seconds(const Step& step) {
  constexpr int kTimes = 12;
  double least = std::numeric_limits<double>::infinity();
  for (int time = 0; time <= kTimes; ++time) {
    const auto start = std::chrono::steady_clock::now();
    step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (time > 0) least = std::min(least, seconds); /* the first step also builds kernels */
  }
  return least;
}

/// The host's work in an iteration for kRows rows, which fit into its caches.
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
      std::array<PetscScalar, 8> sums = {}; /* several sums, as in BLAS, because a single sum is a chain of waits */
      for (std::size_t row = 0; row < kRows; row += sums.size()) {
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += x_[row + i] * y_[row + i];
      }
      const PetscScalar number = std::accumulate(sums.begin(), sums.end(), PetscScalar(0));
      const PetscScalar factor =
          PetscRealPart(number) > 0 ? 1e-3 : 1e-4; /* keeps the compiler from removing or joining loops */
      for (std::size_t row = 0; row < kRows; ++row) x_[row] = 0.5 * x_[row] + factor * y_[row];
    }
  }

 private:
  std::vector<PetscScalar> x_ = std::vector<PetscScalar>(kRows, 1), y_ = x_,
                           entries_ = std::vector<PetscScalar>(kEntries * kRows, 0.1);
  std::vector<PetscInt> columns_ = std::vector<PetscInt>(kEntries * kRows);
};

/// The device's launches and sums in an iteration, for vectors so short that only their number matters.
class DeviceIteration {
 public:
  explicit DeviceIteration(DeviceSpace& space) : space_(space) {
    space.fill(*x_, 1);
    space.fill(*y_, 1);
  }
  void launch() { space_.combine(*y_, 0.5, {&term_, 1}); }
  void number() { space_.sums({&dot_, 1}, {&value_, 1}); }

 private:
  DeviceSpace& space_;
  std::unique_ptr<DeviceArray> x_ = space_.make(1000), y_ = space_.make(1000);
  Term<PetscScalar> term_{0.5, x_.get()};
  SumOf<PetscScalar> dot_{SumKind::dot, x_.get(), y_.get()};
  SumValue<PetscScalar> value_;
};

double seconds_of_host_row() {
  HostIteration host;
  const double seconds = least_seconds([&] {
    host.product();
    host.vectors();
  });
  return seconds / HostIteration::kRows;
}

/// The number of rows for which device and host take equally long: the device's time of an iteration, assumed constant,
/// divided by the host's time per row.
///
/// A device that shares the host's memory computes only products, on the host's cores. With c cores, a row then saves
/// (1 - 1 / c) of one core's time. A launch is slow, because the other cores sleep while the host works on vectors.
double measure_rows(DeviceSpace& space) {
  constexpr int kPasses = 10;
  DeviceIteration device(space);
  if (types().shared) {
    HostIteration host;
    const auto vectors = [&] {
      for (int pass = 0; pass < kPasses; ++pass) host.vectors();
    };
    const double alone = least_seconds(vectors);
    const double with_launch = least_seconds([&] {
      device.launch();
      space.finish();
      vectors();
    });
    const double product = least_seconds([&] { host.product(); });
    return (with_launch - alone) / (product / HostIteration::kRows * (1 - 1. / space.device().cores));
  }
  const double seconds = least_seconds([&] {
    for (int k = 0; k < kNumbers; ++k) {
      device.launch();
      device.number();
    }
    for (int k = kNumbers; k < kLaunches; ++k) device.launch();
    space.finish();
  });
  return seconds / seconds_of_host_row();
}

/// As measure_rows(), but for an iteration whose scalars stay on the device, which does all of its work. It has three
/// launches, and the host waits once in ten iterations.
double measure_rows_of_cg(DeviceSpace& space) {
  constexpr int kTogether = 10, kLaunchesOfCg = 3;
  DeviceIteration device(space);
  const double seconds = least_seconds([&] {
    for (int k = 0; k < kTogether * kLaunchesOfCg; ++k) device.launch();
    device.number();
  });
  const double saved = types().shared ? 1 - 1. / space.device().cores : 1;
  return seconds / kTogether / (seconds_of_host_row() * saved);
}

/// The least number of rows for which the device is faster than the host, at least kLeastRows. It comes from the user's
/// profile, or else from a measurement of a few ms after the build of the kernels.
/// @param what     the work, for the key of the profile
/// @throws DeviceError, BuildError
PetscInt find_least_rows(DeviceSpace& space, const char* what, double (*measure)(DeviceSpace&)) {
  constexpr double kMost = 1e9;
  const DeviceInfo& info = space.device();
  if (types().shared && info.cores == 1) return static_cast<PetscInt>(kMost); /* the device is the host's only core */
  const std::string key = info.name + "|" + info.driver_version + (info.cuda ? "|CUDA|" : "|OpenCL|") + what;
  ProfileStore store(types().options.profile);
  std::optional<Measured> found = store.find(key);
  if (!found) {
    found = {std::max(double{kLeastRows}, measure(space))};
    store.put(key, *found);
    store.write();
  }
  const double rows = std::clamp(found->figure, double{kLeastRows}, kMost);
  const double digits = std::pow(10, std::floor(std::log10(rows)) - 1);
  return static_cast<PetscInt>(std::ceil(rows / digits) * digits);
}

/// Open the device at its first use, and record a std::runtime_error as its failure. @throws other exceptions
void open_device() {
  Types& t = types();
  std::string failure = "no device has a memory of its own and the precision of PETSc";
  try {
    t.space = open_space(t.options.devices);
    t.shared =
        t.space && !t.options.poison && t.space->device().type == DeviceType::cpu && t.space->device().host_unified;
    if (t.space && !t.options.least_is_fixed) {
      t.least = find_least_rows(*t.space, t.shared ? "products saved" : "vectors", measure_rows);
    }
    if (t.space) t.begun = t.space->counts();
  } catch (const std::runtime_error& e) {
    failure = e.what();
    t.space.reset();
  }
  if (t.space && t.sharers > 1) {
    must(PetscInfo(nullptr, "%d ranks of this node take turns on one device: start one rank a device\n", t.sharers));
  }
  if (t.space) return;
  t.failed = true;
  t.why = failure;
  must(PetscInfo(nullptr, "vectors stay on the host: %s\n", t.why.c_str()));
}

bool host_has(const Operation& work) {
  const auto is_there = [](Vec v) { return !is_dressed(v) || side_of(v).host; };
  return std::all_of(work.read.begin(), work.read.end(), is_there) &&
         (work.written == nullptr || work.overwrites || is_there(work.written));
}

/// After the device failed in an operation, mark the host's copy as valid if the operation overwrites it: the host does
/// not need the old values.
void give_up(const Operation& work) {
  const bool read = std::find(work.read.begin(), work.read.end(), work.written) != work.read.end();
  if (work.written == nullptr || !is_dressed(work.written) || read) return;
  Side& side = side_of(work.written);
  side.host = side.host || work.overwrites;
  side.device = side.device && !side.host;
}

}  // namespace

Types& types() {
  static auto* const all = new Types;
  return *all;
}

void GiveBack::operator()(void* memory) const {
  if (pages > 0) {
    munmap(memory, pages);
  } else {
    std::free(memory);
  }
}

Zeros make_zeros(std::size_t bytes) {
  constexpr std::size_t kLeastPages = 1 << 20; /* keeps mappings few: Linux allows about 65,000 per process */
  if (bytes < kLeastPages) return Zeros(std::calloc(bytes, 1));
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? Zeros() : Zeros(pages, {bytes});
}

void lose_device(const std::string& why) {
  Types& t = types();
  if (!t.failed) must((*PetscErrorPrintf)("oclspkt: vectors go on on the host: %s\n", why.c_str()));
  t.failed = true;
  t.why = why;
}

DeviceSpace* any_space() {
  Types& t = types();
  if (t.ready && !t.failed && !t.space) open_device();
  return t.failed ? nullptr : t.space.get();
}

DeviceSpace* space_for(PetscInt local_rows) {
  DeviceSpace* const space = local_rows > 0 && local_rows >= types().least ? any_space() : nullptr;
  return local_rows < types().least ? nullptr : space; /* opening the device may have raised the limit */
}

LeastRowsOfCg::LeastRowsOfCg(PetscInt rows) {
  Types& t = types();
  DeviceSpace* const space = t.options.least_is_fixed || rows < kLeastRows ? nullptr : any_space();
  before_ = t.least; /* opening the device may have changed it */
  if (space == nullptr) return;
  try {
    if (t.least_of_cg == 0) {
      const char* const what = t.shared ? "conjugate gradients saved" : "conjugate gradients";
      t.least_of_cg = find_least_rows(*space, what, measure_rows_of_cg);
    }
    t.least = std::min(t.least, t.least_of_cg);
  } catch (const std::runtime_error& e) {
    lose_device(e.what());
  }
}

LoggedCopy::LoggedCopy(const DeviceSpace& space, Way way) : space_(space), way_(way), before_(moved()) {
  (void)PetscLogEventBegin(way == Way::up ? events().up : events().down, nullptr, nullptr, nullptr, nullptr);
}

LoggedCopy::~LoggedCopy() {
  const auto bytes = static_cast<PetscLogDouble>(moved() - before_);
  OclspktCountMessage(1, bytes); /* undone below; an event counts only bytes of messages */
  (void)PetscLogEventEnd(way_ == Way::up ? events().up : events().down, nullptr, nullptr, nullptr, nullptr);
  OclspktCountMessage(-1, -bytes);
  if (way_ == Way::up) (void)PetscLogCpuToGpu(bytes);
  if (way_ == Way::down) (void)PetscLogGpuToCpu(bytes);
}

std::int64_t LoggedCopy::moved() const {
  const SpaceCounts counts = space_.counts();
  return way_ == Way::up ? counts.bytes_up : counts.bytes_down;
}

void check_not_lent(Vec vector) {
  OclspktCheck(
      !side_of(vector).written_by_program, PETSC_COMM_SELF, PETSC_ERR_ORDER,
      "the program has the memory of this vector on the device to write it: call VecOpenCLRestoreMemWrite() or "
      "VecOpenCLRestoreMemReadWrite() first");
}

DeviceSpace* space_for_vectors(PetscInt local_rows) {
  DeviceSpace* const space = space_for(local_rows);
  return types().shared ? nullptr : space;
}

DeviceArray& scratch(DeviceSpace& space, Index rows, std::size_t number) {
  std::unique_ptr<DeviceArray>& array = types().scratch[number];
  if (!array || array->size() != rows) array = space.make(rows);
  return *array;
}

int arrays_out(const Side& side) { return side.out + (side.whole != nullptr ? side_of(side.whole).out : 0); }

void bring_down(Vec vector) {
  Side& side = side_of(vector);
  const LoggedCopy logged(*types().space, LoggedCopy::Way::down);
  types().space->take(*side.array, host_array(vector));
  ++types().downs;
  side.host = true;
}

void to_host(Vec vector) {
  Side& side = side_of(vector);
  check_not_lent(vector);
  try {
    take_from_parts(vector);
    if (!side.host) bring_down(vector);
  } catch (const std::exception& e) {
    OclspktCheck(false, PETSC_COMM_SELF, PETSC_ERR_LIB,
                 "the values of a vector were on a device only, and cannot be copied: %s", e.what());
  }
}

DeviceArray& bring_to_device(DeviceSpace& space, Vec vector, bool overwritten) {
  Side& side = side_of(vector);
  if (types().shared && !side.is_adopted) {
    if (!side.array || side.wrapped != host_array(vector)) {
      side.array = space.wrap(host_array(vector), vector->map->n);
      side.wrapped = host_array(vector);
    }
    return *side.array;
  }
  take_from_parts(vector);
  if (!side.array) side.array = space.make(vector->map->n);
  if (overwritten || (side.device && arrays_out(side) == 0)) return *side.array;
  const LoggedCopy logged(space, LoggedCopy::Way::up);
  space.bring(host_array(vector), *side.array);
  ++types().ups;
  side.device = true;
  return *side.array;
}

void wrote_on_device(Vec vector) {
  Side& side = side_of(vector);
  if (types().shared && !side.is_adopted) {
    types().space->finish();
    return;
  }
  side.device = true;
  side.host = false;
  if (types().options.poison)
    std::fill_n(host_array(vector), vector->map->n, std::numeric_limits<PetscReal>::quiet_NaN());
  give_to_parts(vector);
  if (arrays_out(side) > 0) to_host(vector);
}

void note_fall_back(const Operation& work) {
  Types& t = types();
  if (!host_has(work)) ++t.fell_back[work.name];
  if (t.failed) give_up(work);
}

bool run_in(DeviceSpace& space, const Operation& work, const RunOnArrays& run) {
  std::string failure;
  bool done = false;
  try {
    Arrays read;
    DeviceArray* written = nullptr;
    for (const Vec v : work.read) read.push_back(&bring_to_device(space, v, false));
    if (work.written != nullptr) written = &bring_to_device(space, work.written, work.overwrites);
    run(space, read, written);
    if (types().options.sync) space.finish();
    done = true;
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (!done) {
    lose_device(failure);
    OclspktCheck(host_has(work), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s failed, and values were on a device only: %s",
                 work.name, failure.c_str());
    if (work.written != nullptr) side_of(work.written).device = false;
    give_up(work);
  } else {
    const Vec any = work.written != nullptr ? work.written : work.read.front();
    must(OclspktLogGpuFlops(work.flops * static_cast<PetscLogDouble>(any->map->n)));
    if (work.written != nullptr) wrote_on_device(work.written);
  }
  return done;
}

}  // namespace oclspkt::petsc

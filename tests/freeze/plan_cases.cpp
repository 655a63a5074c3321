// SPDX-License-Identifier: BSD-2-Clause
// Plans of every kind, given to the device solver by hand: launches on recorded devices, solutions by PoCL.
#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "cases.hpp"
#include "geometry.hpp"
#include "hash.hpp"
#include "on_device.hpp"
#include "plan_makers.hpp"

namespace oclspkt::freeze {
namespace {

DeviceModule& module() {
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw std::runtime_error("no OpenCL module: " + why);
  return *module;
}

const DeviceInfo& device_named(const std::string& name) {
  for (const DeviceInfo& info : module().devices()) {
    if ((info.name + " " + info.platform).find(name) != std::string::npos) return info;
  }
  throw std::runtime_error("there is no device " + name);
}

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_solver(int device, const DeviceSettings& settings) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return module().make_double(device, settings);
  } else {
    return module().make_float(device, settings);
  }
}

/// Where plans of a maker go, and how.
struct Target {
  std::string device;
  DeviceSettings settings = {};
  bool in_chunks = false;  ///< the device holds a part of the system only
};

/// Bytes for some two fifths of bands and vectors, or a block of lines side by side with its factors.
std::int64_t little_memory(const LineSet& lines, int word) {
  constexpr std::int64_t kBeside = 60'000;
  const Index block = lines.beside() ? 8 * lines.block_extent() : 0;
  return std::max(2 * lines.extent(), block) * word + kBeside;
}

/// A plan for which the memory is too small says so.
bool fits(const Plan& plan, const LineSet& lines) {
  return (lines.contiguous() ? plan.chunk_tiles : plan.as<Beside>().chunk_blocks) > 0;
}

template <typename T>
class PlanRun {
 public:
  PlanRun(const Target& target, const LineSet& lines)
      : target_(target), lines_(lines), info_(device_named(target.device)), y_(test::random_vector<T>(lines.extent())) {
    if (target.in_chunks) target_.settings.use.device_memory = little_memory(lines, sizeof(T));
    if (sizeof(T) == sizeof(double) && !info_.fp64) throw std::runtime_error("no double precision");
  }

  /// Every maker's plan on one solver, one after the other, and the first again with other values.
  std::string text(const std::vector<PlanMaker>& makers) {
    target_.settings.variant = makers.front().variant;
    const auto solver = make_solver<T>(info_.index, target_.settings);
    for (const PlanMaker& maker : makers) solve(*solver, maker, 1);
    if (makers.size() > 1) solve(*solver, makers.front(), 2);
    return text_;
  }

 private:
  void tell(const std::string& what) { text_ += (text_.empty() ? "" : " | ") + what; }

  void solve(DeviceSolver<T>& solver, const PlanMaker& maker, int times) {
    try {
      const DeviceTraits traits = module().traits(info_.index, sizeof(T) == sizeof(double), target_.settings);
      const std::optional<Plan> plan = maker.make(lines_, sizeof(T), traits);
      if (!plan || !fits(*plan, lines_)) return tell("no plan");
      Bands<T>& bands = bands_[bands_at_++ % 2];  // a solver may read them until its next set-up
      bands = matrix<T>(maker.matrix, lines_);
      for (Index i = 0; i < lines_.extent(); ++i) bands.diag()[i] *= static_cast<T>(times);
      solver.set_up(*plan, bands);
      tell(std::string(oclspkt::name(plan->method)) + " " + oclspkt::name(plan->form));
      apply(solver);
    } catch (const std::exception& error) {
      tell(std::string("throws '") + error.what() + "'");
    }
  }

  void apply(DeviceSolver<T>& solver) {
    for (int i = 0; i < 2; ++i) {
      std::vector<T> x(y_.size(), T(77));
      solver.apply(y_.data(), x.data());
      tell("x " + hash_of(x));
    }
    tell("on device " +
         apply_on_device<T>(solver.handles(), y_, [&](_cl_mem* y, _cl_mem* x) { solver.apply_on_device(y, x); }));
    tell(std::to_string(solver.bytes()) + " bytes");
  }

  Target target_;
  LineSet lines_;
  const DeviceInfo& info_;
  std::vector<T> y_;
  Bands<T> bands_[2];
  int bands_at_ = 0;
  std::string text_;
};

/// Systems that PoCL solves in a moment; further sizes; those that are large.
enum class Extent { few, many, large };

std::vector<Shape> shapes_for(Arrangement arrangement, Extent extent) {
  switch (arrangement) {
    case Arrangement::any:
      if (extent == Extent::few) return {one_line(1), one_line(517), one_line(9001), unequal_lines(60)};
      if (extent == Extent::large) return {one_line(1'000'000)};
      return {one_line(2), one_line(63), one_line(100'003), unequal_lines(200), equal_lines(50, 128)};
    case Arrangement::equal:
      if (extent == Extent::few) return {equal_lines(70, 64), equal_lines(9, 1000), equal_lines(5, 8192)};
      if (extent == Extent::large) return {equal_lines(300, 1024), equal_lines(40, 8192), equal_lines(30, 16384)};
      return {equal_lines(3, 20), equal_lines(5000, 20), equal_lines(100, 1000), equal_lines(10, 5000)};
    case Arrangement::beside:
      if (extent == Extent::few) return {grid_lines(1, 16, 70, 2), grid_lines(2, 37, 3, 300), grid_lines(1, 12, 20, 9)};
      if (extent == Extent::large) return {grid_lines(2, 64, 64, 64), grid_lines(1, 256, 256, 4)};
      return {grid_lines(1, 7, 3, 2), grid_lines(1, 40, 30, 12), grid_lines(1, 9, 3000, 2), gapped_lines()};
  }
  return {};
}

template <typename T>
void add_case(Cases& cases, const Target& target, const std::string& how, const PlanMaker& maker,
              const PlanMaker& other, const Shape& shape, bool quick) {
  if (maker.only_double && sizeof(T) != sizeof(double)) return;
  std::vector<PlanMaker> makers{maker};
  if (maker.name != other.name && !(other.only_double && sizeof(T) != sizeof(double))) makers.push_back(other);
  cases.push_back({"plan " + target.device + how + " " + maker.name + ", " + shape.name + " " + kScalarName<T>, quick,
                   [=] { return PlanRun<T>(target, shape.make()).text(makers); }});
}

/// The next maker for the same lines and kernels: its plan follows on the same solver.
const PlanMaker& follower(const std::vector<PlanMaker>& makers, std::size_t of) {
  for (std::size_t i = 1; i < makers.size(); ++i) {
    const PlanMaker& other = makers[(of + i) % makers.size()];
    if (other.lines == makers[of].lines && other.variant == makers[of].variant) return other;
  }
  return makers[of];
}

void add_makers(Cases& cases, const std::vector<PlanMaker>& makers, const Target& target, const std::string& how,
                std::initializer_list<Extent> extents) {
  const bool quick = target.device != kRunningDevice && how.empty();
  for (std::size_t i = 0; i < makers.size(); ++i) {
    for (const Extent extent : extents) {
      const PlanMaker& next = extent == Extent::large ? makers[i] : follower(makers, i);
      for (const Shape& shape : shapes_for(makers[i].lines, extent)) {
        add_case<float>(cases, target, how, makers[i], next, shape, quick && extent == Extent::few);
        if (target.device == std::string("recorded-small-gpu")) continue;
        add_case<double>(cases, target, how, makers[i], next, shape, quick && extent == Extent::few);
      }
    }
  }
}

}  // namespace

void add_plan_cases(Cases& cases) {
  using enum Extent;
  const std::vector<PlanMaker> cpus = makers_for_cpus();
  add_makers(cases, cpus, {"recorded-few-cores"}, "", {few, many});
  add_makers(cases, cpus, {"recorded-many-cores"}, "", {few, many, large});
  add_makers(cases, cpus, {"recorded-fpga"}, "", {few, many});
  add_makers(cases, cpus, {"recorded-large-gpu"}, " as a CPU", {few});
  add_makers(cases, cpus, {kRunningDevice}, "", {few});
  for (const char* device : {"recorded-few-cores", "recorded-fpga", kRunningDevice}) {
    add_makers(cases, cpus, {device, {.use = {.transfer = Transfer::copy}}, true}, " in chunks", {few});
  }
  const std::vector<PlanMaker> fpgas = makers_for_fpgas();
  add_makers(cases, fpgas, {"recorded-fpga"}, "", {few, many});
  add_makers(cases, fpgas, {kRunningDevice}, "", {few});
  add_makers(cases, fpgas, {kRunningDevice, {}, true}, " in chunks", {few});
  for (const auto& makers : {makers_for_gpus(), makers_of_grids()}) {
    add_makers(cases, makers, {"recorded-large-gpu"}, "", {few, many, large});
    add_makers(cases, makers, {"recorded-small-gpu"}, "", {few, many});
    add_makers(cases, makers, {kRunningDevice}, "", {few});
    add_makers(cases, makers, {kRunningDevice, {}, true}, " in chunks", {few});
    add_makers(cases, makers, {"recorded-large-gpu", {}, true}, " in chunks", {few, many});
    add_makers(cases, makers, {"recorded-large-gpu", {.nan_safe_bytes = 0}}, " asking", {few});
    add_makers(cases, makers, {"recorded-large-gpu", {.use = {.kernel_times = true}}}, " with times", {few});
    add_makers(cases, makers, {"recorded-few-cores"}, " as a GPU", {few});
  }
}

}  // namespace oclspkt::freeze

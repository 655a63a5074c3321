// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "borders.hpp"
#include "card_vectors.hpp"
#include "oclspkt/bands.hpp"
#include "oclspkt/device_handles.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/export.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"
#include "plan.hpp"
#include "program_maker.hpp"
#include "visit.hpp"

namespace oclspkt {

enum class DeviceType { host, cpu, gpu, fpga };
inline constexpr const char* kDeviceTypeNames[] = {"host", "cpu", "gpu", "fpga"};
inline constexpr const char* name(DeviceType t) { return kDeviceTypeNames[static_cast<int>(t)]; }

/// A device as found; nothing is measured or built for it yet.
struct DeviceInfo {
  int index = 0;  ///< place in the list of all devices, stable within a process
  DeviceType type = DeviceType::cpu;
  std::string name, platform, driver_version;
  std::string physical;  ///< equal for two drivers of one physical device ("cpu", "pci:0000:41:00.0", ...)
  bool cuda = false;     ///< driven by CUDA, not by OpenCL
  bool copies = false;   ///< see DeviceModule::device_beside()
  int cores = 1;
  int whole = -1;                               ///< the device that it is a part of, see DeviceModule::part_of()
  std::int64_t memory = 0, max_allocation = 0;  ///< bytes
  bool fp64 = false;
  bool host_unified = false;  ///< shares the host's memory: vectors need no copy
  bool emulated = false;      ///< stands in for another device (FPGA emulator): never chosen unless named
  bool compiler = true;       ///< builds kernels from their text; others load them from files: boards with FPGAs
};

/// A type in words: "fpga", "emulated fpga".
inline std::string type_text(const std::string& type, bool emulated) { return (emulated ? "emulated " : "") + type; }

/// What a device without a compiler lacks where no file is named, behind its name.
inline constexpr const char* kNoCompiler =
    "has no compiler for kernels: give its binary by -pc_oclspkt_fpga_binary (C++: Options::fpga_binary); make one "
    "with "
    "oclspkt-fpga-build (docs/fpga.md)";

/// Measured figures of a device for one scalar type (balance/ turns them into costs).
struct DeviceProfile {
  double launch_seconds = 0;         ///< of an apply however few its rows are: launch, wait, hand the vectors over
  double rows_per_second = 0;        ///< of a one-pass method with 5 words a row, data in place
  double copy_bytes_per_second = 0;  ///< host to device and back; infinite where memory is shared
  /// Copies of long vectors take long_copy_seconds and the bytes at this rate, if that is less. Infinite: not measured.
  double long_copy_seconds = std::numeric_limits<double>::infinity();
  double long_copy_bytes_per_second = std::numeric_limits<double>::infinity();

  double copy_seconds(double bytes) const {
    return std::min(bytes / copy_bytes_per_second, long_copy_seconds + bytes / long_copy_bytes_per_second);
  }
};

/// For which kind of device kernels are made. By type: those for GPUs on GPUs, those for FPGAs on FPGAs, those for CPUs
/// on all others. No task: the same, but those for CPUs on FPGAs, where a scheme is named that is not for these. Paper:
/// by type, the paper's own where they fit. Paper gpu: the paper's own for GPUs on every device, for tests.
enum class Variant { by_type, no_task, cpu, gpu, fpga, paper, paper_gpu };

/// @pre name is one of kVariantNames
inline Variant variant_of(const std::string& name) {
  return name == "cpu"         ? Variant::cpu
         : name == "gpu"       ? Variant::gpu
         : name == "fpga"      ? Variant::fpga
         : name == "paper"     ? Variant::paper
         : name == "paper-gpu" ? Variant::paper_gpu
                               : Variant::by_type;
}

class DeviceModule;
template <typename T>
class Space;

/// What a device solver needs beyond plan and bands.
struct DeviceSettings {
  Variant variant = Variant::by_type;
  bool copy_vectors = false;       ///< use the copying path even where host memory is shared
  std::int64_t device_memory = 0;  ///< bytes; 0: the device's own limit
  Index chunk = 0;                 ///< see Options::chunk
  double timeout = 0;              ///< seconds, see Options::timeout
  bool kernel_times = false;       ///< see Options::kernel_times
  std::string fpga_binary = {};    ///< see Options::fpga_binary
  bool spread_banks = false;       ///< see Options::fpga_banks
  /// The module of the callers' queues; null if it is the solver's own, see DeviceModule::device_beside().
  DeviceModule* queues_of = nullptr;
  /// Bytes of a vector up to which work-groups handle NaN at once, which costs some 10 % of an apply in double.
  /// Beyond, they note whether they met one, and a second launch, of some 3 us, repeats the first one NaN-safe if so.
  std::int64_t nan_safe_bytes = 50'000'000;
};

template <typename T>
class Factors;

/// Solve a line set on one device. Made by make(), used by one thread at a time.
template <typename T>
class DeviceSolver {
 public:
  virtual ~DeviceSolver() = default;
  /// Move the bands (couplings between lines already 0) to the device. `bands` outlives the solver or the next set_up,
  /// numbers included.
  /// May be called again with another plan or other values; buffers are kept where sizes allow.
  /// @throws DeviceError, BuildError
  virtual void set_up(const Plan& plan, const Bands<T>& bands) = 0;
  /// Multiply row i of every solution by units[i] from now on until the next set_up: the columns of the bands were
  /// scaled. The device has a compiler.
  /// @param units  shape [extent]; outlives the solver or the next set_up
  /// @return false where there is no room, or on the host
  /// @throws DeviceError, BuildError
  virtual bool in_units(const T* /*units*/) { return false; }
  /// Say how long an apply of the next set-up is likely to take, in seconds, so that a device that hangs is told from
  /// one that is slow.
  void expect(double seconds) { expected_seconds_ = seconds; }
  /// Solve; x and y do not overlap.
  /// @throws DeviceError; x is then undefined and y untouched
  virtual void apply(const T* y, T* x) = 0;
  /// Solve for `count` right-hand sides, each as apply() would, bit for bit. Column k is at y + k y_stride and its
  /// solution at x + k x_stride.
  /// @throws DeviceError; all columns of x are then undefined
  virtual void apply_columns(const T* y, Index y_stride, T* x, Index x_stride, Index count) {
    for (Index k = 0; k < count; ++k) apply(y + k * y_stride, x + k * x_stride);
  }
  /// What the last set_up works with; null handles on the host.
  virtual DeviceHandles handles() const { return {}; }
  /// True if enqueue() works by that queue: it is one of the device, and of the context of the last set_up.
  virtual bool takes(const DeviceQueue& /*queue*/) const { return false; }
  /// The same as apply() with both vectors on the device of a queue, see Solver::enqueue(). Of no queue: with both in
  /// buffers of the context of handles(), see Solver::apply_on_device(); this waits.
  /// @throws InvalidInput on the host, and for memory that does not fit; DeviceError
  virtual void enqueue(const DeviceQueue& /*queue*/, const void* /*y*/, void* /*x*/) {
    throw InvalidInput("the host solves and takes no vectors of a device: use apply() with host vectors");
  }
  /// Read and correct the rows next to cuts among processes, on the device of the last set_up.
  /// @throws InvalidInput on the host; DeviceError
  virtual std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& /*layout*/) {
    throw InvalidInput("the host solves and takes no vectors of a device");
  }
  /// Let several solvers of one device work on vectors that are copied to it once. This solver takes the first step.
  /// @return null where that is not possible: on the host, in the host's memory, or with vectors in several chunks
  /// @throws DeviceError
  virtual std::unique_ptr<Visit<T>> visit(const VisitSteps<T>& /*steps*/) { return nullptr; }
  virtual Times times() const = 0;
  /// The stored factors, which are evidence for or against a method; null for methods without.
  virtual const Factors<T>* factors() const { return nullptr; }
  /// The bound on rounding (Report::rounding) that the factors of the last set-up give; 0 if the bound of the plan
  /// holds.
  virtual double rounding() const { return 0; }
  /// The largest error by component, in eps, of answers since the last call that no bound covers; 0: bounds cover all.
  /// Infinite if an answer to a finite right-hand side is not finite.
  virtual double take_errors() { return 0; }
  /// Bytes held on the device and in host scratch, the bands themselves not counted where they are shared.
  virtual std::int64_t bytes() const = 0;

 protected:
  double expected_seconds() const { return expected_seconds_; }

 private:
  double expected_seconds_ = 0;
};

/// Host arrays of n scalars each; x overlaps none of the others.
template <typename T>
struct StreamArrays {
  const T *a, *b, *c, *y;
  T* x;
  Index n;
};

/// Arrays that lie on a device and are streamed again and again: the floor of whatever moves as many words.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// Read all arrays but one and write that one, once. @return seconds on the device
  /// @throws DeviceError
  virtual double run() = 0;
};

/// The devices of the process behind one interface; implemented by the OpenCL module.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;
  /// All devices, in a stable order. Empty if there is no platform; never throws for a broken driver.
  virtual const std::vector<DeviceInfo>& devices() = 0;
  /// One of devices(), or a part of one.
  virtual const DeviceInfo& info(int device) { return devices().at(static_cast<std::size_t>(device)); }
  /// A part of a device that uses so many of its cores, as a device of its own that is not among devices(). The same
  /// part for the same numbers.
  /// @return its index
  /// @throws InvalidInput for a number of cores that the device does not have; DeviceError if it cannot be divided
  virtual int part_of(int device, int cores) {
    throw DeviceError(info(device).name + " cannot be divided into parts of " + std::to_string(cores) + " cores");
  }
  /// The device of a caller's queue, in the queue's context, as a device that is not among devices().
  /// @return its index, the same for the same context
  /// @throws InvalidInput, DeviceError that say why there is none
  virtual int device_of(const DeviceQueue& /*queue*/) {
    throw InvalidInput("vectors lie on a device that no module knows");
  }
  /// Where the device of a caller's queue sits, as DeviceInfo::physical, whether this module has kernels for it or not.
  /// @throws InvalidInput, DeviceError
  virtual std::string place_of(const DeviceQueue& /*queue*/) {
    throw InvalidInput("vectors lie on a device that no module knows");
  }
  /// The card of a caller's queue as a device of another module, which imports memory that the queue's module makes. It
  /// is not among devices(). Vectors are copied on the card, and each apply is waited for, twice.
  /// @return its index, the same for the same card
  /// @throws InvalidInput, DeviceError that say why there is none
  virtual int device_beside(const DeviceQueue& /*queue*/) {
    throw InvalidInput("there is no other run-time for the device of the vectors");
  }
  /// Why a device cannot import memory of another run-time; empty if it can.
  virtual std::string why_no_import(int /*device*/) { return "its run-time imports no memory"; }
  /// Make room for vectors that other run-times can import.
  /// @param place  of the card, see place_of()
  /// @param bytes  of each vector
  /// @throws DeviceError
  virtual std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t /*bytes*/) {
    throw DeviceError("the run-time of " + place + " exports no memory");
  }
  /// One line for each platform or device that was found but could not be used.
  virtual const std::vector<std::string>& problems() = 0;
  /// Measured once per process, at most 50 ms apart from the kernel build, by factors as wide as the vectors.
  /// @throws DeviceError, BuildError
  virtual DeviceProfile profile(int device, bool is_double) = 0;
  /// Measure a device as profile() does, with the rate of exact-factored for lines side by side (5 words a row). Takes
  /// some 50 ms longer.
  /// @throws DeviceError, BuildError
  virtual DeviceProfile profile_beside(int device, bool is_double) = 0;
  /// What a plan must know of the device.
  virtual DeviceTraits traits(int device, bool is_double, const DeviceSettings& settings) = 0;
  virtual std::unique_ptr<DeviceSolver<float>> make_float(int device, const DeviceSettings& settings) = 0;
  virtual std::unique_ptr<DeviceSolver<double>> make_double(int device, const DeviceSettings& settings) = 0;
  /// Vectors and matrices on a device, by one queue. The same space for the same device and settings while somebody has
  /// it, unless the device was released in between. Of the settings it uses variant, copy_vectors (waits then look at
  /// the clock) and timeout (seconds that what is enqueued may take; 0: a minute).
  /// @throws DeviceError
  virtual std::shared_ptr<Space<float>> space_float(int device, const DeviceSettings& /*settings*/) {
    throw DeviceError(info(device).name + " keeps no vectors");
  }
  virtual std::shared_ptr<Space<double>> space_double(int device, const DeviceSettings& /*settings*/) {
    throw DeviceError(info(device).name + " keeps no vectors");
  }
  /// Run x = (a + b) + (c + y) once, the stream that shares are quoted against: four arrays read, one written.
  /// @return seconds; the copies of a device that does not share host memory are not counted
  /// @throws DeviceError, BuildError
  virtual double stream(int device, const StreamArrays<float>& arrays) = 0;
  virtual double stream(int device, const StreamArrays<double>& arrays) = 0;
  /// Make a stream whose arrays stay on the device; to be destroyed before release().
  /// @param reads  arrays of n scalars that are read, 1 to 4; one more is written
  /// @throws DeviceError, BuildError
  virtual std::unique_ptr<DeviceStream> make_stream(int device, Index n, int reads, bool is_double) = 0;
  /// What makes files with programs; null if the module makes none.
  virtual ProgramMaker* programs() { return nullptr; }
  /// Free every context, program and queue; solvers that are alive lose theirs and then throw DeviceError.
  virtual void release() = 0;
};

/// The entry point of liboclspkt-cl.so and liboclspkt-cuda.so: `extern "C" DeviceModule* oclspkt_cl_module(const char*
/// abi, std::string* error)`. `abi` must equal kDeviceModuleAbi. The module object lives until the process ends. Throws
/// nothing but bad_alloc; a later call then tries again.
using DeviceModuleEntry = DeviceModule* (*)(const char* abi, std::string* error);
inline constexpr const char* kDeviceModuleAbi = "oclspkt-cl 17";
inline constexpr const char* kDeviceModuleEntryName = "oclspkt_cl_module";

/// All devices, of the modules beside this library, which are opened at first use: that for OpenCL, and where OpenCL
/// sees no card of NVIDIA's that for CUDA.
/// @param[out] why one line on why there is none, if the result is null
/// @throws bad_alloc, after which a later call tries again
OCLSPKT_API DeviceModule* device_module(std::string* why);

/// The module, without loading drivers: its device_of() loads only the driver of the queue. The device found can be
/// used.
OCLSPKT_API DeviceModule& devices_of_queues();

/// The module if it has been opened before, else null.
OCLSPKT_API DeviceModule* open_device_module();

/// The module for CUDA alone, for comparisons. OpenCL may list its cards as well.
OCLSPKT_API DeviceModule* cuda_module(std::string* why);

/// True if a device solver of the module has kernels for that method and those lines.
inline bool device_carries(Method m, const LineSet& lines) {
  if (lines.contiguous()) return m != Method::pivot;
  return (m == Method::exact_factored || m == Method::truncated_halo) && lines.beside();
}

}  // namespace oclspkt

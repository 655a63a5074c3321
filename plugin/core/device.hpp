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
#include "oclspkt/operator.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"
#include "plan.hpp"
#include "program_maker.hpp"
#include "visit.hpp"

namespace oclspkt {

enum class DeviceType { host, cpu, gpu, fpga };
inline constexpr const char* kDeviceTypeNames[] = {"host", "cpu", "gpu", "fpga"};
inline constexpr const char* name(DeviceType t) { return kDeviceTypeNames[static_cast<int>(t)]; }

/// A device as its driver describes it, before any measurement or kernel build.
struct DeviceInfo {
  int index = 0;  ///< place in the list of all devices, stable within a process
  DeviceType type = DeviceType::cpu;
  std::string name, platform, driver_version;
  std::string physical;  ///< equal for all drivers of one physical device ("cpu", "pci:0000:41:00.0", ...)
  bool cuda = false;     ///< driven by CUDA, not by OpenCL
  bool copies = false;   ///< each apply copies vectors on the card, see DeviceModule::device_beside()
  int cores = 1;
  int whole = -1;  ///< the device of which this device is a part, see DeviceModule::part_of()
  std::int64_t memory = 0, max_allocation = 0;  ///< bytes in all, and of one allocation
  bool fp64 = false;
  bool host_unified = false;  ///< shares the host's memory: vectors need no copy
  bool emulated = false;      ///< emulates another device (FPGA emulator); chosen only if named
  bool compiler = true;       ///< true: builds kernels from their text; false: loads them from files (FPGA boards)
};

/// A type in words: "fpga", "emulated fpga".
inline std::string type_text(const std::string& type, bool emulated) { return (emulated ? "emulated " : "") + type; }

/// The end of a message, if a device has no compiler and the options name no program file.
inline constexpr const char* kNoCompiler =
    "has no compiler for kernels: give its binary by -pc_oclspkt_fpga_binary (C++: Options::use.fpga_binary); make one "
    "with "
    "oclspkt-fpga-build (docs/fpga.md)";

/// Measured figures of a device for one scalar type (balance/ turns them into costs).
struct DeviceProfile {
  double launch_seconds = 0;         ///< fixed cost of an apply: launching, waiting, passing the vectors
  double rows_per_second = 0;        ///< rate of a one-pass method with 5 words a row, vectors on the device
  double copy_bytes_per_second = 0;  ///< rate of copies to the device and back; infinite where memory is shared
  /// Fixed cost of a copy of a long vector, see copy_seconds(); infinite: not measured.
  double long_copy_seconds = std::numeric_limits<double>::infinity();
  /// Rate of a copy of a long vector, without its fixed cost; infinite: not measured.
  double long_copy_bytes_per_second = std::numeric_limits<double>::infinity();

  /// The time of a copy: the lesser of the times for short and for long vectors.
  double copy_seconds(double bytes) const {
    return std::min(bytes / copy_bytes_per_second, long_copy_seconds + bytes / long_copy_bytes_per_second);
  }
};

/// Selects kernels by the kind of device that they are written for.
///   by_type    kernels for GPUs on GPUs, for FPGAs on FPGAs, for CPUs on all other devices
///   no_task    like by_type, except that FPGAs get kernels for CPUs; schemes without kernels for FPGAs use it
///   paper      the paper's own kernels where they fit, else like by_type
///   paper_gpu  the paper's kernels for GPUs on every device, for tests
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

struct DeviceSettings {
  Variant variant = Variant::by_type;
  DeviceUse use = {};
  /// The module of the caller's queue if another module solves, see DeviceModule::device_beside(); else null.
  DeviceModule* queues_of = nullptr;
  /// The longest vector, in bytes, for which the kernels handle NaN in the first launch. This costs some 10 % of an
  /// apply in double. For longer vectors, the first launch only reports whether it met NaN. A second launch (some 3 us)
  /// then repeats the apply NaN-safe.
  std::int64_t nan_safe_bytes = 50'000'000;
};

template <typename T>
class Factors;

/// @throws InvalidInput unless vectors lie on the host
inline void require_host(const Place& place) {
  if (place.kind == Place::Kind::host) return;
  throw InvalidInput("the host solves and takes no vectors of a device: use apply() with host vectors");
}

/// Solves a line set on one device, or on the host. apply() expects columns that fit and do not overlap. It gives a
/// column the bits that a solve of this column alone gives, and leaves y untouched if it throws. Not thread-safe.
template <typename T>
class DeviceSolver : public Operator<T> {
 public:
  /// Move the bands to the device. A later call with another plan or other values reuses buffers if sizes allow.
  /// @param bands  couplings between lines are 0; the object and its numbers must live until the next set_up or the end
  ///               of the solver
  /// @throws DeviceError, BuildError
  virtual void set_up(const Plan& plan, const Bands<T>& bands) = 0;
  /// Multiply row i of every solution by units[i] until the next set_up, because the columns of the bands are scaled.
  /// @pre the device has a compiler
  /// @param units  shape [extent]; must live until the next set_up or the end of the solver
  /// @return false if the host solves or the device has no memory for the units
  /// @throws DeviceError, BuildError
  virtual bool in_units(const T* /*units*/) { return false; }
  /// Announce the likely duration of an apply of the next set-up, in seconds. The solver uses it to distinguish a slow
  /// device from a device that hangs.
  void expect(double seconds) { expected_seconds_ = seconds; }
  /// The device handles of the last set_up; null on the host.
  virtual DeviceHandles handles() const { return {}; }
  bool takes(const DeviceQueue& /*queue*/) const override { return false; }
  /// Make the object that reads and corrects the rows next to cuts between processes, on the device of the last set_up.
  /// @throws InvalidInput on the host; DeviceError
  virtual std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& /*layout*/) {
    throw InvalidInput("the host solves and takes no vectors of a device");
  }
  /// Let several solvers of one device work on vectors that are copied to it once. This solver takes the first step.
  /// @return null in any of these cases: the host solves; the solver is not set up; the device works in host memory, or
  ///         its buffers are placed in banks; vectors take several chunks or have gaps between lines; the memory for
  ///         vectors does not stay on the device, or has no room for the vector `between`
  /// @throws DeviceError
  virtual std::unique_ptr<Visit<T>> visit(const VisitSteps<T>& /*steps*/) { return nullptr; }
  /// The stored factors, as evidence for or against the method; null if the method stores no factors.
  virtual const Factors<T>* factors() const { return nullptr; }
  /// The bound on rounding (Report::rounding) from the factors of the last set-up; 0 if the bound of the plan holds.
  virtual double rounding() const { return 0; }
  /// The largest componentwise error, in eps, of the solutions without a bound since the last call; 0 if all solutions
  /// have a bound. Infinite if a solution is not finite although its right-hand side is.
  virtual double take_errors() { return 0; }

 protected:
  double expected_seconds() const { return expected_seconds_; }

 private:
  double expected_seconds_ = 0;
};

/// Host arrays of n scalars each; x overlaps no other array.
template <typename T>
struct StreamArrays {
  const T *a, *b, *c, *y;
  T* x;
  Index n;
};

/// Streams arrays on a device. Every kernel that moves as many words takes at least the time of run().
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// Read all input arrays and write the output array, once. @return seconds on the device
  /// @throws DeviceError
  virtual double run() = 0;
};

/// The devices of the process behind one interface. The OpenCL and CUDA modules implement it.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;
  /// All devices, in a stable order; empty if no platform is found. A broken driver causes no exception.
  virtual const std::vector<DeviceInfo>& devices() = 0;
  virtual const DeviceInfo& info(int device) { return devices().at(static_cast<std::size_t>(device)); }
  /// Make a part of a device that uses `cores` of its cores. The part is a device that devices() does not list. Equal
  /// arguments give the same part.
  /// @return the index of the part
  /// @throws InvalidInput for a number of cores that the device does not have; DeviceError if it cannot be divided
  virtual int part_of(int device, int cores) {
    throw DeviceError(info(device).name + " cannot be divided into parts of " + std::to_string(cores) + " cores");
  }
  /// Add the device of a caller's queue, in the queue's context. devices() does not list it.
  /// @return the index of the device, the same for the same context
  /// @throws InvalidInput, DeviceError that say why the device is not usable
  virtual int device_of(const DeviceQueue& /*queue*/) {
    throw InvalidInput("vectors lie on a device that no module knows");
  }
  /// DeviceInfo::physical for the device of a caller's queue, even if this module has no kernels for the device.
  /// @throws InvalidInput, DeviceError
  virtual std::string place_of(const DeviceQueue& /*queue*/) {
    throw InvalidInput("vectors lie on a device that no module knows");
  }
  /// Add the card of a caller's queue as a device of another module, which imports memory that the queue's module
  /// allocates. devices() does not list it. Each apply copies the vectors on the card, and waits twice.
  /// @return the index of the device, the same for the same card
  /// @throws InvalidInput, DeviceError that say why the device is not usable
  virtual int device_beside(const DeviceQueue& /*queue*/) {
    throw InvalidInput("there is no other run-time for the device of the vectors");
  }
  /// Why a device cannot import memory of another run-time; empty if it can.
  virtual std::string why_no_import(int /*device*/) { return "its run-time imports no memory"; }
  /// Make room for vectors that other run-times can import.
  /// @param place  the card, see place_of()
  /// @param bytes  bytes of each vector
  /// @throws DeviceError
  virtual std::unique_ptr<CardVectors> make_card_vectors(const std::string& place, std::int64_t /*bytes*/) {
    throw DeviceError("the run-time of " + place + " exports no memory");
  }
  /// One line for each platform or device that was found but could not be used.
  virtual const std::vector<std::string>& problems() = 0;
  /// Measure a device, once per process, with factors in the precision of vectors. Takes at most 50 ms besides kernel
  /// builds.
  /// @throws DeviceError, BuildError
  virtual DeviceProfile profile(int device, bool is_double) = 0;
  /// Measure a device as profile() does, with the rate of exact-factored for lines side by side (5 words a row). Takes
  /// some 50 ms longer.
  /// @throws DeviceError, BuildError
  virtual DeviceProfile profile_beside(int device, bool is_double) = 0;
  virtual DeviceTraits traits(int device, bool is_double, const DeviceSettings& settings) = 0;
  virtual std::unique_ptr<DeviceSolver<float>> make_float(int device, const DeviceSettings& settings) = 0;
  virtual std::unique_ptr<DeviceSolver<double>> make_double(int device, const DeviceSettings& settings) = 0;
  /// A space for vectors and matrices on a device, with one queue. While a space is in use, equal arguments give the
  /// same space until release(). Three settings count: variant; timeout, the longest wait in seconds (0: a minute); and
  /// transfer: with `copy`, waits have a limit also on devices without memory of their own.
  /// @throws DeviceError
  virtual std::shared_ptr<Space<float>> space_float(int device, const DeviceSettings& /*settings*/) {
    throw DeviceError(info(device).name + " keeps no vectors");
  }
  virtual std::shared_ptr<Space<double>> space_double(int device, const DeviceSettings& /*settings*/) {
    throw DeviceError(info(device).name + " keeps no vectors");
  }
  /// Run x = (a + b) + (c + y) once: four arrays are read, one is written. Other rates are compared with this rate.
  /// @return seconds, without copies between host and device
  /// @throws DeviceError, BuildError
  virtual double stream(int device, const StreamArrays<float>& arrays) = 0;
  virtual double stream(int device, const StreamArrays<double>& arrays) = 0;
  /// Make a stream whose arrays stay on the device. Destroy it before release().
  /// @param reads  number of arrays that the stream reads, 1 to 4, of n scalars each; the stream writes one more array
  /// @throws DeviceError, BuildError
  virtual std::unique_ptr<DeviceStream> make_stream(int device, Index n, int reads, bool is_double) = 0;
  /// The maker of program files; null if the module has none.
  virtual ProgramMaker* programs() { return nullptr; }
  /// Free every context, program and queue. Solvers that still exist throw DeviceError from then on.
  virtual void release() = 0;
};

/// The entry point of liboclspkt-cl.so and liboclspkt-cuda.so: `extern "C" DeviceModule* oclspkt_cl_module(const char*
/// abi, std::string* error)`. `abi` must equal kDeviceModuleAbi. The module object lives until the process ends. The
/// function throws nothing but bad_alloc, after which a later call tries again.
using DeviceModuleEntry = DeviceModule* (*)(const char* abi, std::string* error);
inline constexpr const char* kDeviceModuleAbi = "oclspkt-cl 18";
inline constexpr const char* kDeviceModuleEntryName = "oclspkt_cl_module";

/// The devices of all modules in this library's folder. The first call opens the module for OpenCL. If OpenCL sees no
/// NVIDIA card, it also opens the module for CUDA.
/// @param[out] why one line that says why no module opens, if the result is null
/// @throws bad_alloc, after which a later call tries again
OCLSPKT_API DeviceModule* device_module(std::string* why);

/// The object of device_module(), without loading drivers. Its device_of() loads only the driver of the queue, and
/// returns a device that is ready for use.
OCLSPKT_API DeviceModule& devices_of_queues();

/// The object of device_module() if a module is open already, else null.
OCLSPKT_API DeviceModule* open_device_module();

/// The module for CUDA alone, for comparisons. OpenCL may list the same cards.
OCLSPKT_API DeviceModule* cuda_module(std::string* why);

/// True if the module has kernels for the method and the lines.
inline bool device_carries(Method m, const LineSet& lines) {
  if (lines.contiguous()) return m != Method::pivot;
  return (m == Method::exact_factored || m == Method::truncated_halo) && lines.beside();
}

}  // namespace oclspkt

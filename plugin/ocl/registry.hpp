// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "banks.hpp"
#include "build_program.hpp"
#include "discovery.hpp"
#include "opencl.hpp"

namespace oclspkt::ocl {

/// A kernel of one solver, with the properties that a launch needs. Only one thread at a time may set its arguments.
struct Kernel {
  std::string name;
  std::string options;  ///< the options of its build
  cl::Kernel handle;
  std::size_t max_group_items = 0;  ///< most work-items of a work-group, for this kernel on its device
  std::size_t local_bytes = 0;      ///< bytes of local memory, without local arguments
};

/// An open device that all solvers share: its context, its in-order queue and its programs.
class OCLSPKT_API OpenDevice {
 public:
  explicit OpenDevice(const FoundDevice& found);
  /// Returns this device with another queue, without times. An apply of 1e6 rows ends 6 us sooner in it (H200).
  /// @throws cl::Error
  std::shared_ptr<OpenDevice> without_times() const;
  /// Returns this device with a caller's queue of the same context.
  /// @throws InvalidInput if the queue belongs to another context
  std::shared_ptr<OpenDevice> by_queue(const DeviceQueue& queue) const;

  const FoundDevice& found() const { return found_; }
  const DeviceInfo& info() const { return found_.info; }
  const cl::Context& context() const { return context_; }
  const cl::CommandQueue& queue() const { return queue_; }

  /// In-order queues for transfers of vectors to the device and back.
  struct TransferQueues {
    cl::CommandQueue up, down;
  };
  /// Returns the transfer queues, made at first use. @throws cl::Error
  const TransferQueues& transfer_queues();

  /// Make a buffer, over host memory if `host` is not null.
  /// @param bank  ignored if `host` is not null, or if the device is no FPGA board of a known vendor
  /// @throws cl::Error
  cl::Buffer buffer(cl_mem_flags flags, std::int64_t bytes, void* host = nullptr, Bank bank = 0) const;

  /// Returns the kernel of that name for one scalar type and number of lanes, built at first use.
  /// @param lanes  0: as many as a vector register; 1: work-groups of many work-items; kOneTask: a kernel for FPGAs
  /// @param more   further options, such as a shape or -D NARROW_FACTORS (kernels/cpu/factors.clh)
  /// @param source null: the embedded text of that name. In a process a name always means the same text.
  /// @param files  DeviceUse::fpga_binary; ignored unless the device has an FPGA
  /// @throws BuildError with the first lines of the log, or the fault of a file; DeviceError
  Kernel kernel(const std::string& name, bool is_double, int lanes = 0, const std::string& more = {},
                const char* source = nullptr, const std::string& files = {});

 private:
  /// Programs that all queues of a device and context share.
  struct Programs {
    std::mutex mutex;
    /// The programs by kernel name, build options and files. The device is fixed, and so is the text of a name.
    std::map<std::string, cl::Program> all;
  };
  OpenDevice(const OpenDevice& other, cl::CommandQueue queue);
  cl::Program make_program(const WantedProgram& wanted, bool task, const std::string& files) const;

  const FoundDevice& found_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::mutex mutex_;  ///< guards the queues below
  TransferQueues transfer_queues_;
  const std::shared_ptr<Programs> programs_;
};

/// The OpenCL objects of a solver, which the registry can release.
class Holding {
 public:
  virtual ~Holding() = default;
  /// Release every OpenCL object. Blocks while the solver is at work.
  virtual void drop() = 0;

 private:
  friend class Registry;
  std::shared_ptr<Holding> self_;  ///< points to this object if it must never be freed
  Holding* next_ = nullptr;        ///< next in the list of holdings that are never freed
};

/// A value that is destroyed with its owner or with its device, whichever ends first.
template <typename V>
struct Held final : Holding {
  explicit Held(V made) : value(std::move(made)) {}
  void drop() override { value = V(); }
  V value;
};

/// The only owner of OpenCL objects in the process. The registry is never destroyed, because drivers may be gone before
/// static destructors run.
class Registry {
 public:
  static Registry& instance();

  const std::vector<FoundDevice>& devices() const { return discovery_.devices; }
  int part_of(int device, int cores);
  int device_of(const DeviceQueue& queue);
  static std::string place_of(const DeviceQueue& queue);
  const std::vector<std::string>& problems() const { return discovery_.problems; }
  /// @throws InvalidInput if there is no such device
  const FoundDevice& device(int index) const;

  /// Open a device, or share it if it is open already.
  /// @throws DeviceError if the device was lost or cannot be opened
  std::shared_ptr<OpenDevice> open(int index);

  /// Give up a device that missed its time limit. This process never uses it, waits for it or frees it again.
  void abandon(const OpenDevice& device, const std::string& why);
  /// True in a child of the process that loaded the drivers. The child has none of their threads, and locks that were
  /// held at the fork stay held. It must not call OpenCL, nor take a lock of the registry or of a solver.
  bool forked() const { return getpid() != process_; }
  /// @throws DeviceError if the device was abandoned, or in a fork of the process that loaded the drivers. Call it
  ///         before taking a lock.
  void require_usable(int index) const;
  bool is_lost(int index) const { return lost_[static_cast<std::size_t>(index)]; }

  /// Register a solver's objects for release().
  void watch(const std::shared_ptr<Holding>& holding);
  /// Release a solver's objects. If their device is lost, if the process is ending, or in a forked process, they are
  /// never freed. Allocates nothing.
  /// @param device  the objects' device; -1: there are no objects
  void retire(std::shared_ptr<Holding> holding, int device) noexcept;

  /// Free all devices that are not lost, and the solvers' objects on them. The next set-up opens devices anew.
  void release();

 private:
  Registry();
  void keep_for_ever(std::shared_ptr<Holding> holding) noexcept;
  FoundDevice& add_part(int whole);
  FoundDevice* unused_part(int listed);
  bool parts_used_up(int whole) const;

  const pid_t process_;  ///< the process that loads the drivers
  Discovery discovery_;
  std::deque<FoundDevice> parts_;  ///< parts of devices, and devices in callers' contexts; numbered after the devices
  std::map<std::pair<int, int>, int> part_of_;  ///< number of a part, by device and cores
  std::unique_ptr<std::atomic<bool>[]> lost_;   ///< true for lost devices, by the device's number
  mutable std::mutex mutex_;                    ///< guards the members below; never held while taking a solver's lock
  std::vector<std::string> lost_why_;
  std::vector<std::shared_ptr<OpenDevice>> open_;
  std::vector<std::weak_ptr<Holding>> holdings_;
  std::atomic<Holding*> kept_{nullptr};  ///< the newest holding that is never freed; needs no lock
};

}  // namespace oclspkt::ocl

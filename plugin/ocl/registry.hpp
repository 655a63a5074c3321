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

/// A kernel of one solver, with what a launch must know of it. Arguments are set by one thread at a time.
struct Kernel {
  std::string name;
  std::string options;  ///< that it was built with
  cl::Kernel handle;
  std::size_t max_group_items = 0;  ///< of this kernel on its device
  std::size_t local_bytes = 0;      ///< of local memory, that of arguments not counted
};

/// A device that has been opened: its context, its in-order queue and its programs, shared by all solvers.
class OCLSPKT_API OpenDevice {
 public:
  explicit OpenDevice(const FoundDevice& found);
  /// The same, with a queue of its own that takes no times: an apply of 1e6 rows ends 6 us sooner by it (H200).
  /// @throws cl::Error
  std::shared_ptr<OpenDevice> without_times() const;
  /// The same, with a caller's queue of the same context.
  /// @throws InvalidInput if it is of another one
  std::shared_ptr<OpenDevice> by_queue(const DeviceQueue& queue) const;

  const FoundDevice& found() const { return found_; }
  const DeviceInfo& info() const { return found_.info; }
  const cl::Context& context() const { return context_; }
  const cl::CommandQueue& queue() const { return queue_; }

  /// In-order queues beside queue(), for vectors on their way to the device and back. Made at first use.
  struct TransferQueues {
    cl::CommandQueue up, down;
  };
  /// @throws cl::Error
  const TransferQueues& transfer_queues();

  /// A buffer, over memory of the host if `host` is given.
  /// @param bank  of a board with an FPGA whose vendor is known, for buffers without memory of the host; else ignored
  /// @throws cl::Error
  cl::Buffer buffer(cl_mem_flags flags, std::int64_t bytes, void* host = nullptr, Bank bank = 0) const;

  /// The kernel of that name, built for one scalar type and number of lanes if it was not yet.
  /// @param lanes  0: those of a register; 1: work-groups of many work-items; kOneTask
  /// @param more   options of its own, such as a shape or -D NARROW_FACTORS (kernels/cpu/factors.clh)
  /// @param source null: the text that is embedded under that name. A name stands for one text in a process.
  /// @param files  see DeviceSettings::fpga_binary; ignored by devices that are no FPGAs
  /// @throws BuildError with the first lines of the log, or on what is wrong with a file; DeviceError
  Kernel kernel(const std::string& name, bool is_double, int lanes = 0, const std::string& more = {},
                const char* source = nullptr, const std::string& files = {});

 private:
  /// What all of a device and context share, whatever their queues.
  struct Programs {
    std::mutex mutex;
    /// By kernel name, build options and files; the device is this one, and a name stands for one embedded source.
    std::map<std::string, cl::Program> all;
  };
  OpenDevice(const OpenDevice& other, cl::CommandQueue queue);
  cl::Program make_program(const WantedProgram& wanted, bool task, const std::string& files) const;

  const FoundDevice& found_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::mutex mutex_;  ///< for the queues below
  TransferQueues transfer_queues_;
  const std::shared_ptr<Programs> programs_;
};

/// What a living solver holds of OpenCL, as far as the registry must know.
class Holding {
 public:
  virtual ~Holding() = default;
  /// Give every OpenCL object back; blocks while the solver is at work.
  virtual void drop() = 0;

 private:
  friend class Registry;
  std::shared_ptr<Holding> self_;  ///< of one that is never freed
  Holding* next_ = nullptr;        ///< the one of these before
};

/// The one owner of OpenCL objects in the process. It is never destroyed: drivers may be gone before static
/// destructors are through.
class Registry {
 public:
  static Registry& instance();

  const std::vector<FoundDevice>& devices() const { return discovery_.devices; }
  /// See DeviceModule::part_of().
  int part_of(int device, int cores);
  /// See DeviceModule::device_of().
  int device_of(const DeviceQueue& queue);
  /// See DeviceModule::place_of().
  static std::string place_of(const DeviceQueue& queue);
  const std::vector<std::string>& problems() const { return discovery_.problems; }
  /// @throws InvalidInput if there is no such device
  const FoundDevice& device(int index) const;

  /// Open a device, or share it if it is open.
  /// @throws DeviceError if it was lost or does not open
  std::shared_ptr<OpenDevice> open(int index);

  /// A device missed its time limit: it is never used, waited for or freed again in this process.
  void abandon(const OpenDevice& device, const std::string& why);
  /// True in a child of the process that loaded the drivers: it has none of their threads, and a lock that was held at
  /// the fork is held for ever. Nothing of OpenCL may be called, and no lock of the registry or of a solver taken.
  bool forked() const { return getpid() != process_; }
  /// @throws DeviceError if the device was abandoned, or this process forked from the one that loaded the drivers. Call
  /// it before a lock is taken.
  void require_usable(int index) const;
  bool is_lost(int index) const { return lost_[static_cast<std::size_t>(index)]; }

  /// Have release() reach what a solver holds.
  void watch(const std::shared_ptr<Holding>& holding);
  /// A solver goes: drop what it holds, or leave it alone for ever if its device is lost, the process is ending, or the
  /// drivers' threads are in another process. Allocates nothing.
  /// @param device  where the objects live, -1 if there are none
  void retire(std::shared_ptr<Holding> holding, int device) noexcept;

  /// Free everything but lost devices. What solvers hold is dropped; devices open anew at the next set-up.
  void release();

 private:
  Registry();
  void keep_for_ever(std::shared_ptr<Holding> holding) noexcept;
  FoundDevice& add_part(int whole);
  FoundDevice* unused_part(int listed);
  bool parts_used_up(int whole) const;

  const pid_t process_;  ///< that loads the drivers
  Discovery discovery_;
  std::deque<FoundDevice> parts_;  ///< of devices, or in callers' contexts; their numbers are behind the devices'
  std::map<std::pair<int, int>, int> part_of_;  ///< by device and cores
  std::unique_ptr<std::atomic<bool>[]> lost_;   ///< by device
  mutable std::mutex mutex_;                    ///< for all below; never held while a solver's own lock is taken
  std::vector<std::string> lost_why_;
  std::vector<std::shared_ptr<OpenDevice>> open_;
  std::vector<std::weak_ptr<Holding>> holdings_;
  std::atomic<Holding*> kept_{nullptr};  ///< the last of those that are never freed; needs no lock
};

}  // namespace oclspkt::ocl

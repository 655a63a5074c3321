// SPDX-License-Identifier: BSD-2-Clause
#include "registry.hpp"

#include <algorithm>
#include <cstdlib>

#include "error_name.hpp"
#include "fault.hpp"
#include "native.hpp"
#include "node.hpp"

namespace oclspkt::ocl {
namespace {

/// The most parts of a device in a process. A caller's context that uses the device counts as a part.
constexpr std::ptrdiff_t kMostParts = 64;

/// Set when the process ends. The drivers' own exit handlers may already have run.
std::atomic<bool> exiting{false};

void note_exit() { exiting = true; }

/// Limit the threads of CPU run-times to the cores that the process may run on. If the ranks of a node are not bound,
/// the limit is the process's share of the machine. A setting of the user stays unchanged. If the process may use the
/// whole machine, nothing is limited. Called before the first OpenCL call.
void limit_driver_threads() {
  const int share = processor_share();
  if (share <= 0 || share >= sysconf(_SC_NPROCESSORS_ONLN)) return;
  const std::string count = std::to_string(share);
  for (const char* variable : {"POCL_MAX_PTHREAD_COUNT", "CL_CONFIG_CPU_TBB_NUM_WORKERS"}) {
    setenv(variable, count.c_str(), 0);
  }
}

/// Ask this module's run-time about a caller's queue.
/// @throws InvalidInput, DeviceError
template <typename Question>
auto ask_queue(const DeviceQueue& queue, const Question& question) {
  if (queue.kind != native_kind()) throw InvalidInput("the queue is of another run-time than this module's");
  try {
    return question(callers_queue(queue.handle));
  } catch (const cl::Error& error) {
    throw DeviceError(std::string("the queue's device cannot be used: ") + error.what() + " gave " +
                      error_name(error.err()));
  }
}

}  // namespace

OpenDevice::OpenDevice(const FoundDevice& found) : found_(found), programs_(std::make_shared<Programs>()) {
  try {
    fault_point(Place::open, found.info);
    context_ = found.context() != nullptr ? found.context : cl::Context(found.handle);
    queue_ = cl::CommandQueue(context_, found.handle, CL_QUEUE_PROFILING_ENABLE);
  } catch (const cl::Error& error) {
    throw device_error(found.info, "opening it", error);
  }
}

OpenDevice::OpenDevice(const OpenDevice& other, cl::CommandQueue queue)
    : found_(other.found_), context_(other.context_), queue_(std::move(queue)), programs_(other.programs_) {}

std::shared_ptr<OpenDevice> OpenDevice::without_times() const {
  return std::shared_ptr<OpenDevice>(new OpenDevice(*this, cl::CommandQueue(context_, found_.handle)));
}

std::shared_ptr<OpenDevice> OpenDevice::by_queue(const DeviceQueue& queue) const {
  if (queue.kind != native_kind()) throw InvalidInput("the queue is of another run-time than the solver's device");
  const cl::CommandQueue callers = callers_queue(queue.handle);
  if (callers.getInfo<CL_QUEUE_DEVICE>()() != found_.handle() || callers.getInfo<CL_QUEUE_CONTEXT>()() != context_()) {
    throw InvalidInput("the queue is of another device or context than " + describe(found_.info) +
                       " was set up for: set the solver up with it");
  }
  return std::shared_ptr<OpenDevice>(new OpenDevice(*this, callers));
}

const OpenDevice::TransferQueues& OpenDevice::transfer_queues() {
  const std::lock_guard lock(mutex_);
  for (cl::CommandQueue* queue : {&transfer_queues_.up, &transfer_queues_.down}) {
    if ((*queue)() == nullptr) *queue = cl::CommandQueue(context_, found_.handle, CL_QUEUE_PROFILING_ENABLE);
  }
  return transfer_queues_;
}

cl::Buffer OpenDevice::buffer(cl_mem_flags flags, std::int64_t bytes, void* host, Bank bank) const {
  fault_point(Place::allocate, info(), queue_());
  if (const BankVendor* vendor = bank > 0 && host == nullptr ? bank_vendor(info()) : nullptr) {
    cl_int error = CL_SUCCESS;
    const cl_mem placed = vendor->create(context_(), flags, static_cast<std::size_t>(bytes), bank, &error);
    if (error != CL_SUCCESS) throw cl::Error(error, "clCreateBuffer");
    return cl::Buffer(placed);
  }
  return cl::Buffer(context_, flags, static_cast<std::size_t>(bytes), host);
}

cl::Program OpenDevice::make_program(const WantedProgram& wanted, bool task, const std::string& files) const {
  if (!files.empty()) {
    if (const auto program = load_program(found_, context_, files, wanted)) return *program;
    if (task || !found_.info.compiler) {
      const std::string nearest = nearest_program(files, found_.info, wanted);
      throw BuildError(describe(found_.info) + ": no file of " + files + " is a program of kernel " + wanted.kernel +
                       " for it" + (nearest.empty() ? ", options " + ordered_options(wanted.options) : ": " + nearest) +
                       "; make one with oclspkt-fpga-build");
    }
  }
  if (!found_.info.compiler) throw BuildError(describe(found_.info) + " " + kNoCompiler);
  return build_program(found_, context_, wanted);
}

Kernel OpenDevice::kernel(const std::string& name, bool is_double, int lanes, const std::string& more,
                          const char* source, const std::string& files) {
  if (is_double && !found_.info.fp64) {
    throw DeviceError(describe(found_.info) + " has no double precision; choose another device, or host");
  }
  const std::string options = build_options(found_, is_double, lanes) + (more.empty() ? "" : " " + more);
  const bool from_files = found_.info.type == DeviceType::fpga && !files.empty();
  const std::string key = name + " " + options + (from_files ? " from " + files : "");
  try {
    const std::lock_guard lock(programs_->mutex);
    auto at = programs_->all.find(key);
    if (at == programs_->all.end()) {
      const WantedProgram wanted{name, source != nullptr ? source : kernel_text(name), options};
      at = programs_->all.emplace(key, make_program(wanted, lanes == kOneTask, from_files ? files : "")).first;
    }
    Kernel kernel;
    kernel.name = name;
    kernel.options = more;
    kernel.handle = cl::Kernel(at->second, name.c_str());
    // NVIDIA's driver reports at most 256 work-items, even for kernels that it builds and runs with groups of 512.
    const auto built_for = kernel.handle.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(found_.handle);
    kernel.max_group_items =
        std::max(kernel.handle.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(found_.handle), built_for[0]);
    kernel.local_bytes = kernel.handle.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(found_.handle);
    return kernel;
  } catch (const cl::Error& error) {
    throw device_error(found_.info, "making kernel " + name, error);
  }
}

Registry& Registry::instance() {
  static auto* registry = new Registry;
  return *registry;
}

Registry::Registry() : process_(getpid()) {
  limit_driver_threads();
  discovery_ = discover();
  const std::size_t most = discovery_.devices.size() * (1 + static_cast<std::size_t>(kMostParts));
  lost_ = std::make_unique<std::atomic<bool>[]>(most);
  lost_why_.resize(most);
  open_.resize(most);
}

int Registry::part_of(int device, int cores) {
  const FoundDevice& whole = this->device(device);
  if (cores < 1 || cores > whole.info.cores) {
    throw InvalidInput(describe(whole.info) + " has " + std::to_string(whole.info.cores) + " cores, not " +
                       std::to_string(cores) + ": name fewer");
  }
  require_usable(device);
  if (cores == whole.info.cores) return device;
  const std::lock_guard lock(mutex_);
  if (const auto known = part_of_.find({device, cores}); known != part_of_.end()) return known->second;
  FoundDevice& part = add_part(device);
  try {
    const cl_device_partition_property counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, cores,
                                                   CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    std::vector<cl::Device> made;
    cl::Device(whole.handle).createSubDevices(counts, &made);
    part.handle = made.at(0);
  } catch (const cl::Error& error) {
    parts_.pop_back();
    throw device_error(whole.info, "dividing it into parts of " + std::to_string(cores) + " cores", error);
  }
  part.info.whole = device;
  part.info.cores = cores;
  part.info.name += " (" + std::to_string(cores) + (cores == 1 ? " core)" : " cores)");
  part_of_[{device, cores}] = part.info.index;
  return part.info.index;
}

/// True if a device has kMostParts parts. @pre mutex_ is held
bool Registry::parts_used_up(int whole) const {
  return std::count_if(parts_.begin(), parts_.end(), [&](const FoundDevice& part) {
           return part.info.whole == whole || part.listed_as == whole;
         }) == kMostParts;
}

/// Add a part of a device: a copy of the device with its own number. @pre mutex_ is held
FoundDevice& Registry::add_part(int whole) {
  const FoundDevice& of = discovery_.devices[static_cast<std::size_t>(whole)];
  if (parts_used_up(whole)) {
    throw DeviceError(describe(of.info) + " is divided into too many parts, or used in too many contexts, of which " +
                      std::to_string(kMostParts) + " are possible: destroy solvers of contexts that are not needed");
  }
  parts_.push_back(of);
  parts_.back().info.index = static_cast<int>(discovery_.devices.size() + parts_.size()) - 1;
  return parts_.back();
}

/// Close a part that holds a caller's context and that no solver uses. Another context of this device can then use the
/// part's number.
/// @pre mutex_ is held
/// @return null if there is no such part
FoundDevice* Registry::unused_part(int listed) {
  for (FoundDevice& part : parts_) {
    const auto index = static_cast<std::size_t>(part.info.index);
    if (part.listed_as != listed || lost_[index] || open_[index].use_count() > 1) continue;
    open_[index].reset();
    return &part;
  }
  return nullptr;
}

std::string Registry::place_of(const DeviceQueue& queue) {
  return ask_queue(queue,
                   [](const cl::CommandQueue& callers) { return pci_address(callers.getInfo<CL_QUEUE_DEVICE>()); });
}

int Registry::device_of(const DeviceQueue& queue) {
  const auto [handle, context] = ask_queue(queue, [](const cl::CommandQueue& callers) {
    return std::pair{callers.getInfo<CL_QUEUE_DEVICE>(), callers.getInfo<CL_QUEUE_CONTEXT>()};
  });
  const auto& all = discovery_.devices;
  const auto found =
      std::find_if(all.begin(), all.end(), [of = handle()](const FoundDevice& d) { return d.handle() == of; });
  if (found == all.end()) {
    throw InvalidInput("the queue's device is not among those that can be used: " +
                       (problems().empty() ? "oclspkt-devices lists them" : problems().front()));
  }
  require_usable(found->info.index);
  if (one_context()) return found->info.index;
  const std::lock_guard lock(mutex_);
  const auto& own = open_[static_cast<std::size_t>(found->info.index)];
  if (own && own->context()() == context()) return found->info.index;  // our own queue
  for (const FoundDevice& part : parts_) {
    if (part.handle() == handle() && part.context() == context()) return part.info.index;
  }
  FoundDevice* part = parts_used_up(found->info.index) ? unused_part(found->info.index) : nullptr;
  if (part == nullptr) {
    part = &add_part(found->info.index);
    part->listed_as = found->info.index;
  }
  part->context = context;
  return part->info.index;
}

const FoundDevice& Registry::device(int index) const {
  const auto count = static_cast<int>(discovery_.devices.size());
  if (index >= count) {
    const std::lock_guard lock(mutex_);
    if (const auto part = static_cast<std::size_t>(index - count); part < parts_.size()) return parts_[part];
  }
  if (index < 0 || index >= count) {
    throw InvalidInput("there is no device " + std::to_string(index) + "; " +
                       std::to_string(discovery_.devices.size()) +
                       " devices were found, counted from 0: oclspkt-devices lists them");
  }
  return discovery_.devices[static_cast<std::size_t>(index)];
}

std::shared_ptr<OpenDevice> Registry::open(int index) {
  const FoundDevice& found = device(index);
  require_usable(index);
  const std::lock_guard lock(mutex_);
  if (found.listed_as >= 0 && found.context() == nullptr) {
    throw DeviceError(describe(found.info) + " was released with its caller's context: set the solver up again");
  }
  auto& slot = open_[static_cast<std::size_t>(index)];
  if (!slot) {
    slot = std::make_shared<OpenDevice>(found);
    // Exit handlers run last in, first out. Ours must run before the handler that the driver adds with a context.
    std::atexit(note_exit);
  }
  return slot;
}

void Registry::require_usable(int index) const {
  const DeviceInfo& info = device(index).info;
  if (forked()) {
    throw DeviceError(describe(info) +
                      " cannot be used: this process was forked after the OpenCL drivers had started, without their "
                      "threads; fork before the first solve on a device, or start processes by exec (Python: "
                      "multiprocessing.set_start_method('spawn'))");
  }
  if (exiting) throw DeviceError("the process is ending; no OpenCL device can be used any more");
  if (!is_lost(index)) return;
  const std::lock_guard lock(mutex_);
  throw DeviceError(describe(info) + " was lost earlier: " + lost_why_[static_cast<std::size_t>(index)] +
                    "; it is not used again in this process");
}

void Registry::abandon(const OpenDevice& device, const std::string& why) {
  const auto index = static_cast<std::size_t>(device.info().index);
  const std::lock_guard lock(mutex_);
  if (!lost_[index]) lost_why_[index] = why;
  lost_[index] = true;
}

void Registry::watch(const std::shared_ptr<Holding>& holding) {
  const std::lock_guard lock(mutex_);
  std::erase_if(holdings_, [](const std::weak_ptr<Holding>& h) { return h.expired(); });
  holdings_.push_back(holding);
}

void Registry::retire(std::shared_ptr<Holding> holding, int device) noexcept {
  if (device < 0) return;
  if (exiting || is_lost(device) || forked()) {
    keep_for_ever(std::move(holding));
  } else {
    holding->drop();
  }
}

void Registry::keep_for_ever(std::shared_ptr<Holding> holding) noexcept {
  Holding* const kept = holding.get();
  kept->self_ = std::move(holding);
  kept->next_ = kept_;
  while (!kept_.compare_exchange_weak(kept->next_, kept)) {
  }
}

void Registry::release() {
  if (exiting || forked()) return;
  std::vector<std::shared_ptr<Holding>> living;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& holding : holdings_) {
      if (auto alive = holding.lock()) living.push_back(std::move(alive));
    }
  }
  for (const auto& holding : living) holding->drop();
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (!lost_[i]) open_[i].reset();
  }
  for (FoundDevice& part : parts_) part.context = cl::Context();  // leave the context to the caller
}

}  // namespace oclspkt::ocl

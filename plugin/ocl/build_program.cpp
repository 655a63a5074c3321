// SPDX-License-Identifier: BSD-2-Clause
#include "build_program.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include "error_name.hpp"
#include "fault.hpp"
#include "kernel_source.hpp"
#include "oclspkt/error.hpp"
#include "plan.hpp"
#include "program_cache.hpp"
#include "program_file.hpp"

extern char** environ;

namespace oclspkt::ocl {
namespace {

constexpr int kLogLines = 12;

std::string first_lines(const std::string& log) {
  std::size_t end = 0;
  for (int line = 0; line < kLogLines && end != std::string::npos; ++line) {
    end = log.find('\n', end);
    if (end != std::string::npos) ++end;
  }
  return log.substr(0, end);
}

/// True for CPU run-times that compile each program again in every process. plugin/cuda caches CUDA programs.
bool keeps_nothing(const DeviceInfo& device) {
  return !device.cuda && device.type != DeviceType::gpu && device.platform.starts_with("Intel(R)");
}

/// Returns the surroundings that a compiled program depends on: the settings of Intel's run-times, and the instruction
/// set of the processors. On a virtual machine, a device's name does not show this set.
std::vector<std::string> look_around() {
  std::vector<std::string> all;
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line) && !line.empty();) {  // lines of the first processor
    if (line.starts_with("flags") || line.starts_with("Features")) all.push_back(line);
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string(*variable).starts_with("CL_CONFIG_")) all.emplace_back(*variable);
  }
  std::sort(all.begin(), all.end());
  return all;
}

class KeptProgram {
 public:
  KeptProgram(const FoundDevice& device, const WantedProgram& wanted) : device_(device), kernel_(wanted.kernel) {
    if (!keeps_nothing(device.info)) return;
    static const std::vector<std::string> surroundings = look_around();
    std::vector<std::string> parts = surroundings;
    const DeviceInfo& info = device.info;
    parts.insert(parts.end(),
                 {info.platform, info.name, info.driver_version, wanted.kernel, wanted.options, wanted.source});
    key_ = ProgramCache::key(parts);
  }

  std::optional<cl::Program> load(const cl::Context& context) const {
    const std::string code = key_.empty() ? "" : cache_.find(key_);
    if (code.empty()) return std::nullopt;
    try {
      cl::Program program(context, {device_.handle}, {{code.begin(), code.end()}});
      program.build(std::vector<cl::Device>{device_.handle});
      const cl::Kernel kernel(program, kernel_.c_str());
      return program;
    } catch (const cl::Error&) {
      return std::nullopt;  // compile the program and store it again
    }
  }
  void keep(const cl::Program& program) const {
    if (key_.empty()) return;
    try {
      const std::vector<unsigned char> bytes = bytes_of_program(program);
      cache_.keep(key_, {bytes.begin(), bytes.end()});
    } catch (const cl::Error&) {  // the driver does not provide the program's bytes
    }
  }

 private:
  const FoundDevice& device_;
  const std::string& kernel_;
  const ProgramCache cache_;
  std::string key_;  ///< empty: nothing is stored
};

}  // namespace

const char* kernel_text(const std::string& kernel) {
  for (const KernelSource* source = kKernelSources; source->name != nullptr; ++source) {
    if (kernel == source->name) return source->text;
  }
  throw DeviceError("no kernel named " + kernel + " is in the OpenCL module: install libraries of one version");
}

std::string build_options(const FoundDevice& device, bool is_double, int lanes) {
  std::string options = "-cl-std=CL1.2 -D SCALAR=";
  options += is_double ? "SCALAR_DOUBLE" : "SCALAR_FLOAT";
  const int native = device.lanes(is_double);
  const bool scalars = lanes == 1 || lanes == kOneTask;
  options += " -D LANES=" +
             std::to_string(scalars     ? 1
                            : lanes > 0 ? lanes
                                        : native) +
             " -D NATIVE_LANES=" + std::to_string(scalars ? 1 : native);
  // Optimisers for CPUs break kernels with work-groups of many work-items. Under PoCL 3.1, some work-items start from
  // other work-items' values. Intel's optimiser (2023.2.4) drops terms. Without optimisation both compilers give
  // correct results.
  if (lanes == 1 && device.info.host_unified) options += " -cl-opt-disable";
  if (device.info.host_unified) options += " -D HOST_MEMORY";
  if (device.info.type == DeviceType::fpga) options += " -D FPGA";  // compilers for FPGAs define no macro of their own
  return options;
}

std::string core_groups(const FoundDevice& device, int items, Index groups) {
  std::string options = " -D CORE_GROUPS=" + std::to_string(groups);
  if (device.info.cuda || device.info.platform.find("NVIDIA") == std::string::npos) return options;
  // A multiprocessor has four quarters. Each quarter runs warps of 32 work-items, and has 512 registers for each of
  // these 32. Warps share the registers in units of 8.
  constexpr Index kInStep = 32, kQuarters = 4, kRegisters = 512, kUnit = 8, kMost = 255;
  const Index of_quarter = quotient_up(quotient_up(groups * items, kInStep), kQuarters);
  const Index registers = std::min(kMost, kRegisters / of_quarter / kUnit * kUnit);
  return options + " -D NO_GROUP_REQUIRED -cl-nv-maxrregcount=" + std::to_string(registers);
}

cl::Program build_program(const FoundDevice& device, const cl::Context& context, const WantedProgram& wanted) {
  const KeptProgram kept(device, wanted);
  cl::Program program;
  try {
    fault_point(Place::build, device.info);
    if (const std::optional<cl::Program> earlier = kept.load(context)) return *earlier;
    program = cl::Program(context, wanted.source);
    program.build(std::vector<cl::Device>{device.handle}, wanted.options.c_str());
  } catch (const cl::Error& error) {
    std::string log;
    try {
      log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device.handle);
    } catch (const cl::Error&) {
      log = "(the driver gives no log)";
    }
    throw BuildError(describe(device.info) + ": kernel " + wanted.kernel + " does not build, " +
                     error_name(error.err()) + ", options " + wanted.options + ":\n" + first_lines(log));
  }
  kept.keep(program);
  return program;
}

}  // namespace oclspkt::ocl

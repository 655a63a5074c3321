// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-devices: print the OpenCL devices that the solver finds, and the kernels that it would run on each device.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "device.hpp"

namespace {

using oclspkt::DeviceInfo;
using oclspkt::DeviceModule;

constexpr const char* kHelp =
    "Usage: oclspkt-devices [--help]\n"
    "\n"
    "Print the OpenCL devices that oclspkt finds: index, type, name, platform, compute units, memory, double\n"
    "precision, seconds of an empty launch, millions of rows a second of the truncated method in float and double,\n"
    "and what each would be used for. The index, a type, or a part of a name or platform selects a device:\n"
    "  -pc_oclspkt_devices 0        -pc_oclspkt_devices cpu        -pc_oclspkt_devices pthread\n"
    "Drivers and platforms that could not be used are listed below the table.\n";

using Row = std::vector<std::string>;

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// Says which kernels run on the device, and whether a selection that names no device includes it.
std::string use_of(const DeviceInfo& device) {
  if (!device.compiler) return "what its binary solves; only with -pc_oclspkt_fpga_binary (docs/fpga.md)";
  std::string use;
  const bool task = device.type == oclspkt::DeviceType::fpga;
  if (task) use = "truncated-streamed, exact-factored (also side by side; all methods with variant cpu)";
  for (std::size_t i = 0; !task && i < std::size(oclspkt::kMethodNames); ++i) {
    const auto method = static_cast<oclspkt::Method>(i);
    if (!oclspkt::device_carries(method, oclspkt::LineSet::one(1))) continue;
    if (!use.empty()) use += ", ";
    use += oclspkt::kMethodNames[i];
    if (oclspkt::device_carries(method, oclspkt::LineSet::grid_axis(1, 2, 2, 1))) use += " (also side by side)";
  }
  if (device.type == oclspkt::DeviceType::gpu)
    use += " (truncated-halo end to end, and stored factors side by side, by kernels made for GPUs)";
  use += device.emulated ? "; emulated, only if named" : "; auto, all";
  return use;
}

/// Add the measured launch cost and rates of a device, or why they could not be measured.
void add_figures(DeviceModule& module, const DeviceInfo& device, Row& row, std::vector<std::string>& problems) {
  std::string launch = "-";
  std::string rates[2] = {"-", "-"};
  for (const bool is_double : {false, true}) {
    if ((is_double && !device.fp64) || !device.compiler) continue;
    try {
      const auto profile = module.profile(device.index, is_double);
      launch = text("%.1f us", 1e6 * profile.launch_seconds);
      rates[is_double ? 1 : 0] = text("%.0f", 1e-6 * profile.rows_per_second);
    } catch (const std::exception& e) {
      problems.emplace_back(e.what());
    }
  }
  row.push_back(launch);
  row.push_back(rates[0]);
  row.push_back(rates[1]);
}

void print_table(const std::vector<Row>& table) {
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (const Row& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    std::puts(line.c_str());
  }
}

void print_devices(DeviceModule& module) {
  std::vector<std::string> problems = module.problems();
  std::vector<Row> table = {
      {"#", "type", "name", "platform", "cores", "memory", "fp64", "launch", "Mrows/s f32", "f64", "used for"}};
  for (const DeviceInfo& device : module.devices()) {
    Row row = {std::to_string(device.index),
               oclspkt::name(device.type),
               device.name,
               device.platform,
               std::to_string(device.cores),
               text("%.1f GiB", static_cast<double>(device.memory) / (1 << 30)),
               device.fp64 ? "yes" : "no"};
    add_figures(module, device, row, problems);
    row.push_back(use_of(device));
    table.push_back(std::move(row));
  }
  if (module.devices().empty()) {
    std::puts("No OpenCL device was found; systems are solved on the host (-pc_oclspkt_devices host).");
  } else {
    print_table(table);
  }
  for (const std::string& problem : problems) std::printf("problem: %s\n", problem.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0;
    std::fputs(help ? "" : ("unknown argument '" + std::string(argv[1]) + "'\n").c_str(), stderr);
    std::fputs(kHelp, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  std::string why;
  DeviceModule* module = oclspkt::device_module(&why);
  if (module == nullptr) {
    std::printf("No OpenCL device can be used: %s; systems are solved on the host.\n", why.c_str());
    return 0;
  }
  print_devices(*module);
  return 0;
}

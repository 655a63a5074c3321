// SPDX-License-Identifier: BSD-2-Clause
#include <fstream>
#include <iterator>

#include "error_name.hpp"
#include "kernel_source.hpp"
#include "program_file.hpp"
#include "registry.hpp"

namespace oclspkt::ocl {
namespace {

/// The number of lanes for which the schemes build kernels of a folder.
int lanes_of(const std::string& kernel) {
  for (const KernelSource* source = kKernelSources; source->name != nullptr; ++source) {
    if (kernel != source->name) continue;
    return source->folder == std::string("fpga") ? kOneTask : source->folder == std::string("gpu") ? 1 : 0;
  }
  return 0;
}

/// A board, with the properties that options depend on.
FoundDevice some_board() {
  FoundDevice board;
  board.info.type = DeviceType::fpga;
  board.info.compiler = false;
  return board;
}

class Maker final : public ProgramMaker {
 public:
  std::vector<std::string> kernels(bool for_fpgas) const override {
    std::vector<std::string> names;
    for (const KernelSource* source = kKernelSources; source->name != nullptr; ++source) {
      if (!for_fpgas || source->folder == std::string("fpga")) names.emplace_back(source->name);
    }
    return names;
  }
  std::string text(const std::string& kernel) const override { return kernel_text(kernel); }
  std::string options(const ProgramOrder& order) const override { return wanted(some_board(), order).options; }
  std::string name(const ProgramOrder& order) const override { return program_name(wanted(some_board(), order)); }

  std::string build(int device, const ProgramOrder& order, const std::string& folder) override {
    const auto open = Registry::instance().open(device);
    const DeviceInfo& info = open->info();
    if (!info.compiler)
      throw BuildError(oclspkt::ocl::describe(info) + " has no compiler for kernels: name an emulator");
    const WantedProgram program = wanted(open->found(), order);
    try {
      const cl::Program built = build_program(open->found(), open->context(), program);
      const std::vector<unsigned char> bytes = bytes_of_program(built);
      std::string file = folder + "/" + program_name(program) + ".bin";
      write_program(file, note_of(program, info.name, info.platform, info.driver_version, bytes), bytes);
      return file;
    } catch (const cl::Error& error) {
      throw device_error(info, "taking the program of kernel " + order.kernel, error);
    }
  }

  void describe(const std::string& file, const ProgramOrder& order, const BoardName& board) const override {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(stream), {}};
    if (bytes.empty()) throw InvalidInput("cannot read " + file + ": the compiler should have written it");
    write_note(file, note_of(wanted(some_board(), order), board.device, board.platform, board.driver, bytes));
  }

 private:
  static WantedProgram wanted(const FoundDevice& device, const ProgramOrder& order) {
    const std::string options = build_options(device, order.is_double, lanes_of(order.kernel));
    return {order.kernel, kernel_text(order.kernel), options + (order.defines.empty() ? "" : " " + order.defines)};
  }
};

}  // namespace

ProgramMaker& program_maker() {
  static auto* maker = new Maker;  // usable until the process ends
  return *maker;
}

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "balance.hpp"
#include "choices.hpp"
#include "fpga_times.hpp"
#include "lines.hpp"
#include "oclspkt/error.hpp"
#include "solve.hpp"
#include "sweep.hpp"
#include "weak_line.hpp"

namespace {

constexpr int kUsage = 2;  ///< exit status of what the caller can mend; 1 is for answers that are wrong

struct Command {
  const char* name;
  const char* purpose;
  int (*run)(const std::vector<std::string>& arguments, const std::string& command);
};

constexpr Command kCommands[] = {
    {"solve", "one system, everybody who can solve it", oclspkt::bench::solve_command},
    {"sweep", "systems of all sizes, host and device, float and double, everybody who can solve them",
     oclspkt::bench::sweep_command},
    {"choices", "what set-up chooses for matrices from easy to hard, and why", oclspkt::bench::choices_command},
    {"lines", "lines along the axes of grids and end to end, bands of their own, shared, symmetric and narrow",
     oclspkt::bench::lines_command},
    {"balance", "every set of processors that share a system, or a machine that is simulated",
     oclspkt::bench::balance_command},
    {"fpga-model", "what a model predicts of a board with an FPGA, and what limits it",
     oclspkt::bench::fpga_model_command},
    {"weak-line", "many lines, and what one costs that wants another method", oclspkt::bench::weak_line_command},
};

/// A command that needs more than the others, PETSc or OpenCL, is a program of its own, oclspkt-bench-NAME in the same
/// folder. Those that need PETSc have options as PETSc writes them.
struct Companion {
  const char *name, *purpose, *help;
  const char* without;  ///< option of the build that leaves it out if it is OFF
};

constexpr Companion kCompanions[] = {
    {"paper", "the figures and tables of the paper on the devices of this machine", "--help", "OCLSPKT_WITH_OPENCL"},
    {"petsc", "whole set-ups and solves of PETSc, the plugin beside ILU(0) and LU", "-help", "OCLSPKT_WITH_PETSC"},
    {"adi", "implicit steps on a grid, factored by directions, beside CG", "-help", "OCLSPKT_WITH_PETSC"},
    {"krylov", "vectors and sparse products on a device, CG of them, cuBLAS and cuSPARSE beside", "--help",
     "OCLSPKT_WITH_OPENCL"},
};

/// Become that program.
[[noreturn]] void start(const Companion& companion, const std::vector<std::string>& arguments) {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  const std::string program = own.string() + '-' + companion.name;
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  throw oclspkt::InvalidInput("cannot start " + program + ": " + std::strerror(errno) + "; it is built unless " +
                              companion.without + " is OFF");
}

std::string usage() {
  std::ostringstream text;
  text << "usage: oclspkt-bench COMMAND [options]\n" << std::left;
  for (const Command& c : kCommands) text << "  " << std::setw(12) << c.name << c.purpose << '\n';
  for (const Companion& c : kCompanions) {
    text << "  " << std::setw(12) << c.name << c.purpose << " (" << c.help << ")\n";
  }
  text << "oclspkt-bench COMMAND --help prints a command's options\n";
  return text.str();
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() == "--help") {
    (arguments.empty() ? std::cerr : std::cout) << usage();
    return arguments.empty() ? kUsage : 0;
  }
  std::string line = "oclspkt-bench";
  for (const std::string& a : arguments) line += ' ' + a;
  for (const Command& c : kCommands) {
    if (arguments.front() == c.name) return c.run({arguments.begin() + 1, arguments.end()}, line);
  }
  for (const Companion& c : kCompanions) {
    if (arguments.front() == c.name) start(c, {arguments.begin() + 1, arguments.end()});
  }
  throw oclspkt::InvalidInput("there is no command '" + arguments.front() + "'\n" + usage());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::cerr << "oclspkt-bench: out of memory: use fewer --rows\n";
  } catch (const std::exception& error) {
    std::cerr << "oclspkt-bench: " << error.what() << '\n';
  }
  return kUsage;
}

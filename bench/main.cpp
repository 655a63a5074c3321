// SPDX-License-Identifier: BSD-2-Clause
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "choices.hpp"
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
    {"lines", "lines along the axes of grids and end to end, bands of their own and shared ones",
     oclspkt::bench::lines_command},
    {"weak-line", "many lines, and what one costs that wants another method", oclspkt::bench::weak_line_command},
};

std::string usage() {
  std::string text = "usage: oclspkt-bench COMMAND [options]\n";
  for (const Command& c : kCommands) text += std::string("  ") + c.name + "   " + c.purpose + '\n';
  return text + "oclspkt-bench COMMAND --help prints a command's options\n";
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

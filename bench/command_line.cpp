// SPDX-License-Identifier: BSD-2-Clause
#include "command_line.hpp"

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "oclspkt/error.hpp"

namespace oclspkt::bench {

namespace po = boost::program_options;

po::variables_map read_command_line(const std::vector<std::string>& arguments, const std::string& command,
                                    const po::options_description& options) {
  po::variables_map given;
  try {
    // Without guessing: an option that a later version adds must not change what a command means.
    using namespace po::command_line_style;
    po::store(
        po::command_line_parser(arguments).options(options).style(unix_style & ~allow_guessing).positional({}).run(),
        given);
    po::notify(given);
  } catch (const po::error& error) {
    throw InvalidInput(std::string(error.what()) + "; see oclspkt-bench " + command + " --help");
  }
  if (!given.count("help")) return given;
  std::cout << options;
  return {};
}

void add_budget_options(po::options_description& all, Budget& budget) {
  auto add = all.add_options();
  add("repetitions", po::value(&budget.rounds)->default_value(budget.rounds),
      "rounds at most; each times everybody once");
  add("seconds", po::value(&budget.seconds)->default_value(budget.seconds),
      "no round begins later than this, but for the first three");
}

void check_budget(const Budget& budget) {
  if (budget.rounds < 1) throw InvalidInput("--repetitions must be at least 1");
  if (!(budget.seconds >= 0)) throw InvalidInput("--seconds must not be negative");
}

void add_allow_debug(po::options_description& all, bool& allow_debug) {
  all.add_options()("allow-debug", po::bool_switch(&allow_debug),
                    "do not refuse a build that is not Release (tests of the output)");
}

Index parse_rows(const std::string& text, const std::string& option) {
  constexpr double kMost = 0x1p40;
  char* end = nullptr;
  const double rows = std::strtod(text.c_str(), &end);
  const bool whole = end != text.c_str() && *end == '\0' && rows >= 1 && rows <= kMost && rows == std::floor(rows);
  if (!whole) {
    throw InvalidInput("--" + option + " must be a whole number from 1 to 2^40, such as 2e7, not '" + text + "'");
  }
  return static_cast<Index>(rows);
}

void check_precision(const std::string& precision) {
  if (precision == "float" || precision == "double") return;
  throw InvalidInput("--precision is float or double, not '" + precision + "'");
}

}  // namespace oclspkt::bench

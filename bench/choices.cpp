// SPDX-License-Identifier: BSD-2-Clause
#include "choices.hpp"

#include <boost/program_options.hpp>
#include <iostream>
#include <optional>

#include "command_line.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "provenance.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;

constexpr double kLambdas[] = {0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6};
constexpr double kDominances[] = {0.8, 0.95, 1, 1.001, 1.01, 1.1, 1.5, 2, 3, 5, 10};
constexpr double kPeclets[] = {1, 10, 1e3};

struct Choice {
  std::string taken, device;
  std::vector<std::string> lines;
};

template <typename T>
Choice choose(const ChoicesSettings& settings, const MatrixSpec& spec) {
  Options options;
  options.devices = settings.devices;
  Solver<T> solver(options);
  fill_bands(spec, solver.bands(LineSet::one(settings.rows)));
  Choice choice;
  try {
    solver.set_up();
    choice.taken = name(solver.report().method);
  } catch (const Breakdown&) {
    choice.taken = "none";
  }
  choice.device = solver.report().device.name;
  choice.lines = explain(solver.report());
  return choice;
}

template <typename T>
int run(const ChoicesSettings& settings, const std::string& command) {
  require_memory(settings.rows, 12 * sizeof(T));  // bands, factors, a trial solve
  std::string summary = "| matrix | method | device |\n|---|---|---|\n";
  std::cout << "<!-- Made by `" << command << "`. -->\n# What is chosen\n\n"
            << settings.rows << " rows, " << settings.precision << ", devices " << settings.devices << ", on "
            << cpu_model() << ". [Why did it choose this?](why.md) explains the lines.\n";
  for (const MatrixSpec& spec : choice_cases()) {
    const Choice choice = choose<T>(settings, spec);
    summary += "| " + spec.describe() + " | " + choice.taken + " | " + choice.device + " |\n";
    std::cout << "\n## " << spec.describe() << "\n\n";
    for (const std::string& line : choice.lines) std::cout << "    " << line << '\n';
  }
  std::cout << "\n## All\n\n" << summary << std::flush;
  return 0;
}

}  // namespace

std::vector<MatrixSpec> choice_cases() {
  std::vector<MatrixSpec> cases;
  for (const double lambda : kLambdas) cases.push_back({.matrix = Matrix::diffusion, .lambda = lambda});
  for (const double d : kDominances) cases.push_back({.matrix = Matrix::random, .dominance = d});
  for (const Matrix m : {Matrix::poisson, Matrix::row_sums_zero}) cases.push_back({.matrix = m});
  for (const double peclet : kPeclets) {
    for (const double wind : {peclet, -peclet}) cases.push_back({.matrix = Matrix::advection, .peclet = wind});
    cases.push_back({.matrix = Matrix::turning_wind, .peclet = peclet});
  }
  return cases;
}

int choices_command(const std::vector<std::string>& arguments, const std::string& command) {
  ChoicesSettings settings;
  std::string rows;
  po::options_description all("oclspkt-bench choices [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("devices", po::value(&settings.devices)->default_value(settings.devices),
      "as -pc_oclspkt_devices takes it: auto, host, cpu, part of a name, ...");
  add("precision", po::value(&settings.precision)->default_value(settings.precision), "float or double");
  add("rows", po::value(&rows)->default_value("1e6"), "rows of each system");
  if (read_command_line(arguments, "choices", all).empty()) return 0;
  settings.rows = parse_rows(rows);
  check_precision(settings.precision);
  return settings.precision == "double" ? run<double>(settings, command) : run<float>(settings, command);
}

}  // namespace oclspkt::bench

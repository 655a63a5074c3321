// SPDX-License-Identifier: BSD-2-Clause
#include "solve.hpp"

#include <omp.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>

#include "command_line.hpp"
#include "oclspkt/error.hpp"
#include "output.hpp"
#include "provenance.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;

po::options_description options(SolveSettings& s, std::string& rows, std::string& matrix) {
  po::options_description all("oclspkt-bench solve [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("device", po::value(&s.device)->default_value(s.device), "auto, host, cpu, gpu, fpga, part of a name, an index");
  add("precision", po::value(&s.precision)->default_value(s.precision), "float or double");
  add("rows", po::value(&rows)->default_value("2e7"), "rows of the system");
  add("matrix", po::value(&matrix)->default_value(name(s.matrix.matrix)), ("one of: " + known_matrices()).c_str());
  add("dominance", po::value(&s.matrix.dominance)->default_value(s.matrix.dominance),
      "of matrix random: |diag| / (|lower| + |upper|)");
  add("symmetric", po::bool_switch(&s.matrix.symmetric),
      "of matrix random: couplings the same both ways, positive diagonal");
  add("lambda", po::value(&s.matrix.lambda)->default_value(s.matrix.lambda),
      "of matrix diffusion: tridiag(-lambda, 1 + 2 lambda, -lambda), and conduction: the same with a random "
      "conductivity");
  add("peclet", po::value(&s.matrix.peclet)->default_value(s.matrix.peclet),
      "of matrix advection and turning-wind: tridiag(-1 - Pe, 2 + Pe, -1), mirrored where negative");
  add("seed", po::value(&s.matrix.seed)->default_value(s.matrix.seed), "of random numbers");
  add("methods", po::value(&s.methods)->default_value(s.methods), ("list of: " + known_methods()).c_str());
  add("repetitions", po::value(&s.budget.rounds)->default_value(s.budget.rounds),
      "rounds at most; each times every method once");
  add("seconds", po::value(&s.budget.seconds)->default_value(s.budget.seconds),
      "no round begins later than this, but for the first three");
  add("threads", po::value(&s.threads), "of OpenMP (the stream, set-up of the data); default: its own choice");
  add("json", po::value(&s.json), "file to write the results to");
  add("allow-debug", po::bool_switch(&s.allow_debug),
      "do not refuse a build that is not Release (tests of the output)");
  return all;
}

void check_settings(const SolveSettings& s, const po::variables_map& given) {
  const auto require = [](bool holds, const std::string& otherwise) {
    if (!holds) throw InvalidInput(otherwise);
  };
  const auto only_of = [&](const char* option, Matrix m) {
    require(s.matrix.matrix == m || given[option].defaulted(),
            std::string("--") + option + " belongs to --matrix " + name(m) + ", not " + name(s.matrix.matrix));
  };
  only_of("dominance", Matrix::random);
  only_of("symmetric", Matrix::random);
  require(diffuses(s.matrix.matrix) || given["lambda"].defaulted(),
          std::string("--lambda belongs to --matrix diffusion and conduction, not ") + name(s.matrix.matrix));
  require(blows(s.matrix.matrix) || given["peclet"].defaulted(),
          std::string("--peclet belongs to --matrix advection and turning-wind, not ") + name(s.matrix.matrix));
  check_precision(s.precision);
  require(s.matrix.dominance > 0 && std::isfinite(s.matrix.dominance), "--dominance must be positive");
  require(s.matrix.lambda >= 0 && std::isfinite(s.matrix.lambda), "--lambda must not be negative");
  require(std::isfinite(s.matrix.peclet), "--peclet must be finite");
  require(s.budget.rounds >= 1, "--repetitions must be at least 1");
  require(s.budget.seconds >= 0, "--seconds must not be negative");
  require(!given.count("threads") || s.threads >= 1, "--threads must be at least 1");
}

/// @return nothing if only the help was asked for, and printed
std::optional<SolveSettings> parse(const std::vector<std::string>& arguments) {
  SolveSettings s;
  std::string rows, matrix;
  const po::options_description all = options(s, rows, matrix);
  const po::variables_map given = read_command_line(arguments, "solve", all);
  if (given.empty()) return std::nullopt;
  s.rows = parse_rows(rows);
  s.matrix.matrix = parse_matrix(matrix);
  check_settings(s, given);
  return s;
}

/// Written before anything is timed, so that a wrong path does not cost the measurement.
std::ofstream open_json(const std::string& path) {
  std::ofstream file;
  if (path.empty()) return file;
  file.open(path);
  if (!file) throw InvalidInput("cannot write --json " + path + ": name a file in a folder that exists");
  return file;
}

template <typename T>
int run(const SolveSettings& s, const std::string& command) {
  const std::vector<std::string> names = parse_methods(s.methods);
  require_memory(s.rows, (kProblemArrays + contestant_arrays(names)) * sizeof(T));
  std::ofstream json = open_json(s.json);
  Progress progress;
  progress.step("make the matrix");
  Problem<T> problem(s.matrix, s.rows);
  Field<T> field = make_field(names, s.device, problem, progress);
  for (Contestant<T>& c : field.contestants) {
    progress.step("check " + c.record.solver + " " + c.record.method);
    check(c, problem);
  }
  time_interleaved(field.contestants, s.budget, progress);
  progress.finish();

  std::vector<Record> records;
  for (const Contestant<T>& c : field.contestants) records.push_back(c.record);
  std::cout << s.rows << " rows, " << s.precision << ", matrix " << s.matrix.describe() << "; " << omp_get_max_threads()
            << " threads\n"
            << table(records) << std::flush;
  if (json.is_open()) {
    nlohmann::ordered_json document{{"provenance", provenance(field.device, command)}};
    document["provenance"]["matrix"] = s.matrix.describe();
    document["results"] = to_json(records);
    json << document.dump(2) << '\n';
    json.close();
    if (!json) throw InvalidInput("writing --json " + s.json + " failed: is the disk full?");
  }
  const auto bad = [](const Record& r) { return r.outcome == Outcome::wrong || r.outcome == Outcome::failed; };
  return std::any_of(records.begin(), records.end(), bad) ? 1 : 0;
}

}  // namespace

int solve_command(const std::vector<std::string>& arguments, const std::string& command) {
  const std::optional<SolveSettings> settings = parse(arguments);
  if (!settings) return 0;
  if (!settings->allow_debug) require_release();
  if (settings->threads > 0) omp_set_num_threads(settings->threads);
  return settings->precision == "double" ? run<double>(*settings, command) : run<float>(*settings, command);
}

}  // namespace oclspkt::bench

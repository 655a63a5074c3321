// SPDX-License-Identifier: BSD-2-Clause
#include "solve.hpp"

#include <omp.h>

#include <boost/program_options.hpp>
#include <iostream>
#include <optional>

#include "command_line.hpp"
#include "json_file.hpp"
#include "matrix_options.hpp"
#include "oclspkt/error.hpp"
#include "output.hpp"
#include "provenance.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;

po::options_description options(SolveSettings& s, std::string& rows, MatrixOptions& matrix) {
  po::options_description all("oclspkt-bench solve [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("device", po::value(&s.device)->default_value(s.device), "auto, host, cpu, gpu, fpga, part of a name, an index");
  add("precision", po::value(&s.precision)->default_value(s.precision), "float or double");
  add("rows", po::value(&rows)->default_value("2e7"), "rows of the system");
  matrix.add_to(all);
  add("methods", po::value(&s.methods)->default_value(s.methods),
      ("list of: " + known_methods() + "; METHOD@SELECTION runs on another device").c_str());
  add_budget_options(all, s.budget);
  add("threads", po::value(&s.threads), "of OpenMP (the stream, set-up of the data); default: its own choice");
  add("json", po::value(&s.json), "file to write the results to");
  add_allow_debug(all, s.allow_debug);
  return all;
}

/// @return nothing if only the help was asked for, and printed
std::optional<SolveSettings> parse_solve_settings(const std::vector<std::string>& arguments) {
  SolveSettings s;
  std::string rows;
  MatrixOptions matrix;
  const po::options_description all = options(s, rows, matrix);
  const po::variables_map given = read_command_line(arguments, "solve", all);
  if (given.empty()) return std::nullopt;
  s.rows = parse_rows(rows);
  s.matrix = matrix.read(given);
  check_precision(s.precision);
  check_budget(s.budget);
  if (given.count("threads") && s.threads < 1) throw InvalidInput("--threads must be at least 1");
  return s;
}

template <typename T>
int run(const SolveSettings& s, const std::string& command) {
  const std::vector<std::string> names = parse_methods(s.methods);
  require_memory(s.rows, (kProblemArrays + contestant_arrays(names)) * sizeof(T));
  JsonFile json(s.json);
  Progress progress;
  progress.step("make the matrix");
  Problem<T> problem(s.matrix, s.rows);
  Field<T> field = make_field(names, s.device, problem, progress);
  const std::vector<Record> records = check_and_time(field.contestants, problem, s.budget, progress);
  std::cout << s.rows << " rows, " << s.precision << ", matrix " << s.matrix.describe() << "; " << omp_get_max_threads()
            << " threads\n"
            << table(records) << std::flush;
  nlohmann::ordered_json document{{"provenance", provenance(field.device, command)}};
  document["provenance"]["matrix"] = s.matrix.describe();
  document["results"] = to_json(records);
  json.write(document);
  return any_bad(records) ? 1 : 0;
}

}  // namespace

int solve_command(const std::vector<std::string>& arguments, const std::string& command) {
  const std::optional<SolveSettings> settings = parse_solve_settings(arguments);
  if (!settings) return 0;
  if (!settings->allow_debug) require_release();
  if (settings->threads > 0) omp_set_num_threads(settings->threads);
  return settings->precision == "double" ? run<double>(*settings, command) : run<float>(*settings, command);
}

}  // namespace oclspkt::bench

// SPDX-License-Identifier: BSD-2-Clause
#include "sweep.hpp"

#include <boost/program_options.hpp>
#include <cmath>
#include <iostream>
#include <optional>
#include <set>

#include "command_line.hpp"
#include "contestants.hpp"
#include "json_file.hpp"
#include "matrix_options.hpp"
#include "measure.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/options.hpp"
#include "output.hpp"
#include "peers.hpp"
#include "provenance.hpp"
#include "split.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;

/// Every method of the library by its own name, and all peers.
std::string everybody() {
  std::string all = "stream,stream-opencl";
  for (const char* method : kMethodNames) all += std::string(",") + method;
  for (const PeerFacts& peer : peers()) all += std::string(",") + peer.name;
  return all;
}

struct SweepSettings {
  std::string device = "auto", precisions = "float,double", methods = everybody();
  Index from = 10, to = 100'000'000;
  int per_decade = 1;
  MatrixSpec matrix;
  Budget budget{.rounds = 11, .seconds = 3, .least_seconds = 2e-3};
  std::string json;
  bool allow_debug = false;
};

po::options_description options(SweepSettings& s, std::string& from, std::string& to, MatrixOptions& matrix) {
  po::options_description all("oclspkt-bench sweep [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("device", po::value(&s.device)->default_value(s.device),
      "beside the host, the first of: auto, host, cpu, gpu, fpga, part of a name, an index");
  add("precisions", po::value(&s.precisions)->default_value(s.precisions), "list of: float, double");
  add("from", po::value(&from)->default_value("10"), "rows of the smallest system");
  add("to", po::value(&to)->default_value("1e8"), "rows of the largest; memory may end the sweep before");
  add("per-decade", po::value(&s.per_decade)->default_value(s.per_decade), "sizes to a factor of ten");
  matrix.add_to(all);
  add("methods", po::value(&s.methods)->default_value(s.methods), ("list of: " + known_methods()).c_str());
  add_budget_options(all, s.budget);
  add("json", po::value(&s.json), "file to write the results to");
  add_allow_debug(all, s.allow_debug);
  return all;
}

/// @return nothing if only the help was asked for, and printed
std::optional<SweepSettings> parse_sweep_settings(const std::vector<std::string>& arguments) {
  SweepSettings s;
  std::string from, to;
  MatrixOptions matrix;
  const po::options_description all = options(s, from, to, matrix);
  const po::variables_map given = read_command_line(arguments, "sweep", all);
  if (given.empty()) return std::nullopt;
  s.from = parse_rows(from, "from");
  s.to = parse_rows(to, "to");
  if (s.from > s.to) throw InvalidInput("--from must not be above --to");
  if (s.per_decade < 1) throw InvalidInput("--per-decade must be at least 1");
  s.matrix = matrix.read(given);
  for (const std::string& precision : split(s.precisions, ',')) check_precision(precision);
  check_budget(s.budget);
  return s;
}

/// Who is absent at one size is so at the next: it is said once.
class Newcomers {
 public:
  std::vector<Record> leave_out_known(const std::vector<Record>& records) {
    std::vector<Record> shown;
    for (const Record& r : records) {
      if (r.outcome != Outcome::absent || said_.insert(r.solver + r.variant + r.note).second) shown.push_back(r);
    }
    return shown;
  }

 private:
  std::set<std::string> said_;
};

/// Solve one size; append the results.
/// @return false if a contestant was bad
template <typename T>
bool run_size(const SweepSettings& s, const std::vector<std::string>& names, Index rows, Newcomers& newcomers,
              nlohmann::ordered_json& results) {
  const auto groups = groups_that_fit(names, rows, sizeof(T));
  if (groups.empty()) {
    std::cout << rows << " rows do not fit into memory\n";
    return true;
  }
  Progress progress;
  progress.step("make the matrix of " + std::to_string(rows) + " rows");
  Problem<T> problem(s.matrix, rows);
  bool good = true;
  for (const std::vector<std::string>& group : groups) {
    Field<T> field = make_field(group, s.device, problem, progress);
    const std::vector<Record> records = check_and_time(field.contestants, problem, s.budget, progress);
    std::cout << '\n'
              << rows << " rows, " << (sizeof(T) == 8 ? "double" : "float") << '\n'
              << table(newcomers.leave_out_known(records)) << std::flush;
    for (auto& result : to_json(records)) results.push_back(std::move(result));
    good = good && !any_bad(records);
  }
  return good;
}

}  // namespace

std::vector<Index> sweep_sizes(Index from, Index to, int per_decade) {
  std::vector<Index> sizes;
  const double start = std::log10(static_cast<double>(from)), end = std::log10(static_cast<double>(to));
  const int steps = static_cast<int>(std::ceil((end - start) * per_decade - 1e-9));
  for (int i = 0; i < steps; ++i) {
    const auto size = static_cast<Index>(std::llround(std::pow(10, start + static_cast<double>(i) / per_decade)));
    if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
  }
  if (sizes.empty() || to > sizes.back()) sizes.push_back(to);
  return sizes;
}

std::vector<std::vector<std::string>> groups_that_fit(const std::vector<std::string>& names, Index rows, double bytes) {
  const auto fits = [&](const std::vector<std::string>& group) {
    return fits_memory(rows, (kProblemArrays + contestant_arrays(group)) * bytes);
  };
  std::vector<std::vector<std::string>> groups;
  const std::vector<std::string> stream{names.front()};
  if (fits(stream)) groups.push_back(stream);
  for (std::size_t i = 1; i < names.size() && !groups.empty(); ++i) {
    std::vector<std::string> longer = groups.back(), alone = stream;
    longer.push_back(names[i]);
    alone.push_back(names[i]);
    if (fits(longer)) {
      groups.back() = longer;
    } else if (fits(alone)) {
      groups.push_back(alone);
    }
  }
  return groups;
}

int sweep_command(const std::vector<std::string>& arguments, const std::string& command) {
  const std::optional<SweepSettings> s = parse_sweep_settings(arguments);
  if (!s) return 0;
  if (!s->allow_debug) require_release();
  const DeviceInfo device = first_device(s->device);
  const std::vector<std::string> names = on_host_and_device(parse_methods(s->methods), device);
  JsonFile json(s->json);
  nlohmann::ordered_json document{{"provenance", provenance(device, command)}};
  document["provenance"]["matrix"] = s->matrix.describe();
  nlohmann::ordered_json& results = document["results"] = nlohmann::ordered_json::array();
  Newcomers newcomers;
  bool good = true;
  for (const std::string& precision : split(s->precisions, ',')) {
    for (const Index rows : sweep_sizes(s->from, s->to, s->per_decade)) {
      good &= precision == "double" ? run_size<double>(*s, names, rows, newcomers, results)
                                    : run_size<float>(*s, names, rows, newcomers, results);
    }
  }
  json.write(document);
  return good ? 0 : 1;
}

}  // namespace oclspkt::bench

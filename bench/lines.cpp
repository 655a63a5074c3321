// SPDX-License-Identifier: BSD-2-Clause
#include "lines.hpp"

#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include "command_line.hpp"
#include "contestants.hpp"
#include "json_file.hpp"
#include "matrices.hpp"
#include "measure.hpp"
#include "oclspkt/error.hpp"
#include "output.hpp"
#include "provenance.hpp"
#include "split.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;

struct LinesSettings {
  std::string device = "auto", precision = "double", methods = "auto";
  std::vector<Index> grids, lengths;
  Index rows = 0;
  Budget budget{.rounds = 11, .seconds = 20};
  std::string json;
  bool allow_debug = false;
};

/// The lists and numbers as they are given.
struct Texts {
  std::string grids = "64,128", lengths = "16,64,256,1024,4096,16384,65536", rows = "4194304";
};

po::options_description options(LinesSettings& s, Texts& texts) {
  po::options_description all("oclspkt-bench lines [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("device", po::value(&s.device)->default_value(s.device), "auto, host, cpu, gpu, fpga, part of a name, an index");
  add("precision", po::value(&s.precision)->default_value(s.precision), "float or double");
  add("grids", po::value(&texts.grids)->default_value(texts.grids),
      "points along each axis of cubes, a list; none: no grid");
  add("lengths", po::value(&texts.lengths)->default_value(texts.lengths),
      "rows of lines that lie end to end, a list; none: no such lines");
  add("rows", po::value(&texts.rows)->default_value(texts.rows), "of all lines that lie end to end together, about");
  add("methods", po::value(&s.methods)->default_value(s.methods), ("list of: " + known_methods()).c_str());
  add_budget_options(all, s.budget);
  add("json", po::value(&s.json), "file to write the results to");
  add_allow_debug(all, s.allow_debug);
  return all;
}

std::vector<Index> parse_list(const std::string& text, const std::string& option) {
  std::vector<Index> numbers;
  if (text == "none") return numbers;
  for (const std::string& word : split(text, ',')) numbers.push_back(parse_rows(word, option));
  return numbers;
}

/// @return nothing if only the help was asked for, and printed
std::optional<LinesSettings> parse_lines_settings(const std::vector<std::string>& arguments) {
  LinesSettings s;
  Texts texts;
  const po::options_description all = options(s, texts);
  if (read_command_line(arguments, "lines", all).empty()) return std::nullopt;
  s.grids = parse_list(texts.grids, "grids");
  s.lengths = parse_list(texts.lengths, "lengths");
  s.rows = parse_rows(texts.rows);
  for (const Index n : s.grids) {
    if (n > 4096) throw InvalidInput("--grids takes at most 4096 points along an axis, not " + std::to_string(n));
  }
  check_precision(s.precision);
  check_budget(s.budget);
  return s;
}

/// Where lines lie, in a word and as the library takes it.
struct Layout {
  std::string name;
  LineSet lines;
};

/// Layouts of the same number of rows, which are timed in turn.
struct Group {
  std::string name;
  std::vector<Layout> layouts;
};

std::vector<Group> make_groups(const LinesSettings& s) {
  std::vector<Group> groups;
  for (const Index n : s.grids) {
    Group group{std::to_string(n) + "^3", {}};
    const char* const axes[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; ++axis)
      group.layouts.push_back({axes[axis] + (" of " + group.name), LineSet::grid_axis(axis, n, n, n)});
    groups.push_back(group);
  }
  for (const Index length : s.lengths) {
    const LineSet lines = LineSet::equal(std::max(Index{1}, s.rows / length), length);
    const std::string name = std::to_string(length) + " rows, end to end";
    groups.push_back({name, {{name, lines}}});
  }
  return groups;
}

/// Bands that are told apart, general ones first. Narrow ones are general, by precision narrow; floats have none.
std::vector<std::string> bands_of(const LinesSettings& s) {
  std::vector<std::string> all{"general", "shared", "symmetric"};
  if (s.precision == "double") all.push_back("narrow");
  return all;
}

/// The same bands in every line, or bands of its own for each, whose couplings may be the same both ways.
MatrixSpec matrix_of(const std::string& bands) {
  if (bands == "shared") return {.matrix = Matrix::diffusion, .lambda = 1};
  return {.matrix = Matrix::random, .dominance = 3, .symmetric = bands == "symmetric"};
}

/// Medians of time over time in the same round, between records that differ in one thing.
nlohmann::ordered_json ratios(const std::vector<Record>& records) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const auto compare = [&](const Record& above, const Record& below, const std::string& what) {
    const double ratio = median_ratio(above.seconds, below.seconds);
    if (!std::isfinite(ratio)) return;
    all.push_back({{"ratio", what},
                   {"variant", above.variant},
                   {"lines", above.lines},
                   {"bands", above.bands},
                   {"rows", above.rows},
                   {"value", ratio}});
  };
  for (const Record& a : records) {
    for (const Record& b : records) {
      const bool same_solver = a.solver == b.solver && a.variant == b.variant && a.solver == "oclspkt";
      if (!same_solver) continue;
      const bool along_x = b.lines.rfind("x ", 0) == 0 && a.lines.rfind("x ", 0) != 0;
      if (a.bands == b.bands && along_x) compare(a, b, a.lines.substr(0, 1) + "/x");
      if (a.lines == b.lines && a.bands != b.bands && b.bands == "general") compare(a, b, a.bands + "/general");
    }
  }
  return all;
}

void print_ratios(const nlohmann::ordered_json& all) {
  for (const auto& r : all) {
    std::printf("%s %s, %s bands, %s: %.3f\n", r["variant"].get<std::string>().c_str(),
                r["lines"].get<std::string>().c_str(), r["bands"].get<std::string>().c_str(),
                r["ratio"].get<std::string>().c_str(), r["value"].get<double>());
  }
  std::fflush(stdout);
}

/// Time a group; append its records and ratios to the document.
/// @return false if a contestant was bad
template <typename T>
bool run_group(const LinesSettings& s, const Group& group, nlohmann::ordered_json& document) {
  const std::vector<std::string> names = parse_methods(s.methods);
  const std::vector<std::string> methods(names.begin() + 1, names.end());  // the stream runs once
  const Index rows = group.layouts.front().lines.rows();
  const double sides = static_cast<double>(group.layouts.size() * bands_of(s).size());
  require_memory(rows, sides * (kProblemArrays + contestant_arrays(methods)) * sizeof(T));
  Progress progress;
  std::vector<std::unique_ptr<Problem<T>>> problems;
  std::vector<Contestant<T>> contestants;
  for (const Layout& layout : group.layouts) {
    for (const std::string& bands : bands_of(s)) {
      problems.push_back(std::make_unique<Problem<T>>(matrix_of(bands), layout.lines));
      Problem<T>& problem = *problems.back();
      const Precision precision = bands == "narrow" ? Precision::narrow : Precision::same;
      for (Contestant<T>& c :
           make_field(contestants.empty() ? names : methods, s.device, problem, progress, precision).contestants) {
        check(c, problem);
        if (c.record.solver != "stream") {
          c.record.lines = layout.name;
          c.record.line_length = layout.lines.length(0);
          c.record.bands = bands;
        }
        contestants.push_back(std::move(c));
      }
    }
  }
  time_interleaved(contestants, s.budget, progress);
  progress.finish();
  const std::vector<Record> records = records_of(contestants);
  const nlohmann::ordered_json own = ratios(records);
  std::cout << '\n' << group.name << ", " << rows << " rows\n" << table(records) << std::flush;
  print_ratios(own);
  for (auto& result : to_json(records)) document["results"].push_back(result);
  for (auto& ratio : own) document["ratios"].push_back(ratio);
  return !any_bad(records);
}

}  // namespace

int lines_command(const std::vector<std::string>& arguments, const std::string& command) {
  const std::optional<LinesSettings> s = parse_lines_settings(arguments);
  if (!s) return 0;
  if (!s->allow_debug) require_release();
  JsonFile json(s->json);
  nlohmann::ordered_json document{{"provenance", provenance(first_device(s->device), command)},
                                  {"results", nlohmann::ordered_json::array()},
                                  {"ratios", nlohmann::ordered_json::array()}};
  bool good = true;
  for (const Group& group : make_groups(*s)) {
    good &= s->precision == "double" ? run_group<double>(*s, group, document) : run_group<float>(*s, group, document);
  }
  json.write(document);
  return good ? 0 : 1;
}

}  // namespace oclspkt::bench

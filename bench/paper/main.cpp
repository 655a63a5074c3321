// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-paper FILE [options], also as `oclspkt-bench paper`: the figures and tables of the paper on the devices
// of this machine, in one file. Needs neither PETSc nor Boost. bench/paper_table.py makes docs/evaluation.md of it.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "json_file.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "provenance.hpp"
#include "run.hpp"
#include "settings.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelp =
    "usage: %s FILE [options]\n"
    "Measure the figures and tables of Macintosh, Banks and Kelson (2019) here and write them to FILE as JSON.\n"
    "Ctrl-C ends the run behind the present measurement, and what was measured is written.\n\n"
    "  --rows N         rows of figure 6 (256e6, halved until memory and time hold all)\n"
    "  --together N     rows of the first of the five sizes of figure 8 (256e6, halved until memory holds five times "
    "as "
    "many)\n"
    "  --seconds S      that the figures share (480); what no time is left for is marked\n"
    "  --devices LIST   words of host and devices (auto: all; of two drivers of a processor both)\n"
    "  --scalars LIST   of float, double\n"
    "  --figures LIST   of solves (6, 7, 10), combinations (8, 11, table 5), accuracy (9), operations (tables 1 to "
    "3),\n"
    "                   paper (the model of the paper's machine), energy (joules with spread), roofline\n"
    "  --rounds N       times that each is timed (5)\n"
    "  --rated LIST     watts where nothing measures them: gpu=700,cpu=8,fpga=60, of a card, a core, a board\n"
    "  --allow-debug    time a build that is not for timing, to try the program\n";

std::optional<Settings> parse(int argc, char** argv) {
  constexpr const char* kOptions = "rows= together= seconds= devices= scalars= figures= rounds= rated= allow-debug";
  constexpr const char* kScalars[] = {"float", "double"};
  Settings s;
  const auto take = [&](const std::string& name, const std::string& value) {
    if (name == "rows") s.rows = gpu::parse_row_list(value, name).at(0);
    if (name == "together") s.together = gpu::parse_row_list(value, name).at(0);
    if (name == "seconds") s.seconds = gpu::parse_number(value, name, 0, 1e6);
    if (name == "devices") s.devices = value;
    if (name == "scalars") s.scalars = gpu::parse_names(value, name, kScalars);
    if (name == "figures") s.sections = gpu::parse_names(value, name, kSections);
    if (name == "rounds") s.rounds = static_cast<int>(gpu::parse_number(value, name, 1, 1e4));
    if (name == "rated") s.rated = parse_rated(value);
    if (name == "allow-debug") s.allow_debug = true;
  };
  const auto words = gpu::parse_options(argc, argv, kOptions, kHelp, take);
  if (!words) return std::nullopt;
  s.file = gpu::file_among(*words);
  return s;
}

std::string field(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const auto begin = line.find_first_not_of(" \t:=\"", key.size());
    return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of('"') + 1 - begin);
  }
  return "";
}

/// Table 4, read from the machine.
Json machine(const Plan& plan) {
  Json rows = Json::array();
  for (const Processor& p : plan.processors) {
    rows.push_back({{"component", p.kind()},
                    {"name", p.host() ? cpu_model() : p.info.name},
                    {"word", p.word},
                    {"cores", p.info.cores},
                    {"memory", p.info.memory},
                    {"platform", p.host() ? "the calling threads" : p.info.platform},
                    {"driver", p.info.driver_version}});
  }
  rows.push_back({{"component", "RAM"}, {"name", field("/proc/meminfo", "MemTotal")}});
  rows.push_back({{"component", "OS"}, {"name", field("/etc/os-release", "PRETTY_NAME")}});
  return rows;
}

volatile std::sig_atomic_t interrupted = 0;

void interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);  // the second one ends the program
}

/// True if something that was measured is wrong.
bool any_wrong(const Json& document) {
  for (const Json& section : document) {
    if (!section.is_array()) continue;
    for (const Json& record : section) {
      if (record.is_object() && record.value("outcome", "") == "wrong") return true;
    }
  }
  return false;
}

int measure(const Settings& settings, const std::string& command) {
  JsonFile json(settings.file);
  Plan plan{settings, find_processors(settings.devices), 0};
  plan.rows = choose_rows(settings, unlike(plan.processors).size());
  std::printf("%lld rows, devices:", static_cast<long long>(plan.rows));
  for (const Processor& p : plan.processors) std::printf(" %s;", p.info.name.c_str());
  std::printf("\n");
  std::fflush(stdout);
  std::vector<Piece> pieces;
  constexpr void (*kAdd[])(const Plan&, std::vector<Piece>&) = {
      add_operations, add_paper, add_solves, add_energy, add_roofline, add_accuracy, add_combinations};
  for (std::size_t i = 0; i < std::size(kSections); ++i) {
    if (std::count(settings.sections.begin(), settings.sections.end(), kSections[i]) > 0) kAdd[i](plan, pieces);
  }
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  const Json sections = run(plan, pieces, [] { return interrupted != 0; });
  DeviceInfo first = plan.processors.front().info;
  for (const Processor& p : plan.processors) {
    if (p.info.type == DeviceType::gpu) first = p.info;
  }
  Json document{{"version", kVersion}, {"provenance", provenance(first, command)}};
  document["provenance"]["matrix"] = MatrixSpec{.dominance = kPaperDominance}.describe();
  document["provenance"]["rows"] = plan.rows;
  document["provenance"]["interrupted"] = interrupted != 0;
  document["machine"] = machine(plan);
  for (const auto& [key, records] : sections.items()) document[key] = records;
  json.write(document);
  return any_wrong(document) ? 1 : 0;
}

}  // namespace
}  // namespace oclspkt::bench::paper

int main(int argc, char** argv) {
  using namespace oclspkt::bench;
  return gpu::run_program([&] {
    const auto settings = paper::parse(argc, argv);
    if (!settings) return 0;
    if (!settings->allow_debug) require_release();
    return paper::measure(*settings, gpu::command_of(argc, argv, settings->file));
  });
}

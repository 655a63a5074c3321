// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-schemes FILE [options]: set-up, apply and error of every scheme on every case that it takes, so that
// those can be found that are nowhere the best. Vectors are in the memory of GPUs, else in that of the host.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>

#include "clock.hpp"
#include "find_device.hpp"
#include "json_file.hpp"
#include "measure_schemes.hpp"
#include "oclspkt/error.hpp"
#include "provenance.hpp"
#include "schemes/scheme.hpp"
#include "settings.hpp"
#include "split.hpp"
#include "tune_figures.hpp"

namespace oclspkt::bench::gpu {
namespace {

constexpr const char* kHelp =
    "usage: %s FILE [options]\n"
    "Time every scheme on every case that it takes, and write the results to FILE as JSON.\n\n"
    "  --device WORD     as -pc_oclspkt_devices has it, the first that it names; host: no device (gpu)\n"
    "  --variant WORD    default, cpu, gpu or fpga: the kernels among which schemes are (default)\n"
    "  --sizes LIST      rows of a case, about (1e4,1e6; with 16 cores 1e7 as well, with GPUs 1.7e7)\n"
    "  --only TEXT       cases whose name has the text, such as 'd3, x512, 1e+06, double'\n"
    "  --applies N       applies that are timed (7)\n"
    "  --seconds S       no scheme of a case begins later than that after the case (20)\n"
    "  --total S         no case begins later than that (240); those left out are recorded\n"
    "  --chosen          time what the library chooses by itself, for 1, 10 and 100 applies a set-up\n"
    "  --tune            find figures that are faster on the device than the library's, and write them to FILE, which\n"
    "                    OCLSPKT_TUNING then names (docs/tuning.md); begins with those of the present OCLSPKT_TUNING\n"
    "  --list            name the cases, and do no more\n"
    "  --allow-debug     time a build that is not for timing, to try the program\n";

struct SchemeSettings {
  std::string file, device = "gpu", variant = "default", only;
  std::vector<Index> sizes;  ///< none: by the device
  double seconds = 20, total = 240;
  int applies = 7;
  bool list = false, chosen = false, tune = false, allow_debug = false;
};

std::vector<Index> parse_sizes(const std::string& list) {
  constexpr double kLeast = 64, kMost = 1e9;
  std::vector<Index> sizes;
  for (const std::string& word : split(list, ',')) {
    sizes.push_back(static_cast<Index>(parse_number(word, "sizes", kLeast, kMost)));
  }
  if (sizes.empty()) throw InvalidInput("--sizes takes at least one number");
  return sizes;
}

void take(const std::string& name, const std::string& value, SchemeSettings& s) {
  constexpr double kMostApplies = 1e6, kMostSeconds = 1e6;
  if (name == "device") s.device = value;
  if (name == "only") s.only = value;
  if (name == "sizes") s.sizes = parse_sizes(value);
  if (name == "applies") s.applies = static_cast<int>(parse_number(value, name, 1, kMostApplies));
  if (name == "seconds") s.seconds = parse_number(value, name, 0, kMostSeconds);
  if (name == "total") s.total = parse_number(value, name, 0, kMostSeconds);
  if (name == "list") s.list = true;
  if (name == "chosen") s.chosen = true;
  if (name == "tune") s.tune = true;
  if (name == "allow-debug") s.allow_debug = true;
  if (name != "variant") return;
  if (value != "default" && value != "cpu" && value != "gpu" && value != "fpga") {
    throw InvalidInput("--variant takes default, cpu, gpu or fpga, not '" + value + "'");
  }
  s.variant = value;
}

/// Nothing if the help was asked for, and printed.
std::optional<SchemeSettings> parse(int argc, char** argv) {
  constexpr const char* kOptions =
      "device= variant= sizes= only= applies= seconds= total= chosen tune list allow-debug";
  SchemeSettings settings;
  const auto words = parse_options(argc, argv, kOptions, kHelp, [&](const std::string& name, const std::string& value) {
    take(name, value, settings);
  });
  if (!words) return std::nullopt;
  if (!settings.list) settings.file = file_among(*words);
  return settings;
}

std::vector<Index> sizes_for(const DeviceInfo* device) {
  constexpr unsigned kManyCores = 16;
  constexpr Index kSmall = 10'000, kMiddle = 1'000'000, kLong = 10'000'000, kLonger = 17'000'000;
  const bool gpu = device != nullptr && device->type == DeviceType::gpu;
  const unsigned cores = device != nullptr ? static_cast<unsigned>(device->cores) : std::thread::hardware_concurrency();
  if (gpu) return {kSmall, kMiddle, kLonger};  // lines of 16384 rows are then many enough
  if (cores >= kManyCores) return {kSmall, kMiddle, kLong};
  return {kSmall, kMiddle};
}

void print_chosen(const nlohmann::ordered_json& result) {
  for (const auto& r : result["chosen"]) {
    std::printf("  %3d applies: %s, %s: set-up %.3e s, apply %.3e s\n", r["applies"].get<int>(),
                r["method"].get<std::string>().c_str(), r["shape"].get<std::string>().c_str(),
                r["later_set_up_seconds"].get<double>(), r["apply_seconds"].get<double>());
  }
  std::fflush(stdout);
}

void print(const nlohmann::ordered_json& result) {
  for (const auto& r : result["schemes"]) {
    const std::string scheme = r["scheme"].get<std::string>() + (r["where"] == "host" ? " (host)" : "");
    if (r.contains("apply_seconds")) {
      std::printf("  %-24s set-up %.3e s, later %.3e s, apply %.3e s %s\n", scheme.c_str(),
                  r["first_set_up_seconds"].get<double>(), r["later_set_up_seconds"].get<double>(),
                  r["apply_seconds"].get<double>(), r["outcome"] == "slow" ? "(slow)" : "");
    } else {
      const std::string note = r.contains("note") ? ": " + r["note"].get<std::string>() : "";
      std::printf("  %-24s %s%s\n", scheme.c_str(), r["outcome"].get<std::string>().c_str(), note.c_str());
    }
  }
  std::fflush(stdout);
}

/// @throws InvalidInput
std::ofstream open(const std::string& name) {
  std::ofstream file(name);
  if (!file) throw InvalidInput("cannot write " + name + ": name a file in a folder that exists");
  return file;
}

void write(const std::string& text, const std::string& name) {
  std::ofstream file = open(name);
  file << text;
  file.close();
  if (!file) throw InvalidInput("writing " + name + " failed: is the disk full?");
}

/// What a run writes, without cases.
nlohmann::ordered_json empty_document(const DeviceInfo* device, const SchemePlace& place, const std::string& command) {
  DeviceInfo host;
  host.name = "host";
  host.type = DeviceType::host;
  nlohmann::ordered_json document{{"provenance", provenance(device != nullptr ? *device : host, command)}};
  document["provenance"]["vectors"] = place.on_gpu() ? "device" : "host";
  for (const Scheme* scheme : all_schemes()) {
    for (const char* form : scheme->forms()) document["all_schemes"].push_back(form);
  }
  document["results"] = nlohmann::ordered_json::array();
  document["left_out"] = nlohmann::ordered_json::array();
  return document;
}

/// Measure a case into the document. @return false if an answer was wrong, or a scheme or the case failed
bool keep(const SchemeCase& c, const SchemePlace& place, nlohmann::ordered_json& document) {
  try {
    document["results"].push_back(measure_schemes(c, place));
  } catch (const std::exception& error) {  // what all schemes need
    std::printf("  failed: %s\n", error.what());
    document["left_out"].push_back(c.describe() + ": " + error.what());
    return false;
  }
  const auto& result = document["results"].back();
  if (place.chosen) {
    print_chosen(result);
    return true;
  }
  print(result);
  return std::none_of(result["schemes"].begin(), result["schemes"].end(),
                      [](const auto& r) { return r["outcome"] == "wrong" || r["outcome"] == "failed"; });
}

/// The cases that the settings name.
std::vector<SchemeCase> cases_of(const SchemeSettings& settings, const DeviceInfo* device) {
  std::vector<SchemeCase> cases = make_scheme_cases(settings.sizes.empty() ? sizes_for(device) : settings.sizes);
  std::erase_if(cases, [&](const SchemeCase& c) { return c.describe().find(settings.only) == std::string::npos; });
  return cases;
}

/// @return false if an answer was wrong or something failed
bool run(const SchemeSettings& settings, const std::string& command) {
  open(settings.file);  // before anything is timed
  const DeviceInfo* device = find_device(settings.device);
  const SchemePlace place{device, settings.variant, settings.seconds, settings.applies, settings.chosen};
  nlohmann::ordered_json document = empty_document(device, place, command);
  constexpr double kBetweenWrites = 20;  // so that little is lost if a driver ends the program
  double spent = 0, written = 0;
  bool good = true;
  for (const SchemeCase& c : cases_of(settings, device)) {
    if (spent >= settings.total) {
      document["left_out"].push_back(c.describe() + ": no time left");
      continue;
    }
    std::printf("%s, after %.0f s\n", c.describe().c_str(), spent);
    spent += seconds_of([&] { good = keep(c, place, document) && good; });
    if (spent - written < kBetweenWrites) continue;
    write(record_lines(document), settings.file);
    written = spent;
  }
  write(record_lines(document), settings.file);
  std::printf("%zu cases, %zu left out\n", document["results"].size(), document["left_out"].size());
  return good;
}

/// Few matrices, along a line and across lines, unless the settings say others.
void tune(const SchemeSettings& settings, const std::string& command) {
  constexpr Index kRows = 1'000'000;
  open(settings.file);
  SchemePlace place{find_device(settings.device), settings.variant, settings.seconds, settings.applies};
  SchemeSettings few = settings;
  if (few.sizes.empty()) few.sizes = {kRows};
  std::vector<SchemeCase> cases = cases_of(few, place.device);
  if (few.only.empty()) {
    std::erase_if(cases, [](const SchemeCase& c) { return c.family != "d3" && c.family != "lambda1e2"; });
  }
  write("# " + command + "\n" + tune_figures(cases, place, settings.total), settings.file);
}

}  // namespace
}  // namespace oclspkt::bench::gpu

int main(int argc, char** argv) {
  using namespace oclspkt::bench;
  return gpu::run_program([&] {
    const auto settings = gpu::parse(argc, argv);
    if (!settings) return 0;
    if (settings->list) {
      for (const auto& c : gpu::cases_of(*settings, nullptr)) std::printf("%s\n", c.describe().c_str());
      return 0;
    }
    if (!settings->allow_debug) require_release();
    const std::string command = gpu::command_of(argc, argv, settings->file);
    if (settings->tune) {
      gpu::tune(*settings, command);
      return 0;
    }
    return gpu::run(*settings, command) ? 0 : 1;
  });
}

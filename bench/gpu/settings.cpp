// SPDX-License-Identifier: BSD-2-Clause
#include "settings.hpp"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "oclspkt/error.hpp"
#include "split.hpp"

namespace oclspkt::bench::gpu {
namespace {

constexpr const char* kHelp =
    "usage: %s FILE [options]\n"
    "Time solvers on a GPU and write the results to FILE as JSON. Lists are joined by commas.\n\n"
    "  --cases LIST       of small (one system of up to 1e6 rows), long (of more), lines (many)\n"
    "  --rows LIST        sizes of one system (1e4,1e5,1e6,1e7,1e8,2.7e8)\n"
    "  --matrices LIST    of one system (d3,d1.2,d1.01,lambda10,lambda1e2,lambda1e3,lambda1e4,lambda1e5,poisson,\n"
    "                     scaled1e4)\n"
    "  --methods LIST     for one system (auto,truncated-halo,truncated-streamed,exact-factored,exact-twopass)\n"
    "  --named-rows N     the one size at which methods other than auto are timed (1e8); 0: none\n"
    "  --line-rows N      rows of all lines together, about (3e7)\n"
    "  --lengths LIST     rows of a line (64,256,1024,4096,16384,65536)\n"
    "  --bands LIST       of lines (general,symmetric,shared,narrow)\n"
    "  --scalars LIST     of float, double\n"
    "  --repetitions N    rounds that are timed (7)\n"
    "  --repeats N        applies that have to give the same bits, with the device busy beside (0)\n"
    "  --seconds S        no case begins later than that; those left out are recorded as absent\n"
    "  --device WORD      as -pc_oclspkt_devices has it; the first that it names (gpu)\n"
    "  --variant WORD     as -pc_oclspkt_variant has it (default); records of paper are named so\n"
    "  --enqueued         applies go into a queue of the program, as those by CUDA always do\n"
    "  --allow-debug      time a build that is not for timing, to try the program\n"
    "oclspkt-bench-cusparse takes the same and has no use for matrices, methods, named-rows, device, variant.\n";

Index parse_rows(const std::string& word, const std::string& option, double least = 1) {
  constexpr double kMost = 0x1p40;
  return std::llround(parse_number(word, option, least, kMost));
}

/// The places of the words of a list among `known` ones.
std::vector<std::size_t> parse_words(const std::string& list, const std::string& option,
                                     std::span<const char* const> known) {
  std::vector<std::size_t> places;
  for (const std::string& word : split(list, ',')) {
    const auto at = std::find(std::begin(known), std::end(known), word);
    if (at == std::end(known)) {
      std::string all;
      for (const char* name : known) all.append(all.empty() ? "" : ", ").append(name);
      throw InvalidInput("--" + option + " takes words of: " + all + "; not '" + word + "'");
    }
    places.push_back(static_cast<std::size_t>(at - std::begin(known)));
  }
  if (places.empty()) throw InvalidInput("--" + option + " takes at least one word");
  return places;
}

void parse_cases(const std::string& list, Settings& s) {
  constexpr const char* kCases[] = {"small", "long", "lines"};
  s.small_systems = s.long_systems = s.lines = false;
  for (const std::size_t place : parse_words(list, "cases", kCases)) {
    (place == 0 ? s.small_systems : place == 1 ? s.long_systems : s.lines) = true;
  }
}

void parse_methods(const std::string& list, Settings& s) {
  s.methods.clear();
  for (const std::size_t place : parse_words(list, "methods", kMethodChoiceNames)) {
    s.methods.push_back(static_cast<MethodChoice>(place));
  }
}

/// One option and its value.
void take(const std::string& name, const std::string& value, Settings& s) {
  constexpr const char* kScalars[] = {"float", "double"};
  constexpr double kMostRepetitions = 1e6, kMostSeconds = 1e6;
  if (name == "cases") parse_cases(value, s);
  if (name == "rows") s.rows = parse_row_list(value, name);
  if (name == "matrices") s.matrices = parse_names(value, name, kMatrixWords);
  if (name == "methods") parse_methods(value, s);
  if (name == "named-rows") s.named_rows = parse_rows(value, name, 0);
  if (name == "line-rows") s.line_rows = parse_rows(value, name);
  if (name == "lengths") s.lengths = parse_row_list(value, name);
  if (name == "bands") s.bands = parse_names(value, name, kBandWords);
  if (name == "scalars") s.scalars = parse_names(value, name, kScalars);
  if (name == "repetitions") s.repetitions = static_cast<int>(parse_number(value, name, 1, kMostRepetitions));
  if (name == "repeats") s.repeats = static_cast<int>(parse_number(value, name, 0, kMostRepetitions));
  if (name == "seconds") s.seconds = parse_number(value, name, 0, kMostSeconds);
  if (name == "device") s.device = value;
  if (name == "variant") s.variant = parse_names(value, name, kVariantNames).front();
  if (name == "enqueued") s.enqueued = true;
  if (name == "allow-debug") s.allow_debug = true;
}

}  // namespace

double parse_number(const std::string& word, const std::string& option, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  if (whole && value >= least && value <= most) return value;
  std::ostringstream text;
  text << "--" << option << " takes numbers from " << least << " to " << most << ", not '" << word << "'";
  throw InvalidInput(text.str());
}

std::vector<Index> parse_row_list(const std::string& list, const std::string& option) {
  std::vector<Index> rows;
  for (const std::string& word : split(list, ',')) rows.push_back(parse_rows(word, option));
  return rows;
}

std::vector<std::string> parse_names(const std::string& list, const std::string& option,
                                     std::span<const char* const> known) {
  std::vector<std::string> names;
  for (const std::size_t place : parse_words(list, option, known)) names.emplace_back(known[place]);
  return names;
}

std::optional<Settings> parse_settings(int argc, char** argv) {
  constexpr const char* kOptions =
      "cases= rows= matrices= methods= named-rows= line-rows= lengths= bands= scalars= repetitions= repeats= seconds= "
      "device= variant= enqueued allow-debug";
  Settings settings;
  const auto words = parse_options(argc, argv, kOptions, kHelp, [&](const std::string& name, const std::string& value) {
    take(name, value, settings);
  });
  if (!words) return std::nullopt;
  settings.file = file_among(*words);
  return settings;
}

std::optional<std::vector<std::string>> parse_options(
    int argc, char** argv, const std::string& names, const char* help,
    const std::function<void(const std::string& name, const std::string& value)>& take) {
  std::vector<std::string> words = split(names + " help");
  std::vector<option> options;
  for (std::string& word : words) {
    const bool takes_value = word.back() == '=';
    if (takes_value) word.pop_back();
    options.push_back({word.c_str(), takes_value ? required_argument : no_argument, nullptr, 0});
  }
  options.push_back({nullptr, 0, nullptr, 0});
  for (int at = 0, got = 0; (got = getopt_long(argc, argv, "", options.data(), &at)) != -1;) {
    if (got != 0) throw InvalidInput("see --help for the options");
    const std::string& name = words[static_cast<std::size_t>(at)];
    if (name == "help") {
      std::printf(help, std::filesystem::path(argv[0]).filename().c_str());
      return std::nullopt;
    }
    take(name, optarg != nullptr ? optarg : "");
  }
  return std::vector<std::string>(argv + optind, argv + argc);
}

std::string file_among(const std::vector<std::string>& words) {
  if (words.size() != 1) throw InvalidInput("name one file for the results; see --help for the options");
  return words.front();
}

std::string command_of(int argc, char** argv, const std::string& file) {
  std::string command = std::filesystem::path(argv[0]).filename();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool blank = word.find(' ') != std::string::npos;
    command += ' ' + (word == file ? std::string("FILE") : blank ? "'" + word + "'" : word);
  }
  return command;
}

int run_program(const std::function<int()>& program) {
  try {
    return program();
  } catch (const InvalidInput& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace oclspkt::bench::gpu

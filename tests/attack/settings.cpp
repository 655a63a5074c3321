// SPDX-License-Identifier: BSD-2-Clause
#include "settings.hpp"

#include <iterator>

namespace oclspkt::attack {
namespace {

constexpr MethodChoice kNamed[] = {MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
                                   MethodChoice::exact_twopass, MethodChoice::exact_factored, MethodChoice::pivot};

MethodChoice parse_method(const std::string& word) {
  std::string all;
  for (std::size_t k = 0; k < std::size(kMethodChoiceNames); ++k) {
    if (word == kMethodChoiceNames[k]) return static_cast<MethodChoice>(k);
    all.append(all.empty() ? "" : ", ").append(kMethodChoiceNames[k]);
  }
  throw BadText("--method takes one of " + all + "; not '" + word + "'");
}

bool parse_scalar(const std::string& word) {
  if (word == "float" || word == "double") return word == "float";
  throw BadText("--scalar takes float or double, not '" + word + "'");
}

bool parse_yes(const std::string& word, const std::string& option) {
  if (word == "yes" || word == "no") return word == "yes";
  throw BadText(option + " takes yes or no, not '" + word + "'");
}

void set_option(Settings& s, const std::string& option, const std::string& value) {
  if (option == "--seed") {
    s.seed = static_cast<std::uint64_t>(parse_number(value, option));
  } else if (option == "--device") {
    s.devices.push_back(value);
  } else if (option == "--variant") {
    s.variants.push_back(value);
  } else if (option == "--method") {
    s.methods.push_back(parse_method(value));
  } else if (option == "--scalar") {
    s.floats.push_back(parse_scalar(value));
  } else if (option == "--family") {
    s.family = family_named(value).name;
  } else if (option == "--case") {
    s.only = value;
  } else if (option == "--climb") {
    s.climb = parse_yes(value, option);
  } else if (option == "--json") {
    s.json = value;
  } else {
    throw BadText("there is no option '" + option + "'; --help lists them");
  }
}

/// Every device with every variant that it has, by each of `methods`.
std::vector<Setting> settings_for(const Settings& s, const std::vector<MethodChoice>& methods) {
  std::vector<Setting> all;
  for (const std::string& device : s.devices) {
    for (const std::string& variant : s.variants) {
      if (device == "host" && variant != s.variants.front()) continue;
      for (const MethodChoice method : methods) all.push_back({device, variant, method});
    }
  }
  return all;
}

}  // namespace

std::vector<Setting> Settings::every_setting() const {
  if (!methods.empty()) return settings_for(*this, methods);
  std::vector<MethodChoice> all(std::begin(kNamed), std::end(kNamed));
  all.insert(all.begin(), MethodChoice::automatic);
  return settings_for(*this, all);
}

std::vector<Setting> Settings::some(Dice& dice) const {
  if (!methods.empty()) return settings_for(*this, methods);
  return settings_for(*this, {MethodChoice::automatic, dice.of(kNamed)});
}

Settings parse_settings(const std::vector<std::string>& words) {
  Settings s;
  s.seconds = parse_number(words.at(0), "SECONDS");
  for (std::size_t k = 1; k < words.size(); k += 2) {
    if (k + 1 == words.size()) throw BadText(words[k] + " takes a value");
    set_option(s, words[k], words[k + 1]);
  }
  if (s.devices.empty()) s.devices = {"host"};
  if (s.variants.empty()) s.variants = {"default"};
  if (s.floats.empty()) s.floats = {true, false};
  return s;
}

void check_devices(const Settings& settings) {
  const std::vector<double> lower(3, -1), diag(3, 3), y(3, 1);
  std::vector<double> x(3);
  for (const std::string& device : settings.devices) {
    Options options;
    options.devices = device;
    options.on_device_failure = OnDeviceFailure::error;
    Solver<double> solver(options);
    solver.set_up(LineSet::one(3), lower.data(), diag.data(), lower.data());
    solver.apply(y.data(), x.data());
  }
}

}  // namespace oclspkt::attack

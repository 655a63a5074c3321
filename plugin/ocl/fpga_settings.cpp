// SPDX-License-Identifier: BSD-2-Clause
#include "fpga_settings.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "oclspkt/error.hpp"

namespace oclspkt::fpga {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// Read the settings of a file, except keys that the command line has set. '#' begins a comment.
void read_settings(const std::string& file, std::map<std::string, std::string>& values) {
  std::ifstream stream(file);
  if (!stream) throw InvalidInput("cannot read the settings " + file + ": docs/fpga.md shows such a file");
  std::map<std::string, std::string> found;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto refuse = [&](const std::string& why) {
      throw InvalidInput(std::string(file).append(":").append(std::to_string(number)).append(": ").append(why));
    };
    const std::size_t equal = line.find('=');
    if (equal == std::string::npos) refuse(std::string("'").append(line).append("' is not KEY=VALUE"));
    const std::string key = trimmed(line.substr(0, equal));
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      std::string legal;
      for (const char* known : kKeys) legal += (legal.empty() ? "" : ", ") + std::string(known);
      refuse(std::string("the key '").append(key).append("' is unknown; legal are ").append(legal));
    }
    if (!found.emplace(key, trimmed(line.substr(equal + 1))).second) {
      refuse(std::string("the key '").append(key).append("' is there twice"));
    }
  }
  values.insert(found.begin(), found.end());
}

void check_value(const Order& order, const char* key, const std::vector<std::string>& legal) {
  const std::string value = order.value(key, legal.front());
  if (std::find(legal.begin(), legal.end(), value) != legal.end()) return;
  std::string words;
  for (const std::string& word : legal) words += (words.empty() ? "" : ", ") + word;
  throw InvalidInput(std::string(key) + " is '" + value + "'; legal are " + words);
}

void check_rows(const Order& order) {
  const std::string rows = order.value("m", "32");
  const bool digits = !rows.empty() && rows.size() < 6 &&
                      std::all_of(rows.begin(), rows.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int least = order.value("scalar", "float") == "double" ? 16 : 32;
  if (digits && std::stoi(rows) > 0 && std::stoi(rows) % least == 0) return;
  throw InvalidInput("m is '" + rows + "'; it must be a multiple of " + std::to_string(least) +
                     " rows, the scalars of 1024 bits");
}

void take_option(Order& order, const std::string& name, const std::string& value) {
  if (name == "--device") {
    order.device = value;
  } else if (name == "--out") {
    order.out = value;
  } else if (name == "--settings") {
    order.settings = value;
  } else if (name == "-D") {
    order.defines += (order.defines.empty() ? "-D " : " -D ") + value;
  } else {
    order.values[name.substr(2)] = value;
  }
}

}  // namespace

std::string Order::value(const std::string& key, const std::string& otherwise) const {
  const auto found = values.find(key);
  return found == values.end() || found->second.empty() ? otherwise : found->second;
}

std::string Order::needed(const std::string& key) const {
  std::string found = value(key, "");
  if (found.empty()) throw InvalidInput("the settings " + settings + " need a line " + key + "=VALUE (docs/fpga.md)");
  return found;
}

Order read_order(const std::vector<std::string>& arguments) {
  const std::vector<std::string> with_value = {"--device", "--scalar", "--m", "--form", "--out", "--settings", "-D"};
  Order order;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string word = arguments[i];
    if (word == "--help" || word == "-h") order.help = true;
    if (word.rfind("-D", 0) == 0 && word.size() > 2) {
      take_option(order, "-D", word.substr(2));
    } else if (std::find(with_value.begin(), with_value.end(), word) != with_value.end()) {
      if (i + 1 == arguments.size()) throw InvalidInput(word + " needs a value; see --help");
      take_option(order, word, arguments[++i]);
    } else if (word == "--report" || word == "--image") {
      order.what = word == "--report" ? Order::What::report : Order::What::image;
    } else if (word.empty() || word[0] != '-') {
      order.kernels.push_back(word);
    } else if (!order.help) {
      throw InvalidInput("there is no option " + word + "; see --help");
    }
  }
  if (order.help) return order;
  if (!order.settings.empty()) read_settings(order.settings, order.values);
  check_value(order, "scalar", {"float", "double"});
  check_value(order, "form", {"general", "symmetric"});
  check_value(order, "compiler", {"aoc", "v++"});
  if (!order.value("m", "").empty()) check_rows(order);
  if (order.kernels.empty()) {
    std::istringstream words(order.value("kernels", ""));
    order.kernels.assign(std::istream_iterator<std::string>(words), {});
  }
  return order;
}

}  // namespace oclspkt::fpga

// SPDX-License-Identifier: BSD-2-Clause
#include "fpga_board.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "oclspkt/error.hpp"

namespace oclspkt::bench {
namespace {

using nlohmann::json;

const std::vector<std::string> kKeys = {"name", "source", "fitted", "derived", "figures"};

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const FpgaFigure& figure : fpga_figures()) names.emplace_back(figure.name);
  return names;
}

std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void require_legal(const std::string& word, const std::vector<std::string>& legal, const std::string& what) {
  if (std::find(legal.begin(), legal.end(), word) != legal.end()) return;
  throw InvalidInput(what + " '" + word + "' is unknown; legal are " + list_text(legal));
}

/// Refuse keys that are unknown, and then those that are missing.
void require_keys(const json& object, const std::vector<std::string>& legal) {
  for (const auto& [key, value] : object.items()) require_legal(key, legal, "the key");
  for (const std::string& key : legal) {
    if (!object.contains(key)) throw InvalidInput("the key '" + key + "' is missing");
  }
}

DescribedBoard board_of(const json& document) {
  require_keys(document, kKeys);
  const json& figures = document.at("figures");
  require_keys(figures, figure_names());
  DescribedBoard board{document.at("name"), document.at("source"), document.at("fitted"), document.at("derived"), {}};
  for (const std::string& word : board.derived) require_legal(word, figure_names(), "the derived figure");
  for (const FpgaFigure& figure : fpga_figures()) {
    const json& value = figures.at(figure.name);
    if (!value.is_number()) throw InvalidInput("the key '" + std::string(figure.name) + "' must have a number");
    board.figures.*figure.member = value.get<double>();
  }
  check_fpga_board(board.figures);
  return board;
}

}  // namespace

DescribedBoard read_board(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw InvalidInput("cannot read the board " + file + ": name a file such as bench/boards/a10pl4.json");
  try {
    return board_of(json::parse(stream, nullptr, true, true));
  } catch (const json::exception& wrong) {
    throw InvalidInput("the board " + file + " is not described as bench/boards/a10pl4.json is: " + wrong.what());
  } catch (const InvalidInput& wrong) {
    throw InvalidInput("the board " + file + ": " + wrong.what());
  }
}

}  // namespace oclspkt::bench

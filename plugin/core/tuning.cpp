// SPDX-License-Identifier: BSD-2-Clause
#include "tuning.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>

#include "format.hpp"
#include "oclspkt/error.hpp"
#include "split.hpp"
#include "user_files.hpp"

namespace oclspkt {
namespace {

constexpr const char* kVariable = "OCLSPKT_TUNING";

struct TuningFile {
  const char *name, *text;
};
constexpr TuningFile kTuningFiles[] = {
#include "tuning_files.inc"
};

/// The values that kernels and plans support in a column of this name.
struct FigureColumn {
  std::string_view name;
  double least, most, multiple;  ///< multiple 0: any number in [least, most]; 1: integers
  bool power = false;            ///< whether values are powers of two
};
constexpr FigureColumn kColumns[] = {
    {"items", 4, 1024, 4},           // work-items of a work-group
    {"item_rows", 4, 32, 4},         // rows of a work-item, in whole vectors of floats
    {"double_item_rows", 2, 32, 2},  // rows of a work-item, in whole vectors of doubles
    {"grid_rows", 1, 32, 1},         // rows of a work-item, of lines side by side
    {"down", 1, 64, 1, true},        // work-items down a line
    {"lines", 1, 4, 1, true},        // lines of a work-item
    {"tiles", 1, 4, 1},              // tiles that wait while a work-group solves other tiles
    {"item_tiles", 1, 2, 1},         // tiles that a work-item solves at once
    {"steps", 1, 5, 1},              // steps of a scan
    {"groups", 1, 64, 1},            // work-groups that a core runs at a time
    {"core_items", 32, 4096, 1},     // work-items that a core runs at a time
    {"rows", 0, 1 << 30, 1},         // rows of a line or of a halo
    {"lane_rows", 16, 1 << 16, 16},  // rows of a partition by lanes
    {"bytes", 64, 1 << 30, 1},
    {"bundle_bytes", 0, 1024, 16},  // bytes of a row of lines side by side; 0: default
    {"share", 0.001, 1000, 0},      // factor of a rate or a time
    {"words", 0, 1e9, 0}};          // a time, stated as the words that a stream moves in it

double figure_value(const std::string& word, const std::string& name) {
  const auto column =
      std::find_if(std::begin(kColumns), std::end(kColumns), [&](const FigureColumn& c) { return c.name == name; });
  if (column == std::end(kColumns)) throw InvalidInput("there is no kind of column " + name);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool number = error == std::errc() && end == word.data() + word.size();
  const bool whole = (column->multiple == 0 || std::fmod(value, column->multiple) == 0) &&
                     (!column->power || std::exp2(std::rint(std::log2(value))) == value);
  if (number && value >= column->least && value <= column->most && whole) return value;
  throw InvalidInput(word + " is no value for " + name + ": give a number from " +
                     format("%g to %g", column->least, column->most) +
                     (column->power          ? ", a power of two"
                      : column->multiple > 0 ? format(", a multiple of %g", column->multiple)
                                             : ""));
}

/// All files, in the order of the search for a device, and the path of the user's file. Files are never removed,
/// because plans refer to them.
struct TuningFiles {
  std::mutex mutex;
  std::list<Tuning> all;
  std::string path;
};

TuningFiles& tuning_files() {
  static auto* all = [] {
    auto* made = new TuningFiles;
    for (const TuningFile& file : kTuningFiles) made->all.emplace_back(file.name, file.text);
    return made;
  }();
  return *all;
}

}  // namespace

Tuning::Tuning(const std::string& file, const std::string& text, const Tuning* known) {
  int number = 0;
  for (const std::string& part : split(text, '\n')) {
    const std::string line = trimmed(part, kBlanksOfLines);
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      read_line(line, known);
    } catch (const InvalidInput& error) {
      throw InvalidInput(file + ", line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (devices_.empty()) {
    throw InvalidInput(file +
                       " has no line 'devices = WORD, ...': give words of the names of the devices that it is for");
  }
}

void Tuning::read_line(const std::string& line, const Tuning* known) {
  const std::size_t equals = line.find('='), open = line.find('['), close = line.find(']');
  if (equals == std::string::npos)
    throw InvalidInput("'" + line + "' has no '=': write NAME [COLUMNS] = NUMBERS; NUMBERS");
  const std::string left = trimmed(line.substr(0, equals)), right = line.substr(equals + 1);
  if (left == "devices") {
    devices_ = split(right, ',');
    std::erase(devices_, "");
    return;
  }
  if (open == std::string::npos || close == std::string::npos || close < open || close > equals) {
    throw InvalidInput("'" + left + "' has no columns: write NAME [COLUMNS] = NUMBERS; NUMBERS");
  }
  const std::string name = trimmed(left.substr(0, open));
  Table table{trimmed(left.substr(open + 1, close - open - 1)), {}};
  if (known != nullptr) {
    const auto at = known->tables_.find(name);
    if (at == known->tables_.end() || at->second.columns != table.columns) {
      throw InvalidInput("there is no table '" + left +
                         "': take names and columns from the files in tuning/, or from "
                         "oclspkt-bench-schemes --tune");
    }
  }
  const std::vector<std::string> columns = split(table.columns);
  for (const std::string& numbers : split(right, ';')) {
    const std::vector<std::string> words = split(numbers);
    if (words.size() != columns.size() || words.size() > kMostColumns) {
      throw InvalidInput(name + " takes " + std::to_string(columns.size()) + " numbers a row (" + table.columns +
                         "), not " + std::to_string(words.size()));
    }
    Row& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < words.size(); ++i) row[i] = figure_value(words[i], columns[i]);
  }
  if (table.rows.empty()) throw InvalidInput(name + " has no numbers: give at least one row of " + table.columns);
  tables_[name] = std::move(table);
}

const Tuning& Tuning::built_in() {
  static const Tuning* all = [] {
    auto* merged = new Tuning("", "devices = any");
    for (const TuningFile& file : kTuningFiles) merged->tables_.merge(Tuning(file.name, file.text).tables_);
    return merged;
  }();
  return *all;
}

void Tuning::use(const std::string& file, const std::string& text) {
  Tuning figures(file, text, &built_in());
  TuningFiles& of = tuning_files();
  const std::lock_guard lock(of.mutex);
  of.all.push_front(std::move(figures));
}

const Tuning& Tuning::of_device(const std::string& device) {
  TuningFiles& of = tuning_files();
  const std::lock_guard lock(of.mutex);
  const char* const named = std::getenv(kVariable);
  if (const std::string path = named != nullptr ? named : ""; !path.empty() && path != of.path) {
    constexpr std::int64_t kMostBytes = 1 << 20;
    const std::optional<std::string> text = read_file(path, kMostBytes);
    if (!text) {
      throw InvalidInput(std::string(kVariable) + " names " + path +
                         ", which cannot be read or is no file of at most 1 MB: name a file that oclspkt-bench-schemes "
                         "--tune has written, or unset the variable");
    }
    of.all.emplace_front(path, *text, &built_in());
    of.path = path;
  }
  const auto at = std::find_if(of.all.begin(), of.all.end(), [&](const Tuning& t) { return t.names(device); });
  return at != of.all.end() ? *at : built_in();
}

bool Tuning::names(const std::string& device) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const std::string& word) { return device.find(word) != std::string::npos; });
}

const std::vector<Tuning::Row>& Tuning::rows(std::string_view name) const {
  const auto own = tables_.find(name);
  if (own != tables_.end()) return own->second.rows;
  const auto at = built_in().tables_.find(name);
  if (at != built_in().tables_.end()) return at->second.rows;
  throw InvalidInput("no file of tuned figures has a table " + std::string(name));
}

}  // namespace oclspkt

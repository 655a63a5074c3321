// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "families.hpp"

namespace oclspkt::attack {
namespace {

constexpr std::pair<const char*, bool Case::*> kFlags[] = {{"over_diagonal", &Case::over_diagonal},
                                                           {"reversed", &Case::reversed},
                                                           {"transposed", &Case::transposed},
                                                           {"inverse_rows", &Case::inverse_rows}};
constexpr std::pair<const char*, double Case::*> kNumbers[] = {{"row_decades", &Case::row_decades},
                                                               {"column_decades", &Case::column_decades},
                                                               {"range", &Case::range},
                                                               {"rtol", &Case::rtol}};

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// The place of `word` among names.
template <typename Names>
int place_of(const std::string& word, const std::string& option, const Names& names) {
  for (std::size_t k = 0; k < std::size(names); ++k) {
    if (word == names[k]) return static_cast<int>(k);
  }
  std::string all;
  for (const char* name : names) all.append(all.empty() ? "" : ", ").append(name);
  throw BadText(option + " takes one of " + all + "; not '" + word + "'");
}

Index parse_count(const std::string& word, const std::string& name, Index least) {
  const double value = parse_number(word, name);
  if (value >= static_cast<double>(least) && value <= 1e9) return static_cast<Index>(value);
  throw BadText(name + " takes a whole number from " + std::to_string(least) + " to 1e9, not '" + word + "'");
}

void set_parameter(Case& c, const std::string& name, const std::string& value) {
  const Family& family = family_named(c.family);
  for (std::size_t k = 0; k < family.parameters.size(); ++k) {
    if (name == family.parameters[k].name) {
      c.parameters[k] = parse_number(value, name);
      return;
    }
  }
  throw BadText("the family " + c.family + " has no parameter '" + name + "'");
}

/// "d17*0.5": the diagonal of row 17 is halved.
Edit parse_edit(const std::string& word) {
  const std::size_t times = word.find('*');
  if (times == std::string::npos || times < 2 || std::string("ldu").find(word[0]) == std::string::npos) {
    throw BadText("edit takes a band (l, d, u), an offset, * and a factor, as in d17*0.5; not '" + word + "'");
  }
  return {word[0], parse_count(word.substr(1, times - 1), "edit", 0), parse_number(word.substr(times + 1), "edit")};
}

void set_word(Case& c, const std::string& name, const std::string& value) {
  for (const auto& [of, number] : kNumbers) {
    if (name != of) continue;
    c.*number = parse_number(value, name);
    return;
  }
  if (name == "rows") {
    c.rows = parse_count(value, name, 1);
  } else if (name == "lines") {
    c.lines = parse_count(value, name, 1);
  } else if (name == "layout") {
    c.layout = static_cast<Layout>(place_of(value, name, kLayoutNames));
  } else if (name == "use") {
    c.use = static_cast<Use>(place_of(value, name, kUseNames));
  } else if (name == "pattern") {
    c.pattern = static_cast<Pattern>(place_of(value, name, kPatternNames));
  } else if (name == "edit") {
    c.edits.push_back(parse_edit(value));
  } else if (name == "partition") {
    c.partition = parse_count(value, name, 0);
  } else if (name == "seed") {
    c.seed = std::strtoull(value.c_str(), nullptr, 10);
  } else {
    set_parameter(c, name, value);
  }
}

}  // namespace

double parse_number(const std::string& word, const std::string& name) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (!word.empty() && *end == '\0' && std::isfinite(value)) return value;
  throw BadText(name + " takes a number, not '" + word + "'");
}

std::string to_text(const Case& c) {
  const Case usual;
  std::string text = c.family + " rows=" + std::to_string(c.rows);
  const auto add = [&](const char* name, const std::string& value) { text.append(" ").append(name) += "=" + value; };
  const Family& family = family_named(c.family);
  for (std::size_t k = 0; k < family.parameters.size(); ++k) {
    add(family.parameters[k].name, number_text(c.parameters[k]));
  }
  if (c.layout != usual.layout) add("layout", kLayoutNames[static_cast<int>(c.layout)]);
  if (c.lines != usual.lines) add("lines", std::to_string(c.lines));
  for (const auto& [name, flag] : kFlags) {
    if (c.*flag) text.append(" ").append(name);
  }
  for (const auto& [name, number] : kNumbers) {
    if (c.*number != 0) add(name, number_text(c.*number));
  }
  if (c.pattern != usual.pattern) add("pattern", kPatternNames[static_cast<int>(c.pattern)]);
  if (c.use != usual.use) add("use", kUseNames[static_cast<int>(c.use)]);
  if (c.partition != 0) add("partition", std::to_string(c.partition));
  add("seed", std::to_string(c.seed));
  for (const Edit& e : c.edits) add("edit", e.band + std::to_string(e.at) + "*" + number_text(e.factor));
  return text;
}

Case parse_case(const std::string& text) {
  std::istringstream words(text);
  Case c;
  if (!(words >> c.family)) throw BadText("a case begins with the name of its family");
  family_named(c.family);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      set_word(c, word.substr(0, equals), word.substr(equals + 1));
    } else if (const auto* flag =
                   std::find_if(std::begin(kFlags), std::end(kFlags), [&](const auto& of) { return word == of.first; });
               flag != std::end(kFlags)) {
      c.*flag->second = true;
    } else {
      throw BadText("a case takes name=value, over_diagonal, reversed, transposed or inverse_rows; not '" + word + "'");
    }
  }
  return c;
}

}  // namespace oclspkt::attack

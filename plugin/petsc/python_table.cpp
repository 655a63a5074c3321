// SPDX-License-Identifier: BSD-2-Clause
#include <cstdio>

#include "options.hpp"
#include "signatures.hpp"

namespace oclspkt::petsc {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' || c == '\\' ? 1 : 0, '\\').append(1, c);
  return result + "\"";
}

/// What the helper calls the type; enumerations are written as their words.
std::string python_type(const std::string& type) {
  for (const OptionEntry& entry : option_table()) {
    const auto* choice = std::get_if<Choice>(&entry.field);
    if (!choice || type != entry.argument || !is_enumeration(type)) continue;
    std::string words;
    for (const char* word : choice->names) words.append(quoted(word)).append(", ");
    return "(" + words + ")";
  }
  for (const char* known : {"const char[]", "PetscReal", "PetscInt", "PetscInt64", "PetscBool", "IS", "Vec"}) {
    if (type == known) return "\"" + type + "\"";
  }
  return {};
}

bool print_row(const std::string& name, const char* function, const std::vector<std::string>& types, const char* help) {
  std::string row;
  for (const std::string& type : types) {
    const std::string python = python_type(type);
    if (python.empty()) {
      std::fprintf(stderr, "oclspkt-options: python_table.cpp does not know the C type %s of %s\n", type.c_str(),
                   function);
      return false;
    }
    row += python + ", ";
  }
  std::printf("    \"%s\": (\"%s\", (%s), %s),\n", name.c_str(), function, row.c_str(), quoted(help).c_str());
  return true;
}

}  // namespace

bool print_python_table() {
  bool known = true;
  std::printf(
      "# SPDX-License-Identifier: BSD-2-Clause\n"
      "# Made by oclspkt-options from plugin/petsc/options.cpp: name, end of the C functions' names, types, help.\n"
      "SETTINGS = {\n");
  for (const OptionEntry& entry : option_table()) {
    known = print_row(snake_case(entry.function), entry.function, {entry.argument}, entry.help) && known;
  }
  std::printf("}\nACTIONS = {\n");
  for (const ActionEntry& entry : action_table()) {
    std::vector<std::string> types;
    for (const ResultValue& value : entry.inputs) types.emplace_back(value.type);
    known = print_row(snake_case(entry.function), entry.function, types, entry.help) && known;
  }
  std::printf("}\nRESULTS = {\n");
  for (const ResultEntry& entry : result_table()) {
    std::vector<std::string> types;
    for (const ResultValue& value : entry.values) types.emplace_back(value.type);
    known = print_row(snake_case(entry.function), entry.function, types, entry.help) && known;
  }
  std::printf("}\n");
  return known;
}

}  // namespace oclspkt::petsc

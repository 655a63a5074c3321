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

/// `("PetscReal", "PetscInt", ), `; false if a type is not known.
bool append_types(const char* function, const std::vector<std::string>& types, std::string& row) {
  row += "(";
  for (const std::string& type : types) {
    const std::string python = python_type(type);
    if (python.empty()) {
      std::fprintf(stderr, "oclspkt-options: python_table.cpp does not know the C type %s of %s\n", type.c_str(),
                   function);
      return false;
    }
    row += python + ", ";
  }
  row += "), ";
  return true;
}

/// @param lists the types of what goes in, of what comes out, or of both
bool print_row(const std::string& name, const char* function, const std::vector<std::vector<std::string>>& lists,
               const char* help) {
  std::string row;
  for (const std::vector<std::string>& types : lists) {
    if (!append_types(function, types, row)) return false;
  }
  std::printf("    \"%s\": (\"%s\", %s%s),\n", name.c_str(), function, row.c_str(), quoted(help).c_str());
  return true;
}

std::vector<std::string> types_of(const std::vector<ResultValue>& values) {
  std::vector<std::string> types;
  types.reserve(values.size());
  for (const ResultValue& value : values) types.emplace_back(value.type);
  return types;
}

}  // namespace

bool print_python_table() {
  bool known = true;
  std::printf(
      "# SPDX-License-Identifier: BSD-2-Clause\n"
      "# Made by oclspkt-options from plugin/petsc/options.cpp: name, end of the C functions' names, types, help. "
      "Results\n"
      "# have the types of what is asked for in front of those of what comes back.\n"
      "SETTINGS = {\n");
  for (const OptionEntry& entry : option_table()) {
    known = print_row(snake_case(entry.function), entry.function, {{entry.argument}}, entry.help) && known;
  }
  std::printf("}\nACTIONS = {\n");
  for (const ActionEntry& entry : action_table()) {
    known = print_row(snake_case(entry.function), entry.function, {types_of(entry.inputs)}, entry.help) && known;
  }
  std::printf("}\nRESULTS = {\n");
  for (const ResultEntry& entry : result_table()) {
    known = print_row(snake_case(entry.function), entry.function, {types_of(entry.inputs), types_of(entry.values)},
                      entry.help) &&
            known;
  }
  std::printf("}\n");
  return known;
}

}  // namespace oclspkt::petsc

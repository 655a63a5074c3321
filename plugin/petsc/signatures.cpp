// SPDX-License-Identifier: BSD-2-Clause
#include "signatures.hpp"

#include "options.hpp"

namespace oclspkt::petsc {

std::vector<Signature> signatures() {
  const std::string prefix = "PCOCLSPKT";
  std::vector<Signature> all = {{prefix + "InitializePackage", false, {}}, {prefix + "FinalizePackage", false, {}}};
  for (const OptionEntry& entry : option_table()) {
    all.push_back({prefix + "Set" + entry.function, true, {{entry.name, entry.argument, false}}});
    all.push_back({prefix + "Get" + entry.function, true, {{entry.name, entry.argument, true}}});
  }
  for (const ActionEntry& entry : action_table()) {
    Signature signature{prefix + entry.function, true, {}};
    for (const ResultValue& value : entry.inputs) signature.arguments.push_back({value.name, value.type, false});
    all.push_back(std::move(signature));
  }
  for (const ResultEntry& entry : result_table()) {
    Signature signature{prefix + "Get" + entry.function, true, {}};
    for (const ResultValue& value : entry.inputs) signature.arguments.push_back({value.name, value.type, false});
    for (const ResultValue& value : entry.values) signature.arguments.push_back({value.name, value.type, true});
    all.push_back(std::move(signature));
  }
  return all;
}

std::string c_declaration(const Argument& argument) {
  const auto brackets = argument.type.find("[]");
  const std::string between = argument.out ? " *" : " ";
  if (brackets == std::string::npos) return argument.type + between + argument.name;
  return argument.type.substr(0, brackets) + between + argument.name + "[]";
}

std::string snake_case(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !text.empty()) text += '_';
    text += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::string constant_name(const OptionEntry& entry, const std::string& word) {
  std::string name = std::string("PC_OCLSPKT_") + entry.name + "_" + word;
  for (char& c : name) c = c == '-' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  return name;
}

bool is_enumeration(const std::string& type) { return type.starts_with("PCOCLSPKT"); }

}  // namespace oclspkt::petsc

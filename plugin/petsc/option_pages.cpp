// SPDX-License-Identifier: BSD-2-Clause
/// oclspkt-options prints the files that are generated from the tables of options and results.
///
///   oclspkt-options                    docs/options.md
///   oclspkt-options --list             names of the manual pages, one a line
///   oclspkt-options PCOCLSPKTSetRtol   docs/manual/PCOCLSPKTSetRtol.md
///   oclspkt-options --header           oclspkt/oclspkt.h
///   oclspkt-options --rows             oclspkt/rows.h, the rows of functions.cxx
///   oclspkt-options --fortran          oclspkt.F90, which the build compiles
///   oclspkt-options --python           oclspkt/_functions.py, beside python/oclspkt/__init__.py

#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "signatures.hpp"

using namespace oclspkt::petsc;

namespace {

std::string default_text(const OptionEntry& entry) {
  const std::string value = value_text(entry, oclspkt::petsc::Settings{});
  return value.empty() ? "empty by default" : "default `" + value + "`";
}

std::string option_text(const OptionEntry& entry) { return kOptionPrefix + (entry.name + (" " + values_text(entry))); }

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

void print_options_page() {
  std::printf(
      "<!-- Made by oclspkt-options from plugin/petsc/options.cpp; a test keeps this page equal to its output. -->\n"
      "# Options of PCOCLSPKT\n\n"
      "Put the prefix of the preconditioner in front of an option: `-sub_pc_oclspkt_method exact` under bjacobi, "
      "`-fieldsplit_0_pc_oclspkt_method exact` under fieldsplit. A change takes effect at the next set-up. `-help` "
      "prints the same list, and the view names the options that differ from their defaults.\n");
  for (const OptionEntry& entry : option_table()) {
    const std::string python = snake_case(entry.function);
    std::printf(
        "\n## `%s%s`\n\n`%s`, %s\n\n%s %s\n\nIn C and Fortran: `PCOCLSPKTSet%s()`, `PCOCLSPKTGet%s()`; in "
        "Python: `oclspkt.set_%s()`, `oclspkt.get_%s()`.\n",
        kOptionPrefix, entry.name, values_text(entry).c_str(), default_text(entry).c_str(),
        sentence(entry.help).c_str(), entry.notes, entry.function, entry.function, python.c_str(), python.c_str());
  }
}

void print_synopsis(const Signature& signature, bool setter) {
  std::printf("## Synopsis\n\n```c\n#include <oclspkt/oclspkt.h>\nPetscErrorCode %s(%s)\n```\n\n%s\n\n",
              signature.name.c_str(), c_arguments(signature).c_str(),
              setter ? "Logically Collective" : "Not Collective");
}

void print_see_also(const std::string& functions) {
  std::printf("## See also\n\n[PCOCLSPKT](PCOCLSPKT.md)");
  std::istringstream words(functions);
  for (std::string word; words >> word;) {
    std::printf(", [PCOCLSPKT%s](PCOCLSPKT%s.md)", word.c_str(), word.c_str());
  }
  std::printf("\n");
}

void print_option(const Signature& f) {
  const OptionEntry& entry = *f.option;
  const bool setter = !f.arguments[0].out;
  std::printf("%s the option `%s%s`: %s.\n\n", setter ? "Set" : "Get", kOptionPrefix, entry.name, entry.help);
  print_synopsis(f, setter);
  std::printf("## Input Parameter%s\n\n- `pc` - the preconditioner\n", setter ? "s" : "");
  if (!setter) std::printf("\n## Output Parameter\n\n");
  std::printf("- `%s` - %s%s\n\n", entry.name, values_text(entry).c_str(),
              !setter && std::strstr(entry.argument, "char") ? "; valid until the option changes" : "");
  if (setter) {
    std::printf("## Options Database Key\n\n- `%s` - %s (%s)\n\n", option_text(entry).c_str(), entry.help,
                default_text(entry).c_str());
  }
  std::printf(
      "## Level\n\nintermediate\n\n## Notes\n\n%s%s%s\n\n", entry.notes,
      entry.by_rank ? " Ranks may have different values." : "",
      setter ? " The change takes effect at the next `PCSetUp()`; for other types of PC the call does nothing." : "");
  const bool enumeration = is_enumeration(entry.argument);
  print_see_also((setter ? "Get" : "Set") + std::string(entry.function) +
                 (enumeration ? std::string(" ") + (entry.argument + std::strlen("PCOCLSPKT")) : ""));
}

void print_result(const Signature& f) {
  const ResultEntry& entry = *f.result;
  std::printf("Get %s.\n\n", f.by_direction ? entry.direction_help : entry.help);
  print_synopsis(f, false);
  std::printf("## Input Parameter%s\n\n- `pc` - the preconditioner, of type `PCOCLSPKT` and set up\n",
              f.by_direction ? "s" : "");
  if (f.by_direction) std::printf("- `%s` - %s\n", kDirectionInput.name, kDirectionInput.help);
  std::printf("\n## Output Parameter%s\n\n", entry.values.size() > 1 ? "s" : "");
  for (const ResultValue& value : entry.values) {
    std::printf("- `%s` - %s%s\n", value.name, value.help, entry.values.size() > 1 ? "; `NULL` if not wanted" : "");
  }
  std::printf("\n## Level\n\n%s\n\n## Notes\n\n%s Calling it before a successful `PCSetUp()` is an error.\n\n",
              entry.level, f.by_direction ? entry.direction_notes : entry.notes);
  print_see_also(f.by_direction ? std::string("GetDirectionsUsed Get") + entry.function : entry.see_also);
}

void print_action(const Signature& f) {
  const ActionEntry& entry = *f.action;
  std::printf("%s\n\n", entry.help);
  print_synopsis(f, true);
  std::printf("## Input Parameters\n\n- `pc` - the preconditioner\n");
  for (const ResultValue& value : entry.inputs) std::printf("- `%s` - %s\n", value.name, value.help);
  std::printf(
      "\n## Level\n\nadvanced\n\n## Notes\n\n%s The change takes effect at the next `PCSetUp()`; for other types "
      "of PC the call does nothing. `PCReset()` drops what was given.\n\n",
      entry.notes);
  print_see_also(entry.see_also);
}

void print_enumeration(const OptionEntry& entry) {
  std::printf(
      "The values of the option `%s%s`: %s.\n\n## Synopsis\n\n```c\n#include <oclspkt/oclspkt.h>\n%s```\n\n## "
      "Values\n\n",
      kOptionPrefix, entry.name, entry.help, c_enumeration(entry, "extern").c_str());
  for (const char* word : words_of(entry)) std::printf("- `%s` - `%s`\n", constant_name(entry, word).c_str(), word);
  std::printf("\n## Level\n\nintermediate\n\n## Notes\n\n%s `%ss` holds the words, indexed by the values.\n\n",
              entry.notes, entry.argument);
  print_see_also("Set" + std::string(entry.function) + " Get" + entry.function);
}

void print_title(const std::string& name) {
  std::printf("<!-- Made by oclspkt-options from plugin/petsc/options.cpp. -->\n# %s\n\n", name.c_str());
}

int print_page(const std::string& name) {
  for (const OptionEntry* entry : enumerations()) {
    if (name != entry->argument) continue;
    print_title(name);
    print_enumeration(*entry);
    return 0;
  }
  for (const Signature& f : signatures()) {
    if (!f.takes_pc() || f.name != name) continue;
    print_title(name);
    f.option ? print_option(f) : f.result ? print_result(f) : print_action(f);
    return 0;
  }
  std::fprintf(stderr, "oclspkt-options: there is no page %s; --list names those there are\n", name.c_str());
  return 1;
}

void print_list() {
  for (const Signature& f : signatures()) {
    if (f.takes_pc()) std::printf("%s\n", f.name.c_str());
  }
  for (const OptionEntry* entry : enumerations()) std::printf("%s\n", entry->argument);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const std::map<std::string, void (*)()> printers = {{"", print_options_page},
                                                      {"--list", print_list},
                                                      {"--header", print_c_header},
                                                      {"--rows", print_c_rows},
                                                      {"--fortran", print_fortran_module},
                                                      {"--python", print_python_table}};
  const std::string unknown = unknown_types();
  if (!unknown.empty()) {
    std::fprintf(stderr, "oclspkt-options: %s", unknown.c_str());
    return 1;
  }
  const auto printer = printers.find(what);
  if (printer == printers.end()) return print_page(what);
  printer->second();
  return 0;
}

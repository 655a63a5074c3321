// SPDX-License-Identifier: BSD-2-Clause
/// oclspkt-options: print what is made from the tables of options and results: pages of the documentation, the Fortran
/// module, the table of the Python helper.
///
///   oclspkt-options                    docs/options.md
///   oclspkt-options --list             names of the manual pages, one a line
///   oclspkt-options PCOCLSPKTSetRtol   docs/manual/PCOCLSPKTSetRtol.md
///   oclspkt-options --fortran          oclspkt.F90, which the build compiles
///   oclspkt-options --python           oclspkt/_functions.py, beside python/oclspkt/__init__.py

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>

#include "options.hpp"
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

struct Page {
  Signature signature;
  const OptionEntry* option;  ///< null for others
  const ResultEntry* result;  ///< null for others
  const ActionEntry* action;  ///< null for others
  bool is_setter() const { return option && !signature.arguments[0].out; }
};

std::vector<Page> pages() {
  std::vector<Page> all;
  for (const Signature& signature : signatures()) {
    for (const OptionEntry& entry : option_table()) {
      if (signature.name.substr(std::strlen("PCOCLSPKTSet")) == entry.function)
        all.push_back({signature, &entry, {}, {}});
    }
    for (const ResultEntry& entry : result_table()) {
      if (signature.name == std::string("PCOCLSPKTGet") + entry.function) all.push_back({signature, {}, &entry, {}});
    }
    for (const ActionEntry& entry : action_table()) {
      if (signature.name == std::string("PCOCLSPKT") + entry.function) all.push_back({signature, {}, {}, &entry});
    }
  }
  return all;
}

void print_synopsis(const Signature& signature, bool setter) {
  std::string arguments = "PC pc";
  for (const Argument& argument : signature.arguments) arguments += ", " + c_declaration(argument);
  std::printf("## Synopsis\n\n```c\n#include <oclspkt/oclspkt.h>\nPetscErrorCode %s(%s)\n```\n\n%s\n\n",
              signature.name.c_str(), arguments.c_str(), setter ? "Logically Collective" : "Not Collective");
}

void print_see_also(const std::string& functions) {
  std::printf("## See also\n\n[PCOCLSPKT](PCOCLSPKT.md)");
  std::istringstream words(functions);
  for (std::string word; words >> word;) {
    std::printf(", [PCOCLSPKT%s](PCOCLSPKT%s.md)", word.c_str(), word.c_str());
  }
  std::printf("\n");
}

void print_option(const Page& page) {
  const OptionEntry& entry = *page.option;
  const bool setter = page.is_setter();
  std::printf("%s the option `%s%s`: %s.\n\n", setter ? "Set" : "Get", kOptionPrefix, entry.name, entry.help);
  print_synopsis(page.signature, setter);
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

void print_result(const Page& page) {
  const ResultEntry& entry = *page.result;
  std::printf("Get %s.\n\n", entry.help);
  print_synopsis(page.signature, false);
  std::printf("## Input Parameter%s\n\n- `pc` - the preconditioner, of type `PCOCLSPKT` and set up\n",
              entry.inputs.empty() ? "" : "s");
  for (const ResultValue& value : entry.inputs) std::printf("- `%s` - %s\n", value.name, value.help);
  std::printf("\n## Output Parameter%s\n\n", entry.values.size() > 1 ? "s" : "");
  for (const ResultValue& value : entry.values) {
    std::printf("- `%s` - %s%s\n", value.name, value.help, optional(entry) ? "; `NULL` if not wanted" : "");
  }
  std::printf("\n## Level\n\n%s\n\n## Notes\n\n%s Calling it before a successful `PCSetUp()` is an error.\n\n",
              entry.level, entry.notes);
  print_see_also(entry.see_also);
}

void print_action(const Page& page) {
  const ActionEntry& entry = *page.action;
  std::printf("%s\n\n", entry.help);
  print_synopsis(page.signature, true);
  std::printf("## Input Parameters\n\n- `pc` - the preconditioner\n");
  for (const ResultValue& value : entry.inputs) std::printf("- `%s` - %s\n", value.name, value.help);
  std::printf(
      "\n## Level\n\nadvanced\n\n## Notes\n\n%s The change takes effect at the next `PCSetUp()`; for other types "
      "of PC the call does nothing. `PCReset()` drops what was given.\n\n",
      entry.notes);
  print_see_also(entry.see_also);
}

/// The page of the enumeration that an option takes.
void print_enumeration(const OptionEntry& entry, const Choice& choice) {
  std::printf(
      "The values of the option `%s%s`: %s.\n\n## Synopsis\n\n```c\n#include <oclspkt/oclspkt.h>\ntypedef enum {\n",
      kOptionPrefix, entry.name, entry.help);
  const char* between = "";
  for (const char* word : choice.names) {
    std::printf("%s  %s", between, constant_name(entry, word).c_str());
    between = ",\n";
  }
  std::printf("\n} %s;\nextern const char *const %ss[];\n```\n\n## Values\n\n", entry.argument, entry.argument);
  for (const char* word : choice.names) std::printf("- `%s` - `%s`\n", constant_name(entry, word).c_str(), word);
  std::printf("\n## Level\n\nintermediate\n\n## Notes\n\n%s `%ss` holds the words, indexed by the values.\n\n",
              entry.notes, entry.argument);
  print_see_also("Set" + std::string(entry.function) + " Get" + entry.function);
}

/// The option whose enumeration has this name; null if there is none.
const OptionEntry* find_enumeration(const std::string& name) {
  for (const OptionEntry& entry : option_table()) {
    if (name == entry.argument && is_enumeration(name)) return &entry;
  }
  return nullptr;
}

void print_title(const std::string& name) {
  std::printf("<!-- Made by oclspkt-options from plugin/petsc/options.cpp. -->\n# %s\n\n", name.c_str());
}

int print_page(const std::string& name) {
  if (const OptionEntry* entry = find_enumeration(name)) {
    print_title(name);
    print_enumeration(*entry, std::get<Choice>(entry->field));
    return 0;
  }
  for (const Page& page : pages()) {
    if (page.signature.name != name) continue;
    print_title(name);
    if (page.option) print_option(page);
    if (page.result) print_result(page);
    if (page.action) print_action(page);
    return 0;
  }
  std::fprintf(stderr, "oclspkt-options: there is no page %s; --list names those there are\n", name.c_str());
  return 1;
}

int print(const std::string& what) {
  if (what == "--fortran") return print_fortran_module() ? 0 : 1;
  if (what == "--python") return print_python_table() ? 0 : 1;
  if (what != "--list") return print_page(what);
  for (const Page& page : pages()) std::printf("%s\n", page.signature.name.c_str());
  for (const OptionEntry& entry : option_table()) {
    if (is_enumeration(entry.argument)) std::printf("%s\n", entry.argument);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return print(argv[1]);
  print_options_page();
  return 0;
}

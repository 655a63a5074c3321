// SPDX-License-Identifier: BSD-2-Clause
/// oclspkt-options: print the pages of the documentation that are made from the options table.
///
///   oclspkt-options                    docs/options.md
///   oclspkt-options --list             names of the manual pages, one a line
///   oclspkt-options PCOCLSPKTSetRtol   docs/manual/PCOCLSPKTSetRtol.md

#include <cstdio>
#include <cstring>
#include <string>

#include "options.hpp"

using oclspkt::petsc::kOptionPrefix;
using oclspkt::petsc::option_table;
using oclspkt::petsc::OptionEntry;

namespace {

std::string default_text(const OptionEntry& entry) { return value_text(entry, oclspkt::petsc::Settings{}); }

std::string option_text(const OptionEntry& entry) { return kOptionPrefix + (entry.name + (" " + values_text(entry))); }

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

void print_options_page() {
  std::printf(
      "<!-- Made by oclspkt-options from plugin/petsc/options.cpp; a test keeps this page equal to its output. -->\n"
      "# Options of PCOCLSPKT\n\n"
      "They go behind any prefix of the preconditioner (`-sub_pc_oclspkt_method exact` under bjacobi, "
      "`-fieldsplit_0_pc_oclspkt_method exact` under fieldsplit). A change takes effect at the next set-up. `-help` "
      "prints "
      "the same list, and the view names the options that differ from their defaults.\n");
  for (const OptionEntry& entry : option_table()) {
    std::printf("\n## `%s%s`\n\n`%s`, default `%s`\n\n%s %s\n\nIn C: `PCOCLSPKTSet%s()`, `PCOCLSPKTGet%s()`.\n",
                kOptionPrefix, entry.name, values_text(entry).c_str(), default_text(entry).c_str(),
                sentence(entry.help).c_str(), entry.notes, entry.function, entry.function);
  }
}

/// "const char[]" and "devices" become "const char devices[]"; a getter's argument is a pointer to it.
std::string declaration(const OptionEntry& entry, bool getter) {
  const std::string type = entry.argument;
  const auto brackets = type.find("[]");
  if (brackets == std::string::npos) return type + (getter ? " *" : " ") + entry.name;
  return type.substr(0, brackets) + (getter ? " *" : " ") + entry.name + "[]";
}

void print_manual_page(const OptionEntry& entry, bool getter) {
  const char* verb = getter ? "Get" : "Set";
  std::printf("<!-- Made by oclspkt-options from plugin/petsc/options.cpp. -->\n# PCOCLSPKT%s%s\n\n", verb,
              entry.function);
  std::printf("%s the setting of `%s%s`: %s.\n\n", verb, kOptionPrefix, entry.name, entry.help);
  std::printf("## Synopsis\n\n```c\n#include <oclspkt/oclspkt.h>\nPetscErrorCode PCOCLSPKT%s%s(PC pc, %s)\n```\n\n",
              verb, entry.function, declaration(entry, getter).c_str());
  std::printf("%s\n\n", getter ? "Not Collective" : "Logically Collective");
  std::printf("## Input Parameter%s\n\n- `pc` - the preconditioner\n", getter ? "" : "s");
  if (getter) std::printf("\n## Output Parameter\n\n");
  std::printf("- `%s` - %s%s\n\n", entry.name, values_text(entry).c_str(),
              getter && std::strstr(entry.argument, "char") ? "; valid until the setting changes" : "");
  if (!getter) {
    std::printf("## Options Database Key\n\n- `%s` - %s (default `%s`)\n\n", option_text(entry).c_str(), entry.help,
                default_text(entry).c_str());
  }
  std::printf("## Level\n\nintermediate\n\n## Notes\n\n%s", entry.notes);
  std::printf(getter ? "\n\n"
                     : " The change takes effect at the next `PCSetUp()`; for other types of PC nothing happens.\n\n");
  std::printf("## See also\n\n[PCOCLSPKT](PCOCLSPKT.md), [PCOCLSPKT%s%s](PCOCLSPKT%s%s.md)\n", getter ? "Set" : "Get",
              entry.function, getter ? "Set" : "Get", entry.function);
}

int print_page(const std::string& page) {
  for (const OptionEntry& entry : option_table()) {
    for (const bool getter : {false, true}) {
      const std::string name = std::string(getter ? "PCOCLSPKTGet" : "PCOCLSPKTSet") + entry.function;
      if (page == "--list") std::printf("%s\n", name.c_str());
      if (page == name) {
        print_manual_page(entry, getter);
        return 0;
      }
    }
  }
  if (page == "--list") return 0;
  std::fprintf(stderr, "oclspkt-options: there is no page %s; --list names those there are\n", page.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return print_page(argv[1]);
  print_options_page();
  return 0;
}

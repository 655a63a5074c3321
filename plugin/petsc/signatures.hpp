// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace oclspkt::petsc {

struct OptionEntry;

/// An argument behind the PC. `type` is the C type of the value, "const char[]" for text; `out` makes it a pointer.
struct Argument {
  std::string name, type;
  bool out;
};

/// A function of oclspkt.h as callers see it.
struct Signature {
  std::string name;
  bool takes_pc;
  std::vector<Argument> arguments;
};

/// Every function of oclspkt.h, made from the tables in options.cpp; a test compares them with the header.
std::vector<Signature> signatures();

/// "PetscReal rtol", "PetscReal *rtol", "const char devices[]", "const char *devices[]"
std::string c_declaration(const Argument& argument);

/// What Python calls a function: "IgnoredEntries" becomes "ignored_entries".
std::string snake_case(const std::string& name);

/// Whether the type is one of the enumerations of oclspkt.h.
bool is_enumeration(const std::string& type);

/// A value of the enumeration behind a Choice: "PC_OCLSPKT_METHOD_EXACT_TWOPASS".
std::string constant_name(const OptionEntry& entry, const std::string& word);

/// Print the Fortran module, or the table that the Python helper reads; false if a type is not known to them.
bool print_fortran_module();
bool print_python_table();

}  // namespace oclspkt::petsc

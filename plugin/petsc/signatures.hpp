// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace oclspkt::petsc {

/// An argument behind the PC. `type` is the C type of the value, "const char[]" for text; `out` makes it a pointer.
struct Argument {
  std::string name, type;
  bool out;
};

/// A function of oclspkt.h as callers see it, and its row of a table; those of no table take no PC.
struct Signature {
  std::string name;
  std::vector<Argument> arguments = {};
  const OptionEntry* option = nullptr;
  const ResultEntry* result = nullptr;
  const ActionEntry* action = nullptr;
  bool by_direction = false;  ///< the function of the result for one direction
  bool takes_pc() const { return option || result || action; }
};

/// Every function of oclspkt.h, made from the tables in options.cpp.
std::vector<Signature> signatures();

/// What stands between the brackets of the C function: "PC pc, PetscReal *rtol", "PC pc, const char *devices[]",
/// "void".
std::string c_arguments(const Signature& f);

/// What Python calls a function: "IgnoredEntries" becomes "ignored_entries".
std::string snake_case(const std::string& name);

/// The options with an enumeration of oclspkt.h; the field of each is a Choice.
std::vector<const OptionEntry*> enumerations();
bool is_enumeration(const std::string& type);

/// A value of the enumeration behind an option: "PC_OCLSPKT_METHOD_EXACT_TWOPASS".
std::string constant_name(const OptionEntry& entry, const std::string& word);
/// The enumeration in C, and the array with its words, which is declared by `external`.
std::string c_enumeration(const OptionEntry& entry, const char* external);

/// The C types of arguments that the Fortran module or the Python helper does not know, with their functions, a line
/// each.
std::string unknown_types();

/// Print oclspkt.h; its words and the rows of functions.cxx; the Fortran module; the table that the Python helper
/// reads.
void print_c_header();
void print_c_rows();
void print_fortran_module();
void print_python_table();

}  // namespace oclspkt::petsc

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace oclspkt::petsc {

/// An argument after the PC. `type` is the C type of the value, "const char[]" for text. If `out`, the function returns
/// the value through a pointer.
struct Argument {
  std::string name, type;
  bool out;
};

/// A function of oclspkt.h, and its row in a table of options.hpp. Functions without a row take no PC.
struct Signature {
  std::string name;
  std::vector<Argument> arguments = {};
  const OptionEntry* option = nullptr;
  const ResultEntry* result = nullptr;
  const ActionEntry* action = nullptr;
  bool by_direction = false;  ///< the function returns `result` for one direction
  bool takes_pc() const { return option || result || action; }
};

/// Every function of oclspkt.h, made from the tables in options.cpp.
std::vector<Signature> signatures();

/// The arguments of the C function as text: "PC pc, PetscReal *rtol", "PC pc, const char *devices[]", "void".
std::string c_arguments(const Signature& f);

/// The name of a function in Python: "IgnoredEntries" becomes "ignored_entries".
std::string snake_case(const std::string& name);

/// The options that have an enumeration in oclspkt.h. Their `field` is a Choice.
std::vector<const OptionEntry*> enumerations();
bool is_enumeration(const std::string& type);

/// The C name of a value of an option's enumeration: "PC_OCLSPKT_METHOD_EXACT_TWOPASS".
std::string constant_name(const OptionEntry& entry, const std::string& word);
/// The C declarations of an option's enumeration and of the array with its words.
/// @param external  storage class of the array, such as PETSC_EXTERN
std::string c_enumeration(const OptionEntry& entry, const char* external);

/// The C types of arguments that the Fortran module or the Python helper does not know. A line names one type and the
/// functions that use it.
std::string unknown_types();

/* Print a generated file: oclspkt/oclspkt.h, oclspkt/rows.h, the Fortran module, or the table of the Python helper. */
void print_c_header();
void print_c_rows();
void print_fortran_module();
void print_python_table();

}  // namespace oclspkt::petsc

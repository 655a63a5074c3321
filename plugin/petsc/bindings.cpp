// SPDX-License-Identifier: BSD-2-Clause
/// Print the bindings of oclspkt.h for C, Fortran and Python from the tables of options, actions and results.
#include <cstdio>
#include <cstring>

#include "signatures.hpp"

namespace oclspkt::petsc {

std::vector<Signature> signatures() {
  const std::string prefix = "PCOCLSPKT";
  std::vector<Signature> all = {{prefix + "InitializePackage"}, {prefix + "FinalizePackage"}};
  const auto append = [&all](const std::vector<ResultValue>& values, bool out) {
    for (const ResultValue& value : values) all.back().arguments.push_back({value.name, value.type, out});
  };
  for (const OptionEntry& entry : option_table()) {
    all.push_back({.name = prefix + "Set" + entry.function, .option = &entry});
    append({{entry.name, entry.argument, entry.help}}, false);
    all.push_back({.name = prefix + "Get" + entry.function, .option = &entry});
    append({{entry.name, entry.argument, entry.help}}, true);
  }
  for (const ActionEntry& entry : action_table()) {
    all.push_back({.name = prefix + entry.function, .action = &entry});
    append(entry.inputs, false);
  }
  for (const ResultEntry& entry : result_table()) {
    all.push_back({.name = prefix + "Get" + entry.function, .result = &entry});
    append(entry.values, true);
    if (!entry.direction_help) continue;
    all.push_back({.name = prefix + "GetDirection" + entry.function, .result = &entry, .by_direction = true});
    append({kDirectionInput}, false);
    append(entry.values, true);
  }
  return all;
}

std::string c_arguments(const Signature& f) {
  std::string list = f.takes_pc() ? "PC pc" : "void";
  for (const Argument& argument : f.arguments) {
    const auto brackets = argument.type.find("[]");
    list += ", " + argument.type.substr(0, brackets) + (argument.out ? " *" : " ") + argument.name;
    if (brackets != std::string::npos) list += "[]";
  }
  return list;
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

std::vector<const OptionEntry*> enumerations() {
  std::vector<const OptionEntry*> all;
  for (const OptionEntry& entry : option_table()) {
    if (is_enumeration(entry.argument)) all.push_back(&entry);
  }
  return all;
}

std::string c_enumeration(const OptionEntry& entry, const char* external) {
  std::string text;
  for (const char* word : words_of(entry)) {
    text.append(text.empty() ? "typedef enum {\n  " : ",\n  ").append(constant_name(entry, word));
  }
  return text.append("\n} ").append(entry.argument).append(";\n").append(external) + " const char *const " +
         entry.argument + "s[];\n";
}

namespace {

constexpr const char* kHeaderHead = R"(/* SPDX-License-Identifier: BSD-2-Clause
   Made by oclspkt-options from plugin/petsc/options.cpp. */
#ifndef OCLSPKT_H
#define OCLSPKT_H

#include <petscpc.h>

/* The preconditioner PCOCLSPKT for programs that use PETSc. Link the library for your PETSc (target
   oclspkt::petsc, pkg-config oclspkt) and call PCOCLSPKTInitializePackage() after PetscInitialize(); programs that load
   liboclspkt.so with -dll_append need neither.
   Each function has a page in docs/manual. Setters do nothing for other types of PC, and a change takes effect at the
   next PCSetUp(). Getters of options are declared after the setters. All other getters return results of the last
   PCSetUp(); calling one before the first PCSetUp() is an error. Those with "Direction" in their name take one of the
   directions that PCOCLSPKTGetDirectionsUsed() lists; the others report on all directions. */

#define PCOCLSPKT "oclspkt"

/* The words of -pc_oclspkt_method and its like, indexed by the values below. */
)";

}  // namespace

void print_c_header() {
  std::fputs(kHeaderHead, stdout);
  for (const OptionEntry* entry : enumerations()) std::printf("%s\n", c_enumeration(*entry, "PETSC_EXTERN").c_str());
  for (const Signature& f : signatures()) {
    std::printf("PETSC_EXTERN PetscErrorCode %s(%s);\n", f.name.c_str(), c_arguments(f).c_str());
  }
  std::printf("\n#endif\n");
}

/* Print oclspkt/rows.h. Its arrays of words end with the strings that PetscOptionsEnum() needs. */
void print_c_rows() {
  std::printf(
      "/* Made by oclspkt-options from plugin/petsc/options.cpp. */\n#include \"oclspkt/oclspkt.h\"\n\n#define "
      "OCLSPKT_EACH_OPTION(ROW)");
  for (const OptionEntry& entry : option_table()) {
    const bool text = std::string(entry.argument) == "const char[]";
    std::printf(" \\\n  ROW(%s, %s, %s)", entry.function, text ? "const char *" : entry.argument, entry.name);
  }
  std::printf("\n#define OCLSPKT_EACH_RESULT(ROW)");
  for (const Signature& f : signatures()) {
    if (!f.result) continue;
    std::printf(" \\\n  ROW(%s, get_%s, (%s)%s", f.name.c_str() + std::strlen("PCOCLSPKTGet"),
                snake_case(f.result->function).c_str(), c_arguments(f).c_str(),
                f.by_direction ? "" : ", oclspkt::petsc::kAllDirections");
    for (const Argument& argument : f.arguments) std::printf(", %s", argument.name.c_str());
    std::printf(")");
  }
  std::printf("\n");
  for (const OptionEntry* entry : enumerations()) {
    std::printf("const char *const %ss[] = {", entry->argument);
    for (const char* word : words_of(*entry)) std::printf("\"%s\", ", word);
    std::printf("\"%s\", \"%s\", nullptr};\n", entry->argument, constant_name(*entry, "").c_str());
  }
}

namespace {

/// The Fortran types for a value of a C type: `fortran` in the program, `c` in the interface of the C function. The
/// module does not compile if numbers have another precision in PETSc, because then the two types differ.
struct Passing {
  std::string fortran, c;
};

/// The Fortran types of a C type; empty if the type is unknown.
Passing passing(const std::string& type) {
  if (type == "const char[]") return {"character(len=*)", "type(c_ptr)"};
  if (type == "PetscBool") return {"PetscBool", "integer(c_int)"};
  if (type == "PetscInt") return {"PetscInt", "integer(OCLSPKT_INT)"};
  if (type == "PetscInt64") return {"PetscInt64", "integer(c_int64_t)"};
  if (type == "PetscReal") return {"PetscReal", "real(c_double)"};
  if (type == "IS" || type == "Vec") return {type, "type(c_ptr)"};
  if (is_enumeration(type)) return {"PetscEnum", "integer(c_int)"};
  return {};
}

bool is_text(const Argument& argument) { return argument.type == "const char[]"; }
bool is_flag(const Argument& argument) { return argument.type == "PetscBool"; }
/// True if the module converts an output, because its C type differs from its Fortran type.
bool is_converted(const Argument& argument) { return argument.out && (is_text(argument) || is_flag(argument)); }

std::string dummies(const Signature& f, const char* last) {
  std::string list = f.takes_pc() ? "pc" : "";
  for (const Argument& argument : f.arguments) list += (list.empty() ? "" : ", ") + argument.name;
  if (*last) list += (list.empty() ? "" : ", ") + std::string(last);
  return list;
}

void print_interface(const Signature& f) {
  std::printf("    function c_%s(%s) &\n        bind(C, name='%s') result(ierr)\n      import\n", f.name.c_str(),
              dummies(f, "").c_str(), f.name.c_str());
  if (f.takes_pc()) std::printf("      type(c_ptr), value :: pc\n");
  for (const Argument& argument : f.arguments) {
    if (is_text(argument) && !argument.out) {
      std::printf("      character(kind=c_char), intent(in) :: %s(*)\n", argument.name.c_str());
    } else {
      std::printf("      %s, %s :: %s\n", passing(argument.type).c.c_str(), argument.out ? "intent(inout)" : "value",
                  argument.name.c_str());
    }
  }
  std::printf("      integer(c_int) :: ierr\n    end function\n");
}

/// The Fortran expression that passes the argument to the C function.
std::string actual(const Argument& argument) {
  if (is_text(argument)) return argument.out ? "c_" + argument.name : "trim(" + argument.name + ")//c_null_char";
  if (is_flag(argument)) return argument.out ? "c_" + argument.name : "merge(1_c_int, 0_c_int, " + argument.name + ")";
  return passing(argument.type).c == "type(c_ptr)" ? "handle(" + argument.name + "%v)" : argument.name;
}

void print_subroutine(const Signature& f) {
  std::printf("\n  subroutine %s(%s)\n", f.name.c_str(), dummies(f, "ierr").c_str());
  if (f.takes_pc()) std::printf("    PC, intent(in) :: pc\n");
  std::string call = f.takes_pc() ? "address(pc)" : "";
  for (const Argument& argument : f.arguments) {
    std::printf("    %s, intent(%s) :: %s\n", passing(argument.type).fortran.c_str(), argument.out ? "out" : "in",
                argument.name.c_str());
    call += (call.empty() ? "" : ", ") + actual(argument);
  }
  std::printf("    PetscErrorCode, intent(out) :: ierr\n");
  for (const Argument& argument : f.arguments) {
    if (!is_converted(argument)) continue;
    std::printf("    %s :: c_%s\n", passing(argument.type).c.c_str(), argument.name.c_str());
  }
  for (const Argument& argument : f.arguments) {
    if (!is_converted(argument)) continue;
    std::printf("    c_%s = %s\n", argument.name.c_str(), is_text(argument) ? "c_null_ptr" : "0");
  }
  std::printf("    ierr = c_%s( &\n        %s)\n", f.name.c_str(), call.c_str());
  for (const Argument& argument : f.arguments) {
    const char* name = argument.name.c_str();
    if (!is_converted(argument)) continue;
    std::printf(is_text(argument) ? "    call copy_text(c_%s, %s)\n" : "    %s = c_%s /= 0\n", name, name);
  }
  std::printf("  end subroutine\n");
}

constexpr const char* kHead = R"(! SPDX-License-Identifier: BSD-2-Clause
! Made by oclspkt-options from plugin/petsc/options.cpp: the functions of oclspkt.h for Fortran programs that use PETSc.
! Text that comes out is padded with blanks, or cut, to the length of the caller's variable. A program built with another
! compiler than this library compiles this file itself.
module oclspkt
#include <petsc/finclude/petscpc.h>
#if defined(PETSC_USE_64BIT_INDICES)
#define OCLSPKT_INT c_int64_t
#else
#define OCLSPKT_INT c_int
#endif
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int, c_int64_t, c_double, c_char, c_null_ptr, c_null_char, &
                                         c_associated, c_f_pointer
  use petscpcdef, only: tPC
  use petscvecdef, only: tVec
  use petscisdef, only: tIS
  implicit none
  private
  character(len=*), parameter, public :: PCOCLSPKT = 'oclspkt'
)";

constexpr const char* kHelpers = R"(
  ! The C handle; null for an object that was not created (PETSc marks those with values below 1).
  function address(pc)
    PC, intent(in) :: pc
    type(c_ptr) :: address
    address = handle(pc%v)
  end function

  function handle(v)
    PetscFortranAddr, intent(in) :: v
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (v > 0) handle = transfer(v, c_null_ptr)
  end function

  subroutine copy_text(from, to)
    type(c_ptr), intent(in) :: from
    character(len=*), intent(out) :: to
    character(kind=c_char), pointer :: text(:)
    integer :: i
    to = ' '
    if (.not. c_associated(from)) return
    call c_f_pointer(from, text, [len(to)])  ! nothing behind the end of the C string is read
    do i = 1, len(to)
      if (text(i) == c_null_char) exit
      to(i:i) = text(i)
    end do
  end subroutine
)";

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' || c == '\\' ? 1 : 0, '\\').append(1, c);
  return result + "\"";
}

/// Print a row of the Python helper's tables. The type of an enumeration is the list of its words.
/// @param lists  the lists of argument types to print: false for inputs, true for outputs
void print_row(const Signature& f, const char* function, std::initializer_list<bool> lists, const char* help) {
  std::string row;
  for (const bool out : lists) {
    row += "(";
    for (const Argument& argument : f.arguments) {
      std::string words;
      for (const OptionEntry* entry : enumerations()) {
        if (entry->argument != argument.type) continue;
        for (const char* word : words_of(*entry)) words.append(quoted(word)).append(", ");
      }
      if (argument.out == out) row += words.empty() ? quoted(argument.type) + ", " : "(" + words + "), ";
    }
    row += "), ";
  }
  std::printf("    \"%s\": (\"%s\", %s%s),\n", snake_case(function).c_str(), function, row.c_str(),
              quoted(help).c_str());
}

}  // namespace

std::string unknown_types() {
  std::string text;
  for (const Signature& f : signatures()) {
    for (const Argument& argument : f.arguments) {
      if (!passing(argument.type).c.empty()) continue;
      text += "bindings.cpp does not know the C type " + argument.type + " of " + f.name + "\n";
    }
  }
  return text;
}

void print_fortran_module() {
  const std::vector<Signature> all = signatures();
  std::fputs(kHead, stdout);
  for (const OptionEntry* entry : enumerations()) {
    int value = 0;
    for (const char* word : words_of(*entry)) {
      std::printf("  PetscEnum, parameter, public :: %s = %d\n", constant_name(*entry, word).c_str(), value++);
    }
  }
  for (const Signature& f : all) std::printf("  public :: %s\n", f.name.c_str());
  std::printf("\n  interface\n");
  for (const Signature& f : all) print_interface(f);
  std::printf("  end interface\n\ncontains\n");
  std::fputs(kHelpers, stdout);
  for (const Signature& f : all) print_subroutine(f);
  std::printf("\nend module\n");
}

void print_python_table() {
  std::printf(
      "# SPDX-License-Identifier: BSD-2-Clause\n"
      "# Made by oclspkt-options from plugin/petsc/options.cpp: name, end of the C functions' names, types, help. "
      "Results\n"
      "# have the types of what is asked for in front of those of what comes back.\n"
      "SETTINGS = {\n");
  for (const Signature& f : signatures()) {
    if (f.option && !f.arguments[0].out) print_row(f, f.option->function, {false}, f.option->help);
  }
  std::printf("}\nACTIONS = {\n");
  for (const Signature& f : signatures()) {
    if (f.action) print_row(f, f.action->function, {false}, f.action->help);
  }
  std::printf("}\nRESULTS = {\n");
  for (const Signature& f : signatures()) {
    const char* const name = f.name.c_str() + std::strlen("PCOCLSPKTGet");
    if (f.result) print_row(f, name, {false, true}, f.by_direction ? f.result->direction_help : f.result->help);
  }
  std::printf("}\n");
}

}  // namespace oclspkt::petsc

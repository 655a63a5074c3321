// SPDX-License-Identifier: BSD-2-Clause
/// The functions of oclspkt.h as the table of options, actions and results has them, for Fortran and for Python.
#include <cstdio>

#include "options.hpp"
#include "signatures.hpp"

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

namespace {

/// How a C type travels: what the caller declares, and what goes over to C. A PETSc of another precision makes the two
/// differ, which does not compile.
struct Passing {
  std::string fortran, c;
};

bool is_object(const std::string& type);

/// Empty for a type that is not known.
Passing passing(const std::string& type) {
  if (type == "const char[]") return {"character(len=*)", "type(c_ptr)"};
  if (type == "PetscBool") return {"PetscBool", "integer(c_int)"};
  if (type == "PetscInt") return {"PetscInt", "integer(OCLSPKT_INT)"};
  if (type == "PetscInt64") return {"PetscInt64", "integer(c_int64_t)"};
  if (type == "PetscReal") return {"PetscReal", "real(c_double)"};
  if (is_object(type)) return {type, "type(c_ptr)"};
  if (is_enumeration(type)) return {"PetscEnum", "integer(c_int)"};
  return {};
}

bool is_text(const Argument& argument) { return argument.type == "const char[]"; }
/// Handles of PETSc, which stand in a variable of the Fortran object.
bool is_object(const std::string& type) { return type == "IS" || type == "Vec"; }
bool is_flag(const Argument& argument) { return argument.type == "PetscBool"; }

std::string dummies(const Signature& f, const char* last) {
  std::string list = f.takes_pc ? "pc" : "";
  for (const Argument& argument : f.arguments) list += (list.empty() ? "" : ", ") + argument.name;
  if (*last) list += (list.empty() ? "" : ", ") + std::string(last);
  return list;
}

void print_enumerations() {
  for (const OptionEntry& entry : option_table()) {
    const auto* choice = std::get_if<Choice>(&entry.field);
    if (!choice || !is_enumeration(entry.argument)) continue;
    int value = 0;
    for (const char* word : choice->names) {
      std::printf("  PetscEnum, parameter, public :: %s = %d\n", constant_name(entry, word).c_str(), value++);
    }
  }
}

void print_interface(const Signature& f) {
  std::printf("    function c_%s(%s) &\n        bind(C, name='%s') result(ierr)\n      import\n", f.name.c_str(),
              dummies(f, "").c_str(), f.name.c_str());
  if (f.takes_pc) std::printf("      type(c_ptr), value :: pc\n");
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

/// What stands for the argument in the call of the C function.
std::string actual(const Argument& argument) {
  if (is_text(argument)) return argument.out ? "c_" + argument.name : "trim(" + argument.name + ")//c_null_char";
  if (is_flag(argument)) return argument.out ? "c_" + argument.name : "merge(1_c_int, 0_c_int, " + argument.name + ")";
  return is_object(argument.type) ? "handle(" + argument.name + "%v)" : argument.name;
}

void print_subroutine(const Signature& f) {
  std::printf("\n  subroutine %s(%s)\n", f.name.c_str(), dummies(f, "ierr").c_str());
  if (f.takes_pc) std::printf("    PC, intent(in) :: pc\n");
  std::string call = f.takes_pc ? "address(pc)" : "";
  for (const Argument& argument : f.arguments) {
    std::printf("    %s, intent(%s) :: %s\n", passing(argument.type).fortran.c_str(), argument.out ? "out" : "in",
                argument.name.c_str());
    call += (call.empty() ? "" : ", ") + actual(argument);
  }
  std::printf("    PetscErrorCode, intent(out) :: ierr\n");
  for (const Argument& argument : f.arguments) {
    if (!argument.out || !(is_text(argument) || is_flag(argument))) continue;
    std::printf("    %s :: c_%s\n", passing(argument.type).c.c_str(), argument.name.c_str());
  }
  for (const Argument& argument : f.arguments) {
    if (!argument.out || !(is_text(argument) || is_flag(argument))) continue;
    std::printf("    c_%s = %s\n", argument.name.c_str(), is_text(argument) ? "c_null_ptr" : "0");
  }
  std::printf("    ierr = c_%s( &\n        %s)\n", f.name.c_str(), call.c_str());
  for (const Argument& argument : f.arguments) {
    const char* name = argument.name.c_str();
    if (argument.out && is_text(argument)) std::printf("    call copy_text(c_%s, %s)\n", name, name);
    if (argument.out && is_flag(argument)) std::printf("    %s = c_%s /= 0\n", name, name);
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

bool check_types(const std::vector<Signature>& all) {
  for (const Signature& f : all) {
    for (const Argument& argument : f.arguments) {
      if (!passing(argument.type).c.empty()) continue;
      std::fprintf(stderr, "oclspkt-options: bindings.cpp does not know the C type %s of %s\n", argument.type.c_str(),
                   f.name.c_str());
      return false;
    }
  }
  return true;
}

}  // namespace

bool print_fortran_module() {
  const std::vector<Signature> all = signatures();
  if (!check_types(all)) return false;
  std::fputs(kHead, stdout);
  print_enumerations();
  for (const Signature& f : all) std::printf("  public :: %s\n", f.name.c_str());
  std::printf("\n  interface\n");
  for (const Signature& f : all) print_interface(f);
  std::printf("  end interface\n\ncontains\n");
  std::fputs(kHelpers, stdout);
  for (const Signature& f : all) print_subroutine(f);
  std::printf("\nend module\n");
  return true;
}

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
      std::fprintf(stderr, "oclspkt-options: bindings.cpp does not know the C type %s of %s\n", type.c_str(), function);
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

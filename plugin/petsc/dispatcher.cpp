// SPDX-License-Identifier: BSD-2-Clause
/// liboclspkt.so, the library for -dll_append. It finds the PETSc that loads it, and opens the library beside it that
/// was built for this PETSc. It uses no symbol of PETSc, because any PETSc may load it.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "flavour.hpp"
#include "oclspkt/export.hpp"
#include "own_library.hpp"

namespace oclspkt::petsc {
namespace {

constexpr int kErrorInLibrary = 76;  // PETSC_ERR_LIB

std::string file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// The handle of a loaded library; null if it is not loaded. The handle is never closed, because no program unloads a
/// PETSc that loaded this library. @param name  path or SONAME
void* loaded(const char* name, int mode = 0) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD | mode); }

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

/// The PETSc that loads this library.
struct Caller {
  void* handle = nullptr;
  PetscQuestions questions;

  explicit Caller(void* library) : handle(library) {
    if (handle == nullptr) return;
    questions = {dlsym(handle, "PetscGetVersionNumber"), dlsym(handle, "PetscOptionsStringToInt"),
                 dlsym(handle, "PetscDataTypeFromString")};
  }

  bool is_petsc() const { return questions.complete(); }

  bool is_initialized() const {
    const auto ask_it =
        is_petsc() ? reinterpret_cast<int (*)(std::int32_t*)>(dlsym(handle, "PetscInitialized")) : nullptr;
    std::int32_t yes = 0;  // wide enough for any PetscBool, see data_type() in flavour.cpp
    return ask_it != nullptr && ask_it(&yes) == 0 && yes != 0;
  }
};

/// Find the PETSc that loads this library. In PetscInitialize(), the caller is libpetsc, or the program if it links
/// PETSc statically. Later, the caller may not link PETSc, and PETSc may have no global symbols, as under petsc4py. The
/// function then looks for an initialised PETSc among the loaded libraries.
Caller find_caller(const void* return_address) {
  const Caller direct(loaded(file_of(return_address).c_str()));
  if (direct.is_petsc()) return direct;
  const Caller global(dlopen(nullptr, RTLD_LAZY));
  if (global.is_initialized() || file_of(return_address) == file_of(global.questions.get_version_number)) return global;
  for (const std::string& name : loaded_libraries()) {
    const Caller other(loaded(name.c_str()));
    if (other.is_initialized()) return other;
  }
  return Caller(nullptr);
}

/// The value of PETSC_COMM_WORLD as an argument. MPI defines communicators as addresses or as numbers. If the program
/// reads the variable, the linker gives it a copy, and PETSc sets this copy.
std::intptr_t world(void* petsc) {
  std::intptr_t value = 0;
  void* address = dlsym(RTLD_DEFAULT, "PETSC_COMM_WORLD");
  if (address == nullptr) address = dlsym(petsc, "PETSC_COMM_WORLD");
  Dl_info info;
  void* symbol = nullptr;
  if (address != nullptr && dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) != 0 && symbol != nullptr) {
    const std::size_t size = static_cast<const ElfW(Sym)*>(symbol)->st_size;
    std::memcpy(&value, address, std::min(sizeof value, size));
  }
  return value;
}

/// Report an error by PetscError() of the PETSc that loads this library. @return the error code
int report(const Caller& caller, const std::string& text) {
  using PetscError = int (*)(std::intptr_t, int, const char*, const char*, int, int, const char*, ...);
  const auto error =
      caller.handle != nullptr ? reinterpret_cast<PetscError>(dlsym(caller.handle, "PetscError")) : nullptr;
  if (error == nullptr) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return kErrorInLibrary;
  }
  constexpr int kInitial = 0;  // PETSC_ERROR_INITIAL
  return error(world(caller.handle), __LINE__, "PetscDLLibraryRegister_oclspkt", "dispatcher.cpp", kErrorInLibrary,
               kInitial, "%s", text.c_str());
}

/// The folder of the solver library and of the flavours. The loader may find this library by a link elsewhere.
std::filesystem::path plugin_folder() {
  return std::filesystem::path(beside_own_file(OCLSPKT_SOLVER_FILE)).parent_path();
}

/// The kinds of PETSc whose plugin is in a folder, such as "3.18-real, 3.24-real-64".
std::string kinds_in(const std::filesystem::path& folder) {
  const std::string begin = "liboclspkt-petsc-", end = ".so";
  std::vector<std::string> kinds;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && name.ends_with(end) && name.size() > begin.size() + end.size()) {
      kinds.push_back(name.substr(begin.size(), name.size() - begin.size() - end.size()));
    }
  }
  std::sort(kinds.begin(), kinds.end());
  std::string text;
  for (const std::string& one : kinds) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? "none" : text;
}

/// The PETSC_DIR of a libpetsc, without PETSC_ARCH; a placeholder in brackets if no file shows it.
std::string petsc_folder(const std::filesystem::path& libpetsc) {
  std::string debian = libpetsc.filename().string();  // Debian: libpetsc64_real.so.3.18 is in petsc64-real
  debian = debian.substr(0, debian.find('.'));
  std::replace(debian.begin(), debian.end(), '_', '-');
  if (debian.starts_with("lib")) debian.erase(0, 3);
  for (const std::filesystem::path& folder :
       {libpetsc.parent_path().parent_path(), std::filesystem::path("/usr/lib/petscdir") / debian}) {
    std::error_code ignored;
    for (const char* file : {"lib/pkgconfig/PETSc.pc", "lib/pkgconfig/petsc.pc"}) {
      if (std::filesystem::exists(folder / file, ignored)) return folder.string();
    }
  }
  return "<folder of that PETSc>";
}

/// The install prefix (as in `cmake --install --prefix`) of a folder of libraries; "<prefix>" if it is unknown.
std::string prefix_of(const std::filesystem::path& folder) {
  const std::string path = folder.string(), end = "/" OCLSPKT_LIBDIR;
  return path.ends_with(end) ? path.substr(0, path.size() - end.size()) : "<prefix>";
}

std::string missing_text(const Flavour& flavour, const std::string& libpetsc) {
  const std::filesystem::path folder = plugin_folder();
  const std::string build = "build/petsc-" + kind(flavour);
  return "This program runs " + describe(flavour) + " (" + libpetsc + "), and the plugin for it, " +
         library_name(kind(flavour)) + ", is not in " + folder.string() + ", which has those for: " + kinds_in(folder) +
         ". Build it in the folder of oclspkt's sources:\n  cmake -B " + build +
         " -DPETSC_DIR=" + petsc_folder(libpetsc) + " -DOCLSPKT_SOLVER_FOLDER=" + folder.string() +
         " -DCMAKE_INSTALL_PREFIX=" + prefix_of(folder) + "\n  cmake --build " + build + " --target install-flavours";
}

/// Open the plugin for a flavour of PETSc, or find it if the program links it.
/// @return the plugin's handle; on failure null, with the reason in `why`
void* open_flavour(const Flavour& flavour, const std::string& libpetsc, std::string& why) {
  const std::string name = library_name(kind(flavour));
  // RTLD_GLOBAL lets a program find the plugin's functions by name. PETSc also opens plugins in this way.
  if (void* linked = loaded(name.c_str(), RTLD_GLOBAL)) return linked;
  const std::string path = beside_own_file(name);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    why = missing_text(flavour, libpetsc);
    return nullptr;
  }
  // The loader also opens the solver library, so check that this file is complete.
  std::string reason = cut_short(beside_own_file(OCLSPKT_SOLVER_FILE));
  void* opened = reason.empty() ? open_library(path, RTLD_NOW | RTLD_GLOBAL, reason) : nullptr;
  if (opened == nullptr) why = "The plugin for " + describe(flavour) + " does not open: " + reason;
  return opened;
}

int hand_over(const void* return_address) {
  const Caller caller = find_caller(return_address);
  if (!caller.is_petsc()) {
    return report(caller, "liboclspkt.so finds no PETSc in this program in which PetscInitialize() was called");
  }
  const Flavour flavour = ask(caller.questions);
  if (!is_supported(flavour)) {
    return report(caller, "This program runs " + describe(flavour) +
                              ". oclspkt supports only PETSc in double precision: link the program with such a one, or "
                              "leave out -dll_append of liboclspkt.so");
  }
  std::string why;
  void* library = open_flavour(flavour, file_of(caller.questions.get_version_number), why);
  if (library == nullptr) return report(caller, why);
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "PCOCLSPKTInitializePackage"));
  if (initialize == nullptr) {
    return report(
        caller, library_name(kind(flavour)) + " has no PCOCLSPKTInitializePackage(): install libraries of one version");
  }
  return initialize();
}

}  // namespace
}  // namespace oclspkt::petsc

/// Load the plugin for the PETSc that contains the code at this address. Repeated calls are allowed.
extern "C" OCLSPKT_API int oclspkt_load_for(const void* return_address) {
  try {
    return oclspkt::petsc::hand_over(return_address);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "liboclspkt.so: %s\n", error.what());
    return oclspkt::petsc::kErrorInLibrary;
  }
}

/// The entry point that PETSc calls in a library named by -dll_append.
extern "C" OCLSPKT_API int PetscDLLibraryRegister_oclspkt() { return oclspkt_load_for(__builtin_return_address(0)); }

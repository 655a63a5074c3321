// SPDX-License-Identifier: BSD-2-Clause
#include "own_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace oclspkt {
namespace {

namespace fs = std::filesystem;

char loaded_as[2 * PATH_MAX], real_file[PATH_MAX];

/// The function neither allocates nor throws, because an exception through dlopen() would leave the loader's lock
/// locked.
[[gnu::constructor]] void note_own_paths() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&note_own_paths), &info) == 0 || info.dli_fname == nullptr) return;
  // If a shell found the program in its search path, the loader has only the name, without a folder.
  if (std::strchr(info.dli_fname, '/') == nullptr) return;
  if (realpath(info.dli_fname, real_file) == nullptr) real_file[0] = '\0';
  const bool relative = info.dli_fname[0] != '/';
  char folder[PATH_MAX] = "";
  if (relative && getcwd(folder, sizeof folder) == nullptr) return;
  std::snprintf(loaded_as, sizeof loaded_as, "%s%s%s", folder, relative ? "/" : "", info.dli_fname);
}

}  // namespace

std::string own_file() { return real_file; }

std::vector<std::string> own_folders() {
  std::vector<std::string> folders;
  for (const char* path : {loaded_as, real_file}) {
    const std::string folder = fs::path(path).parent_path().string();
    if (*path != '\0' && std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  }
  return folders;
}

std::string beside_own_file(const std::string& name) {
  std::string first;
  for (const std::string& folder : own_folders()) {
    const fs::path path = fs::path(folder) / name;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
    if (first.empty()) first = path.string();
  }
  return first.empty() ? name : first;
}

std::string cut_short(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return "";
  const std::uintmax_t size = fs::file_size(path, ignored);
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](auto& part) { return bool(file.read(reinterpret_cast<char*>(&part), sizeof part)); };
  ElfW(Ehdr) header;
  if (!read(header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  std::uintmax_t end = 0;  // end of the mapped bytes in the file
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part;
    file.seekg(static_cast<std::streamoff>(header.e_phoff + std::uintmax_t(i) * header.e_phentsize));
    if (!read(part)) return "";
    if (part.p_type == PT_LOAD) end = std::max<std::uintmax_t>(end, part.p_offset + part.p_filesz);
  }
  if (end <= size) return "";
  return path + " is cut short: it has " + std::to_string(size) + " bytes of " + std::to_string(end) +
         " or more; install it anew";
}

void* open_library(const std::string& path, int mode, std::string& why) {
  why = cut_short(path);
  if (!why.empty()) return nullptr;
  void* opened = dlopen(path.c_str(), mode);
  if (opened == nullptr) {
    const char* reason = dlerror();
    why = reason != nullptr ? reason : "unknown reason";
  }
  return opened;
}

}  // namespace oclspkt

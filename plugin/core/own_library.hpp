// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

/// Finds the file of the library that contains this copy of the code, and libraries beside it.
namespace oclspkt {

/// The file of this library, with symbolic links resolved. It is looked up when the library is loaded, because the
/// loader's path may be relative to the folder in which the program started. Empty if the loader does not know it.
std::string own_file();

/// The absolute folders of own_file() and of the path by which the library was loaded; one entry if they are equal.
std::vector<std::string> own_folders();

/// The path of a file in the first of own_folders() that has it, or in the first folder if none has it. The name alone
/// if own_folders() is empty.
std::string beside_own_file(const std::string& name);

/// Why a library must not be opened: if its file ends before the last byte that dlopen() maps, a bus error would end
/// the process. The text names cause and cure. Empty if the file is complete or if dlopen() itself reports the error.
std::string cut_short(const std::string& path);

/// dlopen(), except that it refuses libraries that are cut short. @return null, and `why`, on failure
void* open_library(const std::string& path, int mode, std::string& why);

}  // namespace oclspkt

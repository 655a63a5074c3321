// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

/// Where the library lies that this code is linked into, to find its neighbours. Each library has a copy of the code.
namespace oclspkt {

/// The file of this library, behind symbolic links. Taken when the library is loaded: the path that the loader knows
/// may be relative to the folder in which the program started. Empty if the loader does not know it.
std::string own_file();

/// The folders of the path by which this library was loaded and of own_file(), absolute; one if they are the same.
std::vector<std::string> own_folders();

/// The path of a file in the first of own_folders() that has it; in the first one if none has it. The name alone if
/// there are no folders.
std::string beside_own_file(const std::string& name);

/// Why a library must not be opened: its file ends before the last byte that dlopen() maps, which would end the process
/// with a bus error. Cause and cure; empty if the file is complete, and for errors that dlopen() reports itself.
std::string cut_short(const std::string& path);

/// dlopen(), except that it refuses libraries that are cut short. @return null, and `why`, on failure
void* open_library(const std::string& path, int mode, std::string& why);

}  // namespace oclspkt

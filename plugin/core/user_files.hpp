// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "oclspkt/export.hpp"

// Files that the library keeps for a user between runs.
namespace oclspkt {

/// $XDG_CACHE_HOME/oclspkt, else $HOME/.cache/oclspkt; empty if neither variable holds an absolute path. The folder
/// need not exist.
OCLSPKT_API std::string cache_folder();

/// Make a folder and those above it for this user alone; false with errno if it cannot.
OCLSPKT_API bool make_folder(const std::string& folder);

/// Replace a file at once, by one written beside it; false with errno if it cannot, and then the file is as it was.
OCLSPKT_API bool replace_file(const std::string& file, const std::string& text);

}  // namespace oclspkt

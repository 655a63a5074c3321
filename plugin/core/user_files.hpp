// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "oclspkt/export.hpp"

// Files that the library keeps for a user between runs.
namespace oclspkt {

/// $XDG_CACHE_HOME/oclspkt, else $HOME/.cache/oclspkt; empty if neither variable holds an absolute path. The folder
/// need not exist.
OCLSPKT_API std::string cache_folder();

/// Make a folder and those above it for this user alone; false with errno if it cannot.
OCLSPKT_API bool make_folder(const std::string& folder);

/// Why so many bytes cannot be written to a new file in a folder, which is made if need be; empty if they can.
OCLSPKT_API std::string why_no_room(const std::string& folder, std::int64_t bytes);

/// The content of a regular file of at most `most` bytes. The open file is checked, so that no other file takes its
/// place in between, and the call never waits for the writer of a pipe.
/// @param own  accept only a file, not a link to one, that only this user can write
/// @return nothing if it is no such file, or cannot be read
OCLSPKT_API std::optional<std::string> read_file(const std::string& path, std::int64_t most, bool own = false);

/// True if only this user can write the file.
OCLSPKT_API bool is_private(const struct stat& status);

/// Replace a file at once, by one written beside it; false with errno if it cannot, and then the file is as it was.
OCLSPKT_API bool replace_file(const std::string& file, const std::string& text);

}  // namespace oclspkt

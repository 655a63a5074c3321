// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "oclspkt/export.hpp"

// Files that the library keeps for a user between runs.
namespace oclspkt {

/// The path $XDG_CACHE_HOME/oclspkt, else $HOME/.cache/oclspkt; empty if neither variable holds an absolute path. The
/// folder may not exist.
OCLSPKT_API std::string cache_folder();

/// Make a folder and its parents, for this user alone. On failure return false and set errno.
OCLSPKT_API bool make_folder(const std::string& folder);

/// Why `bytes` bytes cannot be written to a new file in a folder; empty if they can. Makes the folder if it is missing.
OCLSPKT_API std::string why_no_room(const std::string& folder, std::int64_t bytes);

/// The content of a regular file of at most `most` bytes. The function checks the file after opening it, so that nobody
/// can exchange the file in between. It never waits for the writer of a pipe.
/// @param own  true: accept only a file that only this user can write, and no link
/// @return nothing if the file is of another kind, too long, or cannot be read
OCLSPKT_API std::optional<std::string> read_file(const std::string& path, std::int64_t most, bool own = false);

/// True if only this user can write the file.
OCLSPKT_API bool is_private(const struct stat& status);

/// Replace a file atomically: write a new file beside it and rename it. On failure return false, set errno, and leave
/// the old file unchanged.
OCLSPKT_API bool replace_file(const std::string& file, const std::string& text);

}  // namespace oclspkt

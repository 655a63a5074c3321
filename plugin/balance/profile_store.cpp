// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <locale>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "node.hpp"
#include "user_files.hpp"

namespace oclspkt {
namespace {

/// The first line of a file, up to the colon. A change of the format or of the meaning of figures raises the number.
constexpr std::string_view kProfileVersion = "oclspkt profile 4:";
constexpr std::string_view kColumns = " seconds since 1970, set-ups, figure, host, processor|solves|what it is\n";
constexpr std::size_t kMostProfileBytes = 1 << 20, kLongestProfileKey = 1024;

/// The text of a system error, with a cure.
std::string trouble(int error) {
  const char* const cure = error == EACCES || error == EPERM || error == EROFS ? "permit it, "
                           : error == ENOSPC || error == EDQUOT                ? "free space, "
                                                                               : "";
  return std::generic_category().message(error) + "; " + cure + "name another file, or none";
}

double seconds_now() {
  return std::floor(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' '; }

/// True for a figure that a profile can hold. Its key has no tabs or ends of lines, because these structure the file.
bool is_figure(const std::string& key, const Measured& measured) {
  return key.size() <= kLongestProfileKey && std::none_of(key.begin(), key.end(), is_control) &&
         std::isfinite(measured.figure) && measured.figure > 0 && std::isfinite(measured.set_ups) &&
         measured.set_ups >= 1;
}

std::string host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "unnamed";
}

bool is_profile(const std::string& text) { return text.empty() || text.starts_with(kProfileVersion); }

/// An open file, created if it does not exist, and its text.
struct OpenProfile {
  int descriptor = -1;
  bool read = false;
  std::string text, why;  ///< why: the reason why the file cannot be read, or cannot be written

  explicit OpenProfile(const std::string& file) {
    if (file.empty()) {
      why = "neither XDG_CACHE_HOME nor HOME names a folder; set one, name a file, or none";
      return;
    }
    constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    if (make_folder(std::filesystem::path(file).parent_path())) {
      descriptor = ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | kFlags, 0600);
    }
    if (descriptor < 0) {
      why = trouble(errno);
      descriptor = ::open(file.c_str(), O_RDONLY | kFlags);
    }
    struct stat status {};
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0) return;
    read = S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) <= 16 * kMostProfileBytes;
    if (!read) why = "it is not a regular file of at most 16 MB; name another file, or none";
    char block[16384];
    for (ssize_t bytes = 0; read && (bytes = ::read(descriptor, block, sizeof block)) > 0;) {
      text.append(block, static_cast<std::size_t>(bytes));
    }
  }
  ~OpenProfile() {
    if (descriptor >= 0) ::close(descriptor);
  }
  OpenProfile(const OpenProfile&) = delete;
  OpenProfile& operator=(const OpenProfile&) = delete;
};

/// One line about a file; empty if `cause` is.
std::string line_on(const std::string& file, const char* what, const std::string& cause) {
  if (cause.empty()) return "";
  std::string line = file.empty() ? "no profile is " : "profile " + file + " is ";
  line += what + (": " + cause);
  std::replace_if(line.begin(), line.end(), is_control, '?');
  return line;
}

}  // namespace

ProfileStore::ProfileStore(std::string file) : file_(file.empty() ? default_file() : std::move(file)) {
  if (file_ == "none") return;
  OpenProfile seen(file_);
  if (!is_profile(seen.text)) {
    seen.read = false;
    seen.why = "it is no profile, or another version of oclspkt wrote it; the next write replaces it";
    seen.text.clear();
  }
  why_ = line_on(file_, seen.read ? "not written" : "not read", seen.why);
  const std::string here = host_name();
  std::istringstream lines(std::move(seen.text));
  // A last line without a newline is skipped: its write was cut short.
  for (std::string line, host, key; std::getline(lines, line) && !lines.eof();) {
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    Measured figure;
    words >> figure.when >> figure.set_ups >> figure.figure;
    if (words.get() != '\t' || !std::getline(words, host, '\t') || !std::getline(words, key)) continue;
    constexpr double kDay = 24 * 3600;
    const double age = seconds_now() - figure.when;
    const bool counts = age >= -kDay && age <= kStaleDays * kDay && is_figure(key, figure);
    if (counts && host == here) known_[key] = figure;
  }
}

std::string ProfileStore::default_file() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/profile.txt";
}

std::optional<Measured> ProfileStore::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void ProfileStore::put(const std::string& key, Measured measured) {
  if (!is_figure(key, measured)) return;
  measured.when = seconds_now();
  known_[key] = measured;
  changed_.insert(key);
}

void ProfileStore::put_seconds(const std::string& key, double seconds) {
  const std::optional<Measured> before = find(key);
  put(key, before ? Measured{std::min(seconds, kMostSlower * before->figure), before->set_ups + 1} : Measured{seconds});
}

void ProfileStore::write(std::chrono::seconds after) {
  const auto now = std::chrono::steady_clock::now();
  if (file_ == "none" || changed_.empty() || now - written_ < after || node_place().rank != 0) return;
  written_ = now;
  OpenProfile seen(file_);
  std::string& why = seen.why;
  if (why.empty()) {
    std::ostringstream lines;
    lines.imbue(std::locale::classic());
    lines.precision(std::numeric_limits<double>::max_digits10);
    const bool anew = !is_profile(seen.text) || seen.text.size() >= kMostProfileBytes;
    if (anew || seen.text.empty()) {
      lines << kProfileVersion << kColumns;
    } else if (!seen.text.ends_with('\n')) {  // ends a line that a full disk cut off
      lines << '\n';
    }
    for (const auto& [key, figure] : known_) {
      if (!anew && !changed_.contains(key)) continue;
      lines << figure.when << '\t' << figure.set_ups << '\t' << figure.figure << '\t' << host_name() << '\t' << key
            << '\n';
    }
    const std::string added = lines.str();
    if (anew && ::ftruncate(seen.descriptor, 0) != 0) why = trouble(errno);
    const ssize_t bytes = ::write(seen.descriptor, added.data(), added.size());
    if (bytes != std::ssize(added)) why = trouble(bytes < 0 ? errno : ENOSPC);
  }
  why_ = line_on(file_, "not written", why);
  if (why_.empty()) changed_.clear();
}

}  // namespace oclspkt

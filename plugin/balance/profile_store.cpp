// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "user_files.hpp"

namespace oclspkt {
namespace {

/// The first line of a file, up to the colon; the number grows when the form of the file or the meaning of its figures
/// changes.
constexpr std::string_view kProfileVersion = "oclspkt profile 2:";
constexpr std::string_view kColumns =
    " seconds since 1970, applies, latency in seconds, seconds a row, watts, host, processor|solves|figure";
constexpr std::size_t kMostProfileBytes = 1 << 20;
constexpr std::size_t kLongestProfileKey = 1024;
constexpr std::chrono::milliseconds kLockPatience{100}, kLockPause{2};
constexpr double kSecondsOfDay = 24 * 3600;

struct KeptFigure {
  Measured measured;
  double when = 0;  ///< seconds since 1970
};
/// By host and key.
using KeptFigures = std::map<std::pair<std::string, std::string>, KeptFigure>;

/// A file descriptor that closes itself; of a lock, which closing alone keeps where a forked child has it too.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (locked_) ::flock(descriptor_, LOCK_UN);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  /// Lock for all (LOCK_EX) or with other readers (LOCK_SH), within kLockPatience; false with errno if it cannot.
  bool lock(int kind) {
    const auto end = std::chrono::steady_clock::now() + kLockPatience;
    while (!(locked_ = ::flock(descriptor_, kind | LOCK_NB) == 0)) {
      const int error = errno;
      if ((error != EWOULDBLOCK && error != EINTR) || std::chrono::steady_clock::now() + kLockPause >= end) {
        errno = error;
        return false;
      }
      std::this_thread::sleep_for(kLockPause);
    }
    return true;
  }
  int get() const { return descriptor_; }
  bool good() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
  bool locked_ = false;
};

/// What a call of the system failed with and what to do about it.
std::string trouble(int error) {
  std::string cure = "name another file, or none";
  if (error == EACCES || error == EPERM) cure = "permit it, name another file, or none";
  if (error == ENOSPC || error == EDQUOT) cure = "free space, name another file, or none";
  return std::generic_category().message(error) + "; " + cure;
}

std::string lock_trouble(const std::string& file, int error) {
  if (error != EWOULDBLOCK && error != EINTR) return "its lock " + file + ".lock: " + trouble(error);
  return "another program holds its lock " + file + ".lock; later runs will find it free, or name another file";
}

double seconds_now() {
  return std::floor(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

bool meaningful(const Measured& measured) {
  const auto counts = [](double figure) { return std::isfinite(figure) && figure >= 0; };
  return counts(measured.latency) && counts(measured.seconds_per_row) && counts(measured.watts) &&
         (measured.seconds_per_row > 0 || measured.watts > 0) && std::isfinite(measured.applies) &&
         measured.applies >= 1;
}

/// Tabs and ends of lines are the file's own.
bool is_control(char c) { return static_cast<unsigned char>(c) < ' '; }

bool is_recent(double when, double now) {
  return when <= now + kSecondsOfDay && when >= now - ProfileStore::kStaleDays * kSecondsOfDay;
}

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || !name[0]) return "unnamed";
  std::replace_if(
      std::begin(name), std::end(name) - 1, [](char c) { return c != 0 && is_control(c); }, '?');
  return name;
}

/// Take the figure of a line, unless its numbers are meaningless or too old. @return false if it is no such line
bool take_line(std::string_view line, double now, KeptFigures& kept) {
  std::array<double, 5> numbers{};
  for (double& number : numbers) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    const auto [end, error] = std::from_chars(line.data(), line.data() + tab, number);
    if (error != std::errc() || end != line.data() + tab || tab == line.size()) return false;
    line.remove_prefix(tab + 1);
  }
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || std::any_of(line.begin() + tab + 1, line.end(), is_control)) return false;
  const KeptFigure figure{{numbers[2], numbers[3], numbers[1], numbers[4]}, numbers[0]};
  if (meaningful(figure.measured) && is_recent(figure.when, now)) {
    kept[{std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))}] = figure;
  }
  return true;
}

/// Figures in the text of a file; says in `bad` why there are none, if it is no profile of this version.
KeptFigures figures_of(std::string_view text, std::string& bad) {
  KeptFigures kept;
  const double now = seconds_now();
  if (!text.starts_with(kProfileVersion)) {
    // Older ones are JSON.
    const bool ours = text.starts_with("oclspkt profile ") || text.find("\"oclspkt\": \"profile ") < 16;
    bad = ours ? "another version of oclspkt wrote it" : "it is no profile of oclspkt";
  }
  for (std::size_t begin = text.find('\n'); bad.empty() && begin + 1 < text.size();) {
    const std::size_t end = text.find('\n', ++begin);
    const bool whole = end != std::string_view::npos && take_line(text.substr(begin, end - begin), now, kept);
    if (!whole) bad = "it is damaged";
    begin = end;
  }
  if (bad.empty()) return kept;
  bad += "; the next write replaces it";
  return {};
}

/// What is at a path that cannot be a profile, and that must not be replaced by one; empty of a file.
std::string not_a_file(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return "";
  return std::string(S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file") +
         "; name another file, or none";
}

struct ProfileText {
  bool absent = false;
  std::string text;
  std::string failed;  ///< why it cannot be read, and should not be replaced
  std::string bad;     ///< why its text is of no use, and may be replaced
};

ProfileText text_of(const std::string& file) {
  ProfileText result;
  const OpenFile stream(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!stream.good() || ::fstat(stream.get(), &status) != 0) {
    result.absent = errno == ENOENT;
    if (!result.absent) result.failed = trouble(errno);
    return result;
  }
  result.failed = not_a_file(status);
  if (!result.failed.empty()) return result;
  char block[16384];
  while (result.text.size() <= kMostProfileBytes) {
    const ssize_t bytes = ::read(stream.get(), block, sizeof block);
    if (bytes == 0) return result;
    if (bytes < 0 && errno != EINTR) {
      result.failed = trouble(errno);
      return result;
    }
    if (bytes > 0) result.text.append(block, static_cast<std::size_t>(bytes));
  }
  result.bad = "it is too large for a profile of oclspkt; the next write replaces it";
  return result;
}

std::string text_for(const KeptFigures& kept) {
  std::string text = std::string(kProfileVersion).append(kColumns).append("\n");
  for (const auto& [name, figure] : kept) {
    const Measured& measured = figure.measured;
    for (const double number :
         {figure.when, measured.applies, measured.latency, measured.seconds_per_row, measured.watts}) {
      char digits[40];  // whatever the program's locale
      text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr).append("\t");
    }
    text.append(name.first).append("\t").append(name.second).append("\n");
  }
  return text;
}

/// Drop the older half of all figures.
void forget_older_half(KeptFigures& kept) {
  std::vector<std::pair<double, std::pair<std::string, std::string>>> all;
  for (const auto& [name, figure] : kept) all.push_back({figure.when, name});
  std::sort(all.begin(), all.end());
  all.resize((all.size() + 1) / 2);
  for (const auto& [when, name] : all) kept.erase(name);
}

/// The folder that a file is in.
std::string folder_of(const std::string& file) {
  const std::size_t slash = file.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
}

/// Why a file, which may be absent, cannot be replaced; empty if nothing is seen that is in the way.
std::string obstacle(const std::string& file) {
  const auto may = [](const std::string& path) { return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; };
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) {
    if (!not_a_file(status).empty()) return not_a_file(status);
    // A rename would replace what its owner has protected.
    if (!may(file)) return trouble(errno);
  }
  std::string folder = folder_of(file);
  while (::stat(folder.c_str(), &status) != 0 && errno == ENOENT && folder != ".") folder = folder_of(folder);
  return may(folder) ? "" : trouble(errno);
}

/// Merge figures of this host into a file; returns why it cannot.
std::string merge_into(const std::string& given, const std::map<std::string, Measured>& changed) {
  const std::string file = end_of_links(given);
  if (std::string why = obstacle(file); !why.empty()) return why;  // before a lock file is left beside it
  if (!make_folder(folder_of(file))) return trouble(errno);
  OpenFile guard(::open((file + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!guard.good() || !guard.lock(LOCK_EX)) return lock_trouble(file, errno);
  const ProfileText old = text_of(file);
  if (!old.failed.empty()) return old.failed;
  std::string bad = old.bad;
  KeptFigures kept;
  if (!old.absent && bad.empty()) kept = figures_of(old.text, bad);
  const double now = seconds_now();
  for (const auto& [key, measured] : changed) kept[{host_name(), key}] = {measured, now};
  std::string text = text_for(kept);
  while (text.size() > kMostProfileBytes) {
    forget_older_half(kept);
    text = text_for(kept);
  }
  return replace_file(file, text) ? "" : trouble(errno);
}

/// Read the figures of this host from a file that may be absent; returns why it cannot.
std::string read_from(const std::string& given, std::map<std::string, Measured>& known) {
  const std::string file = end_of_links(given);
  // A reader leaves nothing behind. Without a lock file, or permission for it, a reader still sees a whole file, old
  // or new.
  OpenFile guard(::open((file + ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (guard.good() && !guard.lock(LOCK_SH) && (errno == EWOULDBLOCK || errno == EINTR))
    return lock_trouble(file, errno);
  const ProfileText content = text_of(file);
  if (content.absent) return "";
  if (!content.failed.empty()) return content.failed;
  std::string bad = content.bad;
  if (bad.empty()) {
    const std::string host = host_name();
    for (const auto& [name, figure] : figures_of(content.text, bad)) {
      if (name.first == host) known[name.second] = figure.measured;
    }
  }
  return bad;
}

/// One line about a file; nothing if there is no trouble.
std::string line_on(const std::string& file, const char* what, const std::string& cause) {
  if (cause.empty()) return "";
  std::string line = file.empty() ? "no profile is " : "profile " + file + " is ";
  line += what + (": " + cause);
  std::replace_if(line.begin(), line.end(), is_control, '?');
  return line;
}

const char* const kNoHome = "neither XDG_CACHE_HOME nor HOME names a folder; set one, name a file, or none";

}  // namespace

ProfileStore::ProfileStore(std::string file) : file_(file.empty() ? default_file() : std::move(file)) {}

std::string ProfileStore::default_file() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/profile.txt";
}

void ProfileStore::read() {
  if (file_ == "none") return;
  std::map<std::string, Measured> found;
  why_ = line_on(file_, "not read", file_.empty() ? kNoHome : read_from(file_, found));
  if (!why_.empty()) return;
  known_ = std::move(found);
  for (const auto& [key, measured] : changed_) known_[key] = measured;
}

std::optional<Measured> ProfileStore::find(const std::string& key) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return {};
  return found->second;
}

void ProfileStore::put(const std::string& key, const Measured& measured) {
  if (!meaningful(measured) || key.size() > kLongestProfileKey || std::any_of(key.begin(), key.end(), is_control)) {
    return;
  }
  known_[key] = measured;
  changed_[key] = measured;
}

void ProfileStore::look() {
  if (file_ == "none" || !why_.empty()) return;
  why_ = line_on(file_, "not written", obstacle(end_of_links(file_)));
}

void ProfileStore::write() {
  if (file_ == "none" || changed_.empty()) return;
  why_ = line_on(file_, "not written", file_.empty() ? kNoHome : merge_into(file_, changed_));
  if (why_.empty()) changed_.clear();
}

}  // namespace oclspkt

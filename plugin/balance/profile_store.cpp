// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "user_files.hpp"

namespace oclspkt {
namespace {

/// The first line of a file, up to the colon; the number grows when the form of the file or the meaning of its figures
/// changes.
constexpr std::string_view kProfileVersion = "oclspkt profile 3:";
constexpr std::string_view kColumns =
    " seconds since 1970, set-ups, seconds a row, watts, latency in seconds, host, processor|solves|figure\n";
constexpr std::size_t kMostProfileBytes = 1 << 20, kLongestProfileKey = 1024, kMostProfileLines = 4000;

/// What a call of the system failed with and what to do about it.
std::string trouble(int error) {
  const char* const cure = error == EACCES || error == EPERM || error == EROFS ? "permit it, "
                           : error == ENOSPC || error == EDQUOT                ? "free space, "
                                                                               : "";
  return std::generic_category().message(error) + "; " + cure + "name another file, or none";
}

double seconds_now() {
  return std::floor(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

bool meaningful(const Measured& measured) {
  const auto counts = [](double figure) { return std::isfinite(figure) && figure >= 0; };
  return counts(measured.seconds_per_row) && counts(measured.watts) && counts(measured.latency) &&
         counts(measured.set_ups) && (measured.seconds_per_row > 0 || measured.watts > 0) && measured.set_ups >= 1;
}

/// Tabs and ends of lines are the file's own.
bool is_control(char c) { return static_cast<unsigned char>(c) < ' '; }

/// What the name of a figure of this host begins with.
std::string host_prefix() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || !name[0]) return "unnamed\t";
  std::string host = name;
  std::replace_if(host.begin(), host.end(), is_control, '?');
  return host + "\t";
}

/// A figure as a line of the file has it.
struct ProfileLine {
  std::string_view text;
  double when = 0;  ///< seconds since 1970
  Measured measured;
  std::string_view name;  ///< host, tab, key
};

/// Read a line. @return false if it is no figure, or too old
bool read_line(ProfileLine& line) {
  std::array<double, 5> numbers{};
  line.name = line.text;
  for (double& number : numbers) {
    const std::size_t tab = line.name.find('\t');
    if (tab == std::string_view::npos) return false;
    const auto [end, error] = std::from_chars(line.name.data(), line.name.data() + tab, number);
    if (error != std::errc() || end != line.name.data() + tab) return false;
    line.name.remove_prefix(tab + 1);
  }
  line.when = numbers[0];
  line.measured = {.seconds_per_row = numbers[2], .watts = numbers[3], .set_ups = numbers[1], .latency = numbers[4]};
  constexpr double kDay = 24 * 3600;
  const double age = seconds_now() - line.when;
  return age >= -kDay && age <= ProfileStore::kStaleDays * kDay && meaningful(line.measured) &&
         line.name.find('\t') != std::string_view::npos &&
         std::count_if(line.name.begin(), line.name.end(), is_control) == 1;
}

/// The last line of each figure, the newest first.
std::vector<ProfileLine> last_lines(std::string_view text) {
  std::vector<ProfileLine> lines;
  std::set<std::string_view> seen;
  for (std::size_t end = text.rfind('\n'); end != std::string_view::npos && end > 0;) {
    const std::size_t before = text.rfind('\n', end - 1);
    ProfileLine line{.text = text.substr(before + 1, end - before - 1), .measured = {}, .name = {}};
    if (read_line(line) && seen.insert(line.name).second) lines.push_back(line);
    end = before;
  }
  return lines;
}

/// A line with its end, whatever the program's locale.
std::string line_of(const std::string& host, const std::string& key, const Measured& measured) {
  std::string line;
  for (const double number :
       {seconds_now(), measured.set_ups, measured.seconds_per_row, measured.watts, measured.latency}) {
    char digits[40];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr).append("\t");
  }
  return line.append(host).append(key).append("\n");
}

bool is_profile(const std::string& text) { return text.empty() || text.starts_with(kProfileVersion); }

/// A file as it was before lines were added, and why it cannot be read or written.
struct ProfileText {
  std::string text, unread, unwritten;
};

/// Read a file, which is made if need be, and add lines at its end, all at once.
ProfileText read_and_add(const std::string& file, const std::string& lines) {
  ProfileText seen;
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const bool folder = make_folder(std::filesystem::path(file).parent_path());
  int descriptor = folder ? ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | kFlags, 0600) : -1;
  if (descriptor < 0) {
    seen.unwritten = trouble(errno);
    descriptor = ::open(file.c_str(), O_RDONLY | kFlags);
  }
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    seen.unread = seen.unwritten.empty() ? trouble(errno) : seen.unwritten;
    return seen;
  }
  const std::unique_ptr<int, void (*)(int*)> closes(&descriptor, [](int* open) { ::close(*open); });
  const bool regular = S_ISREG(status.st_mode);
  if (!regular || static_cast<std::size_t>(status.st_size) > 16 * kMostProfileBytes) {
    seen.unread = regular ? "it is too large" : "it is not a regular file";
    seen.unread += "; name another file, or none";
    return seen;
  }
  char block[16384];
  for (ssize_t bytes = 0; (bytes = ::read(descriptor, block, sizeof block)) > 0;) {
    seen.text.append(block, static_cast<std::size_t>(bytes));
  }
  if (lines.empty() || !seen.unwritten.empty()) return seen;
  std::string added = std::string(kProfileVersion).append(kColumns);
  const bool known = is_profile(seen.text);
  if (!known || seen.text.size() >= kMostProfileBytes) {
    std::vector<ProfileLine> kept = last_lines(known ? std::string_view(seen.text) : std::string_view());
    kept.resize(std::min(kept.size(), kMostProfileLines));
    for (auto line = kept.rbegin(); line != kept.rend(); ++line) added.append(line->text).append("\n");
    if (::ftruncate(descriptor, 0) != 0) seen.unwritten = trouble(errno);
  } else if (!seen.text.empty()) {
    added = seen.text.ends_with('\n') ? "" : "\n";  // what a full disk cut off is a line of its own
  }
  added += lines;
  const ssize_t bytes = ::write(descriptor, added.data(), added.size());
  if (bytes != std::ssize(added)) seen.unwritten = trouble(bytes < 0 ? errno : ENOSPC);
  return seen;
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

ProfileStore::ProfileStore(std::string file) : file_(file.empty() ? default_file() : std::move(file)) {
  if (file_ == "none") return;
  ProfileText seen;
  if (file_.empty()) {
    seen.unread = kNoHome;
  } else if (seen = read_and_add(file_, ""); !is_profile(seen.text)) {
    // Profiles of the first version are JSON.
    const bool ours = seen.text.starts_with("oclspkt profile ") || seen.text.find("\"oclspkt\": \"profile ") < 16;
    seen.unread = ours ? "another version of oclspkt wrote it" : "it is no profile of oclspkt";
    seen.unread += "; the next write replaces it";
    seen.text.clear();
  }
  why_ = seen.unread.empty() ? line_on(file_, "not written", seen.unwritten) : line_on(file_, "not read", seen.unread);
  const std::string host = host_prefix();
  for (const ProfileLine& line : last_lines(seen.text)) {
    if (line.name.starts_with(host)) known_[std::string(line.name.substr(host.size()))] = line.measured;
  }
}

std::string ProfileStore::default_file() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/profile.txt";
}

std::optional<Measured> ProfileStore::find(const std::string& key) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return {};
  return found->second;
}

void ProfileStore::put(const std::string& key, const Measured& measured) {
  const bool is_key = key.size() <= kLongestProfileKey && std::none_of(key.begin(), key.end(), is_control);
  if (is_key && meaningful(measured)) known_[key] = changed_[key] = measured;
}

void ProfileStore::write() {
  if (file_ == "none" || changed_.empty()) return;
  std::string lines;
  for (const auto& [key, measured] : changed_) lines += line_of(host_prefix(), key, measured);
  const ProfileText seen = file_.empty() ? ProfileText{"", kNoHome, ""} : read_and_add(file_, lines);
  why_ = line_on(file_, "not written", seen.unread.empty() ? seen.unwritten : seen.unread);
  if (why_.empty()) changed_.clear();
}

}  // namespace oclspkt

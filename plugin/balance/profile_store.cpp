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
    " seconds since 1970, set-ups, seconds a row, watts, host, processor|solves|figure\n";
constexpr std::int64_t kMostProfileBytes = 1 << 20;
constexpr std::size_t kLongestProfileKey = 1024, kMostProfileLines = 4000;

/// What a call of the system failed with and what to do about it.
std::string trouble(int error) {
  std::string cure = "name another file, or none";
  if (error == EACCES || error == EPERM) cure = "permit it, name another file, or none";
  if (error == ENOSPC || error == EDQUOT) cure = "free space, name another file, or none";
  return std::generic_category().message(error) + "; " + cure;
}

double seconds_now() {
  return std::floor(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

bool meaningful(const Measured& measured) {
  const auto counts = [](double figure) { return std::isfinite(figure) && figure >= 0; };
  return counts(measured.seconds_per_row) && counts(measured.watts) && counts(measured.set_ups) &&
         (measured.seconds_per_row > 0 || measured.watts > 0) && measured.set_ups >= 1;
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
  std::array<double, 4> numbers{};
  line.name = line.text;
  for (double& number : numbers) {
    const std::size_t tab = line.name.find('\t');
    if (tab == std::string_view::npos) return false;
    const auto [end, error] = std::from_chars(line.name.data(), line.name.data() + tab, number);
    if (error != std::errc() || end != line.name.data() + tab) return false;
    line.name.remove_prefix(tab + 1);
  }
  line.when = numbers[0];
  line.measured = {.seconds_per_row = numbers[2], .watts = numbers[3], .set_ups = numbers[1]};
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
  for (const double number : {seconds_now(), measured.set_ups, measured.seconds_per_row, measured.watts}) {
    char digits[40];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr).append("\t");
  }
  return line.append(host).append(key).append("\n");
}

std::string folder_of(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder;
}

/// Why a file, which may be absent, cannot be written; empty if nothing is seen that is in the way.
std::string obstacle(const std::string& file) {
  std::string path = file;
  struct stat status {};
  while (::stat(path.c_str(), &status) != 0 && errno == ENOENT && path != ".") path = folder_of(path);
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ? "" : trouble(errno);
}

/// The text of a file; empty if it is absent, or says in `why` why it cannot be read.
std::string text_of(const std::string& file, std::string& why) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno != ENOENT) why = trouble(errno);
    return "";
  }
  if (!S_ISREG(status.st_mode)) {
    why = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file";
    why += "; name another file, or none";
    return "";
  }
  errno = EFBIG;
  std::optional<std::string> text = read_file(file, 16 * kMostProfileBytes);
  if (!text) why = trouble(errno);
  return text.value_or("");
}

bool is_profile(const std::string& text) { return text.empty() || text.starts_with(kProfileVersion); }

/// Add lines at the end of a file, at once; false with errno if it cannot.
bool append(const std::string& file, const std::string& lines) {
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (descriptor < 0) return false;
  const ssize_t bytes = ::write(descriptor, lines.data(), lines.size());
  int error = bytes < 0 ? errno : bytes < static_cast<ssize_t>(lines.size()) ? ENOSPC : 0;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  errno = error;
  return error == 0;
}

/// Add lines to a file; returns why it cannot.
std::string add_to(const std::string& given, const std::string& lines) {
  const std::string file = end_of_links(given), header = std::string(kProfileVersion).append(kColumns);
  std::string why, text = text_of(file, why);
  if (why.empty()) why = obstacle(file);
  if (!why.empty()) return why;
  if (!make_folder(folder_of(file))) return trouble(errno);
  bool done = false;
  if (is_profile(text) && static_cast<std::int64_t>(text.size()) < kMostProfileBytes) {
    // What a full disk cut off is a line of its own.
    done = append(file, text.empty() ? header + lines : (text.ends_with('\n') ? "" : "\n") + lines);
  } else {
    if (!is_profile(text)) text.clear();
    std::vector<ProfileLine> kept = last_lines(text);
    kept.resize(std::min(kept.size(), kMostProfileLines));
    std::string anew = header;
    for (auto line = kept.rbegin(); line != kept.rend(); ++line) anew.append(line->text).append("\n");
    done = replace_file(file, anew + lines);
  }
  return done ? "" : trouble(errno);
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
  const std::string path = end_of_links(file_), host = host_prefix();
  std::string bad = file_.empty() ? kNoHome : "";
  const std::string text = bad.empty() ? text_of(path, bad) : "";
  if (!is_profile(text)) {
    // Profiles of the first version are JSON.
    const bool ours = text.starts_with("oclspkt profile ") || text.find("\"oclspkt\": \"profile ") < 16;
    bad = ours ? "another version of oclspkt wrote it" : "it is no profile of oclspkt";
    bad += "; the next write replaces it";
  }
  why_ = line_on(file_, "not read", bad);
  if (!bad.empty()) return;
  for (const ProfileLine& line : last_lines(text)) {
    if (line.name.starts_with(host)) known_[std::string(line.name.substr(host.size()))] = line.measured;
  }
  why_ = line_on(file_, "not written", obstacle(path));
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
  why_ = line_on(file_, "not written", file_.empty() ? kNoHome : add_to(file_, lines));
  if (why_.empty()) changed_.clear();
}

}  // namespace oclspkt

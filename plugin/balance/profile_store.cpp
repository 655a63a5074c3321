// SPDX-License-Identifier: BSD-2-Clause
#include "profile_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "user_files.hpp"

namespace oclspkt {
namespace {

/// To be counted up when the form of the file changes, or what its figures mean.
constexpr const char* kProfileVersion = "profile 1";
constexpr std::size_t kMostProfileBytes = 1 << 20;
constexpr std::size_t kLongestProfileKey = 1024;
constexpr std::chrono::milliseconds kLockPatience{100}, kLockPause{2};
constexpr double kSecondsOfDay = 24 * 3600;

struct KeptFigure {
  Measured measured;
  double when = 0;  ///< seconds since 1970
};
using KeptFigures = std::map<std::string, KeptFigure>;
using KeptHosts = std::map<std::string, KeptFigures>;

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
  return std::isfinite(measured.latency) && measured.latency >= 0 && std::isfinite(measured.seconds_per_row) &&
         measured.seconds_per_row > 0 && std::isfinite(measured.applies) && measured.applies >= 1;
}

bool is_recent(double when, double now) {
  return when <= now + kSecondsOfDay && when >= now - ProfileStore::kStaleDays * kSecondsOfDay;
}

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || !name[0]) return "unnamed";
  return name;
}

/// Takes figures out of JSON as it is read. No document is made: one of nlohmann's ends the program where memory runs
/// out while it is destroyed.
class ProfileReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ProfileReader(double now) : now_(now) {}
  const KeptHosts& hosts() const { return hosts_; }
  /// Why the text is no profile of this version; empty if it is one.
  std::string flaw() const {
    if (damaged_) return "it is damaged";
    if (!version_ || !has_hosts_) return "it is no profile of oclspkt";
    if (*version_ != kProfileVersion) return "another version of oclspkt wrote it";
    return "";
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t number) override { return take(static_cast<double>(number)); }
  bool number_unsigned(number_unsigned_t number) override { return take(static_cast<double>(number)); }
  bool number_float(number_float_t number, const string_t&) override { return take(number); }
  bool string(string_t& text) override {
    if (path_.size() == 1 && path_[0] == "oclspkt") version_ = text;
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    if (path_.size() == 1 && path_[0] == "hosts") has_hosts_ = true;
    if (path_.size() == kOfFigure) numbers_.clear();
    return deeper();
  }
  bool key(string_t& name) override {
    path_.back() = name;
    return true;
  }
  bool end_object() override {
    path_.pop_back();
    if (path_.size() == kOfFigure && path_[0] == "hosts") keep();
    return true;
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override {
    path_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    damaged_ = true;
    return false;
  }

 private:
  /// Objects around a figure: the document, hosts, a host.
  static constexpr std::size_t kOfFigure = 3;

  bool deeper() {
    path_.emplace_back();
    return true;
  }
  bool take(double number) {
    if (path_.size() == kOfFigure + 1) numbers_[path_.back()] = number;
    return true;
  }
  /// Keep a figure unless a number of it is missing, meaningless or too old.
  void keep() {
    const auto number = [&](const char* name) {
      const auto found = numbers_.find(name);
      return found != numbers_.end() ? found->second : std::nan("");
    };
    const KeptFigure figure{{number("latency"), number("seconds_per_row"), number("applies")}, number("when")};
    if (meaningful(figure.measured) && is_recent(figure.when, now_)) hosts_[path_[1]][path_[2]] = figure;
  }

  double now_;
  KeptHosts hosts_;
  std::optional<std::string> version_;
  bool has_hosts_ = false, damaged_ = false;
  std::vector<std::string> path_;  ///< the last key of each object or array that is open
  std::map<std::string, double> numbers_;
};

/// Figures in the text of a file; says in `bad` why there are none, if it is no profile of this version.
KeptHosts hosts_of(const std::string& text, std::string& bad) {
  ProfileReader reader(seconds_now());
  nlohmann::json::sax_parse(text, &reader);
  bad = reader.flaw();
  if (bad.empty()) return reader.hosts();
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

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// As JSON has numbers, whatever the program's locale.
std::string number_text(double number) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

std::string text_for(const KeptHosts& hosts) {
  std::string text;
  const auto add = [&](const char* before, const std::string& what) { text.append(before).append(what); };
  add("{\n \"oclspkt\": ", quoted(kProfileVersion));
  add(",\n \"hosts\": {", "");
  const char* host_comma = "";
  for (const auto& [host, figures] : hosts) {
    add(std::exchange(host_comma, ","), "\n  ");
    add("", quoted(host));
    add(": {", "");
    const char* comma = "";
    for (const auto& [key, figure] : figures) {
      add(std::exchange(comma, ","), "\n   ");
      add("", quoted(key));
      add(": {\"latency\": ", number_text(figure.measured.latency));
      add(", \"seconds_per_row\": ", number_text(figure.measured.seconds_per_row));
      add(", \"applies\": ", number_text(figure.measured.applies));
      add(", \"when\": ", number_text(figure.when));
      add("}", "");
    }
    add("\n  }", "");
  }
  add("\n }\n}\n", "");
  return text;
}

/// Drop the older half of all figures.
void forget_older_half(KeptHosts& hosts) {
  std::vector<std::pair<double, std::pair<std::string, std::string>>> all;
  for (const auto& [host, figures] : hosts)
    for (const auto& [key, figure] : figures) all.push_back({figure.when, {host, key}});
  std::sort(all.begin(), all.end());
  all.resize((all.size() + 1) / 2);
  for (const auto& [when, name] : all) {
    const auto host = hosts.find(name.first);
    host->second.erase(name.second);
    if (host->second.empty()) hosts.erase(host);
  }
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
  KeptHosts hosts;
  if (!old.absent && bad.empty()) hosts = hosts_of(old.text, bad);
  KeptFigures& mine = hosts[host_name()];
  const double now = seconds_now();
  for (const auto& [key, measured] : changed) mine[key] = {measured, now};
  std::string text = text_for(hosts);
  while (text.size() > kMostProfileBytes) {
    forget_older_half(hosts);
    text = text_for(hosts);
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
    const KeptHosts hosts = hosts_of(content.text, bad);
    const auto mine = hosts.find(host_name());
    if (mine != hosts.end())
      for (const auto& [key, figure] : mine->second) known[key] = figure.measured;
  }
  return bad;
}

/// One line about a file; nothing if there is no trouble.
std::string line_on(const std::string& file, const char* what, const std::string& cause) {
  if (cause.empty()) return "";
  std::string line = file.empty() ? "no profile is " : "profile " + file + " is ";
  line += what + (": " + cause);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return line;
}

const char* const kNoHome = "neither XDG_CACHE_HOME nor HOME names a folder; set one, name a file, or none";

}  // namespace

ProfileStore::ProfileStore(std::string file) : file_(file.empty() ? default_file() : std::move(file)) {}

std::string ProfileStore::default_file() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/profile.json";
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
  if (!meaningful(measured) || key.size() > kLongestProfileKey) return;
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

// SPDX-License-Identifier: BSD-2-Clause
#include "selection.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "oclspkt/error.hpp"
#include "split.hpp"

namespace oclspkt {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The indices of the devices that `word` names by type, index or part of a name; auto and all name no emulated device.
std::vector<int> match_word(const std::string& word, const std::vector<DeviceInfo>& devices) {
  int number = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  const bool is_type = word == "cpu" || word == "gpu" || word == "fpga", is_all = word == "auto" || word == "all";
  std::vector<int> found;
  for (const DeviceInfo& device : devices) {
    const bool matches = is_number      ? device.index == number
                         : is_type      ? word == name(device.type)
                         : is_all       ? !device.emulated
                         : word.empty() ? false
                                        : lower_case(device.name).find(word) != std::string::npos ||
                                              lower_case(device.platform).find(word) != std::string::npos;
    if (matches) found.push_back(device.index);
  }
  return found;
}

[[noreturn]] void refuse(const std::string& word, const std::vector<DeviceInfo>& devices,
                         const std::vector<std::string>& problems) {
  std::string text =
      "no device matches '" + word + "'. Use auto, all, host, cpu, gpu, fpga, an index or part of a name";
  text += devices.empty() ? "; there is no OpenCL device here, `host` needs none" : ". There are:";
  for (const DeviceInfo& d : devices) {
    text += "\n  " + std::to_string(d.index) + ": " + type_text(name(d.type), d.emulated) + ", " + d.name + " (" +
            d.platform + ")";
  }
  for (const std::string& problem : problems) text += "\n  not usable: " + problem;
  throw InvalidInput(text);
}

/// Remove ":N" from the end of a word. @return N; 0 if the word has no such end
int take_cores(std::string& word) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string::npos) return 0;
  int cores = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + colon + 1, end, cores);
  if (error != std::errc() || stop != end || cores < 1) return 0;
  word.resize(colon);
  return cores;
}

}  // namespace

std::vector<std::string> split_words(const std::string& language) { return split(language + ",", ','); }

Selection select_devices(const std::string& language, const std::vector<DeviceInfo>& devices,
                         const std::vector<std::string>& problems) {
  Selection selection;
  std::set<std::pair<int, int>> seen;  // devices with numbers of cores
  for (const std::string& given : split_words(language)) {
    std::string word = lower_case(given);
    const int cores = take_cores(word);
    const bool automatic = word == "auto", host = word == "host";
    const std::vector<int> found = match_word(word, devices);
    // The host uses all cores that the process may use, so a number of cores is refused.
    if (host ? cores > 0 : found.empty() && !automatic) refuse(given, devices, problems);
    selection.automatic = selection.automatic || automatic;
    selection.host = selection.host || automatic || host;
    if (host) continue;
    for (const int device : found) {
      const bool repeated = !seen.insert({device, cores}).second;
      selection.repeated = selection.repeated || repeated;
      if (repeated) continue;
      selection.devices.push_back(device);
      selection.cores.push_back(cores);
    }
  }
  return selection;
}

std::vector<int> devices_of_rank(const std::vector<int>& selected, const std::vector<DeviceInfo>& devices,
                                 const NodePlace& place) {
  const auto dealt = [&](int index) {
    if (static_cast<std::size_t>(index) >= devices.size()) return false;  // some cores of a device
    const DeviceInfo& info = devices[static_cast<std::size_t>(index)];
    return info.type == DeviceType::gpu && !info.host_unified;
  };
  const auto count = static_cast<int>(std::count_if(selected.begin(), selected.end(), dealt));
  std::vector<int> own;
  int turn = 0;
  for (const int index : selected) {
    // If there are fewer ranks than GPUs, a rank has several GPUs to choose from; if more, several ranks share a GPU.
    const bool mine = place.ranks < count ? turn % place.ranks == place.rank : turn == place.rank % std::max(1, count);
    if (mine || !dealt(index)) own.push_back(index);
    turn += dealt(index);
  }
  return own;
}

bool needs_no_device(const std::string& language) {
  const auto words = split_words(language);
  return std::all_of(words.begin(), words.end(), [](const std::string& w) { return lower_case(w) == "host"; });
}

}  // namespace oclspkt

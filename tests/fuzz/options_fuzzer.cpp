// SPDX-License-Identifier: BSD-2-Clause
// Everything that reads what a user types or computes: the selection language over invented devices, options out of
// range, the texts made of them, and line sets from any numbers.
#include <cctype>
#include <set>

#include "bytes.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "options.hpp"
#include "schemes/scheme.hpp"
#include "selection.hpp"

namespace oclspkt::fuzz {
namespace {

constexpr int kMostDevices = 6;

std::vector<DeviceInfo> take_devices(Bytes& bytes) {
  constexpr const char* kNames[] = {"pthread-haswell",           "NVIDIA H200", "FPGA Emulation Device", "a,b", "", "7",
                                    "ger\xc3\xa4t \xe2\x82\xac", "host"};
  std::vector<DeviceInfo> devices(static_cast<std::size_t>(bytes.below(kMostDevices + 1)));
  int index = 0;
  for (DeviceInfo& device : devices) {
    const int kind = bytes.byte();
    device.index = index++;
    device.type = static_cast<DeviceType>(1 + kind % 3);
    device.emulated = kind / 3 % 4 == 0;
    const int name = bytes.below(std::size(kNames) + 2);
    device.name = name < static_cast<int>(std::size(kNames)) ? kNames[name]
                  : name == std::size(kNames)                ? std::string(5000, 'x')
                                                             : bytes.text(20);
    device.platform = kind / 16 % 2 == 0 ? "Portable Computing Language" : bytes.text(10);
  }
  return devices;
}

/// The words between the commas, blanks around them taken off.
std::vector<std::string> words_of(const std::string& language) {
  std::vector<std::string> words{""};
  for (const char letter : language) {
    if (letter == ',') {
      words.emplace_back();
    } else {
      words.back().push_back(letter);
    }
  }
  for (std::string& word : words) {
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t')) word.pop_back();
    while (!word.empty() && (word.front() == ' ' || word.front() == '\t')) word.erase(0, 1);
  }
  return words;
}

std::string upper_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

/// What a language selects, or nothing and the text of the error.
struct Answer {
  bool taken = false;
  Selection selection;
  std::string text;
};

Answer ask(const std::string& language, const std::vector<DeviceInfo>& devices) {
  Answer answer;
  try {
    answer.selection = select_devices(language, devices, {"a platform that is broken"});
    answer.taken = true;
  } catch (const InvalidInput& error) {
    answer.text = error.what();
  }
  return answer;
}

bool same(const Selection& a, const Selection& b) {
  return a.host == b.host && a.automatic == b.automatic && a.devices == b.devices && a.cores == b.cores;
}

void check_refusal(const Answer& answer, const std::vector<std::string>& words,
                   const std::vector<DeviceInfo>& devices) {
  bool named = false;
  for (const std::string& word : words) {
    if (answer.text.find("'" + word + "'") == std::string::npos) continue;
    named = named || !ask(word, devices).taken;
  }
  require(named, "a refusal names no word that is wrong");
  require(answer.text.find("auto, all, host") != std::string::npos, "a refusal says no cure");
  require(answer.text.find("a platform that is broken") != std::string::npos, "a refusal keeps a problem back");
  for (const DeviceInfo& device : devices) {
    require(answer.text.find(device.name) != std::string::npos, "a refusal keeps a device back");
  }
}

/// A selection is what its words select one after the other, each number of cores of a device once.
void check_selection(const Answer& answer, const std::vector<std::string>& words,
                     const std::vector<DeviceInfo>& devices) {
  Selection sum;
  for (const std::string& word : words) {
    const Answer one = ask(word, devices);
    require(one.taken, "a word is refused alone and taken among others");
    require(one.selection.host || !one.selection.devices.empty(), "a word selects nothing");
    sum.host = sum.host || one.selection.host;
    sum.automatic = sum.automatic || one.selection.automatic;
    for (std::size_t k = 0; k < one.selection.devices.size(); ++k) {
      bool known = false;
      for (std::size_t i = 0; i < sum.devices.size(); ++i) {
        known = known || (sum.devices[i] == one.selection.devices[k] && sum.cores[i] == one.selection.cores[k]);
      }
      if (known) continue;
      sum.devices.push_back(one.selection.devices[k]);
      sum.cores.push_back(one.selection.cores[k]);
    }
  }
  require(same(answer.selection, sum), "words select otherwise together than alone");
  std::string again = answer.selection.automatic ? "auto" : answer.selection.host ? "host" : "";
  require(answer.selection.cores.size() == answer.selection.devices.size(), "a device without a number of cores");
  for (std::size_t k = 0; k < answer.selection.devices.size(); ++k) {
    const int index = answer.selection.devices[k], cores = answer.selection.cores[k];
    require(index >= 0 && index < static_cast<int>(devices.size()), "an index is out of range");
    again += (again.empty() ? "" : ",") + std::to_string(index);
    if (cores > 0) again += ":" + std::to_string(cores);
  }
  // `auto` puts its own devices first.
  if (!answer.selection.automatic) require(same(ask(again, devices).selection, sum), "indices select other devices");
}

void fuzz_selection(Bytes& bytes) {
  const std::vector<DeviceInfo> devices = take_devices(bytes);
  const std::string language = bytes.text(4000);
  const std::vector<std::string> words = words_of(language);
  const Answer answer = ask(language, devices);
  if (answer.taken) {
    check_selection(answer, words, devices);
  } else {
    check_refusal(answer, words, devices);
  }
  const Answer upper = ask(upper_case(language), devices);
  require(upper.taken == answer.taken && same(upper.selection, answer.selection), "letters of another case differ");
  if (needs_no_device(language)) {
    require(answer.taken && answer.selection.host && answer.selection.devices.empty(), "`host` needs a device");
  } else if (answer.taken) {
    require(!answer.selection.devices.empty() || answer.selection.automatic, "only `host` does without devices");
  }
}

Options take_options(Bytes& bytes) {
  Options o;
  const int set = bytes.byte();
  if (set & 1) o.devices = bytes.text(40);
  if (set & 2) o.variant = bytes.text(10);
  if (set & 4) o.rtol = bytes.number<double>();
  if (set & 8) o.partition = bytes.number<Index>();
  if (set & 16) o.use.device_memory = bytes.number<std::int64_t>();
  if (set & 32) o.use.timeout = bytes.number<double>();
  if (set & 64) {
    o.method = static_cast<MethodChoice>(bytes.number<std::int8_t>());
    o.precision = static_cast<Precision>(bytes.number<std::int8_t>());
  }
  if (set & 128) {
    o.on_device_failure = static_cast<OnDeviceFailure>(bytes.number<std::int8_t>());
    o.singular = static_cast<Singular>(bytes.number<std::int8_t>());
    o.use.transfer = static_cast<Transfer>(bytes.number<std::int8_t>());
    o.gather_limit = bytes.number<std::int8_t>();
  }
  return o;
}

template <typename Enum, std::size_t N>
bool listed(Enum value, const char* const (&)[N]) {
  return static_cast<int>(value) >= 0 && static_cast<int>(value) < static_cast<int>(N);
}

/// The members of o that a solver must refuse, by name.
std::set<std::string> bad_members(const Options& o) {
  std::set<std::string> bad;
  const auto listed_variant = [](const std::string& variant) {
    return std::count(std::begin(kVariantNames), std::end(kVariantNames), variant) == 1 ||
           find_scheme(variant) != nullptr;
  };
  const auto need = [&](bool good, const char* name) {
    if (!good) bad.insert(name);
  };
  need(listed(o.method, kMethodChoiceNames), "method");
  need(o.precision == Precision::same || o.precision == Precision::narrow, "precision");
  need(listed(o.on_device_failure, kOnDeviceFailureNames), "on_device_failure");
  need(listed(o.singular, kSingularNames), "singular");
  need(listed(o.use.transfer, kTransferNames), "transfer");
  need(listed_variant(o.variant), "variant");
  need(o.rtol >= 0 && o.rtol < 1, "rtol");
  need(o.partition >= 0, "partition");
  need(o.use.device_memory >= 0, "device_memory");
  need(o.use.timeout >= 0, "timeout");
  need(o.gather_limit >= -1, "gather_limit");
  return bad;
}

/// The texts of options that a solver takes: each that was changed is there with its value, and no other.
void check_texts(const petsc::Settings& o) {
  const std::string text = petsc::non_default_options(o);
  const petsc::Settings defaults;
  for (const petsc::OptionEntry& entry : petsc::option_table()) {
    const std::string value = petsc::value_text(entry, o);
    const std::string shown = std::string(petsc::kOptionPrefix) + entry.name + " " + value;
    if (value != petsc::value_text(entry, defaults)) {
      require(text.find(shown) != std::string::npos, "an option that was changed is not shown");
    }
    if (const auto* choice = std::get_if<petsc::Choice>(&entry.field)) {
      petsc::Settings copy;
      choice->set(copy, choice->get(o));
      require(petsc::value_text(entry, copy) == value, "a choice does not come back");
    }
  }
  require(!(o == defaults) || text.empty(), "defaults are shown as changes");
}

void fuzz_options(Bytes& bytes) {
  const Options options = take_options(bytes);
  const std::set<std::string> bad = bad_members(options);
  try {
    Solver<double> solver(options);
    require(bad.empty(), "options out of range are taken");
    require(solver.options() == options, "options change when they are taken");
    petsc::Settings settings{options};
    settings.explain = bytes.below(2) == 1;
    settings.lines = bytes.below(2) == 1 ? "x,y" : settings.lines;
    settings.combine = static_cast<petsc::Combine>(bytes.below(static_cast<int>(std::size(petsc::kCombineNames))));
    settings.diagonal = static_cast<petsc::Diagonal>(bytes.below(static_cast<int>(std::size(petsc::kDiagonalNames))));
    settings.ignored = static_cast<petsc::Ignored>(bytes.below(static_cast<int>(std::size(petsc::kIgnoredNames))));
    check_texts(settings);
  } catch (const InvalidInput& error) {
    const std::string text = error.what();
    bool named = false;
    for (const std::string& name : bad) named = named || text.find(name) != std::string::npos;
    require(named, "a refusal names no option that is out of range");
  }
}

/// Numbers that small sets and overflows are made of.
Index take_extent(Bytes& bytes) {
  const int kind = bytes.byte();
  if (kind < 128) return kind % 16;
  if (kind < 160) return -(kind % 4);
  if (kind < 224) return static_cast<Index>((std::uint64_t{1} << (kind % 64)) - static_cast<unsigned>(kind % 3));
  return bytes.number<Index>();
}

/// Lines that are small enough to look at must lie apart, inside the extent, and be as many as the set says.
void check_lines(const LineSet& lines) {
  constexpr Index kSmall = 5000;
  if (lines.count() > kSmall || lines.rows() > kSmall) return;
  require(!lines.describe().empty(), "a set of lines says nothing of itself");
  std::set<Index> places;
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * lines.row_stride();
      require(at >= 0 && at < lines.extent(), "a row lies outside of the extent");
      require(places.insert(at).second, "two rows on one place");
    }
  }
  require(static_cast<Index>(places.size()) == lines.rows(), "a set counts other rows than it has");
  if (!lines.contiguous()) return;
  require(lines.rows() == lines.extent(), "contiguous lines with gaps");
  Index at = 0;
  for (Index l = 0; l < lines.count(); at += lines.length(l), ++l) {
    require(lines.length(l) == 0 || lines.first(l) == at, "contiguous lines that are not laid end to end");
  }
}

void fuzz_line_set(Bytes& bytes) {
  const int kind = bytes.below(5);
  Index e[6];
  for (Index& extent : e) extent = take_extent(bytes);
  try {
    switch (kind) {
      case 0:
        return check_lines(LineSet::one(e[0]));
      case 1:
        return check_lines(LineSet::equal(e[0], e[1]));
      case 2:
        return check_lines(LineSet::unequal({e, e + 1 + bytes.below(6)}));
      case 3:
        return check_lines(LineSet::grid_axis(static_cast<int>(e[0] % 4), e[1], e[2], e[3]));
      default:
        return check_lines(LineSet::strided(e[0], e[1], e[2], e[3], e[4], e[5]));
    }
  } catch (const InvalidInput& error) {
    require(std::string(error.what()).size() > 20, "a refusal says nothing");
  }
}

}  // namespace
}  // namespace oclspkt::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  oclspkt::fuzz::Bytes bytes(data, size);
  switch (bytes.below(4)) {
    case 0:
      oclspkt::fuzz::fuzz_options(bytes);
      break;
    case 1:
      oclspkt::fuzz::fuzz_line_set(bytes);
      break;
    default:
      oclspkt::fuzz::fuzz_selection(bytes);
  }
  return 0;
}

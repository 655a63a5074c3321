// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <system_error>

#include "meter.hpp"
#include "own_library.hpp"

namespace oclspkt {
namespace {

namespace fs = std::filesystem;

constexpr double kMilli = 1e-3, kMicro = 1e-6;

/// A library that is opened at run time. It is never closed, because its drivers may run threads.
class RunTime {
 public:
  explicit RunTime(const std::string& file)
      : file_(file), handle_(open_library(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, why_)) {}
  RunTime(const RunTime&) = delete;
  RunTime& operator=(const RunTime&) = delete;
  ~RunTime() {
    if (end != nullptr) end();
  }

  /// The address of a function. It converts to a pointer of any function type.
  struct Symbol {
    void* at;
    template <typename F>
    operator F*() const {  // NOLINT(google-explicit-constructor): to initialise a pointer
      return reinterpret_cast<F*>(at);
    }
  };
  /// Look a function up. The first missing function makes the library unusable.
  Symbol operator[](const char* name) {
    const Symbol found{handle_ != nullptr ? dlsym(handle_, name) : nullptr};
    if (found.at == nullptr && why_.empty()) why_ = std::string("it has no function ") + name;
    return found;
  }
  /// Returns the reason why the library cannot be used, and the cure; empty if it can be used.
  std::string trouble() const {
    return why_.empty() ? "" : file_ + " cannot be used (" + why_ + "): install the driver's own";
  }
  int (*end)() = nullptr;  ///< the library's own function to shut down

 private:
  std::string file_, why_;
  void* handle_;
};

// The part of NVML's interface that we use. The interface is stable.
using NvmlCard = struct NvmlCardOfDriver*;
struct NvmlField {
  unsigned field, scope;
  long long when, took;
  int type, result;
  unsigned value, upper_half;  // halves of a union of 8 bytes
};
/// Number of NVML's field for the present watts. NVML's usual power value is the mean over a second.
constexpr unsigned kPowerInstant = 186;

struct Nvml {
  explicit Nvml(const std::string& library) : file(library) {}

  /// Find a card by its PCI address, or by its name if it is the only card. Virtual machines and older drivers report
  /// other addresses than NVML.
  /// @return the error; empty if a card was found
  std::string find(const std::string& pci, const std::string& named) {
    if (std::string why = file.trouble(); !why.empty()) return why;
    int code = init();
    const bool ready = code == 0;
    if (ready) file.end = shutdown;
    if (ready && !pci.empty()) code = by_place(pci.c_str(), &card);
    if (ready && card == nullptr) {
      unsigned cards = 0;
      if (count(&cards) != 0 || cards != 1 || by_index(0, &card) != 0 || card_name() != named) card = nullptr;
    }
    if (card != nullptr) return "";
    return "NVML does not find " + named + (pci.empty() ? "" : " at " + pci) +
           (code != 0 ? std::string(" (") + error(code) + ")" : "") + ": see whether nvidia-smi does";
  }
  std::optional<double> joules() const {
    unsigned long long millijoules = 0;
    return energy(card, &millijoules) == 0 ? std::optional(kMilli * static_cast<double>(millijoules)) : std::nullopt;
  }
  std::optional<double> watts() const {
    NvmlField field{};
    field.field = kPowerInstant;
    if (fields(card, 1, &field) != 0 || field.result != 0) return std::nullopt;
    return kMilli * field.value;
  }
  std::string card_name() const {
    char text[96] = "";
    return name(card, text, sizeof text) == 0 ? text : "the card";
  }
  std::string words() const { return card_name() + " by NVML"; }
  static constexpr const char* kTellsNothing = "cards before Volta do not";

  RunTime file;
  int (*init)() = file["nvmlInit_v2"];
  int (*shutdown)() = file["nvmlShutdown"];
  const char* (*error)(int) = file["nvmlErrorString"];
  int (*count)(unsigned*) = file["nvmlDeviceGetCount_v2"];
  int (*by_place)(const char*, NvmlCard*) = file["nvmlDeviceGetHandleByPciBusId_v2"];
  int (*by_index)(unsigned, NvmlCard*) = file["nvmlDeviceGetHandleByIndex_v2"];
  int (*name)(NvmlCard, char*, unsigned) = file["nvmlDeviceGetName"];
  int (*energy)(NvmlCard, unsigned long long*) = file["nvmlDeviceGetTotalEnergyConsumption"];
  int (*fields)(NvmlCard, int, NvmlField*) = file["nvmlDeviceGetFieldValues"];
  NvmlCard card = nullptr;
};

// The part of AMD SMI's interface that we use. AMD SMI lists sockets, whose processors are the cards.
using AmdHandle = void*;
constexpr std::uint64_t kAmdGpus = 2;  // for amdsmi_init()

struct AmdSmi {
  explicit AmdSmi(const std::string& library) : file(library) {}

  /// Find a card by its PCI address, or take the only card. @return the error; empty if a card was found
  std::string find(const std::string& pci, const std::string& named) {
    if (std::string why = file.trouble(); !why.empty()) return why;
    std::vector<AmdHandle> all;
    if (init(kAmdGpus) == 0) {
      file.end = shut_down;
      for (AmdHandle socket : handles([&](auto*many, auto*to) { return sockets(many, to); })) {
        for (AmdHandle one : handles([&](auto*many, auto*to) { return cards(socket, many, to); })) all.push_back(one);
      }
    }
    for (AmdHandle one : all) {
      if (address(one) == pci || (all.size() == 1 && pci.empty())) card = one;
    }
    if (card != nullptr) return "";
    return "AMD SMI does not find " + named + (pci.empty() ? "" : " at " + pci) + ": see whether amd-smi does";
  }
  std::optional<double> joules() const {
    std::uint64_t count = 0, when = 0;
    float microjoules = 0;
    if (energy(card, &count, &microjoules, &when) != 0) return std::nullopt;
    return kMicro * microjoules * static_cast<double>(count);
  }
  /// Always empty: the library's struct for power differs between versions, and the counter suffices.
  static std::optional<double> watts() { return std::nullopt; }
  static std::string words() { return "the card by AMD SMI"; }
  static constexpr const char* kTellsNothing = "virtual machines are not told";

  RunTime file;
  int (*init)(std::uint64_t) = file["amdsmi_init"];
  int (*shut_down)() = file["amdsmi_shut_down"];
  int (*sockets)(std::uint32_t*, AmdHandle*) = file["amdsmi_get_socket_handles"];
  int (*cards)(AmdHandle, std::uint32_t*, AmdHandle*) = file["amdsmi_get_processor_handles"];
  int (*place)(AmdHandle, std::uint64_t*) = file["amdsmi_get_gpu_device_bdf"];
  int (*energy)(AmdHandle, std::uint64_t*, float*, std::uint64_t*) = file["amdsmi_get_energy_count"];
  AmdHandle card = nullptr;

 private:
  /// Returns all handles of a list. @param get  a call that first returns their number, and then writes them
  template <typename Get>
  static std::vector<AmdHandle> handles(const Get& get) {
    std::uint32_t many = 0;
    if (get(&many, static_cast<AmdHandle*>(nullptr)) != 0) return {};
    std::vector<AmdHandle> all(many);
    if (get(&many, all.data()) != 0) return {};
    return all;
  }
  /// Returns a card's PCI address as run-times write it. The bits are function (3), device (5), bus (8) and domain.
  std::string address(AmdHandle one) const {
    std::uint64_t bits = 0;
    char text[32];
    if (place(one, &bits) != 0) return "";
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", static_cast<unsigned>(bits >> 16),
                  static_cast<unsigned>(bits >> 8 & 0xff), static_cast<unsigned>(bits >> 3 & 0x1f),
                  static_cast<unsigned>(bits & 7));
    return text;
  }
};

/// Opens a library, and returns the probes of a card by this library.
template <typename Library>
Probes probes_by(const std::string& file, const std::string& pci, const std::string& name) {
  const auto library = std::make_shared<Library>(file);
  if (const std::string why = library->find(pci, name); !why.empty()) return {{}, "", why};
  PowerProbe probe;
  if (library->joules()) probe.joules = [library] { return library->joules(); };
  if (library->watts()) probe.watts = [library] { return library->watts(); };
  const std::string words = library->words();
  if (probe.joules || probe.watts) return {{probe}, words, {}};
  return {{}, "", words + " tells neither energy nor power: " + Library::kTellsNothing};
}

template <typename T>
std::optional<T> first_word(const fs::path& file) {
  std::ifstream stream(file);
  T word{};
  return stream >> word ? std::optional(word) : std::nullopt;
}

/// Returns the powercap folders of packages and memory. Other zones (cores, psys) count the same energy again.
std::set<fs::path> zones(const std::string& folder) {
  std::set<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    // Skip "intel-rapl-mmio:0", which counts the energy of "intel-rapl:0" again.
    if (!at->path().filename().string().starts_with("intel-rapl:")) continue;
    const std::string name = first_word<std::string>(at->path() / "name").value_or("");
    if (name.starts_with("package") || name == "dram") found.insert(at->path());
  }
  return found;
}

}  // namespace

Probes card_probes(const MeterSettings& settings, const std::string& pci, const std::string& name) {
  Probes probes = probes_by<Nvml>(settings.nvml, pci, name);
  if (!probes.all.empty() || name.starts_with("NVIDIA")) return probes;
  Probes amd = probes_by<AmdSmi>(settings.amdsmi, pci, name);
  if (amd.all.empty()) amd.trouble = probes.trouble + "; " + amd.trouble;
  return amd;
}

Probes powercap_probes(const std::string& folder) {
  Probes probes{{}, "the host's packages and memory by RAPL", {}};
  for (const fs::path& zone : zones(folder)) {
    const fs::path file = zone / "energy_uj";
    errno = 0;
    if (!first_word<double>(file)) {
      const std::string why = errno != 0 ? std::generic_category().message(errno) : "it holds no number";
      return {
          {}, "", file.string() + " cannot be read (" + why + "): let root permit it, by chmod a+r " + file.string()};
    }
    const auto joules = [file]() -> std::optional<double> {
      const std::optional<double> now = first_word<double>(file);
      return now ? std::optional(*now * kMicro) : std::nullopt;
    };
    probes.all.push_back({joules, kMicro * first_word<double>(zone / "max_energy_range_uj").value_or(0), {}});
  }
  if (probes.all.empty()) {
    return {{},
            "",
            folder +
                " has no counters of packages: load the module intel_rapl_msr, or show the folder to the "
                "container or virtual machine"};
  }
  return probes;
}

}  // namespace oclspkt

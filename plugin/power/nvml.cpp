// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>

#include <memory>

#include "own_library.hpp"
#include "probes.hpp"

namespace oclspkt {
namespace {

/// A library opened at run time. It stays open, because drivers have threads in it.
class RunTime {
 public:
  explicit RunTime(const std::string& file)
      : file_(file), handle_(open_library(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, why_)) {}

  /// Look a function up. The first missing one makes the library unusable.
  template <typename F>
  void take(F*& function, const char* name) {
    function = handle_ != nullptr ? reinterpret_cast<F*>(dlsym(handle_, name)) : nullptr;
    if (function == nullptr && why_.empty()) why_ = std::string("it has no function ") + name;
  }
  /// Why the library cannot be used, and the cure; empty if it can.
  std::string trouble() const {
    return why_.empty() ? "" : file_ + " cannot be used (" + why_ + "): install the driver's own";
  }

 private:
  std::string file_, why_;
  void* handle_;
};

// The part of NVML's interface that we use; the interface is stable.
using NvmlCard = struct NvmlCardOfDriver*;
struct NvmlField {
  unsigned field, scope;
  long long when, took;
  int type, result;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_long;
    unsigned long long as_long_long;
  } value;
};
/// Watts at this moment; NVML's usual power value is the mean of a second.
constexpr unsigned kPowerInstant = 186;
constexpr double kMilli = 1e-3;

struct Nvml {
  explicit Nvml(const std::string& library) : file(library) {
    file.take(init, "nvmlInit_v2");
    file.take(shutdown, "nvmlShutdown");
    file.take(error, "nvmlErrorString");
    file.take(count, "nvmlDeviceGetCount_v2");
    file.take(by_place, "nvmlDeviceGetHandleByPciBusId_v2");
    file.take(by_index, "nvmlDeviceGetHandleByIndex_v2");
    file.take(name, "nvmlDeviceGetName");
    file.take(energy, "nvmlDeviceGetTotalEnergyConsumption");
    file.take(fields, "nvmlDeviceGetFieldValues");
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (ready) shutdown();
  }

  /// Find a card by its PCI address, or by its name if it is the only card: addresses from virtual machines and older
  /// drivers differ from NVML's.
  /// @return the error, or nothing
  std::string find(const std::string& pci, const std::string& named) {
    if (std::string why = file.trouble(); !why.empty()) return why;
    int code = init();
    ready = code == 0;
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
    return kMilli * field.value.as_unsigned;
  }
  std::string card_name() const {
    char text[96] = "";
    return name(card, text, sizeof text) == 0 ? text : "the card";
  }

  RunTime file;
  int (*init)();
  int (*shutdown)();
  const char* (*error)(int);
  int (*count)(unsigned*);
  int (*by_place)(const char*, NvmlCard*);
  int (*by_index)(unsigned, NvmlCard*);
  int (*name)(NvmlCard, char*, unsigned);
  int (*energy)(NvmlCard, unsigned long long*);
  int (*fields)(NvmlCard, int, NvmlField*);
  NvmlCard card = nullptr;
  bool ready = false;
};

}  // namespace

Probes nvml_probes(const std::string& library, const std::string& pci, const std::string& name) {
  const auto nvml = std::make_shared<Nvml>(library);
  if (const std::string why = nvml->find(pci, name); !why.empty()) return {{}, "", why};
  PowerProbe probe;
  if (nvml->joules()) probe.joules = [nvml] { return nvml->joules(); };
  if (nvml->watts()) probe.watts = [nvml] { return nvml->watts(); };
  const std::string words = nvml->card_name() + " by NVML";
  if (!probe.joules && !probe.watts)
    return {{}, "", words + " tells neither energy nor power: cards before Volta do not"};
  return {{probe}, words, {}};
}

}  // namespace oclspkt

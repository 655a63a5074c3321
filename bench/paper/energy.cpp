// SPDX-License-Identifier: BSD-2-Clause
#include "energy.hpp"

#include <cstdlib>
#include <sstream>

#include "oclspkt/error.hpp"
#include "text.hpp"

namespace oclspkt::bench::paper {
namespace {

constexpr double kCard = 400, kCore = 8, kBoard = 60;

/// Boards by a word of their name, and what their makers rate them at.
constexpr struct {
  const char* word;
  double watts;
} kKnown[] = {{"H200", 700}, {"H100", 700}, {"A100", 400}, {"M4000", 120}, {"A10PL4", 33}};

double known(const std::string& name, double otherwise) {
  for (const auto& [word, watts] : kKnown) {
    if (name.find(word) != std::string::npos) return watts;
  }
  return otherwise;
}

double watts_of(const DeviceInfo& device, const Rated& rated, std::string& words) {
  const bool card = device.type == DeviceType::gpu, board = device.type == DeviceType::fpga && !device.emulated;
  if (card || board) {
    const double given = card ? rated.gpu : rated.fpga;
    const double watts = given > 0 ? given : known(device.name, card ? kCard : kBoard);
    words = text("%g W", watts);
    return watts;
  }
  const double core = rated.cpu > 0 ? rated.cpu : kCore;
  words = text("%g W x %d cores", core, device.cores);
  return core * device.cores;
}

}  // namespace

Rated parse_rated(const std::string& text) {
  Rated rated;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto at = word.find('=');
    const std::string name = word.substr(0, at), value = at == std::string::npos ? "" : word.substr(at + 1);
    double* const watts = name == "gpu"    ? &rated.gpu
                          : name == "cpu"  ? &rated.cpu
                          : name == "fpga" ? &rated.fpga
                                           : nullptr;
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (watts == nullptr || value.empty() || *end != '\0' || !(number > 0)) {
      throw InvalidInput("--rated takes watts such as gpu=700,cpu=8,fpga=60, not '" + word + "'");
    }
    *watts = number;
  }
  return rated;
}

Joules joules_of(const std::vector<DeviceInfo>& devices, const Rated& rated, double seconds,
                 const std::function<void()>& /*solve*/) {
  Joules all;
  for (const DeviceInfo& device : devices) {
    std::string words;
    all.watts += watts_of(device, rated, words);
    all.source += (all.source.empty() ? "rated power, " : " + ") + words;
  }
  all.joules = all.watts * seconds;
  return all;
}

}  // namespace oclspkt::bench::paper

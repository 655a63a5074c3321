// SPDX-License-Identifier: BSD-2-Clause
// A library with the functions of NVML that tell of energy, for two cards whose figures a test sets.
#include "fake_power.hpp"

#include <cstring>
#include <string>

FakeCards fake_cards;

namespace {

constexpr int kNotFound = 6, kUnsupported = 3;

FakeCard* card_of(void* handle) { return static_cast<FakeCard*>(handle); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return fake_cards.nvml ? 0 : 9; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int code) { return code == kNotFound ? "Not Found" : "Driver Not Loaded"; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = fake_cards.count;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** card) {
  *card = &fake_cards.card[index];
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** card) {
  for (unsigned i = 0; i < fake_cards.count; ++i) {
    if (std::string(place) != fake_cards.card[i].place) continue;
    *card = &fake_cards.card[i];
    return 0;
  }
  return kNotFound;
}
int nvmlDeviceGetName(void* card, char* name, unsigned bytes) {
  std::strncpy(name, card_of(card)->name, bytes - 1);
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* card, unsigned long long* millijoules) {
  *millijoules = static_cast<unsigned long long>(1e3 * card_of(card)->joules);
  return card_of(card)->counts ? 0 : kUnsupported;
}
/// The value lies behind two numbers, two times, the type and the result of 4, 4, 8, 8, 4 and 4 bytes.
int nvmlDeviceGetFieldValues(void* card, int count, void* fields) {
  unsigned field = 0;
  std::memcpy(&field, fields, sizeof field);
  if (count != 1 || field != 186) return 2;  // NVML_FI_DEV_POWER_INSTANT
  const int result = card_of(card)->samples ? 0 : kUnsupported;
  const auto milliwatts = static_cast<unsigned>(1e3 * card_of(card)->watts);
  std::memcpy(static_cast<char*>(fields) + 28, &result, sizeof result);
  std::memcpy(static_cast<char*>(fields) + 32, &milliwatts, sizeof milliwatts);
  return 0;
}
}

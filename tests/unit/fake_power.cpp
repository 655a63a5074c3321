// SPDX-License-Identifier: BSD-2-Clause
// A library with the functions of NVML and of AMD SMI that tell of energy, for two cards whose figures a test sets.
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

int amdsmi_init(std::uint64_t flags) { return fake_cards.amd && flags == 2 ? 0 : 34; }
int amdsmi_shut_down() { return 0; }
int amdsmi_get_socket_handles(std::uint32_t* count, void** sockets) {
  if (sockets != nullptr) sockets[0] = &fake_cards;
  *count = 1;
  return 0;
}
int amdsmi_get_processor_handles(void*, std::uint32_t* count, void** cards) {
  for (unsigned i = 0; cards != nullptr && i < fake_cards.count; ++i) cards[i] = &fake_cards.card[i];
  *count = fake_cards.count;
  return 0;
}
int amdsmi_get_gpu_device_bdf(void* card, std::uint64_t* bits) {
  *bits = card_of(card)->bits;
  return 0;
}
int amdsmi_get_energy_count(void* card, std::uint64_t* count, float* resolution, std::uint64_t* when) {
  *resolution = 15.3F;  // millionths of a joule
  *count = static_cast<std::uint64_t>(card_of(card)->joules / 15.3e-6);
  *when = 0;
  return card_of(card)->counts ? 0 : 2;
}
}

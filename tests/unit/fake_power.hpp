// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

/// What a test sets of a card.
struct FakeCard {
  const char *name, *place;
  std::uint64_t bits;  ///< the place, as AMD SMI tells it
  double joules = 0, watts = 0;
  bool counts = true, samples = true;
};

struct FakeCards {
  FakeCard card[2] = {{"NVIDIA H200", "0000:41:00.0", 0x4100}, {"NVIDIA H200", "0000:c1:00.0", 0xc100}};
  unsigned count = 2;
  bool nvml = true, amd = false;
};

/// The state of the library, by dlsym().
extern "C" FakeCards fake_cards;

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// What a test sets of a card.
struct FakeCard {
  const char *name, *place;
  double joules = 0, watts = 0;
  bool counts = true, samples = true;
};

struct FakeCards {
  FakeCard card[2] = {{"NVIDIA H200", "0000:41:00.0"}, {"NVIDIA H200", "0000:c1:00.0"}};
  unsigned count = 2;
  bool nvml = true;
};

/// The state of the library, by dlsym().
extern "C" FakeCards fake_cards;

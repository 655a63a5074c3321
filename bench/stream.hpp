// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"

namespace oclspkt::bench {

/// The stream that every share is quoted against: x = (a + b) + (c + y) with OpenMP, stores past the cache where the
/// processor has them.
/// @cost 3 n flops, 5 n words
template <typename T>
void stream(const StreamArrays<T>& arrays);

/// The instruction set that stream() uses on this processor: baseline, avx, avx512.
const char* stream_isa();

}  // namespace oclspkt::bench

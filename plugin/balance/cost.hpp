// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"
#include "oclspkt/export.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Predicted seconds of one apply with vectors on the host.
/// @param words_per_row of the method; the profile's rate is for 5
OCLSPKT_API double predict_seconds(const DeviceProfile& profile, Index rows, double words_per_row, int launches,
                                   int word);

/// Predicted seconds of one apply of a plan for lines side by side, by the profile of such lines.
OCLSPKT_API double predict_beside_seconds(const DeviceProfile& profile, const Plan& plan, int word);

/// Predicted seconds of one apply on the host with stored factors.
OCLSPKT_API double predict_host_seconds(const DeviceProfile& profile, Index rows);

/// The same for any line set, by the profile of its kind.
template <typename T>
OCLSPKT_API double predict_host_seconds(const LineSet& lines, Form form);

/// Line sets that take the host's sweeps the same time a row: a line by itself waits for its chain of operations, short
/// lines laid end to end overlap, lines side by side are swept together.
enum class HostShape { line, lines, beside };

/// Measured figures of the host's own sweeps (stored factors), once per process and kind.
/// @param in_memory more than the caches hold (some 50 milliseconds), else within them (one or two)
template <typename T>
OCLSPKT_API const DeviceProfile& host_profile(HostShape shape, bool in_memory);

}  // namespace oclspkt

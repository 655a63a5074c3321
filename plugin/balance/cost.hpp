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

/// Measured figures of the host's own sweeps (stored factors) of one line, once per process, a millisecond.
template <typename T>
OCLSPKT_API const DeviceProfile& host_profile();

/// The same for lines side by side, which are swept together: bound by the cache that holds them, or by memory (some 50
/// milliseconds).
template <typename T>
OCLSPKT_API const DeviceProfile& host_profile_beside(bool in_memory);

}  // namespace oclspkt

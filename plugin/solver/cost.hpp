// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"
#include "oclspkt/export.hpp"
#include "plan.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// The expected number of applies for each set-up if nothing is known: a solver may serve until the program ends.
inline constexpr double kManyApplies = 1e4;

/// Words per row that a plain stream moves in the time of a row at DeviceProfile::rows_per_second. It depends on the
/// kind of kernel, because kernels for cores wait for divisions.
OCLSPKT_API double measured_words(const Scheme& scheme, const Plan& plan);

/// Predicted seconds of one apply of a plan with vectors on the host.
/// @param profile  measured for the layout of the plan's lines, end to end or side by side
OCLSPKT_API double predict_seconds(const DeviceProfile& profile, const Scheme& scheme, const Plan& plan, int word);

/// Cost of a set-up's pass over the bands on the host: words per row that the processor streams in the same time.
OCLSPKT_API double words_of_pass(const DeviceTraits& traits, int word);

/// The figure that compares plans of one processor: the words that it streams in the time of an apply and its share of
/// the set-up. The program measures none of it, so that every run prefers the same plan.
/// @param applies  expected number of applies for each set-up
OCLSPKT_API double stream_words(const Scheme& scheme, const Plan& plan, const Survey& survey,
                                const DeviceTraits& traits, int word, double applies);

/// Predicted seconds of one apply on the host with stored factors.
/// @param nominal  true: assume a nominal rate, see nominal_profile(), instead of measuring the host
template <typename T>
OCLSPKT_API double predict_host_seconds(const LineSet& lines, Form form, bool nominal = false);

/// Nominal rates of a device. They depend only on the kind of device and its cores, so that they are equal in every
/// run. They order processors under Options::reproducible, and do not predict.
OCLSPKT_API DeviceProfile nominal_profile(const DeviceInfo& device, bool is_double);
/// Rates of a board as long as nobody has measured it: those of the paper's, by the model of bench/fpga.
OCLSPKT_API DeviceProfile board_profile(bool is_double);

/// Kinds of line sets by the time of a row in the host's sweeps: a line by itself waits for its chain of operations,
/// short lines laid end to end overlap, lines side by side are swept together.
enum class HostShape { line, lines, beside };

/// Rows a second of the host's own sweeps (stored factors), measured once per process and kind of line set.
/// @param in_memory true: for arrays beyond the caches (measuring takes about 50 ms); false: within them (1 or 2 ms)
template <typename T>
OCLSPKT_API double host_rate(HostShape shape, bool in_memory);

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"
#include "oclspkt/export.hpp"
#include "plan.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// Applies that are expected of a set-up where nothing is known: a solver may serve for as long as a program runs.
inline constexpr double kManyApplies = 1e4;

/// Words per row of a plain stream in the time that DeviceProfile::rows_per_second was measured with, for the kind of
/// kernels that a plan is for: those of cores wait for divisions there.
OCLSPKT_API double measured_words(const Scheme& scheme, const Plan& plan);

/// Predicted seconds of one apply of a plan with vectors on the host.
/// @param profile  of lines laid end to end or side by side, as the plan's are
OCLSPKT_API double predict_seconds(const DeviceProfile& profile, const Scheme& scheme, const Plan& plan, int word);

/// Words per row that the processor streams while the host makes a pass over the bands: its share of a set-up.
OCLSPKT_API double words_of_pass(const DeviceTraits& traits, int word);

/// What plans of one processor are compared by: the words that it streams in the time of an apply and of a set-up's
/// share. Nothing in it is measured while the program runs, so that the same plan is the least every time.
/// @param applies  that are expected of a set-up
OCLSPKT_API double stream_words(const Scheme& scheme, const Plan& plan, const Survey& survey,
                                const DeviceTraits& traits, int word, double applies);

/// Predicted seconds of one apply on the host with stored factors.
/// @param nominal  by kNominalCore, whatever the host is: nothing is measured
template <typename T>
OCLSPKT_API double predict_host_seconds(const LineSet& lines, Form form, bool nominal = false);

/// Figures that no measurement enters, the same in every run: by the kind of device and its cores. They order
/// processors under Options::reproducible, and do not predict.
inline constexpr double kNominalCore = 8e9;  ///< bytes a second that a core of the host streams
/// Bytes a second of a device with vectors of the host. An emulated device is a kernel of one work-item on a core of
/// the host, which does not pass for a board.
OCLSPKT_API double nominal_rate(const DeviceInfo& device);
OCLSPKT_API DeviceProfile nominal_profile(const DeviceInfo& device, bool is_double);
/// Rates of a board as long as nobody has measured it: those of the paper's, by the model of bench/fpga.
OCLSPKT_API DeviceProfile board_profile(bool is_double);

/// Line sets that take the host's sweeps the same time a row: a line by itself waits for its chain of operations, short
/// lines laid end to end overlap, lines side by side are swept together.
enum class HostShape { line, lines, beside };

/// Measured figures of the host's own sweeps (stored factors), once per process and kind.
/// @param in_memory more than the caches hold (some 50 milliseconds), else within them (one or two)
template <typename T>
OCLSPKT_API const DeviceProfile& host_profile(HostShape shape, bool in_memory);

}  // namespace oclspkt

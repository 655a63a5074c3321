// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "meter.hpp"
#include "shares.hpp"
#include "ways.hpp"

namespace oclspkt {

/// Bytes a second that the processors of this process read and write together, measured once.
double host_memory_rate();

/// What the meter is asked for.
PoweredDevice powered(const Processor& processor);

/// Predict applies of a processor by the least of its ways, transfers included; its rate is divided by the ranks that
/// it is shared among.
/// @param host  what remedies of ways are solved by
/// @return nothing where it has no way
template <typename T>
std::optional<ShareModel> predicted_model(const Processor& processor, const Processor& host, const Outlook<T>& outlook);

/// The same from its kind and its cores alone, which no measurement enters.
/// @param word  bytes of a number
ShareModel nominal_model(const Processor& processor, ShareModel model, double word);

}  // namespace oclspkt

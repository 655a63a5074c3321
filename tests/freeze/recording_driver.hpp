// SPDX-License-Identifier: BSD-2-Clause
// How a program reads what the recording driver recorded: it opens the driver by its path, which the ICD loader has
// opened before, and looks these names up.
#pragma once

namespace oclspkt::freeze {

/// Valid until the next recording stops.
struct RecordedTexts {
  const char* launches;  ///< of every queue that launches kernels all commands
  const char* copies;    ///< of all others, and the memory that was asked for
};

using StartRecording = void (*)();
using StopRecording = RecordedTexts (*)();
inline constexpr const char* kStartRecording = "oclspkt_recording_start";
inline constexpr const char* kStopRecording = "oclspkt_recording_stop";

}  // namespace oclspkt::freeze

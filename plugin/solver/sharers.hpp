// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "meter.hpp"
#include "share_figures.hpp"
#include "shares.hpp"
#include "ways.hpp"

namespace oclspkt {

/// A processor that may have a share of the rows, and its figures by itself and beside the others.
struct Sharer {
  Processor processor;
  std::string word;  ///< as Options::devices takes it
  ShareModel alone, beside;
  bool measured_alone = false, measured_beside = false;
  bool measured_watts = false;  ///< while it works; else they are rated
  /// Vectors of the host are copied to it, for which cores of the host are needed.
  bool copies() const { return !processor.host() && !processor.info.host_unified; }
};

/// The processors that a user named together, and what they are to solve.
struct Sharers {
  std::vector<Sharer> each;
  std::string names;  ///< of all, as figures of all together go by
  double rows = 0;    ///< of all lines

  /// Seconds of an apply of a processor by itself; where few applies follow a set-up, with a share of that.
  double alone_seconds(const Sharer& sharer) const;
  /// @pre each is not empty
  const Sharer& best_alone() const;
  bool any_measured_alone() const;
  /// Take what was measured in place of what was predicted.
  /// @param alone_kind  of solves, for processors by themselves
  void take(const ShareFigures& figures, const std::string& alone_kind, const std::string& kind);
};

/// The processors named that can solve the lines, with what is predicted of them.
/// @param whole  seconds of processors by themselves have a share of the set-up
template <typename T>
std::vector<Sharer> find_sharers(const Processors& processors, const Processor& host, const Outlook<T>& outlook,
                                 bool whole);

/// What the meter is asked for.
PoweredDevice powered(const Processor& processor);

/// Bytes a second that the processors of this process read and write together, measured once.
double host_memory_rate();

}  // namespace oclspkt

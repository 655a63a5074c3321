// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "share_figures.hpp"
#include "shares.hpp"
#include "ways.hpp"

namespace oclspkt {

/// A processor that may have a share of the rows, and its figures by itself and beside the others.
struct Sharer {
  Processor processor;
  std::string word;   ///< as Options::devices takes it
  std::string share;  ///< the same of what solves its share: some of its cores, where others need them to copy
  ShareModel alone, beside;
  bool measured_alone = false;
  bool measured_watts = false;  ///< while it works; else they are rated
  double set_up = 0;            ///< seconds of a set-up by itself, a row; 0: not known
};

/// The processors that a user named together, and what they are to solve.
struct Sharers {
  std::vector<Sharer> each;
  std::string names;   ///< of all, as figures of all together go by
  double rows = 0;     ///< of all lines
  double applies = 1;  ///< that are expected of a set-up, 1 or more
  double copying = 0;  ///< seconds a row by which bands that are copied to shares make a set-up longer

  /// Seconds of an apply of a processor by itself, with a share of its set-up.
  double alone_seconds(const Sharer& sharer) const;
  /// @pre each is not empty
  const Sharer& best_alone() const;
  bool any_measured_alone() const;
  /// Take what was measured in place of what was predicted.
  void take(const ShareFigures& figures);
};

/// The processors named that can solve the lines, with what is predicted of them.
/// @throws DeviceError under OnDeviceFailure::error, if one fails
template <typename T>
std::vector<Sharer> find_sharers(const Processors& processors, const Processor& host, const Outlook<T>& outlook);

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// Threads of this process that solve one system together, each with a CutSolver of its own, and how they talk: what
/// processes are to Cuts and Exchange, members are here. A member for each card, for instance, whose stream and vectors
/// its CutSolver takes.
class OCLSPKT_API Team {
 public:
  /// @param members  1 or more; the calling thread is member 0 of every run
  explicit Team(int members);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int members() const;
  /// Call f(member) on all members at once, and wait for them.
  /// @throws what a member threw: of several the one that is not told of another's; DeviceError in a process that was
  ///         forked since, which has none of the threads
  void run(const std::function<void(int)>& f);
  /// How a member talks to the others, within run().
  std::shared_ptr<Exchange> exchange(int member);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace oclspkt

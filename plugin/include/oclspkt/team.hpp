// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/export.hpp"

namespace oclspkt {

/// Threads of this process that solve one system together, each with its own CutSolver, and their exchange. Members
/// correspond to the processes of Cuts and Exchange. For example, each card has a member, whose CutSolver takes the
/// stream and the vectors of this card.
class OCLSPKT_API Team {
 public:
  /// @param members  1 or more; the calling thread is member 0 of every run
  explicit Team(int members);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int members() const;
  /// Call f(member) on all members at once, and wait for them.
  /// @throws the exception of a member, preferably of the member where the error began; DeviceError in a forked
  ///         process, which has none of the threads
  void run(const std::function<void(int)>& f);
  /// The exchange of a member, for use within run().
  std::shared_ptr<Exchange> exchange(int member);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// A scheme that is asked before all others and makes one of them propose, so that each can be timed on any case.
#pragma once

#include <string>
#include <vector>

#include "oclspkt/options.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::bench::gpu {

/// How a scheme comes to a plan.
enum class Origin {
  chosen,    ///< the library chooses it under this method, if it does
  proposed,  ///< it proposes for this method by itself
  made       ///< the library chooses another one under this method; its plan is made here
};

/// One way to have a case solved by a scheme.
struct Way {
  std::string scheme = {};  ///< empty for Origin::chosen: the plan tells afterwards
  MethodChoice method = MethodChoice::automatic;
  Origin origin = Origin::proposed;
  std::string variant = "default";
  Index partition = 0;  ///< Options::partition: with its own the library chooses among fewer schemes
  bool on_host = false;
};

/// What a set-up throws that only asked which schemes there are, or whose device refused what was steered.
struct Steered {
  std::string why = {};  ///< of the device
};

/// Every set-up between construction and destruction asks the schemes what they would take, and ends with Steered.
class Probe {
 public:
  Probe();
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  /// Those that propose by themselves or by plans made here; after the set-up.
  const std::vector<Way>& ways() const;
  /// Rows of a partition as plans of truncated-halo have them; 0 for lines side by side.
  Index usual_partition() const;
  /// Kernels are by work-groups.
  bool by_groups() const;
  /// Kernels are by one work-item.
  bool by_task() const;
};

/// Every set-up between construction and destruction is by the scheme of a way, or ends with Steered where the device
/// refuses it.
class Steering {
 public:
  explicit Steering(const Way& way);
  ~Steering();
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;
};

}  // namespace oclspkt::bench::gpu

// SPDX-License-Identifier: BSD-2-Clause
#include "peers_here.hpp"

#include "oclspkt/options.hpp"
#include "thomas.hpp"

namespace oclspkt::bench::paper {

#ifdef OCLSPKT_BENCH_PEERS
std::vector<const PeerFacts*> peers_here() {
  return {find_peer("thomas"), find_peer("gtsv"), find_peer("dtsvb"), find_peer("dtsvb-halves")};
}
#else
std::vector<const PeerFacts*> peers_here() {
  static constexpr PeerFacts kThomas{"thomas", "thomas", "exact", "serial", 9, 0, 0, 1, make_thomas, make_thomas};
  return {&kThomas};
}
#endif

}  // namespace oclspkt::bench::paper

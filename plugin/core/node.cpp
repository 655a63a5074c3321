// SPDX-License-Identifier: BSD-2-Clause
#include "node.hpp"

#include <cstdlib>

namespace oclspkt {
namespace {

/// Variables of a launcher: rank and number of processes on the node.
struct Launcher {
  const char *rank, *ranks;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE"},
    {"SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
};

/// The number in a variable; -1 if there is none.
int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value < 1 << 20 ? static_cast<int>(value) : -1;
}

}  // namespace

NodePlace node_place() {
  for (const Launcher& launcher : kLaunchers) {
    const NodePlace place{number_of(launcher.rank), number_of(launcher.ranks)};
    if (place.rank >= 0 && place.rank < place.ranks) return place;
  }
  return {};
}

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Threads for pieces of work, and the number of processors that they may use.
#include "parallel.hpp"

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "node.hpp"

namespace oclspkt {
namespace {

/// Environment variables of a launcher: the rank of the process on the node, and the node's number of processes.
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

/// The number in an environment variable; -1 if the variable holds no number.
int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value < 1 << 20 ? static_cast<int>(value) : -1;
}

/// Processors in the process's affinity mask; 0 if the mask cannot be read.
int allowed_processors() {
  // The kernel rejects masks that are shorter than its own.
  for (long room = 1024; room <= (1L << 20); room *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(room), [](cpu_set_t* m) { CPU_FREE(m); });
    if (!mask) return 0;
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(room), mask.get()) == 0)
      return CPU_COUNT_S(CPU_ALLOC_SIZE(room), mask.get());
  }
  return 0;
}

}  // namespace

NodePlace node_place() {
  for (const Launcher& launcher : kLaunchers) {
    const NodePlace place{number_of(launcher.rank), number_of(launcher.ranks)};
    if (place.rank >= 0 && place.rank < place.ranks) return place;
  }
  return {};
}

int processor_share() {
  const int allowed = allowed_processors();
  static const long all = sysconf(
      _SC_NPROCESSORS_ONLN);  // called once, because sysconf() reads files, which takes as long as a short set-up
  // The mask of a bound process is its share. Unbound processes share the machine's processors.
  const bool bound = allowed < all;
  return bound || allowed == 0 ? allowed : std::max(1, allowed / node_place().ranks);
}

void for_pieces(Index count, Index piece, const std::function<void(Index, Index)>& f) {
  const Index pieces = (count + piece - 1) / piece;
  if (pieces <= 0) return;
  std::atomic<Index> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_pieces = [&] {
    try {
      for (Index k = next++; k < pieces; k = next++) f(k * piece, std::min(count, (k + 1) * piece));
    } catch (...) {
      next = pieces;
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  const Index wanted = pieces > 1 ? std::max<Index>(0, std::min<Index>(pieces, processor_share()) - 1) : 0;
  helpers.reserve(static_cast<std::size_t>(wanted));
  try {
    for (Index t = 0; t < wanted; ++t) helpers.emplace_back(take_pieces);
  } catch (const std::exception&) {
    // No more threads can start: the running threads process all pieces.
  }
  take_pieces();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "work_items.hpp"

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#undef asm

thread_local oclspkt::test::Place threadIdx, blockIdx;
oclspkt::test::Place blockDim, gridDim;
unsigned char* oclspkt_local_memory;

namespace {
std::barrier<>* group_barrier;
}

void __syncthreads() { group_barrier->arrive_and_wait(); }
void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }

namespace oclspkt::test {

void run_groups(unsigned groups, unsigned items, std::size_t local, const std::function<void()>& kernel) {
  blockDim = {items, 1, 1};
  gridDim = {groups, 1, 1};
  std::vector<double> memory(local / sizeof(double) + 17);
  void* begin = memory.data();
  std::size_t room = memory.size() * sizeof(double);
  oclspkt_local_memory = static_cast<unsigned char*>(std::align(128, local, begin, room));
  std::barrier all(items);
  group_barrier = &all;
  std::vector<std::jthread> threads;
  for (unsigned item = 0; item < items; ++item) {
    threads.emplace_back([=, &kernel] {
      threadIdx = {item, 0, 0};
      for (unsigned group = 0; group < groups; ++group) {
        blockIdx = {group, 0, 0};
        kernel();
        group_barrier->arrive_and_wait();
      }
    });
  }
}

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cut_lines.hpp"

namespace oclspkt {

/// A channel with its buffers.
template <typename S>
struct Wire {
  Route route;
  std::unique_ptr<Exchange::Channel> channel;
  AlignedArray<S> out, in;

  void open(Exchange& exchange, Route r) {
    route = std::move(r);
    out.resize(route.out_count);
    in.resize(route.in_count);
    channel = exchange.open(route.out_legs, route.in_legs, sizeof(S));
  }
  void start() { channel->start(out.data(), in.data()); }
  void finish() { channel->finish(); }
  void talk() {
    start();
    finish();
  }
  std::int64_t bytes() const { return out.bytes() + in.bytes(); }
};

}  // namespace oclspkt

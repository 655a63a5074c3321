// SPDX-License-Identifier: BSD-2-Clause
#include "share_figures.hpp"

#include <algorithm>

#include "node.hpp"

namespace oclspkt {

void ShareFigures::open(const std::string& profile) {
  if (store_ && profile_ == profile) return;
  write();
  profile_ = profile;
  store_.emplace(profile_);
  store_->read();
  store_->look();
  written_ = std::chrono::steady_clock::now();
}

void ShareFigures::close() {
  write();
  store_.reset();
}

std::optional<Measured> ShareFigures::find(const std::string& key) const {
  return store_ ? store_->find(key) : std::nullopt;
}

void ShareFigures::put_seconds(const std::string& key, double seconds, double rows, std::int64_t applies) {
  constexpr double kMostLonger = 1.1;
  if (!store_ || !(seconds > 0 && rows > 0)) return;
  const std::optional<Measured> before = find(key);
  const double now = seconds / rows;
  store_->put(key, {.seconds_per_row = before ? std::min(now, kMostLonger * before->seconds_per_row) : now,
                    .applies = (before ? before->applies : 0) + static_cast<double>(applies)});
}

void ShareFigures::put_watts(const std::string& key, double watts, std::int64_t applies) {
  if (store_ && watts > 0) store_->put(key, {.applies = static_cast<double>(applies), .watts = watts});
}

void ShareFigures::write() {
  if (!store_ || node_place().rank != 0) return;
  store_->write();
  written_ = std::chrono::steady_clock::now();
}

void ShareFigures::write_now_and_then() {
  constexpr std::chrono::seconds kBetweenWrites{10};
  if (std::chrono::steady_clock::now() - written_ > kBetweenWrites) write();
}

}  // namespace oclspkt

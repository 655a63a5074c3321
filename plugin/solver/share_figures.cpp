// SPDX-License-Identifier: BSD-2-Clause
#include "share_figures.hpp"

#include <algorithm>
#include <vector>

#include "node.hpp"

namespace oclspkt {

void ShareFigures::open(const std::string& profile) {
  if (store_ && profile_ == profile) return;
  write();
  last_.clear();
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

std::optional<double> ShareFigures::find(const std::string& who, const char* how) const {
  const std::optional<Measured> found = store_ ? store_->find(key(who, how)) : std::nullopt;
  return found ? std::optional(found->seconds_per_row) : std::nullopt;
}

void ShareFigures::put(const std::string& who, const char* how, double seconds, double rows, std::int64_t applies) {
  constexpr std::int64_t kMany = 32;
  constexpr std::size_t kLast = 5;
  if (!store_ || !(seconds > 0 && rows > 0)) return;
  const std::string name = key(who, how);
  std::deque<double>& last = last_[name];
  if (applies >= kMany) last.clear();
  if (const auto known = find(who, how); known && applies < kMany && last.empty()) last.push_back(*known);
  last.push_back(seconds / rows);
  if (last.size() > kLast) last.pop_front();
  std::vector<double> sorted(last.begin(), last.end());
  // Of two the lower one: others' work makes nothing faster.
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  store_->put(name, {.latency = 0, .seconds_per_row = *middle, .applies = static_cast<double>(applies)});
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

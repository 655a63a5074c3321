// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apply_energy.hpp"
#include "profile_store.hpp"
#include "shared_lines.hpp"
#include "sharers.hpp"

namespace oclspkt {

/// The decision of a set-up whether processors share the rows.
struct ShareVerdict {
  std::vector<Piece> pieces = {};  ///< the rows of each processor; fewer than two: rows are not shared
  const Sharer* only = nullptr;    ///< the processor that solves by itself; null: any of those named
  std::string why = {};            ///< reason; empty if only one processor was named
  std::string objectives = {};     ///< see SharesReport::objectives
  bool shared() const { return pieces.size() > 1; }
};

/// Decides whether the processors that a user named together share the rows of a solver, and how many rows each has.
/// Learns from the times of applies, and keeps the measured figures in a profile.
/// @tparam T float or double
template <typename T>
class Sharing {
 public:
  ~Sharing();

  /// Decide whether rows are shared, and how many rows each processor has.
  /// @throws InvalidInput for a balance that does not fit the processors
  ShareVerdict decide(const Processors& processors, const Outlook<T>& outlook);
  /// Set up the shares that decide() found. @throws what SharedLines::set_up() throws; then nothing is shared
  void set_up(const Outlook<T>& outlook, const Known& known, std::vector<Piece> pieces);
  bool active() const { return lines_ != nullptr && set_up_; }
  /// End the sharing of rows.
  void drop() { lines_.reset(); }
  /// learn(), and forget all that depends on the options, because they have changed.
  void renew();
  /// @pre active()
  SharedLines<T>& lines() { return *lines_; }
  const SharedLines<T>& lines() const { return *lines_; }
  /// Begin to measure a processor that solves by itself, if it is one of several that were named.
  /// @param device  Processor::index
  /// @param set_up_seconds  seconds of its last set-up
  void watch_single(int device, double set_up_seconds);
  void note_single(double seconds) { single_seconds_.add(seconds); }
  const std::vector<Sharer>& sharers() const { return sharers_; }
  /// Learn the power of processors from applies. @param energy  outlives this object; null: no power is measured
  void watch_energy(ApplyEnergy* energy) { energy_ = energy; }
  /// Keep the times and the power measured in the applies since the last set-up.
  void learn();
  /// Why the profile could not be read or written; empty if it could.
  std::string profile_trouble() const { return store_ ? store_->why() : ""; }

  /// Write the shares, and the combined reports of their solvers. @pre active()
  void write_report(Report& report) const;
  /// Update the figures of the report that change with applies. @pre active()
  void update_report(Report& report) const;
  /// The devices that failed in the solvers of the shares. @pre active()
  std::vector<LostDevice> lost() const;

 private:
  /// What sharers_ depends on, besides the options.
  struct Found {
    LineSet lines;
    std::vector<int> processors;  ///< Processor::index of each
    int applies = 0;              ///< the expected applies to a factor of two
    bool shared = false, symmetric = false, dominant = false;
    bool operator==(const Found&) const = default;
  };
  void find(const Processors& processors, const Outlook<T>& outlook);
  void forget();
  std::string names() const;
  std::string key(const std::string& who, const char* how, double applies = kManyEnough) const;
  Estimate estimate(const std::string& who, const char* how, double predicted, double applies) const;
  std::string find_shares(const Options& options, const Balance& balance);
  bool pays(bool few, ShareVerdict& verdict) const;
  const Sharer* without_power() const;
  void learn_power(const Sharer& worker);
  void write(bool at_once);
  const Sharer& owner(const typename SharedLines<T>::Part& part) const { return sharers_[part.piece.owner]; }

  Found found_;
  std::string kind_;  ///< the kind of solve, as a part of the profile's keys: scalar, layout, size
  std::vector<Sharer> sharers_;
  Shares shares_;  ///< found at the last set-up, whether or not rows are shared
  std::unique_ptr<SharedLines<T>> lines_;
  bool set_up_ = false;
  int failures_ = 0;  ///< set-ups of shares that failed
  std::optional<ProfileStore> store_;
  std::chrono::steady_clock::time_point written_{};
  ApplyEnergy* energy_ = nullptr;
  std::set<int> tried_;        ///< Processor::index of those that worked alone so that their power was measured
  std::optional<int> single_;  ///< Processor::index of the one that solves by itself; empty if several share
  MedianSeconds single_seconds_;
  double set_up_seconds_ = 0;
};

extern template class Sharing<float>;
extern template class Sharing<double>;

}  // namespace oclspkt

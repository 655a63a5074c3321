// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apply_energy.hpp"
#include "median_of_many.hpp"
#include "shared_lines.hpp"
#include "sharers.hpp"

namespace oclspkt {

/// What is decided at a set-up.
struct ShareVerdict {
  bool shared = false;
  const Sharer* only = nullptr;  ///< solves by itself; null: any of those named
  std::string why = {};          ///< empty where one processor was named
};

/// The processors that a user named together: whether they share the rows of a solver, how many each has, and what was
/// measured of that.
/// @tparam T float or double
template <typename T>
class Sharing {
 public:
  ~Sharing();

  /// Decide how many rows each processor has.
  /// @throws InvalidInput for a balance that does not fit the processors
  ShareVerdict decide(const Processors& processors, const Outlook<T>& outlook);
  /// Set up what was decided. @throws what SharedLines::set_up() throws; nothing is shared then
  void set_up(const Outlook<T>& outlook, const Known& known);
  bool active() const { return lines_ != nullptr && set_up_; }
  /// Go back to one processor.
  void drop();
  /// The options have changed: what was found by them is found anew.
  void renew();
  /// @pre active()
  SharedLines<T>& lines() { return *lines_; }
  const SharedLines<T>& lines() const { return *lines_; }
  /// One of several processors solves by itself: its applies are to be noted.
  /// @param device  Processor::index
  /// @param set_up_seconds  of the set-up that it has just had
  void watch_single(int device, double set_up_seconds);
  void note_single(double seconds) {
    if (single_ != nullptr) single_seconds_.add(seconds);
  }
  const std::vector<Sharer>& sharers() const { return sharers_.each(); }
  /// Learn the power of processors from applies. @param energy  lives longer; null: of none
  void watch_energy(ApplyEnergy* energy) { energy_ = energy; }
  /// The shares that `time` and `energy` choose, as SharesReport::objectives.
  const std::string& objectives() const { return objectives_; }
  /// Keep what the applies since the last set-up have shown.
  void learn();
  /// Why figures were not read or are not kept; empty if all is well.
  std::string profile_trouble() const { return sharers_.trouble(); }

  /// Write the shares and what their solvers report. @pre active()
  void write_report(Report& report) const;
  /// The same figures that applies change.
  void update_report(Report& report) const;
  /// The devices of the shares that failed, and how many losses they report.
  std::vector<LostDevice> lost() const;

 private:
  void find_shares(const Options& options, const Balance& balance);
  ShareVerdict least_time(bool few) const;
  const Sharer* without_power();
  void learn_power();
  const Sharer& owner(std::size_t piece) const { return sharers_.each()[lines_->pieces()[piece].owner]; }

  Sharers sharers_;
  Shares shares_;          ///< of the last set-up, whether they are used or not
  std::string shares_of_;  ///< their processors, solves and balance
  std::vector<Piece> pieces_;
  std::unique_ptr<SharedLines<T>> lines_;
  bool set_up_ = false;
  int failures_ = 0;  ///< set-ups of shares that failed
  ApplyEnergy* energy_ = nullptr;
  std::map<std::string, int> worked_alone_;  ///< how often, to measure their power
  std::string objectives_;
  const Sharer* single_ = nullptr;  ///< the one of several that solves by itself
  std::string last_single_;         ///< Sharer::who of the last set-up
  MedianOfMany single_seconds_;
  double set_up_seconds_ = 0;
};

extern template class Sharing<float>;
extern template class Sharing<double>;

}  // namespace oclspkt

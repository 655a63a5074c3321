// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apply_energy.hpp"
#include "shared_lines.hpp"
#include "sharers.hpp"

namespace oclspkt {

/// What is decided at a set-up.
struct ShareVerdict {
  bool shared = false;
  const Sharer* only = nullptr;  ///< solves by itself; null: any of those named
  std::string why = {};          ///< empty where one processor was named
  std::string objectives = {};   ///< as SharesReport::objectives
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
    if (!single_.empty()) single_seconds_.add(seconds);
  }
  const std::vector<Sharer>& sharers() const { return sharers_.each(); }
  /// Learn the power of processors from applies. @param energy  lives longer; null: of none
  void watch_energy(ApplyEnergy* energy) { energy_ = energy; }
  /// Keep what the applies since the last set-up have shown.
  void learn();
  /// Why figures were not read or are not kept; empty if all is well.
  std::string profile_trouble() const { return sharers_.trouble(); }

  /// Write the shares and what their solvers report. @pre active()
  void write_report(Report& report) const;
  /// Write the figures that applies change.
  void update_report(Report& report) const;
  /// The devices of the shares that failed, and how many losses they report.
  std::vector<LostDevice> lost() const;

 private:
  std::string find_shares(const Options& options, const Balance& balance);
  ShareVerdict least_time(bool few) const;
  const Sharer* without_power() const;
  void learn_power();
  void note_work(std::string work);
  const Sharer& owner(const typename SharedLines<T>::Part& part) const { return sharers_.each()[part.piece.owner]; }

  Sharers sharers_;
  Shares shares_;  ///< of the last set-up, whether they are used or not
  std::vector<Piece> pieces_;
  std::unique_ptr<SharedLines<T>> lines_;
  bool set_up_ = false;
  int failures_ = 0;  ///< set-ups of shares that failed
  ApplyEnergy* energy_ = nullptr;
  std::string work_;             ///< who works since the meter's last forget()
  std::set<std::string> tried_;  ///< Sharer::who of those that worked alone to have their power measured
  std::string single_;           ///< Sharer::who of the one that solves by itself; empty: none of several
  MeanSeconds single_seconds_;
  double set_up_seconds_ = 0;
};

extern template class Sharing<float>;
extern template class Sharing<double>;

}  // namespace oclspkt

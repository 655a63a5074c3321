// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apply_energy.hpp"
#include "median_of_many.hpp"
#include "shared_lines.hpp"
#include "sharers.hpp"
#include "ways.hpp"

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
  ShareVerdict decide(const Processors& processors, const Processor& host, const Outlook<T>& outlook);
  /// The set-up is done. @pre active()
  void note_set_up() { last_ = sharers_.names; }
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
    if (!single_who_.empty()) single_.add(seconds);
  }
  /// The processors that the joules of applies are asked of: those that are named together, if any are.
  std::vector<PoweredDevice> powered_devices() const;
  /// Learn their power from applies. @param energy  lives longer; null: of none
  void watch_energy(ApplyEnergy* energy) { energy_ = energy; }
  /// The shares that `time` and `energy` choose, as SharesReport::objectives.
  const std::string& objectives() const { return objectives_; }
  /// Keep what the applies since the last set-up have shown.
  void learn();
  /// Why figures were not read or are not kept; empty if all is well.
  std::string profile_trouble() const { return figures_.trouble(); }

  /// Write the shares and what their solvers report. @pre active()
  void write_report(Report& report) const;
  /// The same figures that applies change.
  void update_report(Report& report) const;
  /// The devices of the shares that failed, and how many losses they report.
  std::vector<LostDevice> lost() const;

 private:
  void take_rounding(std::size_t piece, Report& report) const;

  /// What the sharers depend on besides the options.
  struct Found {
    LineSet lines;
    std::vector<int> processors;  ///< Processor::index
    int applies;                  ///< that are expected, to a factor of two
    bool shared, symmetric, dominant;
    friend bool operator==(const Found&, const Found&) = default;
  };
  void find(const Processors& processors, const Processor& host, const Outlook<T>& outlook);
  void recall(const Outlook<T>& outlook);
  double host_rate(const Options& options) const;
  Shares find_shares(const Options& options, const Balance& balance);
  void learn_power(bool together);
  void compare_objectives(Index grain, const std::vector<ShareModel>& models, const NodeModel& node);
  ShareVerdict least_time(const Shares& shares, double applies);
  bool may_try(const std::string& who, double applies) const;
  const Sharer* without_power();
  std::string together_key(const std::vector<Index>& rows) const;

  Sharers sharers_;
  std::optional<Found> found_;        ///< for what sharers_ were found
  std::string kind_;                  ///< of the solves: scalar, layout, form, size
  std::map<std::string, int> tries_;  ///< set-ups that began what was never measured, by key
  double set_up_seconds_ = 0;  ///< of the last one; 0 if others had the one before, as kernels and memory may be new
  std::string last_;           ///< whose set-up was the last one
  ShareFigures figures_;
  Shares shares_;
  std::vector<Index> kept_;  ///< rows of the last set-up
  std::string kept_for_;     ///< its processors, solves and balance
  std::vector<Piece> pieces_;
  LineSet layout_;
  std::unique_ptr<SharedLines<T>> lines_;
  std::string made_for_;  ///< words of the processors of lines_
  bool set_up_ = false;
  ApplyEnergy* energy_ = nullptr;
  std::string objectives_;
  MedianOfMany single_;
  std::string single_who_;
};

extern template class Sharing<float>;
extern template class Sharing<double>;

}  // namespace oclspkt

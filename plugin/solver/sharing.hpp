// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apply_energy.hpp"
#include "median_of_many.hpp"
#include "share_figures.hpp"
#include "share_judge.hpp"
#include "shared_lines.hpp"
#include "sharers.hpp"
#include "ways.hpp"

namespace oclspkt {

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
  /// Note how long set_up() and all around it took. @pre active()
  void note_set_up(double seconds) { set_up_seconds_ = is_again("together") ? seconds : 0; }
  /// Set up what was decided. @throws what SharedLines::set_up() throws; nothing is shared then
  void set_up(const Outlook<T>& outlook, const Known& known);
  bool active() const { return lines_ != nullptr && set_up_; }
  /// A device that copies the rows of its share, -1 if none does. @pre active()
  int copying_device() const;
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
  bool is_again(const std::string& who);
  void learn_power(bool together);
  void compare_objectives(Index grain, const std::vector<ShareModel>& models, const NodeModel& node);

  Sharers sharers_;
  std::optional<Found> found_;  ///< for what sharers_ were found
  std::string kind_;            ///< of the solves: scalar, layout, form, size
  bool once_ = false;           ///< one apply is expected, of which there are figures of their own: caches are cold
  double set_up_seconds_ = 0;   ///< of the last one; 0 if others had the one before, as kernels and memory may be new
  std::string last_;            ///< whose set-up was the last one, and for what solves
  ShareFigures figures_;
  ShareTrials trials_;
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

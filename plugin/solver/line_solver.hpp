// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <vector>

#include "choosing.hpp"
#include "oclspkt/solver.hpp"
#include "sharing.hpp"
#include "system.hpp"

namespace oclspkt {

/// @throws InvalidInput naming the option that is out of range
void check_options(const Options& options);
/// @throws InvalidInput naming the call, unless a set-up has succeeded
void require_ready(bool ready, const char* call);

/// The solver of lines that are whole in this process: the lines, the choice of the last set-up, and the facts for the
/// next one.
template <typename T>
class LineSolver final : public Operator<T> {
 public:
  explicit LineSolver(Options options) : options_(std::move(options)) { check_options(options_); }
  LineSolver(const LineSolver&) = delete;
  LineSolver& operator=(const LineSolver&) = delete;

  /// Prepare for new bands of such lines, to be written in the system that is returned.
  System<T>& expect(const LineSet& lines);
  void fill(const LineSet& lines, const BandsFill<T>& fill);
  /// Set up bands that a caller may have written, by these options.
  void set_up(Options options, const Known& known);
  /// Set up the bands as they are now.
  void set_up(const Known& known);
  void set_options(Options options);

  using Operator<T>::apply;
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override;
  bool takes(const DeviceQueue& queue) const override { return solves_on_queue() && chosen_->takes(queue); }
  std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& layout) { return chosen_->borders(layout); }
  /// The solver of all lines on one device; null if one device does not solve all.
  DeviceSolver<T>* alone_on_device() const;
  int device() const { return chosen_.device(); }
  bool take_step(Visit<T>& visit, std::size_t step, const T* y, T* x);
  DeviceHandles device_handles() const { return report_.ready && chosen_ ? chosen_->handles() : DeviceHandles{}; }
  /// Do the work of some applies, and record its joules. Work that throws is not recorded.
  template <typename Work>
  void metered(Index applies, bool queued, const Work& work) {
    if (energy_) energy_->begin();
    work();
    if (energy_ && energy_->end(applies, queued)) report_.energy = energy_->report();
  }

  Times times() const override;
  std::int64_t bytes() const override;
  System<T>& system() { return system_; }
  const Counts& counts() const { return counts_; }
  const LineSet& lines() const { return system_.lines(); }
  const Report& report() const { return report_; }
  /// The devices that are not tried again while options and lines stay.
  const std::vector<LostDevice>& lost() const { return lost_; }
  void set_lost(const std::vector<LostDevice>& lost) { lost_ = lost; }
  /// Record that a device failed, with one line for each device.
  void lose(const LostDevice& device);

 private:
  void begin_set_up();
  /// How this set-up chooses.
  Choosing<T> choosing() { return {options_, known_, expected_applies_, system_, chosen_, report_, counts_}; }

  bool share(std::optional<Processors>& found);
  void note_losses();
  void watch_energy();
  template <typename Work>
  double timed(Index applies, bool queued, const Work& work);
  void solve(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  bool solves_on_queue() const;
  void require_queue() const;
  void require_buffers() const;
  Options options_for_choice() const;
  Processors find_those_left();
  void choose_of_those_left(const std::optional<InUse>& before, std::optional<Processors> found);
  void note_queue(const Processors& processors);
  void forget_queue(const std::string& why);
  void fall_back(const DeviceError& error);
  void discard_choice();

  Options options_;
  Known known_;
  System<T> system_{options_};
  Report report_;
  Chosen<T> chosen_;
  int of_queue_ = -1;  ///< the device of Known::queue, if it is among those that can be used
  std::vector<LostDevice> lost_;
  std::optional<InUse> in_use_;
  std::unique_ptr<ApplyEnergy> energy_;  ///< outlives sharing_
  Sharing<T> sharing_;
  std::string only_;  ///< the device that solves, of those named; empty: any
  double total_seconds_ = 0;
  double fill_seconds_ =
      0;  ///< of the bands of the next set-up: memory is new where the last one left them to a device
  std::int64_t applies_ = 0;           ///< since the last set-up
  std::int64_t expected_applies_ = 0;  ///< until the next one: as many as between the last two; 0: not known
  Counts counts_;
};

extern template class LineSolver<float>;
extern template class LineSolver<double>;

}  // namespace oclspkt

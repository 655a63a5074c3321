// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "choosing.hpp"
#include "oclspkt/solver.hpp"
#include "shared_lines.hpp"
#include "sharing.hpp"
#include "system.hpp"

namespace oclspkt {

/// @throws InvalidInput naming the option that is out of range
void check_options(const Options& options);
/// @throws InvalidInput naming the call, unless a set-up has succeeded
void require_ready(bool ready, const char* call);

/// Solves lines that are whole in this process. Keeps the choice of the last set-up, and facts for the next set-up.
template <typename T>
class LineSolver final : public Operator<T> {
 public:
  explicit LineSolver(Options options) : options_(std::move(options)) { check_options(options_); }
  LineSolver(const LineSolver&) = delete;

  /// Prepare for new bands of `lines`. The caller writes them into the returned system.
  System<T>& expect(const LineSet& lines);
  void set_up(Options options, const Known& known);
  void set_options(Options options);

  using Operator<T>::apply;
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override;
  bool takes(const DeviceQueue& queue) const override { return solves_on_queue() && chosen_->takes(queue); }
  const Chosen<T>& chosen() const { return chosen_; }
  /// The solver of the one device that solves all lines; null if there is no such device.
  DeviceSolver<T>* alone_on_device() const;
  bool take_step(Visit<T>& visit, std::size_t step, const T* y, T* x);
  using Start = std::chrono::steady_clock::time_point;
  /// Begin to measure applies. Applies that throw are not recorded.
  Start begin_applies();
  /// Record the joules of applies since begin_applies(). @param queued  the applies may still run
  void end_metered(Index applies, bool queued);

  Times times() const override;
  std::int64_t bytes() const override;
  System<T>& system() { return system_; }
  const Report& report() const { return report_; }
  /// The devices that failed. They are not tried again until the options or the lines change.
  std::vector<LostDevice>& lost() { return lost_; }
  /// Record that a device failed; only its first failure is recorded.
  void lose(const LostDevice& device);

 private:
  Choosing<T> choosing() { return {options_, known_, expected_applies_, system_, chosen_, report_}; }

  bool share(std::optional<Processors>& found);
  void note_losses();
  void watch_energy();
  double end_applies(Start start, Index applies, bool queued);
  bool solves_on_queue() const;
  void require_device(const Place& place) const;
  Processors find_those_left();
  void choose_of_those_left(const std::optional<InUse>& before, std::optional<Processors> found);
  void fall_back(const DeviceError& error);
  void discard_choice(const std::string& why_copied);

  Options options_;
  Known known_;
  System<T> system_{options_};
  Report report_;
  Chosen<T> chosen_;
  int of_queue_ = -1;  ///< index of the device of Known::queue; -1: no queue, or the device cannot be used
  std::vector<LostDevice> lost_;
  std::optional<InUse> in_use_;
  std::unique_ptr<ApplyEnergy> energy_;  ///< outlives sharing_
  Sharing sharing_;
  std::unique_ptr<SharedLines<T>> shared_;  ///< null unless several processors share the rows
  std::string only_;  ///< the word of Options::devices for the processor that solves alone; empty: any
  double total_seconds_ = 0;
  std::int64_t applies_ = 0;           ///< number of applies since the last set-up
  std::int64_t expected_applies_ = 0;  ///< expected applies until the next set-up; 0: unknown
};

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Set-ups and applies of a LineSolver whose rows several processors share.
#include <algorithm>
#include <utility>

#include "line_solver.hpp"
#include "selection.hpp"

namespace oclspkt {

/// Share the rows among the processors that are named, if that pays.
/// @param[out] found  if rows are not shared, the processors of which one solves, if they are known
/// @return true if the rows are shared and set up
template <typename T>
bool LineSolver<T>::share(std::optional<Processors>& found) {
  sharing_.learn();
  only_.clear();
  report_.sharing = {};
  // Shares cannot pin a line. `auto` means only the fastest processor.
  const bool whole = known_.queue || options_.method == MethodChoice::pivot || options_.devices == "auto" ||
                     (known_.constant_null_space && options_.singular != Singular::fail);
  if (!whole && !needs_no_device(options_.devices)) found = find_those_left();
  ShareVerdict verdict;
  if (found && !found->automatic) {
    verdict = sharing_.decide(*found, choosing().outlook());
    std::string& why = report_.sharing.why = verdict.why;
    report_.sharing.objectives = verdict.objectives;
    std::vector<std::string> remarks = found->remarks;
    remarks.push_back(sharing_.profile_trouble());
    for (const std::string& remark : remarks) why += (why.empty() || remark.empty() ? "" : "; ") + remark;
  }
  if (!verdict.shared()) {
    sharing_.drop();
    if (verdict.only != nullptr) {
      only_ = verdict.only->processor.word();
      found->keep_only(verdict.only->processor.index);
    }
    return false;
  }
  found.reset();  // the set-up of shares may lose devices
  try {
    sharing_.set_up(choosing().outlook(), known_, std::move(verdict.pieces));
  } catch (const Breakdown& error) {  // one processor may still solve, or report the breakdown of whole lines
    report_.sharing.why = std::string("rows are not shared: ") + error.what() + "; " + report_.sharing.why;
    return false;
  }
  chosen_.give_way();
  sharing_.write_report(report_);
  note_losses();
  return true;
}

/// Measure the joules of applies: for the processors that solve or may solve, and for the host.
template <typename T>
void LineSolver<T>::watch_energy() {
  std::vector<PoweredDevice> devices;
  const auto add = [&](PoweredDevice device) {
    const auto same = [&](const PoweredDevice& known) { return known.physical == device.physical; };
    if (std::none_of(devices.begin(), devices.end(), same)) devices.push_back(std::move(device));
  };
  for (const Sharer& s : sharing_.sharers()) add(s.meter);
  if (chosen_.device() >= 0) add(powered(open_device_module()->info(chosen_.device())));
  add({});
  MeterSettings settings = usual_meter_settings();
  settings.rated = parse_rated(options_.rated_power);
  if (!options_.energy) {
    energy_.reset();
  } else if (!energy_ || energy_->devices() != devices) {
    energy_ = std::make_unique<ApplyEnergy>(std::move(devices), settings);
  }
  sharing_.watch_energy(energy_.get());
  report_.energy = energy_ ? energy_->report() : EnergyReport{};
}

/// Record the devices that the solvers of shares lost: they are not tried again.
template <typename T>
void LineSolver<T>::note_losses() {
  for (const LostDevice& device : sharing_.lost()) lose(device);
}

/// Solve with all processors that share the rows.
template <typename T>
void LineSolver<T>::apply_shared(Columns<const T> y, Columns<T> x, Index count) {
  sharing_.lines().apply(y.first, y.stride, x.first, x.stride, count);
  note_losses();
  sharing_.update_report(report_);
}

#define OCLSPKT_INSTANTIATE(T)                                    \
  template bool LineSolver<T>::share(std::optional<Processors>&); \
  template void LineSolver<T>::note_losses();                     \
  template void LineSolver<T>::watch_energy();                    \
  template void LineSolver<T>::apply_shared(Columns<const T>, Columns<T>, Index);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt

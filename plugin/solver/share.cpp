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
  sharing_.pieces().clear();
  std::unique_ptr<SharedLines<T>> shared = std::move(shared_);
  only_.clear();
  // Shares cannot pin a line. `auto` means only the fastest processor.
  const bool whole = known_.queue || options_.method == MethodChoice::pivot || options_.devices == "auto" ||
                     (known_.constant_null_space && options_.singular != Singular::fail);
  if (whole || needs_no_device(options_.devices)) return false;
  found = find_those_left();
  if (found->automatic) return false;
  const Sharer* const only = sharing_.decide(*found, choosing().outlook(), report_.sharing);
  std::string& why = report_.sharing.why;
  found->remarks.push_back(sharing_.profile_trouble());
  for (const std::string& remark : found->remarks) why += (why.empty() || remark.empty() ? "" : "; ") + remark;
  if (only != nullptr) {
    only_ = only->processor.word();
    found->keep_only(only->processor.index);
  }
  if (sharing_.pieces().empty()) return false;
  found.reset();  // the set-up of shares may lose devices
  std::vector<std::string> words;
  for (const Sharer& s : sharing_.sharers()) words.push_back(s.processor.word());
  if (!shared || shared->words() != words) shared = std::make_unique<SharedLines<T>>(options_, words);
  try {
    shared->set_up(system_.bands(), system_.survey(), sharing_.pieces(), known_);
  } catch (const Breakdown& error) {  // one processor may still solve, or report the breakdown of whole lines
    why = std::string("rows are not shared: ") + error.what() + "; " + why;
    report_.sharing.predicted_seconds = report_.sharing.single_seconds = 0;
    sharing_.fail();
    return false;
  }
  shared_ = std::move(shared);
  chosen_.give_way();
  shared_->write_report(report_);
  note_losses();
  return true;
}

/// Record the devices that the solvers of shares lost: they are not tried again.
template <typename T>
void LineSolver<T>::note_losses() {
  for (const Piece& piece : sharing_.pieces()) {
    const int device = sharing_.sharers()[piece.owner].processor.index;
    for (const std::string& line : shared_->solver(piece).report().degraded) lose({device, line});
  }
}

#define OCLSPKT_INSTANTIATE(T)                                    \
  template bool LineSolver<T>::share(std::optional<Processors>&); \
  template void LineSolver<T>::note_losses();
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt

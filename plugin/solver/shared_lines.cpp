// SPDX-License-Identifier: BSD-2-Clause
#include "shared_lines.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "solver_impl.hpp"
#include "write_bands.hpp"

namespace oclspkt {
namespace {

/// Check that each processor can solve its piece. @throws Breakdown if a line of it is pinned or solved whole elsewhere
void require_whole(const Report& report, const CutReport& cut) {
  const bool pinned = std::any_of(report.groups.begin(), report.groups.end(), [](const auto& g) { return g.pinned; });
  if (pinned || cut.pinned > 0) throw Breakdown("a line of a piece is singular");
  if (cut.gathered > 0) throw Breakdown("a line would be solved whole: " + cut.gathered_why);
}

}  // namespace

template <typename T>
SharedLines<T>::SharedLines(const Options& options, std::vector<std::string> words) : words_(std::move(words)) {
  for (const std::string& word : words_) {
    Options own = options;
    own.devices = word;
    own.spare_devices.clear();
    for (const std::string& other : words_) {
      if (other != word && other != "host") own.spare_devices += (own.spare_devices.empty() ? "" : ",") + other;
    }
    own.balance = "time";
    own.energy = false;  // the solver of all rows measures the energy
    solvers_.push_back(std::make_unique<CutSolver<T>>(own));
  }
}

template <typename T>
void SharedLines<T>::set_up(const Bands<T>& bands, Survey survey, std::vector<Piece> pieces, const Known& known) {
  if (!team_ || team_->members() != static_cast<int>(pieces.size())) {
    team_ = std::make_unique<Team>(static_cast<int>(pieces.size()));
  }
  bool cut = false;
  parts_.clear();
  for (Piece& piece : pieces) {
    cut = cut || !piece.cuts.chains.empty();
    CutSolver<T>* const solver = solvers_[piece.owner].get();
    parts_.push_back({std::move(piece), solver});
  }
  seconds_ = {};
  const BandsView<T> all = bands.view();
  survey.uncoupled_above = 0;  // no search for further lines
  team_->run([&](int member) {
    const auto& [piece, solver, seconds] = parts_[static_cast<std::size_t>(member)];
    // Each solver has room for all rows, so that shares change without new memory. Pages of other rows stay untouched.
    if (solver->lines().rows() == 0) solver->impl_->begin(bands.lines()).write(bands.lines());
    const BandsView<T> own{all.lower + piece.first, all.diag + piece.first, all.upper + piece.first};
    solver->impl_->fill({piece.lines, piece.cuts, cut ? team_->exchange(member) : nullptr}, copy_of<T>(own), survey);
    solver->set_up(known);
  });
  for (const Part& part : parts_) require_whole(part.solver->report(), part.solver->cut_report());
}

template <typename T>
void SharedLines<T>::apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  const auto start = std::chrono::steady_clock::now();
  const auto count = static_cast<double>(columns);
  team_->run([&](int member) {
    Part& part = parts_[static_cast<std::size_t>(member)];
    const double before = part.solver->part_times().total_seconds;
    part.solver->apply(y + part.piece.first, y_stride, x + part.piece.first, x_stride, columns);
    part.seconds.add((part.solver->part_times().total_seconds - before) / count);
  });
  seconds_.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count);
}

template <typename T>
Times SharedLines<T>::times() const {
  Times sum;
  for (const Part& part : parts_) sum = sum + part.solver->part_times();
  sum.applies = parts_.front().solver->part_times().applies;
  return sum;
}

template <typename T>
std::int64_t SharedLines<T>::bytes() const {
  std::int64_t sum = 0;
  for (const auto& solver : solvers_) sum += solver->bytes();
  return sum;
}

template class SharedLines<float>;
template class SharedLines<double>;

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "shared_lines.hpp"

#include <algorithm>
#include <utility>

#include "rounding.hpp"
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
void SharedLines<T>::set_up(const Bands<T>& bands, Survey survey, std::span<Piece> pieces, const Known& known) {
  pieces_ = pieces;
  const auto count = static_cast<int>(pieces.size());
  if (!team_ || team_->members() != count) team_ = std::make_unique<Team>(count);
  const bool cut = std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return !p.cuts.chains.empty(); });
  const BandsView<T> all = bands.view();
  survey.uncoupled_above = 0;  // no search for further lines
  team_->run([&](int member) {
    const Piece& piece = pieces_[static_cast<std::size_t>(member)];
    CutSolver<T>& solver = *solvers_[piece.owner];
    // Each solver has room for all rows, so that shares change without new memory. Pages of other rows stay untouched.
    if (solver.lines().rows() == 0) solver.impl_->begin(bands.lines()).write(bands.lines());
    const BandsView<T> own{all.lower + piece.first, all.diag + piece.first, all.upper + piece.first};
    solver.impl_->fill({piece.lines, piece.cuts, cut ? team_->exchange(member) : nullptr}, copy_of<T>(own), survey);
    solver.set_up(known);
  });
  for (const Piece& piece : pieces_) require_whole(solver(piece).report(), solver(piece).cut_report());
}

template <typename T>
void SharedLines<T>::apply(Columns<const T> y, Columns<T> x, Index columns) {
  team_->run([&](int member) {
    Piece& piece = pieces_[static_cast<std::size_t>(member)];
    CutSolver<T>& solver = *solvers_[piece.owner];
    const double before = solver.part_times().total_seconds;
    solver.apply(y.first + piece.first, y.stride, x.first + piece.first, x.stride, columns);
    piece.seconds.add((solver.part_times().total_seconds - before) / static_cast<double>(columns));
  });
}

template <typename T>
void SharedLines<T>::update_report(Report& report) const {
  auto share = report.sharing.shares.begin();
  for (const Piece& piece : pieces_) {
    const Report& own = solver(piece).report();
    const Times times = solver(piece).part_times();
    share->seconds = piece.seconds.value();
    share++->bytes = times.bytes_to_device + times.bytes_from_device;
    report.rounding = larger(larger(report.rounding, own.rounding), solver(piece).cut_report().rounding);
    if (report.above_bound.empty()) report.above_bound = own.above_bound;
  }
}

/// The report has the method and form of the largest share, and the largest bounds of all shares.
template <typename T>
void SharedLines<T>::write_report(Report& report) const {
  const auto fewer = [](const Piece& a, const Piece& b) { return a.lines.rows() < b.lines.rows(); };
  Report merged = solver(*std::max_element(pieces_.begin(), pieces_.end(), fewer)).report();
  merged.rows = report.rows;
  merged.lines = report.lines;
  merged.dominance = report.dominance;
  merged.degraded = report.degraded;
  merged.losses = report.losses;
  merged.groups.clear();
  merged.device.why = "they share the rows";
  merged.device.costs = merged.device.name = "";
  merged.sharing = std::move(report.sharing);
  for (const Piece& piece : pieces_) {
    const Report& own = solver(piece).report();
    const CutReport& cut = solver(piece).cut_report();
    merged.device.name += (merged.device.name.empty() ? "" : " + ") + own.device.name;
    for (GroupReport group : own.groups) {
      group.first_line += piece.first_line;
      merged.groups.push_back(std::move(group));
    }
    merged.certificate = larger(larger(merged.certificate, own.certificate), cut.truncated ? cut.bound : 0.0);
    merged.certificate_above_tolerance |= own.certificate_above_tolerance || cut.above_tolerance;
    merged.units = std::max(merged.units, own.units);
    if (own.promise == Promise::by_rows || cut.lines > 0) merged.promise = Promise::by_rows;
    merged.backward_error = larger(larger(merged.backward_error, own.backward_error), cut.backward_error);
    merged.sharing.shares.push_back({own.device.name, own.device.type, own.device.platform, own.device.emulated,
                                     own.method, own.shape, piece.lines.rows(), piece.predicted_seconds, 0, 0});
  }
  merged.ready = true;
  report = std::move(merged);
  update_report(report);
}

template <typename T>
Times SharedLines<T>::times() const {
  Times sum;
  for (const Piece& piece : pieces_) sum = sum + solver(piece).part_times();
  sum.applies = solver(pieces_.front()).part_times().applies;
  return sum;
}

template <typename T>
std::int64_t SharedLines<T>::bytes() const {
  std::int64_t sum = 0;
  for (const auto& solver : solvers_) sum += solver->bytes();
  return sum;
}

#define OCLSPKT_INSTANTIATE(T) template class SharedLines<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt

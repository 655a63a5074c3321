// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include "matrices.hpp"
#include "oclspkt/cut_solver.hpp"
#include "scalars.hpp"
#include "thread_exchange.hpp"

namespace oclspkt::test {

/// A part of a line: which process holds it, and how many rows.
struct PartOf {
  int process;
  Index rows;
};

/// How a process lays its parts out in its vector.
enum class Layout { end_to_end, strided_y, strided_z, with_gaps };

/// Lines that are cut among processes: all rows of all lines end to end, and where each part lies.
struct CutCase {
  int processes = 1;
  std::vector<std::vector<PartOf>> lines;  ///< top to bottom
  Layout layout = Layout::end_to_end;
  bool numbered = true;  ///< Cuts::number is given

  /// `count` lines of the same parts; parts of no rows are left out.
  static CutCase equal(Index count, const std::vector<Index>& rows, Layout layout = Layout::end_to_end) {
    CutCase c;
    c.processes = static_cast<int>(rows.size());
    c.layout = layout;
    std::vector<PartOf> parts;
    for (std::size_t p = 0; p < rows.size(); ++p) {
      if (rows[p] > 0) parts.push_back({static_cast<int>(p), rows[p]});
    }
    c.lines.assign(static_cast<std::size_t>(count), parts);
    return c;
  }
  /// The whole lines, end to end.
  LineSet all() const {
    std::vector<Index> starts{0};
    for (const auto& line : lines) {
      Index rows = 0;
      for (const PartOf& part : line) rows += part.rows;
      starts.push_back(starts.back() + rows);
    }
    return LineSet::unequal(std::move(starts));
  }
};

/// What one process holds of a CutCase.
struct Share {
  LineSet lines;
  Cuts cuts;
  std::vector<Index> origin;  ///< shape [lines]; offset of the part's first row among all rows

  Share(const CutCase& c, int process) {
    const LineSet all = c.all();
    std::vector<Index> starts{0};
    for (std::size_t l = 0; l < c.lines.size(); ++l) {
      Index at = all.first(static_cast<Index>(l));
      for (const PartOf& part : c.lines[l]) {
        if (part.process == process) {
          std::vector<int> chain;
          for (const PartOf& other : c.lines[l]) chain.push_back(other.process);
          add_chain(chain);
          if (c.numbered) cuts.number.push_back(static_cast<Index>(l));
          origin.push_back(at);
          starts.push_back(starts.back() + part.rows);
        }
        at += part.rows;
      }
    }
    lines = lay_out(c.layout, starts);
  }

  /// Call f(offset here, offset among all rows) for every row.
  template <typename F>
  void for_rows(const F& f) const {
    for (Index l = 0; l < lines.count(); ++l) {
      for (Index i = 0; i < lines.length(l); ++i) {
        f(lines.first(l) + i * lines.row_stride(), origin[static_cast<std::size_t>(l)] + i);
      }
    }
  }

  /// The rows of this process; places of no line are NaN.
  template <typename T>
  std::vector<T> part_of(const std::vector<T>& all) const {
    std::vector<T> own(static_cast<std::size_t>(lines.extent()), T(std::numeric_limits<Real<T>>::quiet_NaN()));
    for_rows(
        [&](Index here, Index there) { own[static_cast<std::size_t>(here)] = all[static_cast<std::size_t>(there)]; });
    return own;
  }
  /// Write the rows of this process to their places among all.
  template <typename T>
  void put(const std::vector<T>& own, std::vector<T>& all) const {
    for_rows(
        [&](Index here, Index there) { all[static_cast<std::size_t>(there)] = own[static_cast<std::size_t>(here)]; });
  }

 private:
  void add_chain(const std::vector<int>& chain) {
    auto at = std::find(cuts.chains.begin(), cuts.chains.end(), chain);
    if (at == cuts.chains.end()) at = cuts.chains.insert(at, chain);
    cuts.chain_of.push_back(static_cast<int>(at - cuts.chains.begin()));
  }
  static LineSet lay_out(Layout layout, const std::vector<Index>& starts) {
    const auto count = static_cast<Index>(starts.size()) - 1;
    const Index length = count > 0 ? starts[1] : 0;
    if (count == 0) return LineSet::unequal(starts);
    if (layout == Layout::strided_y) {  // two planes where the count is even
      const Index planes = count % 2 == 0 ? 2 : 1, wide = count / planes;
      return LineSet::strided(length, wide, wide, 1, planes, wide * length);
    }
    if (layout == Layout::with_gaps) return LineSet::strided(length, 2, count, 2 * length + 1);
    if (layout == Layout::strided_z) return LineSet::strided(length, count + 3, count, 1);
    return count == 1 ? LineSet::one(length) : LineSet::unequal(starts);
  }
};

/// What came out of a CutCase.
template <typename T>
struct CutOutcome {
  std::vector<T> x;                        ///< all rows
  std::vector<CutReport> reports;          ///< of each process
  std::vector<std::exception_ptr> thrown;  ///< by each process
  std::vector<Index> sent;                 ///< scalars of the last apply
  std::vector<int> messages;               ///< of the last apply

  bool all_threw() const {
    return std::all_of(thrown.begin(), thrown.end(), [](const auto& e) { return e != nullptr; });
  }
  bool none_threw() const {
    return std::none_of(thrown.begin(), thrown.end(), [](const auto& e) { return e != nullptr; });
  }
  std::string texts() const {
    std::string all;
    for (const auto& e : thrown) all += text_of(e) + "\n";
    return all;
  }
};

/// Everything a run depends on beside the case.
struct CutRun {
  Options options;
  Known known;
  bool transpose = false;

  CutRun() { options.devices = "host"; }
};

template <typename T>
void fill_share(const Share& share, const BandsView<T>& all, Bands<T>& bands) {
  share.for_rows([&](Index here, Index there) {
    bands.lower()[here] = all.lower[there];
    bands.diag()[here] = all.diag[there];
    bands.upper()[here] = all.upper[there];
  });
}

/// Solve the system `bands` of the whole lines on all processes of the case.
/// @param bands of c.all(); what lies beyond the ends of lines may be anything
template <typename T>
CutOutcome<T> solve_cut(const CutCase& c, const Bands<T>& bands, const std::vector<T>& y, const CutRun& run = {}) {
  const auto size = static_cast<std::size_t>(c.processes);
  CutOutcome<T> outcome{std::vector<T>(y.size(), T(std::numeric_limits<Real<T>>::quiet_NaN())),
                        std::vector<CutReport>(size),
                        {},
                        std::vector<Index>(size),
                        std::vector<int>(size)};
  outcome.thrown = run_processes(c.processes, [&](int rank, const std::shared_ptr<ThreadExchange>& exchange) {
    const auto at = static_cast<std::size_t>(rank);
    const Share share(c, rank);
    CutSolver<T> solver(run.options);
    fill_share(share, bands.view(), solver.bands({share.lines, share.cuts, exchange}));
    solver.set_up(run.known);
    const auto extent = static_cast<std::size_t>(share.lines.extent());
    const std::vector<T> own_y = share.part_of(y);
    std::vector<T> own_x(extent, T(-7));
    const auto solve = [&] {
      run.transpose ? solver.apply_transpose(own_y.data(), own_x.data()) : solver.apply(own_y.data(), own_x.data());
    };
    solve();
    const Index sent = exchange->sent;
    const int messages = exchange->messages;
    solve();
    outcome.sent[at] = exchange->sent - sent;
    outcome.messages[at] = exchange->messages - messages;
    outcome.reports[at] = solver.cut_report();
    share.put(own_x, outcome.x);
    std::vector<char> of_a_line(extent, 0);
    share.for_rows([&](Index here, Index) { of_a_line[static_cast<std::size_t>(here)] = 1; });
    for (std::size_t i = 0; i < extent; ++i) {
      if (of_a_line[i] == 0 && own_x[i] != T(-7)) ADD_FAILURE() << "a place of no line was written";
    }
  });
  return outcome;
}

}  // namespace oclspkt::test

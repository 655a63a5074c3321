// SPDX-License-Identifier: BSD-2-Clause
// Lines that cannot be solved in parts: their roots solve them whole.
#include <algorithm>
#include <string>

#include "cut_solver_impl.hpp"

namespace oclspkt {
namespace {

Index rows_of(const std::vector<PartFacts>& parts) {
  Index rows = 0;
  for (const PartFacts& part : parts) rows += part.rows;
  return rows;
}

/// Bands that travel.
constexpr Index kBands = 3;

}  // namespace

/// @throws Breakdown for the first line rooted here that is longer than Options::gather_limit
template <typename T>
void CutSolver<T>::Impl::check_gather_limit() const {
  if (options_.gather_limit < 0) return;
  for (Index c = 0; c < cut_.count(); ++c) {
    if (!cut_.rooted(c) || !gathered(c)) continue;
    const Index rows = rows_of(facts_[static_cast<std::size_t>(c)]);
    if (rows <= options_.gather_limit) continue;
    throw Breakdown("line " + std::to_string(cut_[c].number) + " of " + std::to_string(rows) +
                    " rows cannot be solved in parts (" + text(why_[static_cast<std::size_t>(c)]) +
                    "), and gather_limit lets one process solve lines of at most " +
                    std::to_string(options_.gather_limit) + " rows: raise it (-1: any length)");
  }
}

/// Set the solver of the lines that are gathered here up.
template <typename T>
void CutSolver<T>::Impl::gather(Accord& accord) {
  gathered_lines_.clear();
  report_.pinned = 0;
  if (!gathering_) {
    settled_ = Solver<T>();
    return;
  }
  Bands<T> whole;
  accord.attempt([&] {
    check_gather_limit();
    whole = whole_bands();
  });
  accord.agree();
  Wire<T> wire;
  wire.open(*exchange_, route_to_roots(cut_, [&](Index c, int place) -> Index {
    if (!gathered(c)) return 0;
    return kBands * (place == cut_[c].place
                         ? lines_.length(cut_[c].line)
                         : facts_[static_cast<std::size_t>(c)][static_cast<std::size_t>(place)].rows);
  }));
  const BandsView<T> from = whole.view();
  for (const Route::Item& item : wire.route.out) {
    T* to = wire.out.data() + item.at;
    const Index line = cut_[item.line].line;
    for (const T* band : {from.lower, from.diag, from.upper}) {
      for (Index i = 0; i < lines_.length(line); ++i) *to++ = band[lines_.first(line) + i * lines_.row_stride()];
    }
  }
  wire.talk();
  accord.attempt([&] {
    fill_gathered(wire, whole);
    settle_gathered();
  });
  accord.agree();
}

/// Lay the gathered lines end to end, each from its parts.
template <typename T>
void CutSolver<T>::Impl::fill_gathered(const Wire<T>& wire, const Bands<T>& whole) {
  std::vector<Index> starts{0};
  std::vector<std::vector<const T*>> parts;  // of each line; null: the part of this process
  std::vector<Index> place_in(cut_.lines.size(), -1);
  for (Index c = 0; c < cut_.count(); ++c) {
    if (!cut_.rooted(c) || !gathered(c)) continue;
    place_in[static_cast<std::size_t>(c)] = static_cast<Index>(gathered_lines_.size());
    gathered_lines_.push_back(c);
    starts.push_back(starts.back() + rows_of(facts_[static_cast<std::size_t>(c)]));
    parts.emplace_back(cut_.chain(c).size(), nullptr);
  }
  for (const Route::Item& item : wire.route.in) {
    const auto line = static_cast<std::size_t>(place_in[static_cast<std::size_t>(item.line)]);
    parts[line][static_cast<std::size_t>(item.place)] = wire.in.data() + item.at;
  }
  Bands<T>& bands = settled_.bands(LineSet::unequal(starts));
  T* const to[] = {bands.lower(), bands.diag(), bands.upper()};
  const T* const own[] = {whole.view().lower, whole.view().diag, whole.view().upper};
  for (std::size_t g = 0; g < gathered_lines_.size(); ++g) {
    const Index c = gathered_lines_[g];
    Index at = starts[g];
    for (std::size_t place = 0; place < parts[g].size(); ++place) {
      const Index rows = facts_[static_cast<std::size_t>(c)][place].rows;
      for (Index band = 0; band < kBands; ++band) {
        if (parts[g][place]) {
          std::copy_n(parts[g][place] + band * rows, rows, to[band] + at);
          continue;
        }
        const T* from = own[band] + lines_.first(cut_[c].line);
        for (Index i = 0; i < rows; ++i) to[band][at + i] = from[i * lines_.row_stride()];
      }
      at += rows;
    }
  }
}

/// "line 7 of 30 rows, cut among 3 processes"
template <typename T>
std::string CutSolver<T>::Impl::name_gathered(std::size_t g) const {
  const Index c = gathered_lines_[g];
  return "line " + std::to_string(cut_[c].number) + " of " +
         std::to_string(rows_of(facts_[static_cast<std::size_t>(c)])) + " rows, cut among " +
         std::to_string(cut_.parts(c)) + " processes";
}

/// Find the first gathered line that cannot be solved whole either.
/// @throws Breakdown naming it
template <typename T>
void CutSolver<T>::Impl::refuse_gathered(const Options& options, const Breakdown& error) {
  const LineSet lines = settled_.lines();
  const BandsView<T> all = settled_.bands(lines).view();
  for (std::size_t g = 0; g < gathered_lines_.size(); ++g) {
    const Index first = lines.first(static_cast<Index>(g)), rows = lines.length(static_cast<Index>(g));
    Solver<T> alone(options);
    try {
      alone.set_up(LineSet::one(rows), all.lower + first, all.diag + first, all.upper + first);
    } catch (const Breakdown& own) {
      throw Breakdown(name_gathered(g) + ", cannot be solved: " + own.what());
    }
  }
  throw error;
}

/// @throws Breakdown naming the first line that is singular, unless it may be pinned
template <typename T>
void CutSolver<T>::Impl::settle_gathered() {
  if (gathered_lines_.empty()) return;
  Options options;
  options.devices = "host";
  if (options_.method == MethodChoice::pivot) options.method = MethodChoice::pivot;
  options.singular = Singular::pin;
  settled_.set_options(options);
  try {
    settled_.set_up();
  } catch (const Breakdown& error) {
    refuse_gathered(options, error);
  }
  const std::vector<Index> pinned = settled_.pinned_lines();
  report_.pinned = static_cast<Index>(pinned.size());
  if (pinned.empty() || may_pin()) return;
  throw Breakdown(name_gathered(static_cast<std::size_t>(pinned.front())) +
                  ", is singular; the option singular pin sets the last unknown of each singular line to 0");
}

#define OCLSPKT_INSTANTIATE(T)                                                         \
  template void CutSolver<T>::Impl::check_gather_limit() const;                        \
  template void CutSolver<T>::Impl::gather(Accord&);                                   \
  template void CutSolver<T>::Impl::fill_gathered(const Wire<T>&, const Bands<T>&);    \
  template std::string CutSolver<T>::Impl::name_gathered(std::size_t) const;           \
  template void CutSolver<T>::Impl::refuse_gathered(const Options&, const Breakdown&); \
  template void CutSolver<T>::Impl::settle_gathered();
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// The set-up of cut lines: its steps have the same order on all processes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cut_operator.hpp"
#include "forgiven.hpp"
#include "line_columns.hpp"
#include "narrow.hpp"
#include "parallel.hpp"
#include "pivot_solver.hpp"
#include "rounding.hpp"
#include "schemes/proposal.hpp"
#include "survey.hpp"
#include "units.hpp"

namespace oclspkt {
namespace {

/// Number of facts that processes compare first, see look().
constexpr std::size_t kLook = 7;
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNone = -kInfinity;
/// Shares of the tolerance: kBoundShare for truncation, kSpikeShare for the dropped end of each of two spikes.
constexpr double kBoundShare = 0.75, kSpikeShare = 0.125;
/// Spikes are stored down to a magnitude of eps^1.5, because unknowns near the end of a line may be far smaller than
/// unknowns next to a cut. (Example: parts of 3e5 rows (-lambda, 1 + 2 lambda, -lambda) with lambda = 1e8. If spikes
/// end at eps, the componentwise backward error is 420 eps.)
template <typename T>
double spike_rounding() {
  const auto eps = static_cast<double>(kEpsOf<T>);
  return kSpikeShare * eps * std::sqrt(eps);
}

template <typename T>
double rounding() {
  return static_cast<double>(kEpsOf<T>);
}

bool truncates(MethodChoice method) {
  return method == MethodChoice::truncated || method == MethodChoice::truncated_halo ||
         method == MethodChoice::truncated_streamed;
}

/// Options of the inner solver. Singular inner rows must not make it fail, because the whole line may be regular; such
/// lines are gathered. Without strict dominance, trial solves of whole lines must reach the rounding of T, and factors
/// need the precision of T.
Options inner_options(Options options, double dominance) {
  options.singular = Singular::pin;
  if (!(dominance > 1)) options.precision = Precision::same;
  return options;
}

/// True if cut lines are truncated. For a symmetric operator, method auto truncates only within rounding: a larger
/// error makes the operator unsymmetric, and CG fails without a message.
template <typename T>
bool chooses_truncation(const Options& options, double bound, bool symmetric) {
  const bool strict = symmetric && !named(options.method);
  const double tol = strict ? std::min(tolerance<T>(options), rounding<T>()) : tolerance<T>(options);
  if (truncates(options.method)) return std::isfinite(bound);
  return !named(options.method) && bound <= kBoundShare * tol;
}

}  // namespace

template <typename T>
class CutOperator<T>::SetUp {
 public:
  SetUp(CutOperator& of, const Known& known) : of_(of), known_(known) {}

  /// @return false if no line of any process is cut; the inner solver is then set up for all lines
  bool run() {
    set_.cut = {};
    std::vector<double> facts(kLook, kNone);
    accord_.attempt([&] { look(facts); });
    accord_.agree(facts);
    learn(facts);
    accord_.attempt([&] { cut_ ? set_up_parts() : inner_.set_up(options_, known_); });
    accord_.agree();
    if (!cut_) {
      set_.parts = {};
      return false;
    }
    judge();
    make_ready();
    finish_report();
    return true;
  }

 private:
  struct PartLook {
    Survey survey;
    double units_range = 0;  ///< range of ColumnUnits
    bool zero_sums = false;  ///< result of sums_are_zero()
  };

  Bands<T>& edit() { return inner_.expect(set_.lines).edit(set_.lines); }

  /// Call f(index into the cut lines, PartLook) for all parts of this process, in several threads.
  template <typename F>
  void for_parts(const F& f) {
    for_pieces(set_.cut.count(), lines_a_piece(set_.lines), [&](Index begin, Index end) {
      for (Index c = begin; c < end; ++c) f(c, looks_[static_cast<std::size_t>(c)]);
    });
  }

  /// Survey the parts of this process, with their couplings across cuts.
  void survey_cut_lines() {
    looks_.assign(set_.cut.lines.size(), {});
    if (looks_.empty()) return;
    // Symmetry matters only if truncation and dropped ends of spikes may exceed rounding, see chooses_truncation().
    const bool symmetry = tolerance<T>(options_) > rounding<T>(), narrow = narrows<T>(options_);
    const bool known = known_rows_ && !symmetry && !narrow;
    for (PartLook& part : looks_) part.survey = known ? *known_rows_ : Survey();
    if (known && !(known_rows_->dominance <= kZeroSumDominance<T>)) return;
    Bands<T>& bands = edit();
    const LineSet& lines = set_.lines;
    for (Index c = 0; c < set_.cut.count(); ++c) {
      const Index line = set_.cut[c].line, first = lines.first(line);
      if (!set_.cut.above(c)) bands.lower()[first] = 0;
      if (!set_.cut.below(c)) bands.upper()[first + (lines.length(line) - 1) * lines.row_stride()] = 0;
      if (!narrow) continue;
      if constexpr (!kIsComplex<T>) narrow_line(bands, line);  // the inner solver does not narrow couplings across cuts
      inner_.system().note_rounded();
    }
    for_parts([&](Index c, PartLook& part) { part.zero_sums = sums_are_zero(lines, bands.view(), set_.cut[c].line); });
    if (!known) survey_parts(bands, symmetry);
  }

  void survey_parts(const Bands<T>& bands, bool symmetry) {
    const LineSet& lines = set_.lines;
    if (lines.contiguous()) {
      return for_parts(
          [&](Index c, PartLook& part) { part.survey = survey_line(lines, bands.view(), set_.cut[c].line, symmetry); });
    }
    const std::vector<Index> cut_of = set_.cut_of_lines();
    const LineSet one = LineSet::one(lines.length(0));
    // Consecutive rows of a line in a grid are far apart in memory. Surveying neighbouring lines together uses whole
    // cache lines.
    const Index at_once = std::clamp<Index>(kPieceRows / (8 * one.rows()), kColumnLines, 64);
    for_columns(
        lines, lines.count(),
        [&](Index first, Index width) {
          const Column<T> column(lines, bands.view(), first, width);
          for (Index l = 0; l < width; ++l) {
            const Index c = cut_of[static_cast<std::size_t>(first + l)];
            if (c < 0) continue;
            Survey s = survey_line(one, column.line(l), 0, symmetry);
            s.weakest_row = lines.first(first + l) + s.weakest_row * lines.row_stride();
            looks_[static_cast<std::size_t>(c)].survey = s;
          }
        },
        at_once);
  }

  /// Find the units of columns for parts that have rows without dominance, from the part's own rows alone.
  void find_units() {
    const BandsView<T> view = inner_.system().bands().view();
    for_parts([&](Index c, PartLook& look) {
      if (look.survey.dominance >= 1) return;
      const Column<T> part(set_.lines, view, set_.cut[c].line, 1);
      Bands<Real<T>> rows(LineSet::one(set_.lines.length(set_.cut[c].line)));
      const Index length = rows.lines().rows();
      const auto sizes = [&](const T* from, Real<T>* to) {
        std::transform(from, from + length, to, [](T number) { return modulus(number); });
      };
      sizes(part.line(0).lower, rows.lower());
      sizes(part.line(0).diag, rows.diag());
      sizes(part.line(0).upper, rows.upper());
      rows.close_lines();
      look.units_range = ColumnUnits<Real<T>>(rows.lines(), rows.view()).range();
    });
  }

  /// Find the cut lines and look at their rows.
  /// @param[out] facts shape [kLook]
  /// @throws InvalidInput, Breakdown
  void look(std::vector<double>& facts) {
    inner_.system().check_precision(options_);
    const int rank = set_.exchange->rank();
    set_.cut = find_cut_lines(set_.lines, of_.cuts_, rank, set_.exchange->size());
    survey_cut_lines();
    bool symmetric = true;
    int longest = 0;
    for (Index c = 0; c < set_.cut.count(); ++c) {
      const Survey& s = looks_[static_cast<std::size_t>(c)].survey;
      if (!s.finite) {
        throw NotFinite("the bands of line " + std::to_string(set_.cut[c].number) + " hold NaN or Inf at row " +
                        std::to_string(s.weakest_row) + " of process " + std::to_string(rank) +
                        ": give finite entries");
      }
      least_ = std::min(least_, s.dominance);
      symmetric = symmetric && s.symmetric;
      longest = std::max(longest, set_.cut.parts(c));
    }
    if (!(least_ >= 1)) find_units();
    const double top = set_.lines.count() == 0 ? kNone
                       : set_.cut.count() > 0  ? static_cast<double>(set_.cut.chain(0).front())
                                               : static_cast<double>(rank);
    facts = {set_.cut.count() > 0 ? 1.0 : 0.0,
             -least_,
             symmetric ? 0.0 : 1.0,
             static_cast<double>(set_.lines.count()),
             top,
             set_.lines.count() == 0 ? kNone : -top,
             static_cast<double>(longest)};
  }

  void learn(const std::vector<double>& facts) {
    cut_ = facts[0] > 0;
    dominance_ = -facts[1];
    symmetric_ = known_.symmetric || facts[2] == 0;
    const bool one_line = facts[3] <= 1 && facts[4] == -facts[5];  // parts of one line have the same first process
    may_pin_ = options_.singular == Singular::automatic ? known_.constant_null_space && one_line
                                                        : options_.singular == Singular::pin;
    report_.longest_chain = static_cast<Index>(facts[6]);
  }

  /// Set up the solver of the inner rows. If the solver refuses them, exclude the cut lines with singular inner rows.
  /// If it still refuses, exclude all cut lines. Pinning does not help a singular line whose last row is uncoupled.
  void set_up_inner() {
    // The bounds on the interface systems hold only for rows in the given units.
    const Known known{.symmetric = known_.symmetric,
                      .rounding_limit = inner_rounding_limit(dominance_, kWithQuotients<T>),
                      .as_given = set_.cut.count() > 0,
                      .queue = known_.queue};
    const auto accepted = [&](bool must) {
      try {
        inner_.set_up(inner_options(options_, dominance_), known);
        return true;
      } catch (const Breakdown&) {
        if (must) throw;
        return false;
      }
    };
    // Rows next to cuts are uncoupled now. The survey's bounds still hold if each diagonal is its row's largest number.
    const bool one_line = set_.lines.count() == 1 && looks_.size() == 1;
    const Survey* rows = known_rows_ ? &*known_rows_ : one_line ? &looks_.front().survey : nullptr;
    if (rows != nullptr && rows->dominance >= 1) inner_.system().know(*rows);
    if (accepted(set_.cut.count() == 0)) return;
    const auto leave_out = [&](Index c, Gathering why) {
      inner_.system().overlay().blank({set_.cut[c].line});
      set_.why[static_cast<std::size_t>(c)] = why;
    };
    PivotSolver<T> pivot;
    pivot.set_up({}, edit());
    const std::vector<Index> cut_of = set_.cut_of_lines();
    for (const SingularLine& found : pivot.singular()) {
      const Index c = cut_of[static_cast<std::size_t>(found.line)];
      if (c >= 0) leave_out(c, Gathering::singular_part);
    }
    if (accepted(false)) return;
    edit();
    for (Index c = 0; c < set_.cut.count(); ++c) leave_out(c, Gathering::refused_part);
    accepted(true);
  }

  /// Gather the cut lines whose inner rows are singular. A singular line that is not cut is pinned or refused.
  void sort_pinned() {
    const std::vector<Index> cut_of = set_.cut_of_lines();
    for (const Index line : inner_.system().pinned_lines()) {
      const Index c = cut_of[static_cast<std::size_t>(line)];
      if (c >= 0) {
        set_.why[static_cast<std::size_t>(c)] = Gathering::singular_part;
      } else if (!may_pin_) {
        throw Breakdown("line " + std::to_string(line) + " of " + std::to_string(set_.lines.count()) +
                        " is singular; " + kPinCure);
      }
    }
  }

  /// Uncouple the rows next to cuts, set up the solver of the inner rows, and find the spikes.
  void set_up_parts() {
    Bands<T>& bands = edit();
    set_.divide();
    set_.parts.uncouple_cuts(bands.view(), [&](Index at, T lower, T diag, T upper) {
      inner_.system().overlay().overlay(at, lower, diag, upper);
    });
    const bool decays = set_.parts.find_decaying_spikes(bands.view(), least_);
    set_up_inner();
    sort_pinned();
    if (options_.method == MethodChoice::pivot) set_.why.assign(set_.cut.lines.size(), Gathering::asked);
    std::vector<char> left_out(static_cast<std::size_t>(set_.parts.slots()), 0);
    for (Index c = 0; c < set_.cut.count(); ++c) left_out[static_cast<std::size_t>(set_.slot_at(c))] = set_.gathered(c);
    if (decays) {
      set_.parts.leave_out(left_out);
    } else if (set_.parts.slots() > 0) {
      set_.parts.find_spikes([&](const T* y, T* x) { inner_.apply(y, x); }, left_out);
      inner_.system().fallback().with_whole_bands([&] { set_.parts.measure_spikes(bands.view(), left_out); });
    }
  }

  std::vector<PartFacts<T>> own_facts() const {
    std::vector<PartFacts<T>> own;
    for (Index c = 0; c < set_.cut.count(); ++c) {
      const auto& [survey, units_range, zero_sums] = looks_[static_cast<std::size_t>(c)];
      const Index s = set_.slot_at(c);
      const SpikeFacts& spikes = set_.parts.spikes(s);
      const CutPartErrors errors{inner_.report().rounding, spikes.size, spikes.error};
      own.push_back({set_.parts.reduced(s), set_.lines.length(set_.slot(c).line), set_.why[static_cast<std::size_t>(c)],
                     survey.smallest_row, survey.largest_row, spikes.size,
                     rounding_of_part(errors, dominance_, kWithQuotients<T>), units_range, zero_sums});
    }
    return own;
  }

  /// Decide which lines are gathered, and whether the other lines are truncated.
  void judge() {
    set_.tell_roots(own_facts());
    RootedLines rooted;
    accord_.attempt([&] { rooted = set_.judge_rooted(); });
    const bool gathers =
        std::any_of(set_.why.begin(), set_.why.end(), [](Gathering g) { return g != Gathering::none; });
    std::vector<double> facts{rooted.bound, rooted.symmetric ? 0.0 : 1.0, gathers ? 1.0 : 0.0, rooted.rounding};
    accord_.agree(facts);
    const bool symmetric = known_.symmetric || (symmetric_ && facts[1] == 0);
    any_gathered_ = facts[2] > 0;
    report_.rounding = facts[3];
    set_.truncated = chooses_truncation<T>(options_, facts[0], symmetric);
    const double tol = tolerance<T>(options_);
    const bool loose = set_.truncated && !symmetric && dominance_ >= 1;
    const double kept = loose && tol > rounding<T>() ? kSpikeShare * tol : spike_rounding<T>();
    report_.truncated = set_.truncated;
    report_.tolerance = tol;
    report_.bound = set_.truncated ? facts[0] + 2 * kept : 0;
    report_.above_tolerance = set_.truncated && !(facts[0] <= kBoundShare * tol);
    set_.tell_parts();
    // Unknowns at the end of a spike may have smaller units. The dropped end then weighs more.
    double range = 1;
    for (const PartLook& part : looks_) range = std::max(range, part.units_range);
    set_.parts.keep_spikes(kept / range);
  }

  /// Prepare the apply, and run trial solves if they are needed. Lines that fail are gathered.
  void make_ready() {
    // Strictly dominant rows bound growth and spikes, and need no trial. Without dominance, an arbitrarily small change
    // may make a line singular.
    for (bool tried = dominance_ > 1 || report_.above_tolerance;;) {
      Bands<T> whole;
      if (any_gathered_ || !tried) accord_.attempt([&] { inner_.system().copy_bands(whole); });
      any_gathered_ ? gathered_.gather(accord_, whole, options_, may_pin_) : gathered_.clear();
      report_.pinned = gathered_.pinned();
      accord_.attempt([&] { interface_.wire(); });
      accord_.agree();
      report_.sent = interface_.sent();
      report_.received = interface_.received();
      if (tried) return;
      const TrialResult trial = of_.try_lines(accord_, whole);
      report_.backward_error = trial.backward_error;
      if (!trial.failed) return;
      if (set_.truncated) {  // the bound covers truncation, so rounding makes the trial fail
        report_.above_tolerance = truncates(options_.method) && std::isfinite(trial.backward_error);
        if (report_.above_tolerance) return;
        report_.truncated = set_.truncated = false;
        report_.bound = 0;
        continue;
      }
      for (std::size_t c = 0; c < trial.why.size(); ++c) set_.why[c] = std::max(set_.why[c], trial.why[c]);
      any_gathered_ = tried = true;
    }
  }

  void finish_report() {
    report_.lines = set_.cut.count();
    report_.spike_rows = set_.parts.spike_rows();
    for (Index c = 0; c < set_.cut.count(); ++c) {
      if (!set_.gathered(c)) continue;
      ++report_.gathered;
      if (report_.first_gathered >= 0 && report_.first_gathered <= set_.cut[c].number) continue;
      report_.first_gathered = set_.cut[c].number;
      report_.gathered_why = text(set_.why[static_cast<std::size_t>(c)]);
    }
    gathered_.tell(report_);
    set_.facts = {};
    set_.verdicts = {};
    set_.parts.drop_equations();
  }

  CutOperator& of_;
  const Known& known_;
  const Options& options_ = of_.options_;
  const std::optional<Survey>& known_rows_ = of_.known_rows_;
  LineSolver<T>& inner_ = of_.inner_;
  CutSet<T>& set_ = of_.set_;
  GatheredLines<T>& gathered_ = of_.gathered_;
  CutInterface<T>& interface_ = of_.interface_;
  CutReport& report_ = of_.report_;
  Accord accord_{*set_.exchange};
  std::vector<PartLook> looks_;  ///< shape [cut lines]
  double least_ = kInfinity;     ///< least dominance of this process's cut lines
  // Facts on which all processes agree after look(). dominance_ is the least dominance of all cut lines.
  bool cut_ = false, symmetric_ = true, may_pin_ = false;
  double dominance_ = 0;
  bool any_gathered_ = false;  ///< a line of some process is gathered
};

template <typename T>
bool CutOperator<T>::set_up(const Known& known) {
  borders_.reset();
  report_ = {};
  if (!SetUp(*this, known).run()) return false;
  // Make the rows next to cuts accessible if vectors lie on a device. If the device refuses, the host solves.
  try {
    if (inner_.takes(known.queue) && report_.gathered == 0) {
      borders_ = inner_.chosen()->borders(set_.parts.border_layout());
    }
  } catch (const DeviceError&) {
    if (options_.on_device_failure == OnDeviceFailure::error) throw;
  }
  before_ = inner_.times();
  applies_ = 0;
  total_seconds_ = 0;
  return true;
}

#define OCLSPKT_INSTANTIATE(T) template class CutOperator<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt

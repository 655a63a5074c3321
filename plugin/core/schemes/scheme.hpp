// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oclspkt/bands.hpp"
#include "oclspkt/export.hpp"
#include "plan.hpp"
#include "rounding.hpp"
#include "schemes/problem.hpp"
#include "survey.hpp"

namespace oclspkt {

/// How a scheme eliminates rows. This decides which facts about pivots and diagonals its bounds need.
struct Elimination {
  bool plain = false;        ///< a pivot is the diagonal minus products; false: it is computed from the row's excess
  bool excess = false;       ///< rows carry only their excess; an excess that is_forgiven() counts as 0
  bool diagonals = false;    ///< a row for which carries_diagonal() holds carries its diagonal instead of its excess
  bool upwards = false;      ///< rows are eliminated from below, too
  bool any_pivots = false;   ///< the bound covers the rounding of pivots where forgiving_harms() is false
  bool tells_bound = false;  ///< the factors of whole lines give a componentwise bound, without a check of pivots
};

/// The arrays with one number per row that lie on the second of a board's two memory banks. The other arrays lie on the
/// first bank.
struct SecondBank {
  bool lower = false, diag = false, upper = false, y = true, x = true;
  bool own = false;  ///< the array of numbers that the scheme itself stores for each row
  bool operator==(const SecondBank&) const = default;
};

/// The kernels of a scheme: by vectors of lanes, by work-groups of many work-items, or by one work-item.
enum class Kernels { lanes, groups, task };

/// The properties of a scheme that do not depend on a plan.
struct Nature {
  Kernels kernels = Kernels::lanes;  ///< the kernels that a user asks for by naming the scheme
  bool only_asked_for = false;  ///< the scheme is used only when a user names it. It is then tried first, and no other
                                ///< scheme of its method is tried
  bool stores_factors = false;
  bool solves_interfaces = false;  ///< the scheme solves interface systems across tiles, for all lines
};

/// How the host sweeps lines by stored factors.
struct HostSweep {
  Index bundle = 1;        ///< lines that are swept side by side
  bool through_x = false;  ///< the sweep down stores its results in x, not in a window
};

struct HaloPlans;

/// A scheme is one way to solve on one kind of processor. This class states the properties of its plans that need no
/// device. The code of a scheme lies in the folder of its family here and, for devices, under ocl/schemes.
class OCLSPKT_API Scheme {
 public:
  virtual ~Scheme() = default;

  /// A name such as "tiles-halo", unique in this table and in the table of devices. Plans store it as Plan::made_by.
  virtual const char* name() const = 0;
  /// The names of the forms of its plans. The scheme proposes all forms, unless Options::variant names one of them.
  virtual std::vector<const char*> forms() const { return {name()}; }
  virtual const char* form(const Plan& /*plan*/) const { return name(); }
  /// Make a plan without the values of the matrix; none if another scheme makes it. The default is the plan of halos().
  virtual std::optional<Plan> make(const PlanRequest& request) const;
  /// How truncated-halo cuts lines laid end to end for a processor; null if this scheme has no such plans.
  virtual const HaloPlans* halos(const DeviceTraits& /*traits*/) const { return nullptr; }
  virtual bool fits(const Plan& plan, const LineSet& lines) const;
  /// The text by which the view distinguishes plans of one method, for example "halo 40"; empty if they do not differ.
  virtual std::string shape(const Plan& plan) const = 0;
  /// Words that one apply reads and writes per row. @pre plan.m > 0, or the plan has no rows
  virtual double words(const Plan& plan) const = 0;
  /// Number of kernel launches of one apply, for its cost.
  virtual int launches(const Plan& /*plan*/) const { return 1; }
  /// The time of one apply without its launches, in words per row: a plain stream of the whole device moves so many
  /// words per row in that time. Idle cores and chains of dependent operations increase the time. The figures are
  /// measured (bench/results/schemes).
  /// @param word  bytes of a scalar
  virtual double stream_words(const Plan& plan, int /*word*/) const { return plan.idle * words(plan); }
  virtual Nature nature() const { return {}; }
  /// The arrays on the second memory bank, if whole arrays are placed on banks. They are chosen so that the fuller bank
  /// moves as few words as possible (bench/fpga tries all placements).
  virtual SecondBank second_bank(const Plan& /*plan*/) const { return {}; }
  /// Passes of the host over the bands in this scheme's set-up, besides the passes of every set-up (survey, copies).
  /// The numbers are measured.
  virtual double passes(const Plan& /*plan*/, const Survey& /*survey*/) const { return 0; }
  /// How lines may be cut into chunks. The default is for lines laid end to end; a chunk then also reads the halo's
  /// rows.
  virtual Cut cut(const Plan& plan) const;
  virtual StoredPlaces places(const Plan& /*plan*/) const { return {}; }
  /// True if partitions are solved separately and joined afterwards.
  virtual bool in_pieces(const Plan& /*plan*/) const { return true; }
  /// The number of partitions, or of segments of lines side by side; 0 if the plan has neither.
  virtual Index pieces(const Plan& plan, const LineSet& lines) const;
  /// True if the bound of the first rows can reject the plan for all rows. The first rows must be whole partitions of
  /// the system: the largest bound of all rows is then at least the bound of these rows. By default true for plans that
  /// truncate and share no factors.
  virtual bool first_rows_tell(const Plan& plan) const;
  virtual HostSweep host_sweep(const Plan& /*plan*/) const { return {}; }
  virtual Elimination elimination(const Plan& /*plan*/) const { return {}; }

  /// The bound on rounding in a row, to first order, for pivots of exact arithmetic.
  /// @param bands  couplings out of the lines are 0
  virtual Rounding rounding(const Plan& plan, const LineSet& lines, const BandsView<float>& bands,
                            const Survey& survey) const = 0;
  virtual Rounding rounding(const Plan& plan, const LineSet& lines, const BandsView<double>& bands,
                            const Survey& survey) const = 0;

  /// True if the scheme proposes plans for this method, these lines and this processor.
  virtual bool takes(Method method, const Problem<float>& problem) const = 0;
  virtual bool takes(Method method, const Problem<double>& problem) const = 0;
  /// Make a plan and check its certificate. This check excludes the trial solve and the bound on rounding.
  /// @pre takes()
  /// @param[out] rejection  why there is no proposal; unchanged if the next scheme is to be asked
  virtual std::optional<Proposal> propose(const Problem<float>& problem, Rejection& rejection) const = 0;
  virtual std::optional<Proposal> propose(const Problem<double>& problem, Rejection& rejection) const = 0;
  /// The cheapest plan of problem.method that propose() may return; none if propose() returns none. Reads the bands
  /// only if necessary.
  /// @pre takes()
  virtual std::optional<Plan> least(const Problem<float>& problem) const = 0;
  virtual std::optional<Plan> least(const Problem<double>& problem) const = 0;
};

/// Base of a scheme class `S`. `S` has a template bound() for rounding(), and may have suits(), proposal() and
/// cheapest() for takes(), propose() and least(). Each is one template for float and double.
template <typename S, typename Base = Scheme>
class SchemeOf : public Base {
 public:
  Rounding rounding(const Plan& plan, const LineSet& lines, const BandsView<float>& bands,
                    const Survey& survey) const final {
    return self().bound(plan, lines, bands, survey);
  }
  Rounding rounding(const Plan& plan, const LineSet& lines, const BandsView<double>& bands,
                    const Survey& survey) const final {
    return self().bound(plan, lines, bands, survey);
  }
  bool takes(Method method, const Problem<float>& problem) const final { return suits_of(method, problem); }
  bool takes(Method method, const Problem<double>& problem) const final { return suits_of(method, problem); }
  std::optional<Proposal> propose(const Problem<float>& problem, Rejection& rejection) const final {
    return proposal_of(problem, rejection);
  }
  std::optional<Proposal> propose(const Problem<double>& problem, Rejection& rejection) const final {
    return proposal_of(problem, rejection);
  }
  std::optional<Plan> least(const Problem<float>& problem) const final { return cheapest_of(problem); }
  std::optional<Plan> least(const Problem<double>& problem) const final { return cheapest_of(problem); }

 protected:
  /// A plan whose only partition holds all rows.
  template <typename T>
  Plan one_partition(const Problem<T>& problem) const {
    const Index n = problem.bands.lines().rows();
    return {.method = problem.method, .n = n, .m = n, .made_by = this->name()};
  }

 private:
  const S& self() const { return static_cast<const S&>(*this); }
  template <typename T>
  bool suits_of(Method method, const Problem<T>& problem) const {
    if constexpr (requires(const S& s) { s.suits(method, problem); }) {
      return self().suits(method, problem);
    } else {
      return false;
    }
  }
  template <typename T>
  std::optional<Proposal> proposal_of(const Problem<T>& problem, Rejection& rejection) const {
    if constexpr (requires(const S& s) { s.proposal(problem, rejection); }) {
      return self().proposal(problem, rejection);
    } else {
      return std::nullopt;
    }
  }
  template <typename T>
  std::optional<Plan> cheapest_of(const Problem<T>& problem) const {
    if constexpr (requires(const S& s) { s.cheapest(problem); }) {
      return self().cheapest(problem);
    } else {
      return one_partition(problem);
    }
  }
};

/// All schemes. Among schemes of equal cost, the first in this list is asked for a plan first.
OCLSPKT_API const std::vector<const Scheme*>& all_schemes();

/// Add a scheme that a program defines. It comes before all other schemes of equal cost. Devices need its carrier as
/// well (ocl/schemes/table.hpp). Options::variant accepts its name. Call this before the process's first set-up.
/// @param scheme  lives as long as the process
/// @throws InvalidInput if a scheme of that name exists
OCLSPKT_API void add_scheme(const Scheme& scheme);

/// Find a scheme by its name or by the name of one of its forms; null if this library has no such scheme.
OCLSPKT_API const Scheme* find_scheme(std::string_view name);

/// @throws InvalidInput if this library has no such scheme
OCLSPKT_API const Scheme& scheme_of(const Plan& plan);

}  // namespace oclspkt

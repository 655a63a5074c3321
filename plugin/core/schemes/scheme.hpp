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
  bool plain = false;   ///< a pivot is the diagonal minus the products of elimination; otherwise the excess is carried
  bool excess = false;  ///< rows carry excesses and nothing but these, with a rounding of the diagonal forgiven
  bool diagonals = false;    ///< rows whose diagonal is small against their couplings carry that instead
  bool upwards = false;      ///< rows are eliminated from below, too
  bool any_pivots = false;   ///< the bound holds for rounded pivots, too, unless forgiving_harms()
  bool tells_bound = false;  ///< lines are eliminated whole, by factors that tell their bound on rounding, by
                             ///< component: pivots need not be known before
};

/// Arrays of a number a row on the second of two memory banks of a board; the others are on the first.
struct SecondBank {
  bool lower = false, diag = false, upper = false, y = true, x = true;
  bool own = false;  ///< the scheme stores a form of its own for each row
  bool operator==(const SecondBank&) const = default;
};

/// Whose kernels a scheme has: those by vectors of lanes, by work-groups of many work-items, or by one work-item.
enum class Kernels { lanes, groups, task };

/// How the host sweeps lines by stored factors.
struct HostSweep {
  Index bundle = 1;        ///< lines side by side at a time
  bool through_x = false;  ///< the sweep down leaves its values in x and not in a window
};

struct HaloPlans;

/// One way to solve on one kind of processor, as far as no device is needed: what it says of its plans. All that is a
/// scheme's own stands in the folder of its family here and, for devices, under ocl/schemes.
class OCLSPKT_API Scheme {
 public:
  Scheme() = default;
  virtual ~Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;

  /// "tiles-halo": unique, in the table here and in that of devices. Its plans have it as Plan::made_by.
  virtual const char* name() const = 0;
  /// Names of the forms that its plans come in, of which a user may ask for one: Options::variant. One scheme proposes
  /// all of them.
  virtual std::vector<const char*> forms() const { return {name()}; }
  virtual const char* form(const Plan& /*plan*/) const { return name(); }
  /// Make a plan without values of the matrix; none if another scheme is to make it. By default the plan of halos().
  virtual std::optional<Plan> make(const PlanRequest& request) const;
  /// How it cuts lines laid end to end for truncated-halo on such a processor; null if it does not (schemes/halos.hpp).
  virtual const HaloPlans* halos(const DeviceTraits& /*traits*/) const { return nullptr; }
  /// True if a plan is for these lines.
  virtual bool fits(const Plan& plan, const LineSet& lines) const;
  /// The text by which the view distinguishes plans of one method: "halo 40"; empty if they do not differ.
  virtual std::string shape(const Plan& plan) const = 0;
  /// Words that one apply reads and writes per row. @pre plan.m > 0, or the plan is of no rows
  virtual double words(const Plan& plan) const = 0;
  /// Launches of one apply, as a cost.
  virtual int launches(const Plan& /*plan*/) const { return 1; }
  /// Words per row that a plain stream on all of the device moves in the time of an apply, launches not counted: what
  /// cores that are idle, and chains of operations, cost. Measured; bench/results/schemes has the figures.
  /// @param word  bytes of a scalar
  virtual double stream_words(const Plan& plan, int /*word*/) const { return plan.idle * words(plan); }
  /// True if only a user can ask for the scheme. If one does, it is tried before all others, and no other scheme of its
  /// method is.
  virtual bool only_asked_for() const { return false; }
  /// A user who names the scheme asks for these kernels.
  virtual Kernels kernels() const { return Kernels::lanes; }
  /// Where whole arrays lie if they are placed on banks, so that the fuller bank moves as few words as possible
  /// (bench/fpga tries all placements).
  virtual SecondBank second_bank(const Plan& /*plan*/) const { return {}; }
  /// Passes of the host over the bands that a set-up takes besides those of all schemes (survey, copies), measured.
  virtual double passes(const Plan& /*plan*/, const Survey& /*survey*/) const { return 0; }
  /// How lines may be cut into chunks: laid end to end with rows of the halo that are read again, by default.
  virtual Cut cut(const Plan& plan) const;
  virtual StoredPlaces places(const Plan& /*plan*/) const { return {}; }
  /// True if its set-up stores factors of the rows.
  virtual bool stores_factors() const { return false; }
  /// True if partitions are solved separately and joined afterwards.
  virtual bool in_pieces(const Plan& /*plan*/) const { return true; }
  /// The number of partitions, or of segments of lines side by side; 0 if no row is in one.
  virtual Index pieces(const Plan& plan, const LineSet& lines) const;
  /// True if the same plan of the first rows shows that a bound is above its limit, because they are whole partitions
  /// of the system. By default true of a plan that truncates and shares nothing.
  virtual bool first_rows_tell(const Plan& plan) const;
  virtual HostSweep host_sweep(const Plan& /*plan*/) const { return {}; }
  /// Interface systems across tiles are solved by stored factors, whatever the lines are.
  virtual bool solves_interfaces() const { return false; }

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
  /// Plan, and see whether the plan holds, short of the trial solve and of the bound on rounding.
  /// @pre takes()
  /// @param[out] rejection  why there is no proposal; left alone where the next scheme is to be asked
  virtual std::optional<Proposal> propose(const Problem<float>& problem, Rejection& rejection) const = 0;
  virtual std::optional<Proposal> propose(const Problem<double>& problem, Rejection& rejection) const = 0;
  /// The plan of problem.method that costs the least of those that propose() may come to, the bands unread as far as
  /// that is possible; none if it comes to none. @pre takes()
  virtual std::optional<Plan> least(const Problem<float>& problem) const = 0;
  virtual std::optional<Plan> least(const Problem<double>& problem) const = 0;
};

/// A scheme `S` whose members are one template for both scalars:
///   template <typename T> Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey&) const;
/// and, if it proposes plans by itself:
///   template <typename T> bool suits(Method, const Problem<T>&) const;
///   template <typename T> std::optional<Proposal> proposal(const Problem<T>&, Rejection&) const;
///   template <typename T> std::optional<Plan> cheapest(const Problem<T>&) const;
/// Without cheapest(), the plan of one partition stands for the cost.
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
  /// A plan of one partition of all rows.
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

/// All schemes; of those that cost the same the first is asked for a plan first.
OCLSPKT_API const std::vector<const Scheme*>& all_schemes();

/// Add a scheme of a program's own, which comes before all others that cost the same. Devices need its carrier as well
/// (ocl/schemes/table.hpp). Options::variant takes its name. To be called before the first set-up of the process.
/// @param scheme  lives as long as the process
/// @throws InvalidInput if there is one of that name
OCLSPKT_API void add_scheme(const Scheme& scheme);

/// The scheme of a name, its own or that of one of its forms; null if this library has none.
OCLSPKT_API const Scheme* find_scheme(std::string_view name);

/// The scheme that made a plan.
/// @throws InvalidInput if this library has none
OCLSPKT_API const Scheme& scheme_of(const Plan& plan);

}  // namespace oclspkt

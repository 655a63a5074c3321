// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "line_group.hpp"
#include "oclspkt/report.hpp"
#include "plan.hpp"
#include "rounding.hpp"
#include "survey.hpp"

namespace oclspkt {

/// A method whose truncation is covered, or that truncates nothing; what is left to show is said by needs_trial.
struct Proposal {
  Plan plan;
  std::string why;
  double certificate = 0;
  std::optional<Rounding> rounding{};  ///< what rounding may leave in a row, as far as it was asked
  double growth = 0;                   ///< upper bound or measured; 0 where it says nothing (pivot)
  bool above_tolerance = false;        ///< named by the user, taken without cover
  bool needs_trial = false;            ///< rounding is not bounded by dominance: the trial solve decides
  std::string why_wide{};              ///< under precision narrow, why stored factors are not narrow; empty: see plan
};

/// Everything the choice of a method depends on.
template <typename T>
struct Problem {
  const Options& options;
  const Bands<T>& bands;
  const Survey& survey;
  DeviceTraits traits;
  bool symmetric = false;  ///< and its operator must be, too
  bool one_shot = false;   ///< factors that are stored would hardly be used: prefer truncated-halo, which stores none
  bool from_ends = false;  ///< exact-twopass: Attempt::from_ends
  double rounding_limit = kRoundingLimit;  ///< Known::rounding_limit
  bool insist = false;                     ///< the user named the method, and no other way to carry it is left to try
};

/// Share of the rows that may be solved apart for the others to keep a cheaper method.
inline constexpr double kApartShare = 0.1;

/// The largest certificate accepted: Options::rtol, or the rounding of T. Under precision narrow as well: what is
/// solved then is a matrix close by, symmetric if the bands are, and truncation adds nothing to that.
template <typename T>
double tolerance(const Options& options);

/// True if bands, and factors where that is safe, are to be rounded to float.
template <typename T>
bool narrows(const Options& options) {
  return options.precision == Precision::narrow && sizeof(T) > sizeof(float);
}

/// A method, and whether the host is to carry it although a device was chosen.
struct Attempt {
  Method method;
  bool on_host = false;
  bool from_ends = false;  ///< exact-twopass: Plan::from_ends or, by work-groups, reduces_tiles(); not by partitions
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

/// What is known before methods are tried.
struct Circumstances {
  bool on_host = false;      ///< no device was chosen
  bool end_to_end = true;    ///< lines are contiguous()
  bool few_applies = false;  ///< factors would hardly be used: methods that store none come first on devices
  bool halo_first = false;   ///< truncated-halo holds_at_once() for those, or the device has kernels for GPUs
  bool by_groups = false;    ///< it has
};

/// The methods to try, in order, for what the user asked.
std::vector<Attempt> methods_to_try(MethodChoice choice, const Circumstances& circumstances);

/// True if truncated-halo holds by what the survey found, so that its set-up costs next to nothing: with a short halo,
/// or with whole lines, which dominant rows let it solve without one.
template <typename T>
bool holds_at_once(const Problem<T>& problem);

/// True if the user asked for this very method, so that a lacking certificate is a warning and not a refusal.
bool named(MethodChoice choice);

/// True if the choice depends on whether the matrix is symmetric.
template <typename T>
bool symmetry_matters(const Options& options);

/// Plan `method` and see whether it holds, short of the trial solve.
/// @param[out] objection the numbers in a line, if the result is empty, and the lines that alone stand in the way
template <typename T>
std::optional<Proposal> propose(const Problem<T>& problem, Method method, Objection& objection);

/// Rows of halo with which lines side by side may be cut into segments on a device; -1 if they may not.
template <typename T>
Index segment_halo(const Options& options, const Survey& survey, bool symmetric);

/// Words a row of the method that is likely to be chosen on a device, before anything is known of the device.
template <typename T>
double likely_words(const Options& options, const Survey& survey, bool symmetric);

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Lines cut among processes, joined: each scheme solves the inner rows of two, three and seven parts, and every row of
// the whole lines is right, those at the cuts included. Processes are threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cut_case.hpp"
#include "every_device.hpp"
#include "joined.hpp"
#include "plan_makers.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::test {
namespace {

/// Which scheme made a plan that a report tells of: by the texts and words of plans of every kind, numbers left out.
class SchemeNames {
 public:
  SchemeNames(int device, Variant variant, int word) {
    const DeviceTraits traits = device_module(nullptr)->traits(device, word == sizeof(double), {.variant = variant});
    for (const auto& makers : {freeze::makers_for_cpus(), freeze::makers_for_gpus(), freeze::makers_of_grids(),
                               freeze::makers_for_fpgas()}) {
      for (const freeze::PlanMaker& maker : makers) add(maker, word, traits);
    }
  }
  /// @param told  a report or a candidate
  /// @return all that it may be, joined by a stroke; empty if none is known
  template <typename Told>
  std::string find(const Told& told, const LineSet& lines) const {
    const auto at = names_.find(key(told.method, lines, told.shape));
    std::string all, same;
    if (at == names_.end()) return all;
    for (const auto& [name, words] : at->second) {
      all += (all.empty() ? "" : "/") + name;
      if (words.count(std::lround(100 * told.words_per_row)) > 0) same += (same.empty() ? "" : "/") + name;
    }
    return same.empty() ? all : same;
  }

 private:
  static std::string key(Method method, const LineSet& lines, std::string shape) {
    if (const auto more = shape.find(", corrected"); more != std::string::npos) {
      shape.erase(more, shape.find(',', more + 1) - more);
    }
    std::string key = std::string(name(method)) + (lines.contiguous() ? " end to end " : " side by side ");
    for (const char letter : shape) {
      if (std::isdigit(static_cast<unsigned char>(letter)) == 0) key += letter;
    }
    return key;
  }
  void add(const freeze::PlanMaker& maker, int word, const DeviceTraits& traits) {
    const std::initializer_list<LineSet> end_to_end = {LineSet::one(2'500), LineSet::one(20'011),
                                                       LineSet::equal(300, 64), LineSet::equal(40, 2048)};
    const std::initializer_list<LineSet> beside = {LineSet::grid_axis(1, 13, 500, 7), LineSet::grid_axis(1, 24, 60, 7),
                                                   LineSet::grid_axis(1, 5, 3001, 1)};
    for (const LineSet& lines : maker.lines == freeze::Arrangement::beside ? beside : end_to_end) {
      if (maker.lines == freeze::Arrangement::equal && lines.count() < 2) continue;
      try {
        const std::optional<Plan> plan = maker.make(lines, word, traits);
        if (!plan) continue;
        const Scheme& scheme = scheme_of(*plan);
        names_[key(plan->method, lines, scheme.shape(*plan))][scheme.form(*plan)].insert(
            std::lround(100 * scheme.words(*plan)));
      } catch (const InvalidInput&) {  // for other sizes, or other devices
      }
    }
  }

  std::map<std::string, std::map<std::string, std::set<long>>> names_;
};

constexpr std::initializer_list<JoinedMatrix> kAll = {JoinedMatrix::scaled_sums_zero, JoinedMatrix::jumps,
                                                      JoinedMatrix::jumps_over_mass, JoinedMatrix::diffusion,
                                                      JoinedMatrix::random};
constexpr std::initializer_list<JoinedMatrix> kHard = {JoinedMatrix::scaled_sums_zero, JoinedMatrix::jumps_over_mass};
constexpr std::initializer_list<JoinedMatrix> kMild = {JoinedMatrix::jumps_over_mass, JoinedMatrix::diffusion};
constexpr std::initializer_list<JoinedMatrix> kNone = {};

/// Lines, and the rows of one part more or less.
struct CutSet {
  const char* what;
  Index count, rows;
  Layout layout;
  bool equal;                                         ///< parts have the same rows
  std::initializer_list<JoinedMatrix> first, others;  ///< matrices on the first device, and on all others
  CutCase parts(int processes) const {
    std::vector<Index> all;
    for (int p = 0; p < processes; ++p) all.push_back(rows + (equal ? 0 : 37 * p));
    if (processes > 3 && !equal) all[2] = 1;
    return CutCase::equal(count, all, layout);
  }
};
constexpr CutSet kSets[] = {{"one line", 1, 1500, Layout::end_to_end, false, kAll, kHard},
                            {"lines of 64", 40, 64, Layout::end_to_end, true, kMild, kNone},
                            {"lines along y", 14, 150, Layout::strided_y, true, kAll, kNone},
                            {"few along y", 5, 1000, Layout::strided_y, true, kHard, kNone}};
/// Schemes that are not for inner rows on a device; the bound of grids-condensed is above what inner rows may round.
constexpr const char* kNotOfParts[] = {"host-pivot", "grids-condensed"};

/// The kernels that solve the inner rows: of a variant, or of a scheme by its name.
struct Asked {
  MethodChoice method;
  const char* variant;
};
constexpr Asked kAsked[] = {{MethodChoice::truncated_halo, "cpu"},
                            {MethodChoice::truncated_streamed, "cpu"},
                            {MethodChoice::exact_factored, "cpu"},
                            {MethodChoice::exact_twopass, "lanes-twopass"},
                            {MethodChoice::truncated_halo, "gpu"},
                            {MethodChoice::truncated_streamed, "gpu"},
                            {MethodChoice::exact_twopass, "gpu"},
                            {MethodChoice::exact_factored, "gpu"},
                            {MethodChoice::truncated_halo, "paper"},
                            {MethodChoice::truncated_halo, "paper-gpu"},
                            {MethodChoice::truncated_streamed, "fpga"},
                            {MethodChoice::truncated_streamed, "fpga-spkboth"},
                            {MethodChoice::truncated_streamed, "fpga-spktrunc"},
                            {MethodChoice::exact_factored, "fpga"}};

/// Whose kernels those are.
inline Variant variant_of(const Asked& asked) {
  const Scheme* scheme = find_scheme(asked.variant);
  return scheme != nullptr && scheme->kernels() == Kernels::task ? Variant::fpga : oclspkt::variant_of(asked.variant);
}

/// What decays is for methods that truncate, row sums of 0 for those that do not.
constexpr bool truncates(MethodChoice method) {
  return method == MethodChoice::truncated_halo || method == MethodChoice::truncated_streamed;
}

/// What the processes found.
template <typename T>
struct Joined {
  std::vector<std::vector<T>> x;  ///< all rows, for each right-hand side
  std::vector<Report> reports;
  std::vector<CutReport> cut_reports;
  std::vector<std::exception_ptr> thrown;
};

template <typename T>
Joined<T> solve_joined(const CutCase& c, const Bands<T>& bands, const std::vector<std::vector<T>>& sides,
                       const Options& options) {
  const auto size = static_cast<std::size_t>(c.processes);
  Joined<T> joined{sides, std::vector<Report>(size), std::vector<CutReport>(size), {}};
  for (std::vector<T>& x : joined.x) std::fill(x.begin(), x.end(), std::numeric_limits<T>::quiet_NaN());
  joined.thrown = run_processes(c.processes, [&](int rank, const std::shared_ptr<ThreadExchange>& exchange) {
    const auto at = static_cast<std::size_t>(rank);
    const Share share(c, rank);
    CutSolver<T> solver(options);
    fill_share(share, bands.view(), solver.bands(share.lines, share.cuts, exchange));
    try {
      solver.set_up();
    } catch (...) {
      joined.reports[at] = solver.report();
      throw;
    }
    joined.reports[at] = solver.report();
    joined.cut_reports[at] = solver.cut_report();
    const auto extent = static_cast<std::size_t>(share.lines.extent());
    std::vector<T> y(extent, std::numeric_limits<T>::quiet_NaN()), x(extent);
    for (std::size_t s = 0; s < sides.size(); ++s) {
      share.for_rows([&](Index here, Index there) {
        y[static_cast<std::size_t>(here)] = sides[s][static_cast<std::size_t>(there)];
      });
      solver.apply(y.data(), x.data());
      share.for_rows([&](Index here, Index there) {
        joined.x[s][static_cast<std::size_t>(there)] = x[static_cast<std::size_t>(here)];
      });
    }
  });
  return joined;
}

/// The process that holds each row, and the rows on either side of the cuts.
struct Places {
  std::vector<int> part;
  std::vector<char> at_cut;
  explicit Places(const CutCase& c) {
    for (const auto& line : c.lines) {
      for (const PartOf& p : line) {
        for (Index i = 0; i < p.rows; ++i) {
          part.push_back(p.process);
          at_cut.push_back((i < 2 && p.process > 0) || (i >= p.rows - 2 && p.process + 1 < c.processes) ? 1 : 0);
        }
      }
    }
  }
};

template <typename T>
class JoinedLines : public testing::Test {
 protected:
  static void TearDownTestSuite() { tally_.print("cut lines joined, schemes of the inner rows"); }

  /// One case on one device.
  static void solve(Options options, const Asked& asked, const SchemeNames& names, const CutSet& set, int parts,
                    JoinedMatrix matrix, const std::string& device) {
    const CutCase c = set.parts(parts);
    const Places places(c);
    const Bands<T> bands = joined_matrix<T>(matrix, c.all(), places.part);
    std::vector<std::vector<T>> sides;
    for (int s = 0; s < static_cast<int>(std::size(kJoinedSides)); ++s) sides.push_back(joined_side(s, bands));
    options.method = asked.method;
    options.variant = asked.variant;
    const Joined<T> joined = solve_joined(c, bands, sides, options);
    const std::string what = std::string(name(matrix)) + ", " + set.what + ", " + std::to_string(parts) + " parts, " +
                             name(asked.method) + " " + asked.variant + ", " + device;
    std::set<std::string> used;
    const double bound = judge(c, joined, names, used);
    if (bound < 0) return;
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const RowError error = row_error(bands, joined.x[s], sides[s], places.at_cut);
      for (const std::string& scheme : used) {
        tally_.solved(scheme, error, bound, eps, what + ", " + kJoinedSides[s]);
      }
      EXPECT_LE(error.all, bound) << what << ", " << kJoinedSides[s] << ", row " << error.row << ": " << error.all / eps
                                  << " eps, at cuts " << error.at_cuts / eps;
    }
  }
  static JoinedTally& tally() { return tally_; }

 private:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  /// The bound of a row's error, and the schemes that solved. Schemes that were refused are counted.
  /// @return a negative number if there is no such bound
  static double judge(const CutCase& c, const Joined<T>& joined, const SchemeNames& names,
                      std::set<std::string>& used) {
    double rounding = 0, truncation = 0;
    bool holds = true;
    for (std::size_t p = 0; p < joined.reports.size(); ++p) {
      const Report& report = joined.reports[p];
      const CutReport& cut = joined.cut_reports[p];
      const LineSet lines = Share(c, static_cast<int>(p)).lines;
      for (const Candidate& candidate : report.candidates) {
        const std::string scheme = names.find(candidate, lines);
        if (!candidate.taken && !scheme.empty()) ++tally_.of(scheme).refused;
      }
      holds = holds && !joined.thrown[p] && cut.gathered == 0 && !cut.above_tolerance;
      if (joined.thrown[p] || report.lines == 0) continue;
      if (report.certificate_above_tolerance) holds = false;
      rounding = std::max(rounding, cut.rounding);
      // Unknowns of the inner rows are larger than those of the line by what their rounding is.
      truncation = std::max(truncation, report.certificate * std::max(1.0, cut.rounding) + cut.bound);
      const std::string scheme = names.find(report, lines);
      const std::string text = std::string("? ") + name(report.method) + " " + report.shape;
      used.insert(report.device.name == "host" ? "host" : scheme.empty() ? text : scheme);
    }
    if (!holds) {
      for (const std::string& scheme : used) ++tally_.of(scheme).refused;
      return -1;
    }
    return rounding * eps + truncation;
  }
  inline static JoinedTally tally_;
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(JoinedLines, Scalars);

TYPED_TEST(JoinedLines, AreRightInEveryRowWithEveryScheme) {
  using T = TypeParam;
  bool few_cores = false;  // which some schemes are for
  with_every_device([&](const Options& options) {
    if (options.devices == "host") return;
    const DeviceInfo& info = device_module(nullptr)->devices().at(std::stoul(options.devices));
    if (sizeof(T) == sizeof(double) && !info.fp64) return;
    few_cores = few_cores || (info.type == DeviceType::cpu && info.cores <= 4);
    std::map<Variant, SchemeNames> of_variants;
    for (const Asked& asked : kAsked) {
      const Variant variant = variant_of(asked);
      if (info.emulated && (variant == Variant::gpu || variant == Variant::paper || variant == Variant::paper_gpu))
        continue;
      const SchemeNames& names = of_variants.try_emplace(variant, info.index, variant, sizeof(T)).first->second;
      for (const CutSet& set : kSets) {
        for (const int parts : kPartCounts) {
          for (const JoinedMatrix matrix : info.index > 0 ? set.others : set.first) {
            if (info.index > 0 && (matrix == JoinedMatrix::jumps_over_mass) != truncates(asked.method)) continue;
            this->solve(options, asked, names, set, parts, matrix, info.platform);
          }
        }
      }
    }
  });
  for (const Scheme* scheme : all_schemes()) {
    for (const std::string name : scheme->forms()) {
      const bool left_out = std::find(std::begin(kNotOfParts), std::end(kNotOfParts), name) != std::end(kNotOfParts);
      EXPECT_TRUE(!few_cores || left_out || this->tally().knows(name)) << "no inner rows were given to " << name;
    }
  }
}

template <typename T>
class CutDominantLines : public testing::Test {};
TYPED_TEST_SUITE(CutDominantLines, Scalars);

/// On the first device that runs kernels for GPUs.
TYPED_TEST(CutDominantLines, StayOnDevicesAndAreNotGathered) {
  using T = TypeParam;
  constexpr double kEps = std::numeric_limits<T>::epsilon();
  std::string first;
  with_every_device_for_gpus<T>([&](const Options& options) {
    const DeviceInfo& info = device_module(nullptr)->devices().at(std::stoul(options.devices));
    if (first.empty() && (sizeof(T) == sizeof(float) || info.fp64)) first = options.devices;
  });
  if (first.empty()) GTEST_SKIP() << "no device runs kernels for GPUs";
  Options options;
  options.devices = first;
  options.variant = "gpu";
  double worst = 0, largest = 0;
  for (const int parts : {2, 8}) {
    const CutCase c = CutCase::equal(1, std::vector<Index>(static_cast<std::size_t>(parts), 6000));
    std::vector<std::pair<std::string, Bands<T>>> matrices;
    for (const double diag : {2.5, 3.0}) matrices.emplace_back("diagonal", constant<T>(c.all(), -1, T(diag), -1));
    for (const double lambda : {3.0, 10.0, 100.0, 1e4}) matrices.emplace_back("heat", diffusion<T>(c.all(), lambda));
    matrices.emplace_back("random", random_dominant<T>(c.all(), 1.1));
    for (auto& [what, bands] : matrices) {
      bands.close_lines();
      for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::exact}) {
        options.method = method;
        const std::vector<std::vector<T>> sides = {joined_side(0, bands), joined_side(3, bands)};
        const Joined<T> joined = solve_joined(c, bands, sides, options);
        const CutReport& cut = joined.cut_reports[0];
        const std::string text = what + " " + std::to_string(static_cast<double>(bands.diag()[1])) + ", " +
                                 std::to_string(parts) + " parts, " + name(method);
        for (const Report& report : joined.reports) EXPECT_NE(report.device.name, "host") << text;
        EXPECT_EQ(cut.gathered, 0) << text << ": " << cut.gathered_why;
        EXPECT_LE(cut.rounding, kRoundingLimit) << text;
        for (std::size_t s = 0; s < sides.size(); ++s) {
          const RowError error = row_error(bands, joined.x[s], sides[s], std::vector<char>(sides[s].size(), 0));
          EXPECT_LE(error.all, cut.rounding * kEps + cut.bound) << text;
          worst = std::max(worst, error.all / (cut.rounding * kEps));
          largest = std::max(largest, cut.rounding);
        }
      }
    }
  }
  std::printf("worst error over its bound %.3f; bounds up to %.1f eps\n", worst, largest);
}

}  // namespace
}  // namespace oclspkt::test

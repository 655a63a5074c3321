// SPDX-License-Identifier: BSD-2-Clause
// Lines cut among processes, joined: each scheme solves the inner rows of two parts with some matrices and of seven
// with the others, and every row of the whole lines is right, those at the cuts included. Processes are threads.
#include <cstdio>
#include <initializer_list>
#include <set>

#include "cut_case.hpp"
#include "every_device.hpp"
#include "joined.hpp"
#include "scalar_test.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::test {
namespace {

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
/// Whose kernels solve the inner rows, and by which method: a scheme that is named, or a variant, of whose schemes the
/// method and the lines take one.
struct Asked {
  std::string variant;
  MethodChoice method;
};
std::vector<Asked> all_asked(bool emulated) {
  std::vector<Asked> all;
  for (const Scheme* scheme : all_schemes()) {
    const bool task = scheme->nature().kernels == Kernels::task;
    if (scheme->nature().kernels == Kernels::groups || (emulated && !task) ||
        scheme->name() == std::string("host-pivot"))
      continue;
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::exact})
      all.push_back({scheme->name(), method});
  }
  if (emulated) return all;
  for (const MethodChoice method : {MethodChoice::truncated_halo, MethodChoice::truncated_streamed,
                                    MethodChoice::exact_twopass, MethodChoice::exact_factored}) {
    all.push_back({"gpu", method});
  }
  all.push_back({"paper-gpu", MethodChoice::truncated_halo});
  return all;
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
    fill_share(share, bands.view(), solver.bands({share.lines, share.cuts, exchange}));
    try {
      solver.set_up();
    } catch (...) {
      joined.reports[at] = solver.report();
      throw;
    }
    joined.reports[at] = solver.report();
    joined.cut_reports[at] = solver.cut_report();
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const std::vector<T> y = share.part_of(sides[s]);
      std::vector<T> x(y.size());
      solver.apply(y.data(), x.data());
      share.put(x, joined.x[s]);
    }
  });
  return joined;
}

/// The process that holds each row.
std::vector<int> processes_of_rows(const CutCase& c) {
  std::vector<int> part;
  for (const auto& line : c.lines) {
    for (const PartOf& p : line) part.insert(part.end(), static_cast<std::size_t>(p.rows), p.process);
  }
  return part;
}

template <typename T>
class JoinedLines : public testing::Test {
 protected:
  /// What came of those who were asked.
  struct Tally {
    int solved = 0, refused = 0;
    double worst = 0, eps = 0;  ///< largest error over its bound, and in eps
    std::string what;           ///< gave the worst
  };
  static void TearDownTestSuite() {
    std::puts("solved refused error/bound eps, worst");
    for (const auto& [asked, t] : tally_) {
      std::printf("%-25s %5d %5d %.3f %.2f, %s\n", asked.c_str(), t.solved, t.refused, t.worst, t.eps, t.what.c_str());
    }
  }

  /// One case on one device.
  static void solve(const Options& options, const CutSet& set, int parts, JoinedMatrix matrix,
                    const std::string& device) {
    const CutCase c = set.parts(parts);
    const Bands<T> bands = joined_matrix<T>(matrix, c.all(), processes_of_rows(c));
    std::vector<std::vector<T>> sides;
    for (int s = 0; s < static_cast<int>(std::size(kJoinedSides)); ++s) sides.push_back(joined_side(s, bands));
    const Joined<T> joined = solve_joined(c, bands, sides, options);
    const std::string what = std::string(name(matrix)) + ", " + set.what + ", " + std::to_string(parts) + " parts, " +
                             name(options.method) + " " + options.variant + ", " + device;
    std::set<std::string> used;
    const double bound = judge(joined, asked_for(options), used);
    if (bound < 0) return;
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const RowError error = row_error(bands, joined.x[s], sides[s]);
      for (const std::string& asked : used) {
        Tally& t = tally_[asked];
        ++t.solved;
        if (error.all / bound > t.worst) t.what = what + ", " + kJoinedSides[s];
        t.worst = std::max(t.worst, error.all / bound);
        t.eps = std::max(t.eps, error.all / eps);
      }
      EXPECT_LE(error.all, bound) << what << ", " << kJoinedSides[s] << ", row " << error.row << ": " << error.all / eps
                                  << " eps";
    }
  }
  static bool solved(const std::string& asked) { return tally_[asked].solved > 0; }
  /// A scheme's name, or a variant with the method.
  static std::string asked_for(const Options& options) {
    return options.variant + (find_scheme(options.variant) != nullptr ? "" : std::string(" ") + name(options.method));
  }

 private:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  /// The bound of a row's error, and who solved: the host, or the scheme that was asked for. Without a bound they count
  /// as refused.
  /// @return a negative number if there is no bound
  static double judge(const Joined<T>& joined, const std::string& asked, std::set<std::string>& used) {
    double rounding = 0, truncation = 0;
    bool holds = true;
    for (std::size_t p = 0; p < joined.reports.size(); ++p) {
      const Report& report = joined.reports[p];
      const CutReport& cut = joined.cut_reports[p];
      holds = holds && !joined.thrown[p] && cut.gathered == 0 && !cut.above_tolerance;
      if (joined.thrown[p] || report.lines == 0) continue;
      if (report.certificate_above_tolerance) holds = false;
      rounding = std::max(rounding, cut.rounding);
      // Unknowns of the inner rows are larger than those of the line by what their rounding is.
      truncation = std::max(truncation, report.certificate * std::max(1.0, cut.rounding) + cut.bound);
      used.insert(report.device.name == "host" ? "host" : asked);
    }
    if (!holds) {
      for (const std::string& scheme : used) ++tally_[scheme].refused;
      return -1;
    }
    return rounding * eps + truncation;
  }
  inline static std::map<std::string, Tally> tally_;
};

SCALAR_TEST(JoinedLines, AreRightInEveryRowWithEveryScheme) {
  bool few_cores = false, wide = false;  // some schemes are for few cores, lanes-tiles for wide registers
  std::set<std::string> used;
  with_every_device([&](const Options& options) {
    if (options.devices == "host") return;
    const DeviceInfo& info = device_module(nullptr)->devices().at(std::stoul(options.devices));
    if (sizeof(T) == sizeof(double) && !info.fp64) return;
    few_cores = few_cores || (info.type == DeviceType::cpu && info.cores <= 4);
    const DeviceTraits traits = device_module(nullptr)->traits(info.index, sizeof(T) == sizeof(double), {});
    wide = wide || traits.lanes == traits.tile_lanes;
    for (const Asked& asked : all_asked(info.emulated)) {
      Options own = options;
      own.variant = asked.variant;
      own.method = asked.method;
      used.insert(this->asked_for(own));
      for (const CutSet& set : kSets) {
        // In turn: every set of lines meets both numbers of parts and so, in one set or another, does every matrix.
        bool many = &set == &kSets[1] || &set == &kSets[2];
        for (const JoinedMatrix matrix : info.index > 0 ? set.others : set.first) {
          this->solve(own, set, many ? 7 : 2, matrix, info.platform);
          many = !many;
        }
      }
    }
  });
  for (const std::string& asked : used) {
    const bool suits = few_cores && (wide || asked != "lanes-tiles");
    EXPECT_TRUE(!suits || this->solved(asked)) << "no inner rows were given to " << asked;
  }
}

template <typename T>
class CutDominantLines : public testing::Test {};

/// On the first device that runs kernels for GPUs.
SCALAR_TEST(CutDominantLines, StayOnDevicesAndAreNotGathered) {
  constexpr double kEps = std::numeric_limits<T>::epsilon();
  std::string first;
  with_every_device_for_gpus<T>("gpu", [&](const Options& options) {
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
          const RowError error = row_error(bands, joined.x[s], sides[s]);
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

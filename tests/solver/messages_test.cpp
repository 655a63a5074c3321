// SPDX-License-Identifier: BSD-2-Clause
// What users read when they make a mistake: each text has the cause, the number or the name that was given, and a cure.

#include <cstdio>

#include "oclspkt/cut_solver.hpp"
#include "oclspkt/solver.hpp"
#include "thread_exchange.hpp"
#include "thrown.hpp"

namespace oclspkt::messages {
namespace {

constexpr Index kRows = 20;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Bands of one line or many, which a case changes where it errs.
struct System {
  explicit System(double diagonal = 4, LineSet of = LineSet::one(kRows))
      : lines(std::move(of)),
        lower(static_cast<std::size_t>(lines.extent()), -1),
        diag(lower.size(), diagonal),
        upper(lower) {}
  System&& with(std::vector<double> System::*band, std::size_t row, double value) && {
    (this->*band)[row] = value;
    return std::move(*this);
  }
  /// Row sums of 0.
  System&& neumann() && {
    for (Index l = 0; l < lines.count(); ++l) {
      diag[static_cast<std::size_t>(lines.first(l))] = 1;
      diag[static_cast<std::size_t>(lines.first(l) + lines.length(l) - 1)] = 1;
    }
    return std::move(*this);
  }

  LineSet lines;
  std::vector<double> lower, diag, upper;
};

Solver<double> set_up(const Options& options, const System& s) {
  Solver<double> solver(options);
  solver.set_up(s.lines, s.lower.data(), s.diag.data(), s.upper.data());
  return solver;
}

Options on_host() { return {.devices = "host"}; }
Options on_cpu(MethodChoice method = MethodChoice::automatic) { return {.devices = "cpu", .method = method}; }

/// A solver of two processes that is given `cuts`. @return by throwing what the first process that failed throws
void set_up_cut(const Cuts& cuts, const Options& options = on_host(), double diagonal = 4) {
  const auto thrown = test::run_processes(2, [&](int, const std::shared_ptr<test::ThreadExchange>& exchange) {
    CutSolver<double> solver(options);
    Bands<double>& bands = solver.bands({LineSet::one(kRows), cuts, exchange});
    const System s(diagonal);
    bands.copy_from({s.lower.data(), s.diag.data(), s.upper.data()});
    solver.set_up();
  });
  for (const std::exception_ptr& error : thrown) {
    if (error) std::rethrow_exception(error);
  }
}

/// Options of which one field is changed.
template <typename Field, typename Value>
std::function<void()> option(Field Options::*field, Value value) {
  return [field, value] {
    Options options;
    options.*field = static_cast<Field>(value);
    const Solver<double> solver(options);
  };
}
template <typename Field, typename Value>
std::function<void()> option(Field DeviceUse::*field, Value value) {
  DeviceUse use;
  use.*field = static_cast<Field>(value);
  return option(&Options::use, use);
}

struct Mistake {
  const char* done;
  std::function<void()> make;
  const char *cause, *given, *cure;  ///< each is a part of the text
};

std::vector<Mistake> mistakes_of_lines() {
  constexpr Index kHuge = Index{1} << 40, kMost = std::numeric_limits<Index>::max();
  return {
      {"a line of -3 rows", [] { LineSet::one(-3); }, "rows", "-3", ">= 0"},
      {"-2 lines", [] { LineSet::equal(-2, 5); }, "lines", "-2", ">= 0"},
      {"2^80 rows", [] { LineSet::equal(kHuge, kHuge); }, "does not fit", "1099511627776", "give fewer"},
      {"no starts", [] { LineSet::unequal({}); }, "starts of unequal lines", "none", "give at least the 0"},
      {"starts that decrease",
       [] {
         LineSet::unequal({0, 5, 3});
       },
       "must not decrease", "3 starts", "sort them"},
      {"rows on top of each other", [] { LineSet::strided(10, 1, 4, 2); }, "same place", "a stride of 2", "raise the"},
      {"a stride of 2^63", [] { LineSet::strided(2, kMost, 1, 1); }, "beyond 64 bits", "9223372036854775807",
       "lower the stride"},
      {"a fourth axis", [] { LineSet::grid_axis(3, 2, 2, 2); }, "has the axes", "3", "0 (x), 1 (y) and 2 (z)"},
  };
}

std::vector<Mistake> mistakes_of_options() {
  return {
      {"method 99", option(&Options::method, 99), "method has no value", "99", "there are: auto"},
      {"precision 9", option(&Options::precision, 9), "precision has no value", "9", "there are: same narrow"},
      {"action 9", option(&Options::on_device_failure, 9), "on_device_failure has no", "9", "there are: degrade"},
      {"singular -1", option(&Options::singular, -1), "singular has no value", "-1", "there are: auto fail pin"},
      {"transfer 9", option(&DeviceUse::transfer, 9), "transfer has no value", "9", "there are: auto copy"},
      {"variant fast", option(&Options::variant, "fast"), "does not exist", "'fast'", "there are: default, cpu"},
      {"banks 3", option(&DeviceUse::fpga_banks, "3"), "does not exist", "'3'", "there are: none, spread"},
      {"rtol 2", option(&Options::rtol, 2.0), "rtol", "not 2", "must lie in [0, 1)"},
      {"rtol NaN", option(&Options::rtol, kNan), "rtol", "not nan", "must lie in [0, 1)"},
      {"partition -1", option(&Options::partition, -1), "partition", "not -1", "must be 0"},
      {"device_memory -1", option(&DeviceUse::device_memory, -1), "device_memory", "not -1", "must be 0"},
      {"gather_limit -2", option(&Options::gather_limit, -2), "gather_limit", "not -2", "must be -1"},
      {"timeout -1", option(&DeviceUse::timeout, -1.0), "timeout", "not -1", "must be 0"},
      {"timeout NaN", option(&DeviceUse::timeout, kNan), "timeout", "not nan", "must be 0"},
      {"an unknown device", [] { set_up({.devices = "abacus"}, System()); }, "no device", "'abacus'", "Use auto"},
      {"device 99", [] { set_up({.devices = "host,99"}, System()); }, "no device matches", "'99'", "Use auto"},
  };
}

std::vector<Mistake> mistakes_of_matrices() {
  const auto balanced = [] {
    return System().with(&System::lower, 5, -1).with(&System::diag, 5, 2 + 1e-9).with(&System::upper, 5, -1);
  };
  const auto null_band = [](const double* lower, const double* upper) {
    const System s;
    Solver<double>().set_up(s.lines, lower, s.diag.data(), upper);
  };
  const auto beside = [] { return System(4, LineSet::grid_axis(1, 30, kRows, 1)); };
  static const System some;
  return {
      {"no lower band", [=] { null_band(nullptr, some.upper.data()); }, "null pointer", "lower", "pass an array of 20"},
      {"no upper band", [=] { null_band(some.lower.data(), nullptr); }, "null pointer", "upper", "pass an array of 20"},
      {"NaN", [] { set_up({}, System().with(&System::diag, 7, kNan)); }, "NaN or Inf", "row 7", "give finite entries"},
      {"Inf", [] { set_up({}, System().with(&System::upper, 3, 1 / 0.0)); }, "NaN or Inf", "row 3", "give finite"},
      {"a singular line", [] { set_up({}, System(2).neumann()); }, "its rows sum to 0", "line 0", "singular pin sets"},
      {"singular lines", [] { set_up(on_host(), System(2, LineSet::equal(5, 4)).neumann()); }, "singular", "line 0",
       "singular pin sets"},
      {"a diagonal of 0, no pivoting", [] { set_up({.devices = "host", .method = MethodChoice::exact}, System(0)); },
       "every method is rejected", "exact-factored", "set method to auto"},
      {"a row that floats unbalance", [=] { set_up({.precision = Precision::narrow}, balanced()); },
       "does not keep its excess", "row 5", "use precision same"},
      {"two passes for columns", [=] { set_up(on_cpu(MethodChoice::exact_twopass), beside()); },
       "takes lines laid end to end", "exact-twopass", "use method auto"},
      {"the paper's form without dominance",
       [] { set_up({.devices = "cpu", .method = MethodChoice::truncated_halo, .variant = "paper"}, System(1.5)); },
       "does not pivot", "row dominance 0.7500", "choose variant cpu"},
      {"the paper's form for GPUs without dominance",
       [] { set_up({.devices = "cpu", .method = MethodChoice::truncated_halo, .variant = "paper-gpu"}, System(1.5)); },
       "does not pivot", "row dominance 0.7500", "choose variant gpu"},
      {"a device of 1000 bytes",
       [] {
         set_up({.devices = "cpu", .method = MethodChoice::exact_twopass, .use = {.device_memory = 1000}},
                System(4, LineSet::one(5000)));
       },
       "memory", "rows", "raise device_memory"},
      {"bands of 5 rows for 6 rows",
       [] {
         FilledBands<double> filled;
         filled.fill(5, [](const BandsPart<double>&, Index, Index) {});
         Solver<double>().swap_bands(LineSet::one(6), filled);
       },
       "swap_bands was given bands of", "5", "fill them for these lines"},
  };
}

std::vector<Mistake> mistakes_of_calls() {
  static std::vector<double> y(100), x(100);
  const auto apply = [](const double* from, double* to, Index stride, Index columns) {
    set_up(on_host(), System()).apply(from, stride, to, stride, columns);
  };
  double *const from = y.data(), *const to = x.data();
  return {
      {"apply first", [=] { Solver<double>().apply(from, to); }, "without a successful set_up", "apply", "call set_up"},
      {"apply_transpose first", [=] { Solver<double>().apply_transpose(from, to); }, "without a successful set_up",
       "apply_transpose", "call set_up first"},
      {"apply_on_device first", [] { Solver<double>().apply_on_device(nullptr, nullptr); }, "without a successful",
       "apply_on_device", "call set_up first"},
      {"CutSolver::apply first", [=] { CutSolver<double>().apply(from, to); }, "without a successful set_up", "apply",
       "call set_up first"},
      {"no y", [=] { apply(nullptr, to, kRows, 1); }, "null pointer", "y of apply", "pass a vector of 20"},
      {"no x", [=] { apply(from, nullptr, kRows, 1); }, "null pointer", "x of apply", "pass a vector of 20"},
      {"y in place of x", [=] { apply(from, from, kRows, 1); }, "overlap", "x and y", "use two separate vectors"},
      {"-1 columns", [=] { apply(from, to, kRows, -1); }, "columns", "-1", "use 0 or more"},
      {"a stride of 19", [=] { apply(from, to, kRows - 1, 3); }, "columns that lie", "19",
       "use strides of at least 20"},
      {"buffers for the host", [] { set_up(on_host(), System()).apply_on_device(nullptr, nullptr); },
       "takes no buffers", "the host", "use apply() with host vectors"},
      {"a null buffer", [] { set_up(on_cpu(), System()).apply_on_device(nullptr, nullptr); }, "null handle", "buffer y",
       "give a buffer of the context of device_handles()"},
      {"buffers beside fallback lines",
       [] {
         System s(4, LineSet::equal(50, kRows));
         for (std::size_t i = 100; i < 120; ++i) s.diag[i] = 0;
         set_up(on_cpu(), s).apply_on_device(nullptr, nullptr);
       },
       "takes no buffers", "1 fallback line,", "use apply() with host vectors"},
  };
}

std::vector<Mistake> mistakes_of_cuts() {
  const auto both = [] { return Cuts{.chains = {{0, 1}}, .chain_of = {}, .number = {}}; };
  const auto changed = [=](auto Cuts::*member, auto value) {
    return [=] {
      Cuts cuts = both();
      cuts.*member = value;
      set_up_cut(cuts);
    };
  };
  using Chains = std::vector<std::vector<int>>;
  return {
      {"a chain with process 7", changed(&Cuts::chains, Chains{{0, 7}}), "a chain lists", "0 to 7", "numbered 0 to 1"},
      {"an empty chain", changed(&Cuts::chains, Chains{{}}), "chain is empty", "cuts", "list the processes"},
      {"a process twice", changed(&Cuts::chains, Chains{{0, 1, 1}}), "lists one twice", "3 processes",
       "list each once"},
      {"a chain of others", changed(&Cuts::chains, Chains{{1}}), "does not list it", "process 0",
       "leave the chain out"},
      {"two entries for one line", changed(&Cuts::chain_of, std::vector<int>{0, 0}), "chain_of", "2 numbers",
       "give one for each line"},
      {"chain 5 of 1", changed(&Cuts::chain_of, std::vector<int>{5}), "chain_of names", "chain 5", "count them from 0"},
      {"two numbers for one line", changed(&Cuts::number, std::vector<Index>{1, 2}), "number holds", "2 numbers",
       "give one for each line"},
      {"line -4", changed(&Cuts::number, std::vector<Index>{-4}), "a line has the number", "-4", "count lines from 0"},
      {"NaN on a cut line", [=] { set_up_cut(both(), on_host(), kNan); }, "NaN or Inf", "line 0", "give finite"},
      {"a line too long to gather",
       [=] { set_up_cut(both(), {.devices = "host", .method = MethodChoice::pivot, .gather_limit = 10}); },
       "cannot be solved in parts", "40 rows", "raise it"},
  };
}

/// Words that the glossary replaces must not come back.
void expect_plain(const std::string& text) {
  for (const char* own : {" settle", " turned", " walked", " folded", "lines apart", " crew", " guarded", " mend "}) {
    EXPECT_EQ(text.find(own), std::string::npos) << own;
  }
  // One line, but for the list of devices.
  EXPECT_LE(text.substr(0, text.find('\n')).size(), 400u);
}

TEST(Messages, NameTheCauseTheNumberAndTheCure) {
  for (const auto& table :
       {mistakes_of_lines(), mistakes_of_options(), mistakes_of_matrices(), mistakes_of_calls(), mistakes_of_cuts()}) {
    for (const Mistake& mistake : table) {
      const std::string text = test::thrown_text<Error>(mistake.make);
      std::printf("%s:\n    %s\n", mistake.done, text.c_str());
      SCOPED_TRACE(std::string(mistake.done) + ": " + text);
      ASSERT_NE(text, "nothing was thrown");
      for (const char* part : {mistake.cause, mistake.given, mistake.cure}) {
        EXPECT_NE(text.find(part), std::string::npos) << part;
      }
      expect_plain(text);
    }
  }
}

}  // namespace
}  // namespace oclspkt::messages

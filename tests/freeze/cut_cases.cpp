// SPDX-License-Identifier: BSD-2-Clause
// Lines that are cut among processes, which are threads here.
#include "cut_case.hpp"
#include "run_solver.hpp"

namespace oclspkt::freeze {
namespace {

using test::CutCase;
using test::Share;

/// What one process does. @return what it chose and solved
template <typename T>
std::string solve_share(const Share& share, const Options& options, const Bands<T>& bands, const std::vector<T>& y,
                        const std::shared_ptr<Exchange>& exchange) {
  CutSolver<T> solver(options);
  test::fill_share(share, bands.view(), solver.bands({share.lines, share.cuts, exchange}));
  solver.set_up();
  const auto extent = static_cast<std::size_t>(share.lines.extent());
  const std::vector<T> own_y = share.part_of(y);
  std::vector<T> x(extent, T(77)), transposed(extent, T(77));
  solver.apply(own_y.data(), x.data());
  const std::string text = text_of(solver.report()) + " " + text_of(solver.cut_report()) + " x " + hash_of(x);
  solver.apply_transpose(own_y.data(), transposed.data());
  return text + " transposed " + hash_of(transposed);
}

template <typename T>
std::string solve_cut(const CutCase& cut, const Options& options, Kind kind) {
  const Bands<T> bands = matrix<T>(kind, cut.all());
  const std::vector<T> y = test::random_vector<T>(cut.all().rows());
  std::vector<std::string> texts(static_cast<std::size_t>(cut.processes));
  const auto thrown =
      test::run_processes(cut.processes, [&](int rank, const std::shared_ptr<test::ThreadExchange>& exchange) {
        texts[static_cast<std::size_t>(rank)] = solve_share<T>(Share(cut, rank), options, bands, y, exchange);
      });
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    all += (i > 0 ? " | " : "") + texts[i];
    if (thrown[i]) all += "throws '" + test::text_of(thrown[i]) + "'";
  }
  return all;
}

struct NamedCut {
  const char* name;
  CutCase cut;
};

std::vector<NamedCut> cuts() {
  using test::Layout;
  CutCase uneven = CutCase::equal(1, {300, 1, 200});
  uneven.lines.push_back({{2, 50}, {0, 70}});
  uneven.lines.push_back({{1, 90}});
  return {{"halves", CutCase::equal(1, {500, 500})},
          {"thirds", CutCase::equal(1, {400, 7, 593})},
          {"long", CutCase::equal(1, {20'000, 20'000})},
          {"many", CutCase::equal(30, {64, 64})},
          {"y", CutCase::equal(24, {40, 50, 60}, Layout::strided_y)},
          {"z", CutCase::equal(15, {33, 65}, Layout::strided_z)},
          {"gaps", CutCase::equal(9, {33, 65}, Layout::with_gaps)},
          {"short", CutCase::equal(12, {1, 2, 1})},
          {"uneven", uneven}};
}

template <typename T>
void add_cut(Cases& cases, const NamedCut& cut, const std::string& device, MethodChoice method, Kind kind) {
  Options options{.devices = device, .method = method};
  const std::string title = std::string("cut ") + cut.name + " " + (device == "host" ? "host" : "pocl") + " " +
                            name(method) + " " + name(kind) + " " + kScalarName<T>;
  cases.push_back({title, device == "host", [=, c = cut.cut] { return solve_cut<T>(c, options, kind); }});
}

}  // namespace

void add_cut_cases(Cases& cases) {
  for (const NamedCut& cut : cuts()) {
    for (const Kind kind : {Kind::dominant, Kind::symmetric, Kind::alike, Kind::poisson, Kind::not_dominant}) {
      for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::truncated, MethodChoice::exact,
                                        MethodChoice::exact_factored, MethodChoice::pivot}) {
        add_cut<float>(cases, cut, "host", method, kind);
        add_cut<double>(cases, cut, "host", method, kind);
      }
      add_cut<double>(cases, cut, kRunningDevice, MethodChoice::automatic, kind);
    }
  }
}

}  // namespace oclspkt::freeze

// SPDX-License-Identifier: BSD-2-Clause
// Solvers that change their device, their method or where their bands come from; matrices that methods refuse.
#include "hard_matrices.hpp"
#include "run_solver.hpp"

namespace oclspkt::freeze {
namespace {

struct Stage {
  const char *devices, *variant;
  MethodChoice method = MethodChoice::automatic;
  bool releases = false;  ///< devices before it
};

constexpr Stage kStages[] = {{"host", "default"},
                             {kRunningDevice, "default"},
                             {kRunningDevice, "gpu", MethodChoice::exact_factored},
                             {kRunningDevice, "default", MethodChoice::exact_twopass, true},
                             {"recorded-large-gpu", "default"},
                             {"recorded-large-gpu", "default", MethodChoice::exact},
                             {"recorded-many-cores", "default", MethodChoice::automatic, true},
                             {"recorded-fpga", "default"},
                             {"host", "default", MethodChoice::pivot}};

enum class Source { filled_in_place, by_fill, swapped };
constexpr const char* kSourceNames[] = {"bands", "fill", "exchange"};

/// Give a solver the bands of `from`.
template <typename T>
void give_bands(Solver<T>& solver, const Bands<T>& from, Source source) {
  const LineSet& lines = from.lines();
  if (source == Source::filled_in_place) {
    solver.bands(lines).copy_from(from.view());
  } else if (source == Source::by_fill) {
    solver.fill(lines, test::fill_from(from));
  } else {
    FilledBands<T> filled;
    filled.fill(lines, test::fill_from(from));
    solver.swap_bands(lines, filled);
  }
}

template <typename T>
std::string apply(Solver<T>& solver, Index extent) {
  const std::vector<T> y = test::random_vector<T>(extent);
  std::vector<T> x(y.size(), T(77)), transposed(y.size(), T(77));
  solver.apply(y.data(), x.data());
  solver.apply_transpose(y.data(), transposed.data());
  return text_of(solver.report()) + " x " + hash_of(x) + " transposed " + hash_of(transposed);
}

/// One solver, stage by stage.
template <typename T>
std::string go_through_stages(Kind kind, const LineSet& lines, Source source) {
  Bands<T> bands = matrix<T>(kind, lines);
  for (Index i = 0; i < lines.extent(); ++i) {  // places of no line
    if (!(bands.diag()[i] == bands.diag()[i])) bands.diag()[i] = T(1);
  }
  Solver<T> solver;
  std::string text;
  for (const Stage& stage : kStages) {
    if (stage.releases) release_devices();
    Options options{.devices = stage.devices, .method = stage.method, .variant = stage.variant};
    solver.set_options(options);
    give_bands(solver, bands, source);
    text += (text.empty() ? "" : " | ") + std::string(stage.devices) + " ";
    try {
      solver.set_up();
      text += apply(solver, lines.extent());
    } catch (const std::exception& error) {
      text += std::string("throws '") + error.what() + "'";
    }
  }
  return text;
}

void add_stages(Cases& cases) {
  for (const Source source : {Source::filled_in_place, Source::by_fill, Source::swapped}) {
    for (const Kind kind : {Kind::dominant, Kind::alike, Kind::poisson}) {
      for (const Shape& shape : {one_line(3001), equal_lines(60, 64), grid_lines(1, 20, 70, 3)}) {
        const std::string title =
            std::string("life ") + kSourceNames[static_cast<int>(source)] + " " + name(kind) + " " + shape.name + " ";
        cases.push_back({title + "float", false, [=] { return go_through_stages<float>(kind, shape.make(), source); }});
        cases.push_back(
            {title + "double", false, [=] { return go_through_stages<double>(kind, shape.make(), source); }});
      }
    }
  }
}

template <typename T>
std::string solve_hard(const test::HardMatrix& m, const Options& options, const Known& known) {
  const Bands<T> glued = test::to_bands<T>(m);
  Solver<T> solver(options);
  solver.set_up(m.lines(), glued.view().lower, glued.view().diag, glued.view().upper, known);
  std::string text = apply(solver, m.lines().extent());
  for (const Index line : solver.report().pinned_lines) text += " pinned " + std::to_string(line);
  return text;
}

/// A matrix on the host and by PoCL's kernels of both kinds.
void add_hard(Cases& cases, const std::string& title, const std::function<test::HardMatrix()>& make,
              Singular singular = Singular::automatic, const Known& known = {}) {
  constexpr Stage kPlaces[] = {
      {"host", "default"}, {kRunningDevice, "default"}, {kRunningDevice, "gpu"}, {"recorded-large-gpu", "default"}};
  for (const Stage& place : kPlaces) {
    Options options{.devices = place.devices, .variant = place.variant, .singular = singular};
    const std::string name = "hard " + title + " " + place.devices + " " + place.variant + " ";
    const bool quick = place.devices == std::string("host");
    cases.push_back({name + "float", quick, [=] { return solve_hard<float>(make(), options, known); }});
    cases.push_back({name + "double", quick, [=] { return solve_hard<double>(make(), options, known); }});
  }
}

/// Rows that sum to 0, the first and the last as well.
test::HardMatrix neumann(Index count, Index length) {
  test::HardMatrix m;
  for (Index l = 0; l <= count; ++l) m.starts.push_back(l * length);
  for (Index i = 0; i < count * length; ++i) {
    const bool first = i % length == 0, last = (i + 1) % length == 0;
    m.lower.push_back(first ? 0 : -1);
    m.upper.push_back(last ? 0 : -1);
    m.diag.push_back(first || last ? 1 : 2);
  }
  return m;
}

}  // namespace

void add_life_cases(Cases& cases) {
  add_stages(cases);
  constexpr int kMatrices = 20;
  for (int id = 1; id <= kMatrices; ++id) {
    for (const Index n : {90, 512}) {
      if (test::is_dense(id) && n > 100) continue;
      add_hard(cases, "matrix " + std::to_string(id) + " of " + std::to_string(n),
               [=] { return test::klein_strzodka(id, n); });
    }
  }
  for (std::size_t i = 0; i < test::applications(4).size(); ++i) {
    add_hard(cases, "application " + std::to_string(i), [=] { return test::applications(3000)[i]; });
  }
  add_hard(cases, "glued", [] { return test::glued_lines(600, 24); });
  for (const Singular singular : {Singular::fail, Singular::pin}) {
    add_hard(
        cases, std::string("neumann ") + name(singular), [] { return neumann(40, 33); }, singular);
  }
  add_hard(cases, "neumann known", [] { return neumann(1, 700); }, Singular::automatic, {.constant_null_space = true});
}

}  // namespace oclspkt::freeze

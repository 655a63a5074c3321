// SPDX-License-Identifier: BSD-2-Clause
// Bounds on rounding of lines side by side on GPUs, held against the errors of hard matrices and solutions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "devices.hpp"
#include "geometry.hpp"
#include "line_columns.hpp"
#include "residual.hpp"
#include "schemes/grids/grid_evidence.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "survey.hpp"

namespace oclspkt::test {
namespace {

enum class Family { jump, jumps, graded, drawn, signs, dominant, like, downwards };
constexpr Family kFamilies[] = {Family::jump,  Family::jumps,    Family::graded, Family::drawn,
                                Family::signs, Family::dominant, Family::like,   Family::downwards};

/// Rows of a line of a family; conductivities g between rows, H added to diagonals, some rows scaled.
template <typename T>
class HardLine {
 public:
  HardLine(Family family, Index length, Index tile, bool decays, bool symmetric, std::mt19937& generator)
      : generator_(generator) {
    std::vector<double> g(static_cast<std::size_t>(length + 1), 1.0);
    const double most = sizeof(T) == sizeof(float) ? 6 : 14, contrast = std::pow(10, uniform(0, most));
    const double sink = uniform(0, 1) < 0.3 ? 0 : std::pow(10, uniform(-8, 1));
    const double advection = uniform(0, 1) < 0.5 ? 1 : uniform(1, decays ? 2 : 1.3);
    const double excess = decays && uniform(0, 1) < 0.7 ? std::pow(10, uniform(-2.5, 0)) : 0;
    const Index places = family == Family::jumps ? 10 : 1;
    double value = 1;
    std::vector<Index> at;
    for (Index k = 0; k < places; ++k) {
      // About borders of tiles and work-items.
      const double which = uniform(0, 1);
      const Index unit = which < 0.4   ? tile
                         : which < 0.6 ? 16 * tile
                                       : 16,
                  near = static_cast<Index>(uniform(0, 1) * length) / unit * unit;
      at.push_back(std::clamp<Index>(near + static_cast<Index>(uniform(-20, 3)), 1, length - 1));
    }
    for (Index i = 0; i <= length; ++i) {
      if (family == Family::jump || family == Family::jumps || family == Family::downwards) {
        if (std::count(at.begin(), at.end(), i) > 0) value = value > 1 ? 1 : contrast;
        if (i == 0) value = family == Family::downwards || uniform(0, 1) < 0.5 ? contrast : 1;
      } else if (family == Family::graded) {
        value = std::pow(contrast, static_cast<double>(i % (2 * tile)) / static_cast<double>(2 * tile));
      } else if (family == Family::drawn || family == Family::signs) {
        value = std::pow(contrast, uniform(0, 1));
      }
      g[static_cast<std::size_t>(i)] = value;
    }
    const double lambda = std::pow(10, uniform(0, decays ? 2 : 6)), d = 1 + std::pow(10, uniform(-4, 0));
    const bool scaled = uniform(0, 1) < 0.7, reversed = uniform(0, 1) < 0.5;
    for (Index i = 0; i < length; ++i) {
      double a = g[static_cast<std::size_t>(i)], c = advection * g[static_cast<std::size_t>(i + 1)],
             b = (a + c) * (1 + excess) + sink;
      if (family == Family::dominant) {
        a = uniform(0.01, 1);
        c = uniform(0.01, 1);
        b = d * (a + c);
      } else if (family == Family::like) {
        a = c = lambda;
        b = 2 * lambda + (uniform(0, 1) < 2 ? 1 : 0);
      }
      const bool signs = family == Family::signs || family == Family::dominant;
      if (!(signs && uniform(0, 1) < 0.5)) a = -a;
      if (!(signs && uniform(0, 1) < 0.5)) c = -c;
      if (symmetric) {
        a = -g[static_cast<std::size_t>(i)];
        c = -g[static_cast<std::size_t>(i + 1)];
        b = -(a + c) * (1 + excess) + sink;
      }
      if (reversed) std::swap(a, c);
      const double by = scaled && !symmetric ? b : 1;
      rows_.push_back({a / by, b / by, c / by});
    }
    if (reversed) std::reverse(rows_.begin(), rows_.end());
    // The number stored decides.
    for (Row& row : rows_) {
      const T a = static_cast<T>(row.lower), c = static_cast<T>(row.upper);
      T b = static_cast<T>(row.diag);
      while (static_cast<long double>(std::abs(b)) <
             std::abs(static_cast<long double>(a)) + std::abs(static_cast<long double>(c)))
        b = std::nextafter(b, std::copysign(std::numeric_limits<T>::infinity(), b));
      row = {static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)};
    }
  }
  const std::vector<Row>& rows() const { return rows_; }
  double uniform(double from, double to) { return std::uniform_real_distribution<double>(from, to)(generator_); }

 private:
  std::mt19937& generator_;
  std::vector<Row> rows_;
};

template <typename T>
class GridAttack : public testing::Test {
 protected:
  struct Found {
    double ratio = 0, error = 0, least = 1e300;
    std::vector<double> over;
    Index accepted = 0, all = 0;
  };

  static void attack(const char* what, int device, const LineSet& lines, const Plan& plan, int systems, Found& found) {
    std::mt19937 generator(kSeed);
    auto solver = make_solver<T>(device, kForGpus);
    const bool alike = plan.form == Form::shared;
    for (int s = 0; s < systems; ++s) {
      const Family family = kFamilies[static_cast<std::size_t>(s) % std::size(kFamilies)];
      Bands<T> bands(lines);
      std::vector<Row> rows;
      for (Index l = 0; l < lines.count(); ++l) {
        if (l == 0 || !alike)
          rows = HardLine<T>(family, lines.length(0), grid_tile_rows(plan), plan.method == Method::truncated_streamed,
                             plan.form == Form::symmetric, generator)
                     .rows();
        for (Index i = 0; i < lines.length(l); ++i) {
          const Index at = lines.first(l) + i * lines.row_stride();
          bands.lower()[at] = static_cast<T>(rows[static_cast<std::size_t>(i)].lower);
          bands.diag()[at] = static_cast<T>(rows[static_cast<std::size_t>(i)].diag);
          bands.upper()[at] = static_cast<T>(rows[static_cast<std::size_t>(i)].upper);
        }
      }
      bands.close_lines();
      const Survey seen = survey(lines, bands.view());
      const Column<T> column(lines, bands.view(), 0, lines.count());
      const auto bounds = bound_grid_lines(plan, lines.length(0), column.lines());
      const double free = grid_rounding_by_survey(plan, seen);
      const auto weak = certify_grid(plan, lines, bands.view(), kEps<T>, 1e300).weak;
      const double truncated = plan.method == Method::truncated_streamed ? 1 : 0;
      solver->set_up(plan, bands);
      std::vector<double> worst(static_cast<std::size_t>(lines.count()));
      std::vector<T> x(static_cast<std::size_t>(lines.extent())), y(x);
      for (int kind = 0; kind < 4; ++kind) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          const Index row = static_cast<Index>(i) / lines.row_stride();
          const double u = std::uniform_real_distribution<double>(-1, 1)(generator);
          x[i] = static_cast<T>(kind == 0   ? (row % 2 ? 1 + u / 8 : -1 + u / 8)
                                : kind == 1 ? 1 + u * 1e-3
                                : kind == 2 ? u
                                            : std::sin(0.01 * static_cast<double>(row)) + 2);
        }
        multiply(lines, bands.view(), x.data(), y.data());
        solver->apply(y.data(), x.data());
        for (Index l = 0; l < lines.count(); ++l) {
          double& w = worst[static_cast<std::size_t>(l)];
          w = std::max(w, line_rowwise_backward_error(lines, bands.view(), l, x.data(), y.data()) / kEps<T>);
        }
      }
      for (Index l = 0; l < lines.count(); ++l) {
        const double bound = bounds[static_cast<std::size_t>(l)].eps, w = worst[static_cast<std::size_t>(l)];
        if (truncated > 0 && (alike ? !weak.empty() : std::binary_search(weak.begin(), weak.end(), l))) continue;
        ++found.all;
        if (bound <= kRoundingLimit) {
          ++found.accepted;
          found.over.push_back(bound / w);
          found.error = std::max(found.error, w);
        }
        if (!(w <= bound + truncated))
          std::printf("EXCEEDED %s: family %d system %d line %d: %.3g > %.3g\n", what, static_cast<int>(family), s,
                      static_cast<int>(l), w, bound);
        if (!(w <= free + truncated))
          std::printf("SURVEY %s: family %d: %.3g > %.3g d %.4f\n", what, static_cast<int>(family), w, free,
                      seen.dominance);
        EXPECT_LE(w, bound + truncated) << what;
        found.ratio = std::max(found.ratio, w / bound);
        if (std::getenv("ATTACK_VERBOSE") && (s < 64))
          std::printf("%s f%d l%d: err %.3g bound %.3g row %ld free %.3g d-1 %.2g\n", what, (int)family, (int)l, w,
                      bound, (long)bounds[static_cast<std::size_t>(l)].row, free, seen.dominance - 1);
      }
    }
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(GridAttack, Scalars);

TYPED_TEST(GridAttack, NeverExceedsTheBound) {
  using T = TypeParam;
  const int systems = std::getenv("ATTACK") ? std::atoi(std::getenv("ATTACK")) : 16;
  struct Way {
    const char* what;
    Index length;
    GridDemand demand;
  };
  const Method exact = Method::exact_factored;
  const Way ways[] = {{"whole at once", 230, {.method = exact}},
                      {"whole in turn", 230, {.method = exact, .in_turn = true}},
                      {"streamed", 1900, {.method = exact}},
                      {"condensed", 1900, {.method = exact, .segments = true}},
                      {"condensed rows", 700, {.method = exact, .item_rows = 4, .segments = true}},
                      {"shared whole", 230, {.method = exact, .form = Form::shared}},
                      {"shared long", 900, {.method = exact, .form = Form::shared}},
                      {"shared condensed", 1900, {.method = exact, .form = Form::shared, .segments = true}},
                      {"one item", 1900, {.method = exact, .one_item = true}},
                      {"streamed", 6000, {}},
                      {"streamed 384", 13000, {.reach = 384}},
                      {"streamed symm", 13000, {.form = Form::symmetric, .reach = 384}},
                      {"shared streamed", 2100, {.form = Form::shared}}};
  const LineSet probe = LineSet::grid_axis(1, 8, 100, 1);
  on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
    const char* only = std::getenv("ATTACK_DEVICE");
    if (only && std::atoi(only) != info.index) return;
    DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
    traits.cores = 132;
    const char* way_only = std::getenv("ATTACK_WAY");
    for (const Way& way : ways) {
      if (way_only && !std::strstr(way.what, way_only)) continue;
      const LineSet lines = LineSet::grid_axis(1, 8, way.length, 1);
      const Plan plan = make_grid_plan(lines, way.demand, sizeof(T), traits);
      typename TestFixture::Found found;
      this->attack(way.what, info.index, lines, plan, systems, found);
      std::printf("segments %ld m %ld wait %d run %d\n", (long)plan.as<Beside>().segments, (long)plan.m,
                  plan.as<GridTiles>().in_flight, plan.run_tiles);
      std::sort(found.over.begin(), found.over.end());
      std::printf(
          "%-14s dev %d %s: largest error/bound %.3f; taken %ld of %ld, of these error %.3g, bound/error %.1f least "
          "%.1f median\n",
          way.what, info.index, sizeof(T) == 4 ? "float" : "double", found.ratio, (long)found.accepted, (long)found.all,
          found.error, found.over.empty() ? 0 : found.over.front(),
          found.over.empty() ? 0 : found.over[found.over.size() / 2]);
    }
  });
}

}  // namespace
}  // namespace oclspkt::test

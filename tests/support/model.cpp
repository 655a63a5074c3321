// SPDX-License-Identifier: BSD-2-Clause
#include "model.hpp"
#include "geometry.hpp"

#include <chrono>

#include "interface.hpp"
#include "oclspkt/error.hpp"
#include "spike_tips.hpp"
#include "sweep_rows.hpp"
// A family of schemes can be deleted (tests/house/deletable.py), and with it what the model knows of that family.
#if __has_include("schemes/paper/paper_form.hpp")
#define OCLSPKT_PAPER
#include "paper_lanes_model.hpp"
#include "schemes/paper/paper_form.hpp"
#endif
#if __has_include("schemes/grids/grid_plan.hpp")
#include "schemes/grids/grid_plan.hpp"
#else
namespace oclspkt {
inline Index grid_tile_rows(const Plan& plan) { return plan.m; }
inline Index grid_reach(const Plan& plan) { return plan.m; }
}  // namespace oclspkt
#endif
#if __has_include("schemes/lanes/lane_plans.hpp")
#include "schemes/lanes/lane_plans.hpp"
#else
namespace oclspkt {
struct JoinedPartitions {};
}  // namespace oclspkt
#endif

namespace oclspkt {
namespace {

/// Lines side by side by work-groups.
bool grid(const Plan& plan) { return plan.items > 0 && plan.has<Beside>(); }

/// Rows [first, end) of the glued system.
struct Segment {
  Index first, end;
};

/// Forward sweep (LU) over a segment from a known unknown above: reduced right-hand side and scaled upper band.
template <typename T>
void sweep_down(const SweepRows<T>& a, const T* y, Segment s, T x_above, T* d, T* c) {
  T d_previous = x_above, c_previous = 0;
  for (Index i = s.first; i < s.end; ++i) {
    const T r = T(1) / (a.diag(i) - a.lower(i) * c_previous);
    d[i - s.first] = d_previous = (y[a.at(i)] - coupled(a.lower(i), d_previous)) * r;
    c[i - s.first] = c_previous = a.upper(i) * r;
  }
}

/// Back-sweep of sweep_down() from a known unknown below; calls keep(row, x) for every row.
template <typename T, typename Keep>
void sweep_back(Segment s, T x_below, const T* d, const T* c, const Keep& keep) {
  T x = x_below;
  for (Index i = s.end - 1; i >= s.first; --i) {
    x = d[i - s.first] - coupled(c[i - s.first], x);
    keep(i, x);
  }
}

/// Sweep up (UL) over a segment: the tips f_t and w_t with nothing known below.
template <typename T>
void sweep_up(const SweepRows<T>& a, const T* y, Segment s, T& f_t, T& w_t) {
  f_t = w_t = 0;
  for (Index i = s.end - 1; i >= s.first; --i) {
    const T r = T(1) / (a.diag(i) - a.upper(i) * w_t);
    f_t = (y[a.at(i)] - coupled(a.upper(i), f_t)) * r;
    w_t = a.lower(i) * r;
  }
}

Segment partition_rows(const Plan& plan, Index k) { return {k * plan.m, std::min(plan.n, (k + 1) * plan.m)}; }

}  // namespace

/// One apply's view of everything; d and c hold the rows of one segment.
template <typename T>
struct ModelSolver<T>::Work {
  const Plan& plan;
  SweepRows<T> a;
  const T* y;
  T* x;
  T *d, *c;

  /// @param length  rows of the system
  void truncated_halo(Index length) {
    for (Index first = 0; first < length; first += plan.m) {
      const Segment kept{first, std::min(length, first + plan.m)};
      const Segment read{std::max<Index>(0, first - plan.halo), std::min(length, kept.end + plan.halo)};
      sweep_down(a, y, read, T(0), d, c);
      sweep_back(read, T(0), d, c, [&](Index row, T value) {
        if (row >= kept.first && row < kept.end) x[a.at(row)] = value;
      });
    }
  }

  /// Every tile from the unknown above it, which the sweep knows, and the tile below.
  void truncated_tiles() {
    const Index tiles = plan.tiles(), rows = plan.tile_rows();
    for (Index run = 0; run < plan.runs; ++run) {
      const Index begin = run * tiles / plan.runs, end = (run + 1) * tiles / plan.runs;
      T above = 0, last = 0;
      for (Index t = std::max<Index>(0, begin - 1); t < end; ++t, above = last) {
        const Segment tile{t * rows, std::min(plan.n, (t + 1) * rows)},
            read{tile.first, std::min(plan.n, (t + 2) * rows)};
        sweep_down(a, y, read, above, d, c);
        sweep_back(read, T(0), d, c, [&](Index row, T value) {
          if (row == tile.end - 1) last = value;
          if (t >= begin && row < tile.end) x[a.at(row)] = value;
        });
      }
    }
  }

  void truncated_lines(const Bands<T>& bands) {
    const LineSet& lines = bands.lines();
    const BandsView<T> all = bands.view();
    for (Index l = 0; l < lines.count(); ++l) {
      const Index length = lines.length(l);
      const auto along = [&](const T* numbers) {
        std::vector<T> line(static_cast<std::size_t>(length));
        for (Index i = 0; i < length; ++i)
          line[static_cast<std::size_t>(i)] = numbers[lines.first(l) + i * lines.row_stride()];
        return line;
      };
      const std::vector<T> lower = along(all.lower), diag = along(all.diag), upper = along(all.upper), from = along(y);
      std::vector<T> to(from.size());
      Work line{plan, SweepRows<T>({lower.data(), diag.data(), upper.data()}, length, false), from.data(), to.data(), d,
                c};
      line.truncated_halo(length);
      for (Index i = 0; i < length; ++i) x[lines.first(l) + i * lines.row_stride()] = to[static_cast<std::size_t>(i)];
    }
  }

  /// Lines side by side by stored factors, row by row: what kernels/gpu/grid_streamed.cl does without interface
  /// systems.
  void streamed_grid(const LineSet& lines, const FactorsView<T>& f) {
    const Index length = lines.length(0), tile = grid_tile_rows(plan), reach = grid_reach(plan);
    for (Index l = 0; l < lines.count(); ++l) {
      const auto at = [&](Index i) { return lines.first(l) + i * lines.row_stride(); };
      for (Index first = 0; first < length; first += plan.m) {
        const Index end = std::min(length, first + plan.m);
        std::vector<T> swept(static_cast<std::size_t>(length));
        T above = 0;
        for (Index i = std::max<Index>(0, first - plan.halo); i < std::min(length, end + reach); ++i) {
          swept[static_cast<std::size_t>(i)] = above = y[at(i)] - coupled(f.multiplier[at(i)], above);
        }
        for (Index top = first; top < end; top += tile) {
          T below = 0;
          for (Index i = std::min(length, top + tile + reach) - 1; i >= top; --i) {
            below = swept[static_cast<std::size_t>(i)] * f.reciprocal[at(i)] - coupled(f.coupling[at(i)], below);
            if (i < std::min(end, top + tile)) x[at(i)] = below;
          }
        }
      }
    }
  }

  /// The halves of partitions that a sweep in one direction gives in the paper's form: `a` goes down for bottom halves,
  /// up for top halves. Partition k in the order of the sweep is swept from its first row and substituted from the
  /// unknown behind its last one, which the 2x2 system with the next partition gives.
  void truncated_spike(const BandsView<T>& bands, bool up) {
    a = SweepRows<T>(bands, plan.n, up);
    const Index p = plan.partitions();
    const auto rows = [&](Index k) {
      const Segment s = partition_rows(plan, up ? p - 1 - k : k);
      return up ? Segment{plan.n - s.end, plan.n - s.first} : s;
    };
    for (Index k = 0; k < p; ++k) {
      const Segment own = rows(k);
      sweep_down(a, y, own, T(0), d, c);
      T x_behind = 0;
      if (k + 1 < p) {
        T f, w, x_last;
        sweep_up(a, y, rows(k + 1), f, w);
        solve_interface(d[own.end - own.first - 1], c[own.end - own.first - 1], f, w, x_last, x_behind);
      }
      sweep_back(own, x_behind, d, c, [&](Index i, T value) {
        const Index row = a.at(i);
        if ((row % plan.m < plan.m / 2) == up) x[row] = value;
      });
    }
  }
};

template <typename T>
void ModelSolver<T>::set_up(const Plan& plan, const Bands<T>& bands) {
  plan_ = plan;
  bands_ = &bands;
  if (plan.has<StoredFactors>()) stored_.set_up(plan, bands);
  if (grid(plan)) grid_factors_.factor(bands.lines(), bands.view(), Form::general);
  scratch_.resize(plan.has<JoinedPartitions>() ? 4 * plan.tile_rows() : 2 * (plan.m + 2 * plan.halo));
}

template <typename T>
void ModelSolver<T>::solve(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  T* const scratch = scratch_.data();
  Work work{plan_, SweepRows<T>(bands_->view(), plan_.n, false), y, x, scratch, scratch + scratch_.size() / 2};
  switch (plan_.method) {
    case Method::truncated_halo:
#ifdef OCLSPKT_PAPER
      if (plan_.has<PaperLanes>()) {
        test::solve_as_paper_lanes(plan_, bands_->view(), y, x);
        break;
      }
      if (plan_.has<PaperForm>()) {
        for (const bool up : {false, true}) work.truncated_spike(bands_->view(), up);
        break;
      }
#endif
      if (plan_.has<JoinedPartitions>()) {
        work.truncated_tiles();
      } else if (plan_.has<Beside>() && plan_.as<Beside>().segments > 0) {
        work.truncated_lines(*bands_);
      } else {
        work.truncated_halo(plan_.n);
      }
      break;
    case Method::truncated_streamed:
      if (grid(plan_)) {
        work.streamed_grid(bands_->lines(), grid_factors_.view());
      } else {
        stored_.apply(y, x);
      }
      break;
    default:
      throw InvalidInput(std::string("the model does not carry method ") + name(plan_.method));
  }
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

bool model_carries(const Plan& plan) {
#ifdef OCLSPKT_PAPER
  if (plan.has<PaperForm>()) return true;
#endif
  if (grid(plan)) return plan.method == Method::truncated_streamed && plan.form != Form::shared;
  if (plan.items > 0) return false;
  if (plan.method != Method::truncated_streamed) return plan.method == Method::truncated_halo;
  return plan.has<StoredFactors>() && !plan.as<StoredFactors>().corrects;
}

template <typename T>
const Factors<T>* ModelSolver<T>::factors() const {
  const bool stored = plan_.has<StoredFactors>();
  return stored ? &stored_.factors() : nullptr;
}

template <typename T>
std::int64_t ModelSolver<T>::bytes() const {
  return scratch_.bytes() + stored_.bytes();
}

template class ModelSolver<float>;
template class ModelSolver<double>;

}  // namespace oclspkt

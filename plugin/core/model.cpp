// SPDX-License-Identifier: BSD-2-Clause
#include "model.hpp"

#include <algorithm>
#include <chrono>

#include "interface.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// Rows [first, end) of the glued system.
struct Segment {
  Index first, end;
};

/// Forward sweep (LU) over a segment from a known unknown above: reduced right-hand side and scaled upper band.
template <typename T>
void sweep_down(const BandsView<T>& a, const T* y, Segment s, T x_above, T* d, T* c) {
  T d_previous = x_above, c_previous = 0;
  for (Index i = s.first; i < s.end; ++i) {
    const T r = T(1) / (a.diag[i] - a.lower[i] * c_previous);
    d[i - s.first] = d_previous = (y[i] - coupled(a.lower[i], d_previous)) * r;
    c[i - s.first] = c_previous = a.upper[i] * r;
  }
}

template <typename T>
ExcessRow<T> row_at(const BandsView<T>& a, const T* y, Index i) {
  return make_row(a.lower[i], a.diag[i], a.upper[i], y[i]);
}

/// sweep_down() that carries the excess. The second pass of the exact method must agree with the first to a few
/// roundings of every unknown, however ill-conditioned the segment is by itself: plain pivots do not (random rows with
/// row sums 0, 496 a segment: backward error 1e12 eps).
template <typename T>
void sweep_down_exact(const BandsView<T>& a, const T* y, Segment s, T x_above, T* d, T* c) {
  ExcessRow<T> row;
  T r = 0;
  for (Index i = s.first; i < s.end; ++i) {
    const ExcessRow<T> next = row_at(a, y, i);
    if (i == s.first) {
      row = next;
      row.f -= coupled(row.lower, x_above);  // the coupling itself stays: it is part of every diagonal further down
    } else {
      row = eliminate_above(row, next.lower * r, next);
    }
    row = row.as_pivot();
    r = T(1) / row.diag();
    d[i - s.first] = row.f * r;
    c[i - s.first] = row.upper * r;
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
void sweep_up(const BandsView<T>& a, const T* y, Segment s, T& f_t, T& w_t) {
  f_t = w_t = 0;
  for (Index i = s.end - 1; i >= s.first; --i) {
    const T r = T(1) / (a.diag[i] - a.upper[i] * w_t);
    f_t = (y[i] - coupled(a.upper[i], f_t)) * r;
    w_t = a.lower[i] * r;
  }
}

Segment partition_rows(const Plan& plan, Index k) { return {k * plan.m, std::min(plan.n, (k + 1) * plan.m)}; }

Segment with_halo(const Plan& plan, Segment s) {
  return {std::max<Index>(0, s.first - plan.halo), std::min(plan.n, s.end + plan.halo)};
}

}  // namespace

/// One apply's view of everything; d and c hold the rows of one segment.
template <typename T>
struct ModelSolver<T>::Work {
  const Plan& plan;
  BandsView<T> a;
  const T* y;
  T* x;
  T *d, *c;

  void truncated_halo() {
    for (Index k = 0; k < plan.partitions(); ++k) {
      const Segment kept = partition_rows(plan, k), read = with_halo(plan, kept);
      sweep_down(a, y, read, T(0), d, c);
      sweep_back(read, T(0), d, c, [&](Index row, T value) {
        if (row >= kept.first && row < kept.end) x[row] = value;
      });
    }
  }

  /// Both sides of the interface above tile k when a run starts there: the tile above is swept alone.
  void start_run(Index k, T& d_bottom, T& c_bottom) {
    const Segment above = partition_rows(plan, k - 1);
    sweep_down(a, y, above, T(0), d, c);
    d_bottom = d[above.end - above.first - 1];
    c_bottom = c[above.end - above.first - 1];
  }

  /// Walk tiles [begin, end): sweep tile k up, settle its interface with tile k-1 (swept down already), finish k-1.
  /// d and c keep the tile that is being finished.
  void run_of_tiles(Index begin, Index end) {
    T x_above = 0;  // the settled unknown above the run
    if (begin > 0) {
      T d_bottom, c_bottom, f_t, w_t, x_top;
      start_run(begin, d_bottom, c_bottom);
      sweep_up(a, y, partition_rows(plan, begin), f_t, w_t);
      settle_interface(d_bottom, c_bottom, f_t, w_t, x_above, x_top);
    }
    for (Index k = begin; k < end; ++k) {
      const Segment tile = partition_rows(plan, k);
      sweep_down(a, y, tile, x_above, d, c);
      T x_below = 0, x_bottom = d[tile.end - tile.first - 1];
      if (k + 1 < plan.partitions()) {
        T f_t, w_t;
        sweep_up(a, y, partition_rows(plan, k + 1), f_t, w_t);
        settle_interface(x_bottom, c[tile.end - tile.first - 1], f_t, w_t, x_bottom, x_below);
      }
      sweep_back(tile, x_below, d, c, [&](Index row, T value) { x[row] = value; });
      x_above = x[tile.end - 1];
    }
  }

  void truncated_streamed() {
    const Index tiles = plan.partitions(), runs = std::min<Index>(plan.runs, tiles);
    for (Index r = 0; r < runs; ++r) run_of_tiles(r * tiles / runs, (r + 1) * tiles / runs);
  }

  void exact_twopass(SchurSegment<T>* segments, ReducedSystem<T>& reduced, T* x_top, T* x_bottom) {
    const Index p = plan.partitions();
    for (Index k = 0; k < p; ++k) {
      const Segment s = partition_rows(plan, k);
      segments[k] = begin_segment(row_at(a, y, s.first));
      for (Index i = s.first + 1; i < s.end; ++i) append_row(segments[k], row_at(a, y, i));
    }
    reduced.solve(segments, x_top, x_bottom);
    for (Index k = 0; k < p; ++k) {
      const Segment s = partition_rows(plan, k);
      sweep_down_exact(a, y, s, k > 0 ? x_bottom[k - 1] : T(0), d, c);
      sweep_back(s, k + 1 < p ? x_top[k + 1] : T(0), d, c, [&](Index row, T value) { x[row] = value; });
    }
  }
};

template <typename T>
void ModelSolver<T>::set_up(const Plan& plan, const Bands<T>& bands) {
  if (!bands.lines().contiguous()) {
    throw InvalidInput(std::string("method ") + name(plan.method) + " takes lines laid end to end, not " +
                       bands.lines().describe() + ": use method auto, exact-factored or pivot");
  }
  plan_ = plan;
  bands_ = &bands;
  const bool exact = plan.method == Method::exact_twopass;
  scratch_.resize(2 * (plan.m + 2 * plan.halo));
  segments_.resize(exact ? static_cast<std::size_t>(plan.partitions()) : 0);
  reduced_.resize(exact ? plan.partitions() : 0);
  outer_.resize(exact ? 2 * plan.partitions() : 0);
}

template <typename T>
void ModelSolver<T>::apply(const T* y, T* x) {
  const auto start = std::chrono::steady_clock::now();
  T* const scratch = scratch_.data();
  Work work{plan_, bands_->view(), y, x, scratch, scratch + scratch_.size() / 2};
  switch (plan_.method) {
    case Method::truncated_halo:
      work.truncated_halo();
      break;
    case Method::truncated_streamed:
      work.truncated_streamed();
      break;
    case Method::exact_twopass:
      work.exact_twopass(segments_.data(), reduced_, outer_.data(), outer_.data() + plan_.partitions());
      break;
    default:
      throw InvalidInput(std::string("the model does not carry method ") + name(plan_.method));
  }
  times_.kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++times_.applies;
}

template <typename T>
std::int64_t ModelSolver<T>::bytes() const {
  return scratch_.bytes() + outer_.bytes() + static_cast<std::int64_t>(segments_.capacity() * sizeof(SchurSegment<T>));
}

template class ModelSolver<float>;
template class ModelSolver<double>;

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// The paper's form for CPUs in plain C++ (kernels/cpu/paper_lanes_*.cl), operation by operation: what the kernels are
// compared with, and what operations and words are counted of. A number is one that counts, too.
#pragma once

#include <utility>
#include <vector>

#include "oclspkt/bands.hpp"
#include "schemes/paper/paper_form.hpp"

namespace oclspkt::test {

/// Words that were read and written.
struct Traffic {
  Index reads = 0, writes = 0;
};

/// Numbers in global memory.
template <typename T>
class GlobalArray {
 public:
  GlobalArray(Index size, T value, Traffic& traffic)
      : numbers_(static_cast<std::size_t>(size), value), traffic_(&traffic) {}
  T get(Index i) const { return ++traffic_->reads, numbers_[static_cast<std::size_t>(i)]; }
  void set(Index i, T value) { ++traffic_->writes, numbers_[static_cast<std::size_t>(i)] = value; }

 private:
  std::vector<T> numbers_;
  Traffic* traffic_;
};

template <typename T>
bool is_zero(const T& number) {
  return number == T(0);
}

/// y less coupling * unknown, whatever the unknown is where the coupling is 0.
template <typename T>
T take_off(T y, T coupling, T unknown) {
  return is_zero(coupling) ? y : y - coupling * unknown;
}

/// What is marshalled, partition by partition; and what both kernels leave.
template <typename T>
struct PaperLanesArrays {
  PaperLanesArrays(const Plan& plan, Traffic& t)
      : rows(plan.partitions() * plan.m),
        lower(rows, T(0), t),
        diag(rows, T(1), t),
        upper(rows, T(0), t),
        y(rows, T(0), t),
        reciprocals(rows, T(0), t),
        left(rows, T(0), t),
        x(rows, T(0), t),
        v(plan.partitions() + 2, T(0), t),
        bottom(plan.partitions() + 2, T(0), t),
        w(plan.partitions() + 2, T(0), t),
        top(plan.partitions() + 2, T(0), t) {}
  Index rows;
  GlobalArray<T> lower, diag, upper, y, reciprocals, left, x, v, bottom, w, top;
};

/// Sweep rows [first, end), or from the last to the first, and keep what is left of rows [kept, kept_end). @return the
/// coupling and the right-hand side of the last one, divided by its pivot
template <typename T>
std::pair<T, T> sweep_part(PaperLanesArrays<T>& a, Index first, Index end, bool up, Index kept, Index kept_end) {
  const GlobalArray<T>&before = up ? a.upper : a.lower, &behind = up ? a.lower : a.upper;
  T r = T(0), f = T(0), far = T(0);
  for (Index step = 0; step < end - first; ++step) {
    const Index i = up ? end - 1 - step : first + step;
    if (step == 0) {
      r = T(1) / a.diag.get(i);
      f = a.y.get(i);
    } else {
      const T t = before.get(i) * r;
      r = T(1) / (a.diag.get(i) - t * far);
      f = take_off(a.y.get(i), t, f);
    }
    far = behind.get(i);
    if (i < kept || i >= kept_end) continue;
    a.reciprocals.set(i, r);
    a.left.set(i, f);
  }
  return {far * r, f * r};
}

/// paper_lanes_spkfact
template <typename T>
void spkfact(const Plan& plan, PaperLanesArrays<T>& a) {
  const PaperLanes& form = plan.as<PaperLanes>();
  for (Index k = 0; k < plan.partitions(); ++k) {
    const Index first = k * plan.m, meeting = first + form.meeting(), end = first + plan.m;
    const auto [w, top] = sweep_part(a, first, first + form.swept_up(), true, first, meeting);
    a.w.set(k + 1, w);
    a.top.set(k + 1, top);
    const auto [v, bottom] = sweep_part(a, first + form.swept_down_from(), end, false, meeting, end);
    a.v.set(k + 1, v);
    a.bottom.set(k + 1, bottom);
  }
}

/// paper_lanes_spktrrec
template <typename T>
void spktrrec(const Plan& plan, PaperLanesArrays<T>& a) {
  const auto unknown = [](T f, T far, T other_f, T other_far) {
    return take_off(f, far, other_f) * (T(1) / (T(1) - far * other_far));
  };
  for (Index k = 0; k < plan.partitions(); ++k) {
    const Index first = k * plan.m, meeting = first + plan.as<PaperLanes>().meeting(), tip = k + 1;
    T value = unknown(a.bottom.get(tip), a.v.get(tip), a.top.get(tip + 1), a.w.get(tip + 1));
    a.x.set(first + plan.m - 1, value);
    for (Index i = first + plan.m - 2; i >= meeting; --i) {
      value = take_off(a.left.get(i), a.upper.get(i), value) * a.reciprocals.get(i);
      a.x.set(i, value);
    }
    value = unknown(a.top.get(tip), a.w.get(tip), a.bottom.get(tip - 1), a.v.get(tip - 1));
    a.x.set(first, value);
    for (Index i = first + 1; i < meeting; ++i) {
      value = take_off(a.left.get(i), a.lower.get(i), value) * a.reciprocals.get(i);
      a.x.set(i, value);
    }
  }
}

/// Solve a closed system as a plan of that form says.
template <typename T>
void solve_as_paper_lanes(const Plan& plan, const BandsView<T>& bands, const T* y, T* x) {
  Traffic traffic;
  PaperLanesArrays<T> a(plan, traffic);
  for (Index i = 0; i < plan.n; ++i) {
    a.lower.set(i, i > 0 ? bands.lower[i] : T(0));
    a.diag.set(i, bands.diag[i]);
    a.upper.set(i, i + 1 < plan.n ? bands.upper[i] : T(0));
    a.y.set(i, y[i]);
  }
  spkfact(plan, a);
  spktrrec(plan, a);
  for (Index i = 0; i < plan.n; ++i) x[i] = a.x.get(i);
}

}  // namespace oclspkt::test

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "cut_plan.hpp"
#include "enqueued.hpp"
#include "fpga_operations.hpp"
#include "matrix_algebra.hpp"
#include "model.hpp"
#include "pipeline.hpp"
#include "row_error.hpp"
#include "scheme_questions.hpp"

namespace oclspkt::test {

/// Places between lines hold this.
inline constexpr double kBetween = 77;

inline bool has_number(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// What the model of boards takes the kernels of a scheme for; none for others.
inline std::optional<FpgaKernel> fpga_kernel(const Scheme& scheme) {
  static const std::map<std::string, FpgaKernel> kKernels{{"fpga-spktrunc", FpgaKernel::spktrunc},
                                                          {"fpga-spkboth", FpgaKernel::spkboth},
                                                          {"fpga-spkjac", FpgaKernel::spkjac},
                                                          {"fpga-tdma", FpgaKernel::tdma_stored},
                                                          {"fpga-batch", FpgaKernel::tdma_batch}};
  const auto found = kKernels.find(scheme.name());
  return found != kKernels.end() ? std::optional(found->second) : std::nullopt;
}

/// Lines in whole blocks of m rows, with rows of the identity behind each, by that model. @return shape [y]
template <typename T>
std::vector<T> solve_by_fpga_model(FpgaKernel kernel, Index m, const Bands<T>& bands, const std::vector<T>& y) {
  const LineSet& lines = bands.lines();
  std::vector<T> x(y.size());
  for (Index l = 0; l < lines.count(); ++l) {
    const auto at = [&](Index i) { return static_cast<std::size_t>(lines.first(l) + i * lines.row_stride()); };
    const auto line_of = [&](const T* from, T behind) {
      std::vector<T> to(static_cast<std::size_t>(round_up(lines.length(l), m)), behind);
      for (Index i = 0; i < lines.length(l); ++i) to[static_cast<std::size_t>(i)] = from[at(i)];
      return to;
    };
    const BandsView<T> b = bands.view();
    const std::vector<T> solved = run_fpga_kernel<T>(
        kernel, {line_of(b.lower, 0), line_of(b.diag, 1), line_of(b.upper, 0), line_of(y.data(), 0)}, m);
    for (Index i = 0; i < lines.length(l); ++i) x[at(i)] = solved[static_cast<std::size_t>(i)];
  }
  return x;
}

/// Solvers of one device that take a scheme's plans in turn.
template <typename T>
struct Solvers {
  std::unique_ptr<DeviceSolver<T>> in_place, copies, on_demand;
  Solvers(int device, const Manner& manner)
      : in_place(make_solver<T>(device, manner.settings())), copies(make_solver<T>(device, manner.settings(true))) {
    DeviceSettings as_of_large_vectors = manner.settings();
    as_of_large_vectors.nan_safe_bytes = 0;
    if (manner.variant == Variant::gpu) on_demand = make_solver<T>(device, as_of_large_vectors);
  }
};

template <typename T>
std::vector<T> answer_of(DeviceSolver<T>& solver, const std::vector<T>& y) {
  std::vector<T> x(y.size(), T(kBetween));
  solver.apply(y.data(), x.data());
  return x;
}

/// One plan for a system, on one device.
template <typename T>
class Examined {
 public:
  Examined(const DeviceInfo& info, const Scheme& scheme, const Manner& manner, const System<T>& system,
           const Proposal& proposal)
      : info_(info), scheme_(scheme), manner_(manner), system_(system), proposal_(proposal), plan_(proposal.plan) {}

  /// @return false where the factors, as they were made, may round too much: such a plan is not taken
  bool solve(DeviceSolver<T>& solver) {
    solver.set_up(plan_, system_.bands);
    const double planned = proposal_.rounding->eps, made = solver.rounding();
    const bool as_made = made != 0 && (!scheme_.nature().solves_interfaces || planned < made);
    const double rounding = as_made ? made : planned;
    bound_ = rounding * kEps<T> + 2 * proposal_.certificate + (plan_.narrow ? 10 * kEps<float> : 0);
    if (!(rounding <= manner_.most_rounding)) return false;
    x_ = answer_of(solver, system_.y);
    return true;
  }

  /// Every row is as right as the plan promises, for a random right-hand side and for a random solution, which hides
  /// nothing behind its size; places between lines keep what they held.
  void expect_right(DeviceSolver<T>& solver) const {
    const LineSet& lines = system_.lines();
    EXPECT_LE(row_error(system_.bands, x_, system_.y).all, bound_) << "of a random right-hand side";
    if (system_.seen.dominance > 1.01) {
      EXPECT_LE(truncated(), condition() * (bound_ + 4 * kEps<T>)) << "from LAPACK";
    }
    expect_found(solver, system_.y, "random");
    for (const Index i : gaps(lines)) ASSERT_EQ(x_[static_cast<std::size_t>(i)], T(kBetween)) << "place " << i;
  }
  /// So is every row of solutions that hurt.
  void expect_right_for_hard_solutions(DeviceSolver<T>& solver) const {
    std::vector<T> ones(system_.y.size(), T(1)), alternating = ones;
    for (Index i = 0; i < system_.lines().extent(); ++i) {
      if (i / system_.lines().row_stride() % 2 != 0) alternating[static_cast<std::size_t>(i)] = -1;
    }
    expect_found(solver, ones, "constant");
    expect_found(solver, alternating, "alternating");
  }

  /// A second apply, solvers that took other plans before and queues of the caller give the same bits; the device takes
  /// time and memory.
  void expect_same_bits(DeviceSolver<T>& solver, Solvers<T>& in_turn) const {
    EXPECT_EQ(answer_of(solver, system_.y), x_) << "a second time";
    EXPECT_GT(solver.times().kernel_seconds, 0);
    EXPECT_GT(solver.bytes(), 0);
    in_turn.in_place->set_up(plan_, system_.bands);
    EXPECT_EQ(answer_of(*in_turn.in_place, system_.y), x_) << "after other plans";
    Enqueued<T> enqueued(*in_turn.in_place, system_.lines().extent());
    EXPECT_EQ(enqueued.solve({system_.y}, T(kBetween)).front(), x_) << "in a queue of the caller";
  }

  /// Vectors that are copied move once each way.
  void expect_moved_once(DeviceSolver<T>& copies) const {
    copies.set_up(plan_, system_.bands);
    const Times before = copies.times();
    expect_bits_of_the_whole(answer_of(copies, system_.y), "through copies");
    const auto bytes = static_cast<std::int64_t>(x_.size() * sizeof(T));
    const std::int64_t up = copies.times().bytes_to_device - before.bytes_to_device;
    // Places between lines come up and go down again, so that they keep what they hold.
    EXPECT_GE(up, bytes);
    EXPECT_LE(up, bytes * (gaps(system_.lines()).empty() ? 1 : 2));
    EXPECT_EQ(copies.times().bytes_from_device - before.bytes_from_device, bytes);
  }

  /// Vectors may begin anywhere; nothing is written beside them.
  void expect_anywhere(DeviceSolver<T>& solver) const {
    const T beside = 7;
    const Index n = system_.lines().extent(), room = 16;
    for (const Index offset : {1, 2, 15}) {
      AlignedArray<T> y(n + room), x(n + room);
      std::fill_n(x.data(), n + room, beside);
      std::copy(system_.y.begin(), system_.y.end(), y.data() + offset);
      std::fill_n(x.data() + offset, n, T(kBetween));
      solver.apply(y.data() + offset, x.data() + offset);
      EXPECT_TRUE(std::equal(x_.begin(), x_.end(), x.data() + offset)) << "offset " << offset;
      for (Index i = 0; i < n + room; ++i) {
        const bool of_vector = i >= offset && i < offset + n;
        ASSERT_TRUE(of_vector || x[i] == beside) << "wrote beside x, offset " << offset;
      }
    }
  }

  /// NaN and infinities stay in their line, wherever they are, and do not show in the next apply.
  void expect_nan_in_its_line(DeviceSolver<T>& solver) const {
    const LineSet& lines = system_.lines();
    if (lines.count() < 3) return;
    const Index broken = lines.count() / 2, length = lines.length(broken);
    const auto place = [&](Index row) {
      return static_cast<std::size_t>(lines.first(broken) + row * lines.row_stride());
    };
    const std::vector<T> healthy = answer_of(solver, system_.y);
    T poison = std::numeric_limits<T>::quiet_NaN();
    for (const Index row : {Index{0}, length / 2, length - 1}) {
      std::vector<T> y = system_.y;
      y[place(row)] = poison;
      std::vector<T> x = answer_of(solver, y);
      EXPECT_FALSE(std::isfinite(x[place(row)])) << poison << " in row " << row;
      for (Index i = 0; i < length; ++i) x[place(i)] = healthy[place(i)];
      EXPECT_LE(relative_difference(x, healthy), 16 * kEps<T>) << poison << " in row " << row;
      EXPECT_EQ(answer_of(solver, system_.y), healthy) << poison << " shows in the next apply";
      poison = std::numeric_limits<T>::infinity();
    }
  }

  /// Nor do they where applies wait in a queue of the caller.
  void expect_nan_in_its_line_in_a_queue(DeviceSolver<T>& solver) const {
    const std::vector<T>& healthy = system_.y;
    std::vector<T> poisoned = healthy, infinite = healthy;
    for (const Index line : {Index{0}, system_.lines().count() / 2}) {
      const auto first = static_cast<std::size_t>(system_.lines().first(line));
      poisoned[first] = std::numeric_limits<T>::quiet_NaN();
      infinite[first] = std::numeric_limits<T>::infinity();
    }
    const auto x = Enqueued<T>(solver, system_.lines().extent())
                       .solve({healthy, poisoned, healthy, infinite, healthy}, T(kBetween));
    EXPECT_EQ(x[0], answer_of(solver, healthy));
    EXPECT_TRUE(same_bits(x[1], answer_of(solver, poisoned))) << "with NaN";
    EXPECT_TRUE(same_bits(x[3], answer_of(solver, infinite))) << "with an infinity";
    for (const int later : {2, 4}) EXPECT_EQ(x[later], x[0]) << "what the apply before met still shows";
  }

  /// Chunks give the bits of the whole.
  void expect_chunks_alike(const Solvers<T>& solvers) const {
    for (const int parts : {2, 3, 7}) {
      Plan plan = plan_;
      if (is_whole(plan) || !cut_into(plan, system_.lines(), parts)) continue;
      DeviceSolver<T>& solver = parts == 3 ? *solvers.in_place : *solvers.copies;
      solver.set_up(plan, system_.bands);
      expect_bits_of_the_whole(answer_of(solver, system_.y), std::to_string(parts) + " chunks");
    }
  }

  /// The plan truncates where the model does. @return false if no model carries it
  bool expect_like_model() const {
    const std::optional<FpgaKernel> kernel = fpga_kernel(scheme_);
    if (!kernel && !model_carries(plan_)) return false;
    constexpr Index kBlock = 32;  // where lines take turns, blocks do not matter
    const std::vector<T> expected =
        kernel ? solve_by_fpga_model(*kernel, *kernel == FpgaKernel::tdma_batch ? kBlock : plan_.m, system_.bands,
                                     system_.y)
               : solve_by_model(plan_, system_.bands, system_.y);
    EXPECT_LE(relative_difference(without_gaps(system_.lines(), x_, expected), expected), 8 * condition() * kEps<T>)
        << "from the model";
    return true;
  }
  /// How far the answer is from what truncates nothing.
  double truncated() const { return relative_difference(without_gaps(system_.lines(), x_, system_.x), system_.x); }

  /// Bands of other lines are refused, with cause and cure.
  void expect_refusal_of_other_lines(DeviceSolver<T>& solver) const {
    const LineSet& lines = system_.lines();
    const LineSet longer =
        lines.contiguous() ? LineSet::one(lines.rows() + 1) : LineSet::grid_axis(1, 3, lines.length(0) + 1, 2);
    const Bands<T> bands = asked_matrix<T>(AskedMatrix::random, longer);
    expect_refusal([&] { solver.set_up(plan_, bands); },
                   {": make the plan for these lines", scheme_.name(), longer.describe(), std::to_string(plan_.n)});
  }

  /// Kernels of another kind do not take the plans of work-groups.
  void expect_refusal_by_other_kernels() const {
    if (plan_.items == 0) return;
    const auto by_lanes = make_solver<T>(info_.index, {.variant = Variant::cpu});
    EXPECT_THROW(by_lanes->set_up(plan_, system_.bands), InvalidInput);
  }

 private:
  /// A solution is found from its right-hand side.
  void expect_found(DeviceSolver<T>& solver, const std::vector<T>& x, const char* what) const {
    const std::vector<T> y = product(system_.bands, x);
    EXPECT_LE(row_error(system_.bands, answer_of(solver, y), y).all, bound_) << "of a solution that is " << what;
  }
  /// What the norm of the inverse multiplies errors of rows by, at most.
  double condition() const {
    const double d = system_.seen.dominance;
    return std::isinf(d) ? 1 : (d + 1) / (d - 1);
  }
  void expect_bits_of_the_whole(const std::vector<T>& x, const std::string& what) const {
    // Partitions of stored factors are truncated a tile away, also at a cut, where a tile is enough for the
    // certificate.
    const bool same_bits = !plan_.has<StoredFactors>() || plan_.items > 0 || is_whole(plan_);
    if (same_bits) {
      EXPECT_EQ(x, x_) << what;
    } else {
      EXPECT_LE(relative_difference(x, x_), 16 * kEps<T>) << what;
      EXPECT_LE(row_error(system_.bands, x, system_.y).all, bound_) << what;
    }
  }

  const DeviceInfo& info_;
  const Scheme& scheme_;
  const Manner& manner_;
  const System<T>& system_;
  const Proposal& proposal_;
  const Plan& plan_;
  std::vector<T> x_;
  double bound_ = 0;
};

}  // namespace oclspkt::test

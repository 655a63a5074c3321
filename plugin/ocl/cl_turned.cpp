// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does by stored factors for lines laid end to end only.
#include <algorithm>

#include "cl_solver.hpp"
#include "fault.hpp"

namespace oclspkt::ocl {

/// Make factors, or room for those that the device makes; resident_ is then where they stand.
template <typename T>
void ClSolver<T>::store_factors(State& s, const BandsView<T>& bands) {
  s.bands.clear();  // they may wrap memory that the factors are about to give back
  if (plan_.tiled()) {
    store_tile_factors(bands);
    return;
  }
  if (plan_.grid_folds()) {
    store_grid_factors(bands);
    return;
  }
  if (!plan_.stored) {
    factors_.factor(lines_, bands, plan_.form, Order::down, 0, plan_.narrow);
    resident_ = plan_.narrow ? resident(factors_.narrow_view()) : resident(factors_.view());
    return;
  }
  if (makes_factors()) {
    turned_.reserve(plan_);
  } else if (plan_.form == Form::shared && plan_.shared.head > 0) {
    const Bands<T> kept = kept_rows(plan_, bands);
    factors_.factor(kept.lines(), kept.view(), Form::general);
    turned_.turn(plan_, factors_.view(), kept.lines().rows());
  } else {
    const Order order = plan_.twisted() ? Order::towards : Order::down;
    factors_.factor(lines_, bands, plan_.form, order, plan_.meeting * plan_.tile_rows());
    turned_.turn(plan_, factors_.view(), plan_.form == Form::shared ? lines_.length(0) : plan_.n);
  }
  factors_.release();
  resident_ = plan_.narrow ? resident(turned_.narrow_view()) : resident(turned_.view());
}

/// Give back what the device has now.
template <typename T>
void ClSolver<T>::give_back_what_is_resident() {
  factors_.release();
  turned_ = {};
  for (AlignedArray<float>& array : narrow_) array = {};
  line_factors_.factors = {};
  resident_ = {.word = resident_.word};
}

/// Let the device make the factors, in place.
template <typename T>
void ClSolver<T>::make_factors(State& s, const Waiter& waiter, const BandsView<T>& bands) {
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes);
  const auto factors = static_cast<std::size_t>(resident_.word * plan_.lanes);
  Kernel& kernel = s.turned_factor[plan_.narrow];
  for (std::size_t i = 0; i < layout_.chunks.size(); ++i) {
    const Chunk &chunk = layout_.chunks[i], &places = layout_.band_chunks[i];
    const std::int64_t array = chunk.rows() * static_cast<Index>(word), factor = places.rows() * resident_.word;
    const cl::Buffer lower = wrap(*s.device, bands.lower + chunk.first, chunk.rows()),
                     diag = wrap(*s.device, bands.diag + chunk.first, chunk.rows()),
                     upper = wrap(*s.device, bands.upper + chunk.first, chunk.rows());
    const ChunkBands& made = s.bands[i];
    set_arguments(*s.device, kernel, lower, diag, upper, made.lower, made.diag, made.upper, s.top_buffer,
                  s.bottom_buffer, s.scratch, cl_long{plan_.n}, cl_long{chunk.first},
                  cl_long{places.first / plan_.factor_words()}, cl_long{chunk.tile_begin}, cl_long{chunk.tile_end},
                  static_cast<cl_int>(plan_.m), static_cast<cl_int>(plan_.lead_in), static_cast<cl_int>(plan_.passes()),
                  static_cast<cl_int>(plan_.couplings_serve()));
    waiter.wait(launch(*s.device, kernel, {layout_.runs},
                       {{"lower", &lower, array, word},
                        {"diag", &diag, array, word},
                        {"upper", &upper, array, word},
                        {"multipliers", &made.lower, factor, factors},
                        {"reciprocals", &made.diag, factor, factors},
                        {"couplings", &made.upper, factor, factors},
                        {"down", &s.top_buffer, layout_.outer_bytes, word},
                        {"up", &s.bottom_buffer, layout_.outer_bytes, word},
                        {"scratch", &s.scratch, layout_.scratch_bytes, vector}}));
  }
}

template <typename T>
cl::Event ClSolver<T>::launch_turned(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                                     const Chunk& chunk) {
  const std::size_t word = sizeof(T), vector = word * static_cast<std::size_t>(plan_.lanes);
  const Chunk places = places_of_factors(plan_, chunk);
  const std::int64_t array = chunk.rows() * static_cast<Index>(word);
  const std::int64_t factor = places.rows() * resident_.word;
  const auto factors_vector = static_cast<std::size_t>(resident_.word * plan_.lanes);
  Kernel& kernel = s.turned_streamed[plan_.narrow][plan_.corrects];
  const Index all = plan_.form == Form::shared ? plan_.shared.all : plan_.tiles();
  const Index head = plan_.form == Form::shared ? plan_.shared.head : all;
  set_arguments(*s.device, kernel, factors.lower, factors.diag, factors.upper, s.top_buffer, s.bottom_buffer, y, x,
                s.scratch, cl_long{plan_.n}, cl_long{chunk.first}, cl_long{places.first / plan_.factor_words()},
                cl_long{chunk.tile_begin}, cl_long{chunk.tile_end}, static_cast<cl_int>(plan_.m),
                static_cast<cl_int>(plan_.reach), static_cast<cl_int>(layout_.slot), cl_long{head},
                cl_long{plan_.shared.period}, cl_long{plan_.shared.tail}, cl_long{all},
                static_cast<cl_int>(plan_.couplings_serve()));
  return launch(*s.device, kernel, {layout_.runs},
                {{"multiplier", &factors.lower, factor, factors_vector},
                 {"reciprocal", &factors.diag, factor, factors_vector},
                 {"coupling", &factors.upper, factor, factors_vector},
                 {"down", &s.top_buffer, layout_.outer_bytes, word},
                 {"up", &s.bottom_buffer, layout_.outer_bytes, word},
                 {"y", &y, array, word},
                 {"x", &x, array, word},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

#define OCLSPKT_INSTANTIATE(T)                                                                                   \
  template void ClSolver<T>::store_factors(State&, const BandsView<T>&);                                         \
  template void ClSolver<T>::give_back_what_is_resident();                                                       \
  template void ClSolver<T>::make_factors(State&, const Waiter&, const BandsView<T>&);                           \
  template cl::Event ClSolver<T>::launch_turned(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                                const Chunk&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl

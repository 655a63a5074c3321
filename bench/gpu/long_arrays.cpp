// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-long-arrays PLACES [DEVICE]: whether answers are right where arrays, and a matrix of five diagonals,
// have that many places, in float. By hand, on a card whose memory holds 2^31 places and more: 4 bytes for each of
// three arrays, then for the matrix, which the host holds as well.
#include <cmath>
#include <cstdio>

#include "find_device.hpp"
#include "oclspkt/error.hpp"
#include "parallel.hpp"
#include "settings.hpp"
#include "space.hpp"

namespace oclspkt::bench::gpu {
namespace {

using Array = SpaceArray<float>;
using Floats = Space<float>;

/// @throws Breakdown
void expect(const char* what, double value, double right) {
  std::printf("%s: %.9g\n", what, value);
  if (!(std::abs(value - right) <= 1e-4 * std::abs(right))) {
    throw Breakdown(std::string(what) + " is " + std::to_string(value) + ", not " + std::to_string(right));
  }
}

SumValue<float> sum(Floats& space, SumKind kind, const Array& x, const Array* y = nullptr) {
  const SumOf<float> wanted{kind, &x, y};
  SumValue<float> value;
  space.sums({&wanted, 1}, {&value, 1});
  return value;
}

/// The numbers at some places.
std::vector<float> at(Floats& space, const Array& x, std::vector<Index> places) {
  const auto out = space.make(static_cast<Index>(places.size()));
  space.gather(x, *space.make_indices(places), *out);
  std::vector<float> numbers(places.size());
  space.take(*out, numbers.data());
  return numbers;
}

/// Powers of two, so that sums are exact; the last place differs, and is what a wrapped index would miss.
void check_vectors(Floats& space, Index n) {
  const auto x = space.make(n), y = space.make(n), one = space.make(1);
  const double places = static_cast<double>(n);
  space.fill(*x, 0.5F);
  space.fill(*y, 0.25F);
  space.fill(*one, 4);
  const Term<float> term{0.5F, x.get()};
  space.combine(*y, 1, {&term, 1});  // 1/2
  expect("dot", sum(space, SumKind::dot, *x, y.get()).value, places / 4);
  expect("norm 2", sum(space, SumKind::norm2, *y).value, std::sqrt(places) / 2);
  space.scatter_add(*one, *space.make_indices(std::vector{n - 1}), *y);  // 4.5
  const SumValue<float> most = sum(space, SumKind::greatest, *y);
  expect("greatest", most.value, 4.5);
  expect("its place less the last", static_cast<double>(most.place - (n - 1)), 0);
  space.put(Merge::insert, *y, {}, *x, {}, n);
  space.pointwise(Pointwise::multiply, *x, *x, y.get(), 0);
  const std::vector<float> ends = at(space, *x, {0, n / 2, n - 2, n - 1});
  expect("product at the first place", ends[0], 0.25);
  expect("product at the middle", ends[1], 0.25);
  expect("product at the last but one", ends[2], 0.25);
  expect("product at the last place", ends[3], 20.25);
}

/// Ones on five diagonals, times ones: the number of entries of each row.
void check_product(Floats& space, Index places) {
  SparseForm form;
  form.format = SparseFormat::dia;
  form.slice = space.slice_rows();
  form.diagonals = {-2, -1, 0, 1, 2};
  const auto width = static_cast<Index>(form.diagonals.size());
  form.rows = form.columns = (places / width / form.slice + 1) * form.slice;
  form.places = width * form.rows;
  form.entries = form.places - 6;
  form.wide = form.rows > INT32_MAX;
  const auto values = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(form.places));
  for_pieces(form.rows / form.slice, Index{1} << 12, [&](Index first, Index end) {
    for (Index place = first * form.slice * width; place < end * form.slice * width; ++place) {
      const Index row = place / (form.slice * width) * form.slice + place % form.slice;
      const Index column = row + form.diagonals[static_cast<std::size_t>(place / form.slice % width)];
      values[static_cast<std::size_t>(place)] =
          column >= 0 && column < form.columns ? 1 : std::bit_cast<float>(kNoEntry<float>);
    }
  });
  const auto matrix = space.make_matrix(form);
  matrix->set_values(values.get());
  const auto x = space.make(form.columns), z = space.make(form.rows);
  space.fill(*x, 1);
  space.product(*matrix, *x, nullptr, *z);
  std::printf("%lld rows, %lld places, %lld bytes on the device\n", static_cast<long long>(form.rows),
              static_cast<long long>(form.places), static_cast<long long>(matrix->bytes()));
  expect("entries", sum(space, SumKind::sum, *z).value, static_cast<double>(form.entries));
  const std::vector<float> ends = at(space, *z, {0, 1, form.rows / 2, form.rows - 2, form.rows - 1});
  constexpr double kEntries[] = {3, 4, 5, 4, 3};
  for (std::size_t k = 0; k < ends.size(); ++k) expect("entries of a row", ends[k], kEntries[k]);
}

int check_long_arrays(Index places, const std::string& device) {
  const auto [module, info] = find_driven(device);
  std::printf("%s (%s), %lld places\n", info.name.c_str(), info.platform.c_str(), static_cast<long long>(places));
  const std::shared_ptr<Floats> space = module.space_float(info.index, {});
  check_vectors(*space, places);
  check_product(*space, places);
  return 0;
}

}  // namespace
}  // namespace oclspkt::bench::gpu

int main(int argc, char** argv) {
  using namespace oclspkt::bench;
  return gpu::run_program([&] {
    if (argc < 2 || argc > 3) {
      throw oclspkt::InvalidInput("usage: oclspkt-bench-long-arrays PLACES [DEVICE, or cuda: the first card by CUDA]");
    }
    const auto places = static_cast<oclspkt::Index>(gpu::parse_number(argv[1], "PLACES", 5, 1e12));
    return gpu::check_long_arrays(places, argc > 2 ? argv[2] : "gpu");
  });
}

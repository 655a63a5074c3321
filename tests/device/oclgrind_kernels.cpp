// SPDX-License-Identifier: BSD-2-Clause
// Small solves by every kernel, to be run under oclgrind; the answers are checked, the rest is oclgrind's.
#include <cstdio>
#include <optional>

#include "devices.hpp"
#include "geometry.hpp"
#include "residual.hpp"
#include "schemes/beside/beside_plans.hpp"
#include "schemes/fpga/task_form.hpp"
#include "schemes/fpga/task_plan.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/halos.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/paper/paper_lanes.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "space.hpp"
#include "sparse_matrices.hpp"

namespace oclspkt::test {
namespace {

template <typename T>
bool solves(const DeviceInfo& info, Index n, const Shape& shape, const DeviceSettings& settings) {
  auto bands = random_dominant<T>(LineSet::one(n), 10.0);
  bands.close_lines();
  const auto y = random_vector<T>(n);
  const auto x = solve<T>(info.index, bands, y, shape, settings);
  const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
  const bool right = error <= 10 * kEps<T>;
  std::printf("%s %zu bytes n = %ld m = %ld: error %.1f eps\n", name(shape.method), sizeof(T), static_cast<long>(n),
              static_cast<long>(shape.partition), error / kEps<T>);
  return right;
}

/// Stored factors in a form of their own. Words: symmetric|alike|narrow (and symmetric), rows, partition, bytes of
/// device memory (0: all).
template <typename T>
bool solves_in_form(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Index n = std::stol(words.at(1)), m = std::stol(words.at(2));
  const bool narrow = words[0] == "narrow", symmetric = narrow || words[0] == "symmetric";
  auto bands = symmetric ? random_symmetric<T>(LineSet::one(n), 10.0) : constant<T>(LineSet::one(n), -1, 6, -1);
  bands.close_lines();
  const auto y = random_vector<T>(n);
  DeviceSettings settings{.copy_vectors = true};  // as in check()
  settings.device_memory = std::stol(words.at(3));
  const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
  Plan plan = make_stored_plan(n, 0, m, sizeof(T), traits);
  plan.as<StoredFactors>().lead_in = symmetric ? -1 : plan.lanes;
  plan.narrow = narrow;
  symmetric ? make_symmetric(plan, sizeof(T), traits) : share_rows(plan, plan.n);
  const auto solver = make_solver<T>(info.index, settings);
  solver->set_up(plan, bands);
  std::vector<T> x(y.size());
  solver->apply(y.data(), x.data());
  const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
  std::printf("%s %zu bytes n = %ld m = %ld: error %.1f eps\n", name(plan.form), sizeof(T), static_cast<long>(n),
              static_cast<long>(m), error / kEps<T>);
  return error <= 10 * (narrow ? kEps<float> : kEps<T>);
}

/// The plan by work-groups of 32 work-items: 4 rows each and tiles of 16, so that small lines have several; of long
/// lines one that holds them whole, several by one work-group.
Plan small_grid_plan(const LineSet& lines, const std::string& way, int word, DeviceTraits traits) {
  if (way.starts_with("gridlong")) {
    Plan plan = make_grid_plan(lines, {.method = Method::exact_factored, .form = Form::shared}, word, traits);
    plan.run_tiles = 2;
    return plan;
  }
  traits.group_items = std::min(traits.group_items, 32);
  const bool condensed = way.starts_with("gridcondensed");
  return make_grid_plan(
      lines,
      {.method = condensed || way == "gridexact" ? Method::exact_factored : Method::truncated_streamed,
       .form = way.ends_with("shared")      ? Form::shared
               : way.ends_with("symmetric") ? Form::symmetric
                                            : Form::general,
       .reach = way.starts_with("gridwaits") ? 192 : 0,
       .item_rows = 4,
       .segments = condensed},
      word, traits);
}

/// Words:
/// strided|stridednarrow|shared|segments|grid|gridshared|gridlongshared|gridexact|gridwaits|gridwaitssymmetric|gridcondensed|
/// gridcondensedshared|gridcondensedsymmetric, lines of a block, rows, blocks, bytes of device memory (0: all).
template <typename T>
bool solves_beside(const DeviceInfo& info, const std::vector<std::string>& words) {
  const auto number = [&](std::size_t word) { return std::stol(words.at(word)); };
  const LineSet lines = LineSet::grid_axis(1, number(1), number(2), number(3));
  const bool shared = words[0].ends_with("shared"), grid = words[0].starts_with("grid");
  auto bands = shared                            ? constant<T>(lines, -1, 12, -1)
               : words[0].ends_with("symmetric") ? random_symmetric<T>(lines, 10.0)
                                                 : random_dominant<T>(lines, 10.0);
  bands.close_lines();
  const auto y = random_vector<T>(lines.extent());
  DeviceSettings settings{.variant = grid ? Variant::gpu : Variant::cpu, .copy_vectors = true};  // as in check()
  settings.device_memory = number(4);
  const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
  Plan plan = grid ? small_grid_plan(lines, words[0], sizeof(T), traits)
              : words[0] == "segments"
                  ? make_strided_halo_plan(lines, 17, 8, sizeof(T), traits)
                  : make_factored_plan(lines, shared ? Form::shared : Form::general, sizeof(T), traits);
  plan.narrow = words[0] == "stridednarrow";
  const auto solver = make_solver<T>(info.index, settings);
  solver->set_up(plan, bands);
  std::vector<T> x(y.size());
  solver->apply(y.data(), x.data());
  const double error = normwise_backward_error(lines, bands.view(), x.data(), y.data());
  std::printf("%s %zu bytes, %s: error %.1f eps\n", words[0].c_str(), sizeof(T), lines.describe().c_str(),
              error / kEps<T>);
  return error <= 10 * (plan.narrow ? kEps<float> : kEps<T>);
}

template <typename T>
bool streams(const DeviceInfo& info) {
  const std::vector<T> a(200, 1), b(200, 2), c(200, 3), y(200, 4);
  std::vector<T> x(200);
  module().stream(info.index, StreamArrays<T>{a.data(), b.data(), c.data(), y.data(), x.data(), 200});
  return x == std::vector<T>(200, 10);
}

/// The plan by work-groups that the words of solves_by_groups() ask for.
Plan plan_by_groups(const std::string& word, Index n, Index partition, int scalar, const DeviceTraits& traits) {
  if (word == "paper") return make_paper_plan(n, partition, scalar, traits);
  if (word == "reduces") return make_reduce_plan(n, partition, scalar, traits);
  Plan plan = word == "reducessymmetric" ? make_reduce_plan(n, partition, scalar, traits)
              : word.ends_with("tiles")  ? make_plan(Method::truncated_halo, n, 20, partition, scalar, traits)
                                         : make_run_plan(n, 20, partition, scalar, traits);
  if (word != "runs") plan.form = Form::symmetric;
  if (word.starts_with("narrow")) keep_narrow(plan);
  return plan;
}

/// By work-groups. Words: runs|reduces|paper or, in a form, reducessymmetric|symmetricruns|symmetrictiles and (and
/// symmetric) narrowruns|narrowtiles; rows, rows a work-item, work-items, bytes of device memory.
template <typename T>
bool solves_by_groups(const DeviceInfo& info, const std::vector<std::string>& words) {
  const auto number = [&](std::size_t word) { return std::stol(words.at(word)); };
  const Index n = number(1);
  const bool narrow = words[0].starts_with("narrow");
  auto bands = narrow || words[0].find("symmetric") != std::string::npos ? random_symmetric<T>(LineSet::one(n), 10.0)
                                                                         : random_dominant<T>(LineSet::one(n), 10.0);
  bands.close_lines();
  auto y = random_vector<T>(n);
  const bool paper = words[0] == "paper";
  DeviceSettings settings{.variant = paper ? Variant::paper_gpu : Variant::gpu, .copy_vectors = true};
  settings.device_memory = number(4);
  DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
  traits.group_items = static_cast<int>(number(3));
  const auto solver = make_solver<T>(info.index, settings);
  solver->set_up(plan_by_groups(words[0], n, number(2), sizeof(T), traits), bands);
  std::vector<T> x(y.size());
  solver->apply(y.data(), x.data());
  const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
  std::printf("%s %zu bytes n = %ld: error %.1f eps\n", words[0].c_str(), sizeof(T), static_cast<long>(n),
              error / kEps<T>);
  return error <= 10 * (narrow ? kEps<float> : kEps<T>);
}

/// By one work-item. Words: the scheme, and _symmetric or not; rows, rows of a block, bytes of device memory.
template <typename T>
bool solves_by_task(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Index n = std::stol(words.at(1)), m = std::stol(words.at(2));
  const bool symmetric = words[0].ends_with("_symmetric");
  const std::string scheme = words[0].substr(0, words[0].find('_'));
  const auto bands = closed(random_symmetric<T>(LineSet::one(n), 20.0));
  const auto y = random_vector<T>(n);
  DeviceSettings settings{.variant = Variant::fpga};
  settings.device_memory = std::stol(words.at(3));
  const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
  Plan plan = make_task_plan(n, m, scheme.c_str(), sizeof(T), traits);
  if (symmetric) plan.form = Form::symmetric;
  const std::vector<T> x = solve_by_plan(info.index, plan, bands, y, settings);
  const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
  std::printf("%s %zu bytes n = %ld: error %.1f eps\n", words[0].c_str(), sizeof(T), static_cast<long>(n),
              error / kEps<T>);
  return error <= 10 * kEps<T>;
}

/// By the paper's form for CPUs. Words: lanespaper, rows, rows of a partition, m_min, bytes of device memory (0: all).
template <typename T>
bool solves_by_paper_lanes(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Index n = std::stol(words.at(1)), m = std::stol(words.at(2)), m_min = std::stol(words.at(3));
  const auto bands = closed(random_dominant<T>(LineSet::one(n), 20.0));
  const auto y = random_vector<T>(n);
  DeviceSettings settings{.variant = Variant::paper, .copy_vectors = true};
  settings.device_memory = std::stol(words.at(4));
  const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
  const Plan plan = make_paper_lanes_plan(n, m, m_min, "lanes-paper", sizeof(T), traits);
  const std::vector<T> x = solve_by_plan(info.index, plan, bands, y, settings);
  const double error = normwise_backward_error(bands.lines(), bands.view(), x.data(), y.data());
  std::printf("%s %zu bytes n = %ld: error %.1f eps\n", words[0].c_str(), sizeof(T), static_cast<long>(n),
              error / kEps<T>);
  return error <= 10 * kEps<T>;
}

/// Plans by factors that work-groups keep. @return none where the device does not carry them
std::optional<Plan> plan_by_kept_factors(const LineSet& lines, int scalar, const DeviceTraits& traits) {
  const Index length = lines.length(0);
  const Index partition = partition_of_whole_lines(lines, scalar, traits);
  Plan plan = partition > 0 ? make_whole_lines_plan(lines, partition, scalar, traits)
                            : make_plan(Method::truncated_halo, lines.rows(), 40, 0, scalar, traits);
  if (!share_line(plan, length, scalar) || !keep_factors(plan, length, scalar, traits)) return std::nullopt;
  // Several tiles each.
  plan.runs = plan.halo > 0 ? static_cast<int>(length / plan.m) : std::min(plan.runs, 2);
  return plan;
}

/// By factors that work-groups keep, of whole lines or of parts of long ones. Words: kept, rows a line, lines, bytes of
/// device memory.
template <typename T>
bool solves_by_kept_factors(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Index length = std::stol(words.at(1));
  const LineSet lines = LineSet::equal(std::stol(words.at(2)), length);
  auto bands = constant<T>(lines, -1, 12, -1);
  bands.close_lines();
  const auto y = random_vector<T>(lines.rows());
  DeviceSettings settings{.variant = Variant::gpu, .copy_vectors = true};
  settings.device_memory = std::stol(words.at(3));
  const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
  const std::optional<Plan> plan = plan_by_kept_factors(lines, sizeof(T), traits);
  if (!plan) return false;
  const auto solver = make_solver<T>(info.index, settings);
  solver->set_up(*plan, bands);
  std::vector<T> x(y.size());
  solver->apply(y.data(), x.data());
  const double error = normwise_backward_error(lines, bands.view(), x.data(), y.data());
  std::printf("%s %zu bytes, %s: error %.1f eps\n", words[0].c_str(), sizeof(T), lines.describe().c_str(),
              error / kEps<T>);
  return error <= 10 * kEps<T>;
}

/// By one work-item of an FPGA's kernels. Words: fpgaone|fpgaequal|fpgaunequal|fpgabeside, rows of a line, lines, bytes
/// of local memory for lines in turn, bytes of device memory (0: all), general|symmetric.
template <typename T>
bool solves_exactly(const DeviceInfo& info, const std::vector<std::string>& words) {
  const auto number = [&](std::size_t word) { return std::stol(words.at(word)); };
  const Index length = number(1), count = number(2);
  std::vector<Index> starts{0};
  for (Index l = 0; l < count; ++l) starts.push_back(starts.back() + l * length / count);
  const LineSet lines = words[0] == "fpgaone"      ? LineSet::one(length)
                        : words[0] == "fpgaequal"  ? LineSet::equal(count, length)
                        : words[0] == "fpgabeside" ? LineSet::grid_axis(1, count, length, 2)
                                                   : LineSet::unequal(starts);
  DeviceSettings settings{.variant = Variant::fpga};
  settings.device_memory = number(4);
  DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), settings);
  traits.local_bytes = number(3);
  const bool in_turn = words[0] != "fpgaone";
  std::optional<Plan> plan =
      in_turn ? make_batch_plan(lines, sizeof(T), traits) : make_tdma_plan(lines.rows(), 0, sizeof(T), traits);
  if (!plan) return false;
  plan->made_by = in_turn ? "fpga-batch" : "fpga-tdma";
  if (words[5] == "symmetric") plan->form = Form::symmetric;
  auto bands = random_symmetric<T>(lines, 10.0);
  bands.close_lines();
  const auto y = random_vector<T>(lines.extent());
  const auto solver = make_solver<T>(info.index, settings);
  solver->set_up(*plan, bands);
  std::vector<T> x(y.size());
  solver->apply(y.data(), x.data());
  const double error = normwise_backward_error(lines, bands.view(), x.data(), y.data());
  std::printf("%s %zu bytes, %s: error %.1f eps\n", words[0].c_str(), sizeof(T), lines.describe().c_str(),
              error / kEps<T>);
  return error <= 10 * kEps<T>;
}

/// Sparse products, z = A x and then z = z + A x. Words: productdia|productsell|productcsr, rows, lanes|groups.
template <typename T>
bool multiplies(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Index n = std::stol(words.at(1));
  const bool dia = words[0] == "productdia", csr = words[0] == "productcsr", by_groups = words.at(2) == "groups";
  const auto a =
      dia ? stencil<T>(n, 3, 2) : scattered<T>(n, n, [&](Index i) { return csr && i == 2 ? 5000 : i * 7 % 23; });
  const auto space = make_space<T>(info.index, by_groups ? Variant::gpu : Variant::cpu);
  const FormRequest wanted{dia                         ? SparseFormat::dia
                           : words[0] == "productsell" ? SparseFormat::sell
                                                       : SparseFormat::csr,
                           space->slice_rows()};
  const auto matrix = space->make_matrix(make_sparse_form(a.pattern(), wanted));
  matrix->set_values(a.values.data());
  std::vector<T> numbers = random_vector<T>(a.columns), z(static_cast<std::size_t>(a.rows));
  const auto x = space->make(a.columns), sum = space->make(a.rows);
  space->bring(numbers.data(), *x);
  space->product(*matrix, *x, nullptr, *sum);
  space->product(*matrix, *x, sum.get(), *sum);
  space->take(*sum, z.data());
  double error = 0;
  const auto exact = a.product(numbers);
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double miss = std::abs(static_cast<double>(z[i]) - 2 * exact[i].sum);
    error = std::max(error, exact[i].magnitudes > 0 ? miss / exact[i].magnitudes : miss);
  }
  std::printf("%s %zu bytes n = %ld: error %.1f eps\n", words[0].c_str(), sizeof(T), static_cast<long>(n),
              error / kEps<T>);
  return error <= 64 * kEps<T>;
}

template <typename T>
std::shared_ptr<Space<T>> make_space(int device, const DeviceSettings& settings) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return module().space_double(device, settings);
  } else {
    return module().space_float(device, settings);
  }
}

/// Every kernel over vectors. Words: vectors, places, lanes|groups.
template <typename T>
bool works_on_vectors(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Index n = std::stol(words.at(1));
  const auto space = make_space<T>(info.index, {.variant = words.at(2) == "groups" ? Variant::gpu : Variant::cpu});
  const auto x = space->make(n), y = space->make(n), z = space->make(n);
  space->fill(*x, T(2));
  space->fill(*y, T(3));
  space->combine(*z, T(0), std::vector<Term<T>>{{T(1), x.get()}, {T(2), y.get()}});
  space->combine(*z, T(0.5), std::vector<Term<T>>(8, {T(1), x.get()}));
  space->pointwise(Pointwise::multiply, *z, *z, y.get(), T(0));
  const auto last = space->make_indices(std::vector<Index>{n - 1});
  const auto one = space->make(1);
  space->gather(*z, *last, *one);
  T number = 0;
  space->take(*one, &number);
  const std::vector<SumOf<T>> wanted = {{SumKind::dot, x.get(), y.get()}, {SumKind::dot, y.get(), y.get()},
                                        {SumKind::sum, z.get()},          {SumKind::norm1, z.get()},
                                        {SumKind::norm2, x.get()},        {SumKind::least, z.get()},
                                        {SumKind::greatest, z.get()},     {SumKind::largest_magnitude, z.get()}};
  std::vector<SumValue<T>> values(wanted.size());
  space->sums(wanted, values);
  const double all = static_cast<double>(n);
  const double expected[] = {6 * all, 9 * all, 60 * all, 60 * all, 2 * std::sqrt(all), 60, 60, 60};
  bool good = number == 60;
  for (std::size_t i = 0; i < values.size(); ++i) {
    good = good && std::abs(static_cast<double>(values[i].value) / expected[i] - 1) <= 64 * kEps<T>;
  }
  std::printf("vectors %zu bytes n = %ld: %s\n", sizeof(T), static_cast<long>(n), good ? "right" : "wrong");
  return good;
}

/// Words of a case: vectors (see works_on_vectors()), product... (see multiplies()), runs|reduces|paper|... (see
/// solves_by_groups()), kept (see solves_by_kept_factors()), stream, lanespaper (see solves_by_paper_lanes()), fpga-...
/// (see solves_by_task()), fpga... (see solves_exactly()), symmetric|alike|narrow (see solves_in_form()),
/// strided|stridednarrow|shared|segments|grid|... (see solves_beside()), or
/// tiles|halo|tilestream|streamed|reach|exact|factored and rows, partition, bytes of device memory (0: all); then
/// float|double.
template <typename T>
bool check(const DeviceInfo& info, const std::vector<std::string>& words) {
  if (words[0] == "stream") return streams<T>(info);
  if (words[0] == "vectors") return works_on_vectors<T>(info, words);
  if (words[0].starts_with("product")) return multiplies<T>(info, words);
  if (words[0] == "lanespaper") return solves_by_paper_lanes<T>(info, words);
  if (words[0].starts_with("fpga-")) return solves_by_task<T>(info, words);
  if (words[0] == "kept") return solves_by_kept_factors<T>(info, words);
  if (words[0].starts_with("fpga")) return solves_exactly<T>(info, words);
  const bool by_groups = words[0].starts_with("reduces") || words[0] == "paper" || words[0].ends_with("runs") ||
                         (words[0].ends_with("tiles") && words[0] != "tiles");
  if (by_groups) return solves_by_groups<T>(info, words);
  if (words[0] == "symmetric" || words[0] == "alike" || words[0] == "narrow") return solves_in_form<T>(info, words);
  const bool beside = words[0].starts_with("strided") || words[0] == "shared" || words[0] == "segments";
  if (beside || words[0].starts_with("grid")) return solves_beside<T>(info, words);
  Shape shape;
  const bool tiles = words[0] == "tiles";
  shape.streamed_tiles = words[0] == "tilestream";
  shape.method = tiles || shape.streamed_tiles || words[0] == "halo" ? Method::truncated_halo
                 : words[0] == "exact"                               ? Method::exact_twopass
                 : words[0] == "factored"                            ? Method::exact_factored
                                                                     : Method::truncated_streamed;
  shape.halo = tiles || words[0] == "halo" ? 17 : words[0] == "reach" ? 20 : 0;
  shape.partition = std::stol(words.at(2));
  // Copies: what is written through host memory is unknown to oclgrind.
  DeviceSettings settings{.variant = tiles ? Variant::gpu : Variant::cpu, .copy_vectors = true};
  settings.device_memory = std::stol(words.at(3));
  return solves<T>(info, std::stol(words.at(1)), shape, settings);
}

}  // namespace
}  // namespace oclspkt::test

/// One case a process: oclgrind 21.10 carries what it knows of uninitialised values from one launch to the next.
int main(int argc, char** argv) {
  using namespace oclspkt::test;
  if (argc < 2) return 2;
  const std::vector<std::string> words(argv + 1, argv + argc);
  bool right = !module().devices().empty();
  const bool is_double = words.back() == "double";
  for (const auto& info : module().devices()) {
    right = (is_double ? check<double>(info, words) : check<float>(info, words)) && right;
  }
  module().release();
  std::puts(right ? "all right" : "WRONG");
  return right ? 0 : 1;
}

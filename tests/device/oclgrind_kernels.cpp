// SPDX-License-Identifier: BSD-2-Clause
// Small solves by every kind of plan of every scheme, sparse products and vector operations, to be run under oclgrind;
// the answers are checked, the rest is oclgrind's.
#include <cstdio>
#include <set>

#include "cut_plan.hpp"
#include "row_error.hpp"
#include "scheme_questions.hpp"
#include "space_cg.hpp"
#include "sparse_matrices.hpp"

namespace oclspkt::test {
namespace {

/// A plan for a system, asked for in some manner, as a whole or in chunks.
template <typename T>
struct Planned {
  const System<T>& system;
  Manner manner;
  Proposal proposal;
  int parts;
};

/// Less than a tile, several tiles of which the last is not full, lines that end within tiles or fill them; side by
/// side fewer lines than lanes, whole lanes and more, several tiles of rows. @param large  tiles are large
std::vector<LineSet> few_rows(bool large) {
  return {LineSet::one(1),
          LineSet::one(300),
          LineSet::one(1189),
          LineSet::one(2189),
          LineSet::equal(large ? 37 : 13, 61),
          LineSet::equal(9, 64),
          LineSet::unequal({0, 1, 1, 33, 300}),
          LineSet::grid_axis(1, 7, 9, 2),
          LineSet::grid_axis(1, 19, 70, 2),
          LineSet::grid_axis(1, 5, 300, 1)};
}

/// Plans of a scheme on a device, by short partitions and small work-groups, whole and in chunks: every two of what is
/// stored, the words of the view and the kind of lines meet in one of them.
template <typename T>
std::vector<Planned<T>> kinds_of(const Scheme& scheme, int device) {
  constexpr Variant kVariants[] = {Variant::cpu, Variant::gpu, Variant::fpga};  // in the order of Kernels
  const Variant variant = kVariants[static_cast<int>(scheme.nature().kernels)];
  const std::string name = scheme.name();
  const bool fixed = name == "lanes-tiles" || name == "tiles-kept";  // by tiles of their own size
  std::vector<Planned<T>> plans;
  std::set<std::string> pairs;
  for (const LineSet& lines : few_rows(fixed)) {
    for (const AskedMatrix matrix : {AskedMatrix::random, AskedMatrix::symmetric, AskedMatrix::alike,
                                     AskedMatrix::alike_symmetric, AskedMatrix::slow}) {
      for (const Precision precision : {Precision::same, Precision::narrow}) {
        if (precision == Precision::narrow && sizeof(T) == sizeof(float)) continue;
        Manner manner{variant, !fixed, precision};
        manner.wide = fixed;
        const System<T>& system = system_of<T>(matrix, lines);
        for (const Proposal& proposal : plans_of(scheme, system, device, manner, manner.settings())) {
          const Plan& plan = proposal.plan;
          const std::string words = words_of(scheme, plan), stored = storage_of(plan);
          // Systems that are smaller than a tile are a kind of their own.
          const std::string where =
              std::string(kind_of(lines)) + (plan.tiles() > 1 || plan.has<Beside>() ? "" : " of one tile");
          const std::size_t known = pairs.size();
          pairs.insert({words + "|" + stored, words + "|" + where, stored + "|" + where});
          if (pairs.size() > known) plans.push_back({system, manner, proposal, 1});
          Planned<T> cut{system, manner, proposal, 3};
          if (is_whole(plan) || pairs.count(words + "|cut " + where) > 0) continue;
          if (!cut_into(cut.proposal.plan, lines, cut.parts)) continue;
          pairs.insert(words + "|cut " + where);
          plans.push_back(cut);
        }
      }
    }
  }
  return plans;
}

/// Copies: what is written through host memory is unknown to oclgrind.
template <typename T>
bool solves(const Scheme& scheme, const Planned<T>& planned, int device) {
  const System<T>& system = planned.system;
  const Plan& plan = planned.proposal.plan;
  const auto solver = make_solver<T>(device, planned.manner.settings(true));
  solver->set_up(plan, system.bands);
  std::vector<T> x(system.y.size());
  solver->apply(system.y.data(), x.data());
  const double rounding = std::max(planned.proposal.rounding->eps, solver->rounding()),
               bound = rounding * kEps<T> + 2 * planned.proposal.certificate + (plan.narrow ? 10 * kEps<float> : 0),
               error = row_error(system.bands, x, system.y).all;
  std::printf("%s, %s, %d parts: error %.1f eps\n", scheme.shape(plan).c_str(), system.lines().describe().c_str(),
              planned.parts, error / kEps<T>);
  return error <= bound;
}

/// Words: count SCHEME, or plan SCHEME number.
template <typename T>
bool solves_by_scheme(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Scheme* const scheme = find_scheme(words.at(1));
  if (scheme == nullptr) return false;
  const std::vector<Planned<T>> plans = kinds_of<T>(*scheme, info.index);
  if (words[0] == "count") {
    std::printf("count %zu\n", plans.size());
    return !plans.empty();
  }
  return solves(*scheme, plans.at(std::stoul(words.at(2))), info.index);
}

template <typename T>
bool streams(const DeviceInfo& info) {
  const std::vector<T> a(200, 1), b(200, 2), c(200, 3), y(200, 4);
  std::vector<T> x(200);
  module().stream(info.index, StreamArrays<T>{a.data(), b.data(), c.data(), y.data(), x.data(), 200});
  return x == std::vector<T>(200, 10);
}

/// An iteration of conjugate gradients in each form, on any matrix. @return whether the product is that of x . A x
template <typename T>
bool iterates(Space<T>& space, const SpaceMatrix<T>& a, const std::vector<T>& numbers, double right) {
  const auto vector = [&](T number) {
    auto made = space.make(a.rows());
    space.fill(*made, number);
    return made;
  };
  const auto x = vector(0), r = vector(1), w = vector(0), inverse = vector(T(0.5)), p = space.make(a.rows());
  bool good = true;
  for (const CgForm form : {CgForm::plain, CgForm::diagonal_z, CgForm::diagonal_r, CgForm::others_r}) {
    const bool plain = form == CgForm::plain, others = form == CgForm::others_r;
    const auto cg = space.make_cg(form, CgNorm::of_form, a.rows(), 2);
    space.bring(numbers.data(), *p);
    cg->begin({T(1), T(0), T(1), T(1)}, T(1));
    const CgArrays<T> arrays{
        &a, x.get(), r.get(), p.get(), w.get(), plain ? r.get() : w.get(), plain || others ? nullptr : inverse.get()};
    cg->step(arrays);
    cg->turn(arrays);
    std::vector<CgRecord<T>> record(1);
    cg->take(record);
    good = good && std::abs(static_cast<double>(record[0].curvature) - right) <= 1e-3 * std::abs(right);
  }
  return good;
}

/// Sparse products, z = A x and then z = z + A x, and conjugate gradients. Words: productdia|productsell|productcsr,
/// rows, lanes|groups.
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
  double curvature = 0;
  for (std::size_t i = 0; i < z.size(); ++i) curvature += static_cast<double>(numbers[i]) * exact[i].sum;
  return error <= 64 * kEps<T> && iterates(*space, *matrix, numbers, curvature);
}

/// Every kernel over vectors. Words: vectors, places, lanes|groups.
template <typename T>
bool works_on_vectors(const DeviceInfo& info, const std::vector<std::string>& words) {
  const Index n = std::stol(words.at(1));
  const auto space = make_space<T>(info.index, words.at(2) == "groups" ? Variant::gpu : Variant::cpu);
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

/// Words of a case, see the functions; then float|double.
template <typename T>
bool check(const DeviceInfo& info, const std::vector<std::string>& words) {
  if (words[0] == "stream") return streams<T>(info);
  if (words[0] == "vectors") return works_on_vectors<T>(info, words);
  if (words[0].starts_with("product")) return multiplies<T>(info, words);
  return solves_by_scheme<T>(info, words);
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

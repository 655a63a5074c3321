// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <cstdio>

#include "cuda_peers.hpp"
#include "draw.hpp"
#include "krylov.hpp"
#include "oclspkt/error.hpp"
#include "seed_formats.hpp"
#include "sparse_cases.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// One way to multiply: what is known of it before it is timed, and a call.
struct ProductWay {
  nlohmann::ordered_json record;
  std::function<void()> run;
};

/// What CSR moves at least: each entry and its column, each row's begin, both vectors once.
template <typename T>
double compulsory_bytes(const HostMatrix& a) {
  constexpr double kIndex = sizeof(std::int32_t), kWord = sizeof(T);
  return static_cast<double>(a.entries()) * (kWord + kIndex) + static_cast<double>(a.rows) * (kWord + kIndex) +
         static_cast<double>(a.columns) * kWord;
}

/// Sums over arrays whose bytes go once through the device, the yardstick of products.
template <typename T>
class ReadStream {
 public:
  ReadStream(Space<T>& space, Index places) : space_(space), values_(kMany) {
    for (int k = 0; k <= kMany; ++k) {
      arrays_.push_back(space.make(places));
      space.fill(*arrays_.back(), T(0.5));
    }
    for (int k = 0; k < kMany; ++k) {
      dots_.push_back({SumKind::dot, arrays_[static_cast<std::size_t>(k)].get(), arrays_.back().get()});
    }
  }
  double bytes() const {
    return static_cast<double>(arrays_.size()) * static_cast<double>(arrays_[0]->size()) * sizeof(T);
  }
  void run() { space_.sums(dots_, values_); }

 private:
  static constexpr int kMany = 8;
  Space<T>& space_;
  std::vector<std::unique_ptr<SpaceArray<T>>> arrays_;
  std::vector<SumOf<T>> dots_;
  std::vector<SumValue<T>> values_;
};

/// A matrix of the host, its answer, and vectors on the device.
template <typename T>
class Multiplied {
 public:
  Multiplied(Space<T>& space, const HostMatrix& a)
      : space_(space), a_(a), values_(a.values.begin(), a.values.end()), x_host_(static_cast<std::size_t>(a.columns)) {
    for (std::size_t i = 0; i < x_host_.size(); ++i) {
      x_host_[i] = static_cast<T>(uniform(1, kLower, static_cast<std::int64_t>(i)));
    }
    right_ = multiply(a, values_, x_host_);
    x_ = space.make(a.columns);
    z_ = space.make(a.rows);
    space.bring(x_host_.data(), *x_);
  }

  Space<T>& space() { return space_; }
  const HostMatrix& matrix() const { return a_; }
  const std::vector<T>& values() const { return values_; }
  SpaceArray<T>& x() { return *x_; }
  SpaceArray<T>& z() { return *z_; }

  /// Multiply once. @return which row is wrong; empty if none is
  std::string check(const std::function<void()>& run) {
    constexpr double kUnits = 64;
    constexpr T kUnwritten = -1e6;  // finite, for peers that multiply it by 0
    space_.fill(*z_, kUnwritten);
    run();
    std::vector<T> z(right_.sums.size());
    space_.take(*z_, z.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double limit = kUnits * static_cast<double>(std::numeric_limits<T>::epsilon()) * right_.magnitudes[i];
      const double value = static_cast<double>(z[i]);
      if (!(std::abs(value - right_.sums[i]) <= limit)) {
        return "row " + std::to_string(i) + " of the product is " + std::to_string(value) + " for " +
               std::to_string(right_.sums[i]);
      }
    }
    return "";
  }

 private:
  Space<T>& space_;
  const HostMatrix& a_;
  std::vector<T> values_, x_host_;
  HostProduct right_;
  std::unique_ptr<SpaceArray<T>> x_, z_;
};

template <typename T>
nlohmann::ordered_json record_of(Multiplied<T>& m, const std::string& library, const std::string& format) {
  return {{"matrix", m.matrix().name},
          {"format", format},
          {"library", library},
          {"run_time", run_time_of(m.space())},
          {"precision", kPrecision<T>},
          {"rows", m.matrix().rows},
          {"entries", m.matrix().entries()},
          {"compulsory_bytes", compulsory_bytes<T>(m.matrix())}};
}

/// A product by a form of ours. @throws Breakdown if it is wrong
template <typename T>
ProductWay by_form(Multiplied<T>& m, const SparseForm& form, double form_seconds, bool chosen) {
  std::shared_ptr<SpaceMatrix<T>> matrix;
  const double up_seconds = seconds_of([&] {
    matrix = m.space().make_matrix(form);
    matrix->set_values(m.values().data());
    m.space().finish();
  });
  ProductWay way{record_of(m, "ours", name(form.format)),
                 [&m, matrix] { m.space().product(*matrix, m.x(), nullptr, m.z()); }};
  const std::string wrong = m.check(way.run);
  if (!wrong.empty()) throw Breakdown(m.matrix().name + " as " + name(form.format) + ": " + wrong);
  way.record["chosen"] = chosen;
  way.record["reason"] = form.reason;
  way.record["own_bytes"] = matrix->bytes() + (form.rows + form.columns) * static_cast<std::int64_t>(sizeof(T));
  way.record["places_an_entry"] =
      static_cast<double>(form.places) / static_cast<double>(std::max<Index>(1, form.entries));
  way.record["form_seconds"] = form_seconds;
  way.record["up_seconds"] = up_seconds;
  return way;
}

/// The format that is chosen, and the others that suit: dia only where it is the one.
/// @param alone          the former alone
/// @param[out] unsorted  a form of sell whose rows are in their order, for peers; left as it is if there is none
template <typename T>
std::vector<ProductWay> by_forms(Multiplied<T>& m, bool alone, std::shared_ptr<SparseForm>* unsorted) {
  std::vector<ProductWay> ways;
  std::optional<SparseFormat> chosen;
  for (const SparseFormat format : {SparseFormat::automatic, SparseFormat::sell, SparseFormat::csr}) {
    if (format == chosen || (alone && chosen)) continue;
    auto form = std::make_shared<SparseForm>();
    const double seconds = seconds_of([&] {
      *form = make_sparse_form(m.matrix().pattern(), FormRequest{format, m.space().slice_rows()});
    });
    if (!chosen) chosen = form->format;
    ways.push_back(by_form(m, *form, seconds, format == SparseFormat::automatic));
    if (form->format == SparseFormat::sell && form->row_of.empty()) *unsorted = form;
  }
  return ways;
}

/// The formats that --formats names. @throws Breakdown if one is wrong
template <typename T>
std::vector<ProductWay> by_seed_formats(Multiplied<T>& m, const std::vector<std::string>& formats) {
  std::vector<ProductWay> ways;
  for (const std::string& format : formats) {
    std::shared_ptr<SeedProduct<T>> product;
    const double seconds = seconds_of([&] { product = make_seed_product(m.space(), format, m.matrix(), m.values()); });
    ProductWay way{record_of(m, "other", format), [&m, product] { product->run(m.x(), m.z()); }};
    const std::string wrong = m.check(way.run);
    if (!wrong.empty()) throw Breakdown(m.matrix().name + " as " + format + ": " + wrong);
    way.record["places_an_entry"] =
        static_cast<double>(product->places) / static_cast<double>(std::max<Index>(1, m.matrix().entries()));
    way.record["form_seconds"] = seconds;
    ways.push_back(std::move(way));
  }
  return ways;
}

/// cuSPARSE on the same vectors. What fails there, or is wrong, is told and left out.
template <typename T>
std::vector<ProductWay> by_peers(Multiplied<T>& m, const SparseForm* unsorted, nlohmann::ordered_json& records) {
  std::vector<ProductWay> ways;
  if (m.space().queue().kind != DeviceQueue::Kind::cuda) return ways;
  std::string why;
  std::shared_ptr<Cusparse<T>> cusparse;
  try {
    cusparse = Cusparse<T>::open(m.space(), m.matrix().pattern(), m.values().data(), unsorted, m.x(), m.z(), &why);
  } catch (const DeviceError& error) {
    why = error.what();
  }
  if (!cusparse) {
    std::printf("no cuSPARSE: %s\n", why.c_str());
    return ways;
  }
  for (int algorithm = 0; algorithm < cusparse->algorithms(); ++algorithm) {
    ProductWay way{record_of(m, "cuSPARSE", cusparse->name(algorithm)),
                   [cusparse, algorithm] { cusparse->run(algorithm); }};
    try {
      why = m.check(way.run);
    } catch (const DeviceError& error) {
      why = error.what();
    }
    if (why.empty()) {
      ways.push_back(std::move(way));
      continue;
    }
    std::printf("cuSPARSE, %s: %s\n", cusparse->name(algorithm).c_str(), why.c_str());
    way.record["failed"] = why;
    records.push_back(std::move(way.record));
  }
  return ways;
}

template <typename T>
void measure_matrix(Space<T>& space, const HostMatrix& a, ReadStream<T>& stream, KrylovRun& run) {
  Multiplied<T> m(space, a);
  nlohmann::ordered_json& records = run.document["products"];
  std::shared_ptr<SparseForm> unsorted;
  std::vector<ProductWay> ways = by_forms(m, run.settings.chosen_alone, &unsorted);
  if (!run.settings.chosen_alone) {
    for (ProductWay& way : by_peers(m, unsorted.get(), records)) ways.push_back(std::move(way));
  }
  for (ProductWay& way : by_seed_formats(m, run.settings.formats)) ways.push_back(std::move(way));
  unsorted.reset();
  std::vector<Timed> timed{{stream.bytes(), true, [&stream] { stream.run(); }}};
  for (const ProductWay& way : ways) timed.push_back({compulsory_bytes<T>(a), false, way.run});
  const auto seconds = time_in_turn(space, timed, run.settings.repetitions);
  const double read = stream.bytes() / median(seconds[0]);
  run.best_read = std::max(run.best_read, read);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    nlohmann::ordered_json& record = ways[i].record;
    record["seconds"] = seconds[i + 1];
    record["read_bytes_per_second"] = read;
    const double spent = median(seconds[i + 1]), share = compulsory_bytes<T>(a) / spent / run.best_read;
    std::printf("%-6s %-6s %-16s %-26s %-9s %9.2f us, share of compulsory bytes %.3f\n", run_time_of(space),
                kPrecision<T>, a.name.c_str(), record["format"].get<std::string>().c_str(),
                record["library"].get<std::string>().c_str(), 1e6 * spent, share);
    records.push_back(std::move(record));
  }
  std::fflush(stdout);
}

}  // namespace

template <typename T>
void measure_products(KrylovRun& run) {
  constexpr Index kPlaces = 50'000'000;
  if (run.settings.matrices.empty() && run.settings.files.empty()) return;
  const std::shared_ptr<Space<T>> space = space_of<T>(run);
  ReadStream<T> stream(*space, std::min(kPlaces, run.settings.size));
  for (const std::string& matrix : run.settings.matrices) {
    measure_matrix(*space, make_sparse_case(matrix, run.settings.size), stream, run);
  }
  for (const std::string& file : run.settings.files) measure_matrix(*space, read_matrix_market(file), stream, run);
}

template void measure_products<float>(KrylovRun&);
template void measure_products<double>(KrylovRun&);

}  // namespace oclspkt::bench::gpu

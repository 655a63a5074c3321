// SPDX-License-Identifier: BSD-2-Clause
#include "tune_figures.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

#include "format.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "tuning.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// Time over that of before up to which a figure is better. Each is measured twice.
constexpr double kBetter = 0.95;
constexpr const char* kFile = "the figures that are tried";

/// The plan that the library chooses for a case, as the view has it; the bands are read and no answer is computed.
class Chosen {
 public:
  virtual ~Chosen() = default;
  virtual std::string shape() = 0;
};

template <typename T>
class ChosenOf final : public Chosen {
 public:
  ChosenOf(const SchemeCase& c, const SchemePlace& place) : problem_(c.matrix, c.lines) {
    options_.devices = std::to_string(place.device->index);
    options_.variant = place.variant;
  }
  std::string shape() override {
    Solver<T> solver(options_);
    const BandsView<T> bands = problem_.bands.view();
    solver.fill(problem_.lines, [&](const BandsPart<T>& to, Index first, Index end) {
      for (Index i = first; i < end; ++i) {
        to.lower[i - first] = bands.lower[i];
        to.diag[i - first] = bands.diag[i];
        to.upper[i - first] = bands.upper[i];
      }
    });
    solver.set_up();
    const Report& report = solver.report();
    return std::string(name(report.method)) + ", " + report.shape +
           format(", %lld partitions of %lld rows", static_cast<long long>(report.partition.count),
                  static_cast<long long>(report.partition.rows));
  }

 private:
  bench::Problem<T> problem_;
  Options options_;
};

/// A case, with what the best figures so far come to.
struct Tried {
  const SchemeCase* scheme_case;
  std::unique_ptr<Chosen> chosen;
  std::string shape = {};
};

std::string text_of(const Tuning::Tables& tables, const std::string& device) {
  std::string text = "devices = " + device + "\n";
  for (const auto& [name, table] : tables) {
    text += name + " [" + table.columns + "] =";
    const auto columns = std::count(table.columns.begin(), table.columns.end(), ' ') + 1;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (i > 0) text += ";";
      for (std::ptrdiff_t k = 0; k < columns; ++k) text += format(" %.10g", table.rows[i][static_cast<std::size_t>(k)]);
    }
    text += "\n";
  }
  return text;
}

class Search {
 public:
  Search(const std::vector<SchemeCase>& cases, const SchemePlace& place, double seconds)
      : place_(place), seconds_(seconds), tables_(Tuning::of_device(place.device->name).tables()) {
    place_.chosen = true;
    place_.host_beside = false;
    for (const SchemeCase& c : cases) {
      Tried& tried = tried_.emplace_back();
      tried.scheme_case = &c;
      if (c.is_double) {
        tried.chosen = std::make_unique<ChosenOf<double>>(c, place_);
      } else {
        tried.chosen = std::make_unique<ChosenOf<float>>(c, place_);
      }
      tried.shape = tried.chosen->shape();
    }
  }

  std::string run() {
    // What the device's file leaves out are the library's.
    const bool groups = place_.on_gpu() || place_.variant == "gpu";
    for (const auto& [name, library] : Tuning::built_in().tables()) {
      if (groups == (name.starts_with("lanes.") || name.starts_with("beside."))) continue;  // other kernels
      const auto own = tables_.find(name);
      Tuning::Table table = own != tables_.end() ? own->second : library;
      for (std::size_t row = 0; row < table.rows.size(); ++row) climb(name, table, row);
    }
    Tuning::Tables others;
    for (const auto& [name, table] : tables_) {
      if (table.rows != Tuning::built_in().rows(name)) others[name] = table;
    }
    return text_of(others, place_.device->name);
  }

 private:
  /// Change the numbers of a row as long as that pays.
  void climb(const std::string& name, Tuning::Table& table, std::size_t row) {
    std::istringstream columns(table.columns);
    std::string column;
    for (std::size_t k = 0; columns >> column; ++k) {
      if (column == "share" || column == "words" || column == "steps") continue;
      for (const double factor : {0.5, 2.0}) {
        bool climbs = true;
        while (climbs) {
          Tuning::Table next = table;
          next.rows[row][k] *= factor;
          climbs = spent() < seconds_ && pays(name, next);
          if (climbs) table = next;
        }
      }
    }
  }

  /// Try a table in the place of the present one, and keep it if it is better.
  bool pays(const std::string& name, const Tuning::Table& table) {
    Tuning::Tables next = tables_;
    next[name] = table;
    if (!use(next)) return false;
    std::map<Tried*, std::string> changed;
    for (Tried& tried : tried_) {
      const std::string shape = tried.chosen->shape();
      if (shape != tried.shape) changed[&tried] = shape;
    }
    double logarithm = 0;
    for (const auto& [tried, shape] : changed) logarithm += std::log(ratio(*tried->scheme_case, next));
    const double mean = changed.empty() ? 1 : std::exp(logarithm / static_cast<double>(changed.size()));
    if (!changed.empty()) {
      std::printf("%s: %.2f of the time, %zu cases\n", name.c_str(), mean, changed.size());
      std::fflush(stdout);
    }
    if (!(mean < kBetter)) {
      use(tables_);
      return false;
    }
    tables_ = std::move(next);
    use(tables_);
    for (const auto& [tried, shape] : changed) tried->shape = shape;
    return true;
  }

  /// Time of a case by other figures over that by the present ones, the best of two each.
  double ratio(const SchemeCase& c, const Tuning::Tables& next) {
    const auto fastest = [&](const Tuning::Tables& tables) {
      use(tables);
      return measure_schemes(c, place_)["chosen"].back()["apply_seconds"].get<double>();
    };
    const double other = fastest(next), present = fastest(tables_);
    return std::min(other, fastest(next)) / std::min(present, fastest(tables_));
  }

  /// @return false if they are no figures
  bool use(const Tuning::Tables& tables) {
    try {
      Tuning::use(kFile, text_of(tables, place_.device->name));
      return true;
    } catch (const InvalidInput&) {
      return false;
    }
  }
  double spent() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  SchemePlace place_;
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Tuning::Tables tables_;
  std::vector<Tried> tried_;
};

}  // namespace

std::string tune_figures(const std::vector<SchemeCase>& cases, const SchemePlace& place, double seconds) {
  if (place.device == nullptr) throw InvalidInput("--tune is for devices: name one by --device");
  return Search(cases, place, seconds).run();
}

}  // namespace oclspkt::bench::gpu

// SPDX-License-Identifier: BSD-2-Clause
// What limits each kernel: the peak and the stream of each device, and how far operations on vectors, products and
// iterations of CG are from them. Solvers are in the sections with their joules; bytes and operations are set beside by
// bench/paper_table.py.
#include <algorithm>
#include <map>

#include "krylov.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "peak.hpp"
#include "run.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

/// Rows of vectors, of stencils, and of matrices with many entries a row.
constexpr Index kVectorRows = 100'000'000, kStencilRows = 4'000'000, kSparseRows = 400'000;
constexpr double kCgFlops = 13;  ///< a row beside the product: aypx, dot, two axpy, pointwise, norm, dot

double median_of(const Json& seconds) { return median(seconds.get<std::vector<double>>()); }

/// One line of the roofline.
Json line(const Json& record, const std::string& what, double bytes, double flops, double seconds) {
  Json one = record;
  one["what"] = what;
  one["bytes"] = figure(bytes);
  one["flops"] = figure(flops);
  one["seconds"] = figure(seconds);
  return one;
}

template <typename T>
void add_bounds(DeviceModule& module, const Processor& p, Index rows, const Json& record, Json& records) {
  constexpr int kStreamed = 4, kRuns = 5;  // arrays read, one is written
  gpu::KrylovSettings none;
  Json document;
  const gpu::KrylovRun run{none, module, p.info.index, document, 0, {}};
  Json peak = record;
  peak["what"] = "peak";
  peak["flops_per_second"] = figure(measure_peak(*gpu::space_of<T>(run), p.info.cores, p.info.type == DeviceType::gpu));
  records.push_back(peak);
  const auto stream = module.make_stream(p.info.index, rows, kStreamed, sizeof(T) == sizeof(double));
  double best = stream->run();
  for (int i = 0; i < kRuns; ++i) best = std::min(best, stream->run());
  Json bound = line(record, "stream", (kStreamed + 1.) * sizeof(T) * static_cast<double>(rows), 0, best);
  bound["bytes_per_second"] = figure((kStreamed + 1.) * sizeof(T) * static_cast<double>(rows) / best);
  records.push_back(bound);
}

/// Operations, products and CG, by the functions of `oclspkt-bench-krylov`.
template <typename T>
void add_krylov(const Plan& plan, DeviceModule& module, const Processor& p, const Json& record, Json& records) {
  gpu::KrylovSettings settings;
  settings.repetitions = 3;
  settings.chosen_alone = true;
  settings.rows = {std::min(kVectorRows, plan.rows)};
  settings.size = std::min(kStencilRows, plan.rows);
  settings.matrices = {"stencil5", "stencil7"};
  settings.cg = {"stencil7:" + std::to_string(settings.size)};
  Json document{{"operations", Json::array()}, {"products", Json::array()}, {"cg", Json::array()}};
  gpu::KrylovRun run{settings, module, p.info.index, document, 0, [&](const std::function<void()>& work) {
                       const Joules joules = joules_of({p.info}, plan.settings.rated, 1, work);
                       return std::pair(joules.joules, joules.source);
                     }};
  gpu::measure_operations<T>(run);
  gpu::measure_products<T>(run);
  gpu::measure_cg<T>(run);
  settings.size = std::min(kSparseRows, plan.rows);
  settings.matrices = {"fem", "power"};
  gpu::measure_products<T>(run);
  for (const Json& r : document["operations"]) {
    const auto rows = r["rows"].get<double>();
    if (r["library"] != "ours") continue;
    records.push_back(line(record, r["operation"], r["words"].get<double>() * sizeof(T) * rows,
                           r["flops"].get<double>() * rows, median_of(r["seconds"])));
  }
  std::map<std::string, double> entries;
  for (const Json& r : document["products"]) {
    if (r["library"] != "ours" || !r["chosen"].get<bool>()) continue;
    const std::string matrix = r["matrix"];
    entries[matrix] = r["entries"];
    records.push_back(line(record, "product, " + matrix + " as " + r["format"].get<std::string>(), r["own_bytes"],
                           2 * entries[matrix], median_of(r["seconds"])));
  }
  for (const Json& r : document["cg"]) {
    const double flops = 2 * entries[r["matrix"].get<std::string>()] + kCgFlops * r["rows"].get<double>();
    Json one =
        line(record, "iteration of CG, " + r["matrix"].get<std::string>(), r["bytes"], flops, median_of(r["seconds"]));
    one["rows"] = r["rows"];
    one["joules"] = figure(r["joules"].get<double>());
    one["energy"] = r["energy"];
    records.push_back(one);
  }
}

template <typename T>
void add_device(const Plan& plan, const Processor& p, std::vector<Piece>& pieces) {
  const Json record{{"device", p.info.name}, {"scalar", scalar_name<T>()}};
  const auto add = [&](const char* words, double work, const auto& measure) {
    pieces.push_back({"roofline", p.info.name + ", " + words + ", " + scalar_name<T>(), work,
                      [=](Json& records, const Share&) {
                        std::string why;
                        DeviceModule* const module = device_module(&why);
                        if (module == nullptr) throw DeviceError(why);
                        measure(*module, records);
                      },
                      record});
  };
  add("peak and stream", 1, [=](DeviceModule& module, Json& records) {
    add_bounds<T>(module, p, std::min(kVectorRows, plan.rows), record, records);
  });
  // Drivers of processors take a minute to build all these kernels, and they are bound by memory there, too.
  if (p.info.type != DeviceType::gpu) return;
  add("vectors, products and CG", 6,
      [=](DeviceModule& module, Json& records) { add_krylov<T>(plan, module, p, record, records); });
}

}  // namespace

void add_roofline(const Plan& plan, std::vector<Piece>& pieces) {
  for (const Processor& p : unlike(plan.processors)) {
    if (p.host() || p.info.emulated || p.info.type == DeviceType::fpga) continue;
    for (const std::string& scalar : plan.settings.scalars)
      scalar == "float" ? add_device<float>(plan, p, pieces) : add_device<double>(plan, p, pieces);
  }
}

}  // namespace oclspkt::bench::paper

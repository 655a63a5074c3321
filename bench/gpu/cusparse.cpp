// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-cusparse FILE [options]: what cuSPARSE takes for the cases of oclspkt-bench-gpu, as a share of a stream
// in CUDA that is timed in turn with it, data resident. Systems are made and answers checked on the device. Where lines
// do not lie as a routine takes them, they are transposed within the time that counts, right-hand sides, bands and
// solutions; a routine is also timed with lines that lie as it wants. Bands that a routine destroys are put back
// without being timed.
#include <bit>
#include <cstdio>
#include <limits>
#include <optional>

#include "cases.hpp"
#include "clock.hpp"
#include "cusparse_calls.hpp"
#include "json_file.hpp"
#include "measure_case.hpp"
#include "provenance.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// Seconds of what f enqueues, by events.
template <typename F>
double device_seconds(const F& f) {
  struct Event {
    Event() { check(cudaEventCreate(&handle), "cudaEventCreate"); }
    ~Event() { cudaEventDestroy(handle); }
    cudaEvent_t handle = nullptr;
  };
  const Event start, stop;
  check(cudaEventRecord(start.handle), "cudaEventRecord");
  f();
  check(cudaEventRecord(stop.handle), "cudaEventRecord");
  check(cudaEventSynchronize(stop.handle), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.handle, stop.handle), "cudaEventElapsedTime");
  return 1e-3 * milliseconds;
}

/// Bands and a vector on the device.
template <typename T>
struct CudaSystem {
  explicit CudaSystem(Index n) : lower(n), diag(n), upper(n), x(n) {}
  CudaArrays<T> arrays() const { return {lower.data(), diag.data(), upper.data(), x.data()}; }
  CudaArray<T> lower, diag, upper, x;
};

/// A case on the device, with a known right-hand side, as a caller would have it.
template <typename T>
struct CudaProblem {
  CudaProblem(const Case& c, const Layout& lay) : layout(lay), bands(lay.rows()), y(lay.rows()) {
    const double dominance = c.matrix.matrix == Matrix::poisson ? 0 : c.matrix.dominance;
    fill_bands(layout, dominance, c.matrix.seed, bands.arrays());
    fill_solution(layout.rows(), c.matrix.seed, bands.x.data());
    multiply(layout, bands.arrays(), y.data());
    check(cudaDeviceSynchronize(), "making the system");
  }
  /// Normwise backward error, over all lines together, of a solution in bands.x.
  double backward_error() const {
    const CudaArray<ErrorParts> parts(1);
    check(cudaMemset(parts.data(), 0, sizeof(ErrorParts)), "cudaMemset");
    find_errors(layout, bands.arrays(), y.data(), parts.data());
    ErrorParts found{};
    check(cudaMemcpy(&found, parts.data(), sizeof found, cudaMemcpyDeviceToHost), "finding the error");
    const auto value = [](unsigned long long bits) { return std::bit_cast<double>(bits); };
    const double scale = value(found.matrix) * value(found.x) + value(found.y);
    return value(found.residual) / scale;
  }
  double stream_seconds() const {
    return device_seconds([&] {
      stream<T>(layout.rows(), bands.lower.data(), bands.diag.data(), bands.upper.data(), y.data(), bands.x.data());
    });
  }

  Layout layout;
  CudaSystem<T> bands;  ///< its x takes solutions, and what the stream writes
  CudaArray<T> y;
};

/// A routine that solves a problem, in the problem's own arrays as far as it leaves them whole.
template <typename T>
class Solving {
 public:
  Solving(Routine routine, const CusparseHandle& handle, const CudaProblem<T>& problem)
      : routine_(routine), handle_(handle), problem_(problem), layout_(problem.layout) {
    turns_ = problem.layout.count > 1 && problem.layout.beside != is_interleaved(routine);
    layout_.beside = is_interleaved(routine);
    if (turns_ || is_interleaved(routine)) own_.emplace(problem.layout.rows());
    buffer_.emplace(static_cast<Index>(buffer_bytes(routine, handle, layout_, arrays())) + 1);
  }
  bool turns() const { return turns_; }
  /// Solve once; the solution is in the problem's x. @return seconds
  double run() {
    if (!turns_) restore();
    const double seconds = device_seconds([&] {
      if (turns_) turn_in();
      solve(routine_, handle_, layout_, arrays(), buffer_->data());
      if (turns_) turn(layout_, own_->x, problem_.bands.x);
    });
    if (!turns_ && own_) copy(own_->x, problem_.bands.x);
    return seconds;
  }

 private:
  CudaArrays<T> arrays() const { return own_ ? own_->arrays() : problem_.bands.arrays(); }
  static void copy(const CudaArray<T>& from, const CudaArray<T>& to) {
    check(cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T),
                          cudaMemcpyDeviceToDevice),
          "cudaMemcpyAsync");
  }
  /// What the last solve has overwritten.
  void restore() {
    if (own_) {
      copy(problem_.bands.lower, own_->lower);
      copy(problem_.bands.diag, own_->diag);
      copy(problem_.bands.upper, own_->upper);
    }
    copy(problem_.y, own_ ? own_->x : problem_.bands.x);
  }
  /// @param layout in which `from` lies
  static void turn(const Layout& layout, const CudaArray<T>& from, const CudaArray<T>& to) {
    const Index rows = layout.beside ? layout.length : layout.count;
    transpose(rows, layout.rows() / rows, from.data(), to.data());
  }
  void turn_in() {
    turn(problem_.layout, problem_.bands.lower, own_->lower);
    turn(problem_.layout, problem_.bands.diag, own_->diag);
    turn(problem_.layout, problem_.bands.upper, own_->upper);
    turn(problem_.layout, problem_.y, own_->x);
  }

  Routine routine_;
  const CusparseHandle& handle_;
  const CudaProblem<T>& problem_;
  Layout layout_;  ///< as the routine takes it
  bool turns_ = false;
  std::optional<CudaSystem<T>> own_;
  std::optional<CudaArray<char>> buffer_;
};

DeviceRecord record_of(const Case& c, Routine routine, const std::string& device) {
  DeviceRecord r = left_out(c, "", "");
  r.outcome = Outcome::timed;
  r.solver = "cusparse";
  r.device = device;
  r.method = name(routine);
  r.variant.clear();
  return r;
}

template <typename T>
void time(const Case& c, Routine routine, const CusparseHandle& handle, const CudaProblem<T>& problem,
          DeviceRecord& r) {
  constexpr double kEps = std::numeric_limits<T>::epsilon();
  Solving<T> solving(routine, handle, problem);
  if (solving.turns()) r.variant = "transposed";
  solving.run();
  r.backward_error_eps = problem.backward_error() / kEps;
  if (!judge(r)) return;
  problem.stream_seconds();  // its first launch loads code
  for (int round = 0; round < c.repetitions; ++round) {
    r.stream_seconds.push_back(problem.stream_seconds());
    r.own_stream_seconds.push_back(r.stream_seconds.back());
    r.seconds.push_back(solving.run());
  }
}

/// How lines lie; nothing for lines along y, which the routines do not take in one call.
std::optional<Layout> layout_of(const Case& c) {
  const LineSet& lines = c.lines;
  if (lines.contiguous()) return Layout{lines.count(), lines.length(0), false};
  if (c.place.front() == 'z') return Layout{lines.count(), lines.length(0), true};
  return std::nullopt;
}

/// Matrices whose values make no difference to the routines are solved once: one that truncation would take, one that
/// it would not.
bool is_for_peers(const Case& c) {
  if (!layout_of(c) || c.precision == Precision::narrow) return false;
  if (!c.place.empty()) return c.matrix.matrix == Matrix::random && !c.matrix.symmetric;
  return c.matrix.matrix == Matrix::poisson || (c.matrix.matrix == Matrix::random && c.matrix.dominance == 3);
}

template <typename T, typename Keep>
void measure_as(const Case& c, const CusparseHandle& handle, const std::string& device, const Keep& keep) {
  using enum Routine;
  const std::vector<Routine> routines = c.place.empty()
                                            ? std::vector{gtsv2_nopivot, gtsv2}
                                            : std::vector{gtsv2_strided_batch, gtsv_interleaved_0, gtsv_interleaved_1};
  std::optional<CudaProblem<T>> problem;
  for (const Routine routine : routines) {
    DeviceRecord record = record_of(c, routine, device);
    try {
      if (!problem) problem.emplace(c, *layout_of(c));
      time(c, routine, handle, *problem, record);
    } catch (const Error& error) {
      record.outcome = Outcome::failed;
      record.note = error.what();
    }
    drop_times_unless_timed(record);
    keep(record);
  }
}

/// @return false if nothing could be timed; that a peer fails or answers wrong somewhere is a result
bool run(const Settings& settings, const std::string& command) {
  JsonFile json(settings.file);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int runtime = 0, driver = 0, library = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const CusparseHandle handle;
  check(cusparseGetVersion(handle.get(), &library), "cusparseGetVersion");
  DeviceInfo info;
  info.type = DeviceType::gpu;
  info.name = properties.name;
  info.driver_version = "CUDA " + std::to_string(driver);
  info.platform = "CUDA " + std::to_string(runtime) + ", cuSPARSE " + std::to_string(library);
  nlohmann::ordered_json document{{"provenance", provenance(info, command)},
                                  {"results", nlohmann::ordered_json::array()}};
  bool any_timed = false;
  double spent = 0;
  for (const Case& c : make_cases(settings)) {
    if (!is_for_peers(c)) continue;
    if (!(spent < settings.seconds)) break;
    std::printf("%s\n", c.describe().c_str());
    const auto keep = [&](const DeviceRecord& record) {
      any_timed = any_timed || record.outcome == Outcome::timed;
      document["results"].push_back(to_json(record));
      std::printf("%s\n", describe(record).c_str());
      std::fflush(stdout);
    };
    spent += seconds_of([&] {
      c.is_double ? measure_as<double>(c, handle, info.name, keep) : measure_as<float>(c, handle, info.name, keep);
    });
  }
  json.write(document);
  return any_timed || document["results"].empty();
}

}  // namespace
}  // namespace oclspkt::bench::gpu

int main(int argc, char** argv) {
  using namespace oclspkt::bench;
  return gpu::run_program([&] {
    const auto settings = gpu::parse_settings(argc, argv);
    if (!settings) return 0;
    if (!settings->allow_debug) require_release();
    return gpu::run(*settings, gpu::command_of(argc, argv, settings->file)) ? 0 : 1;
  });
}

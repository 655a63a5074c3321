// SPDX-License-Identifier: BSD-2-Clause
#include "measure_case.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "backward_error.hpp"
#include "clock.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "problem.hpp"
#include "resident.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// Words a row that an apply cannot do without: right-hand side, solution, and the bands as they are stored.
double own_words(Form form) {
  switch (form) {
    case Form::symmetric:
      return 4;
    case Form::shared:
      return 2;
    case Form::narrow:
      return 3.5;
    case Form::general:
      break;
  }
  return kStreamWords;
}

/// Applies that are enqueued together.
constexpr double kBatchSeconds = 2e-3, kMostApplies = 50;

/// The variant of Options that has kernels of its own to be told from those of the method.
constexpr const char* kPaper = "paper";

/// @param kernels  Options::variant
DeviceRecord record_of(const Case& c, const std::string& method, const std::string& kernels) {
  DeviceRecord r;
  r.solver = "oclspkt";
  r.method = method;
  r.variant = kernels == kPaper ? kernels : method;
  r.form = name(Form::general);
  r.scalar = c.is_double ? "double" : "float";
  r.matrix = c.matrix.describe();
  r.lines = c.place;
  r.line_length = c.place.empty() ? 0 : c.lines.length(0);
  r.bands = c.bands;
  r.rows = c.lines.rows();
  r.backward_error_eps = std::numeric_limits<double>::quiet_NaN();
  return r;
}

void take_report(const Report& report, DeviceRecord& r) {
  r.device = report.device.name;
  r.method = name(report.method);
  r.form = name(report.form);
  r.shape = report.shape;
  r.words_per_row = report.words_per_row;
  r.own_words = own_words(report.form);
  r.why = report.why;
  if (report.certificate_above_tolerance) {
    r.outcome = Outcome::not_covered;
    r.note = report.why;
  }
}

/// Why the paper's form does not carry all lines of a case; empty if it does.
std::string why_not_paper(const Report& report) {
  const bool taken = report.shape.find("variant paper") != std::string::npos;
  if (taken) return report.groups.empty() ? "" : "the host solves fallback lines, " + report.groups.front().why;
  for (const Candidate& candidate : report.candidates) {
    if (candidate.method == Method::truncated_halo && !candidate.taken) return candidate.why;
  }
  return "it is for lines laid end to end, method auto or truncated-halo";
}

/// The streams of a case: that of all shares, and the one of the words that a form needs.
class Streams {
 public:
  Streams(const Case& c, const Place& place) : c_(c), place_(place), all_(make(kStreamWords)) {}

  /// Have the other stream ready. @param words a row; what is no whole number is reckoned from the first stream
  void prepare(double words) {
    words_ = words;
    own_.reset();
    if (words != kStreamWords && words == static_cast<int>(words)) own_ = make(words);
  }
  /// Time both behind an apply; behind them an apply may be timed. So a stream and an apply find what the other left in
  /// the caches, and neither begins on a device that was idle, which takes up to 5 us.
  template <typename Apply>
  void run(const Apply& apply, std::vector<double>& all, std::vector<double>& own) {
    apply();
    all.push_back(all_->run());
    if (!own_) {
      own.push_back(all.back() * words_ / kStreamWords);
      return;
    }
    apply();
    own.push_back(own_->run());
  }

 private:
  std::unique_ptr<DeviceStream> make(double words) const {
    return place_.module.make_stream(place_.device.index, c_.lines.rows(), static_cast<int>(words) - 1, c_.is_double);
  }

  const Case& c_;
  const Place& place_;
  double words_ = kStreamWords;
  std::unique_ptr<DeviceStream> all_, own_;
};

/// eps of what the answer is held against: of the bands where they are narrower than the vectors.
template <typename T>
double eps_of(const Report& report) {
  const bool narrow = report.precision.applied == Precision::narrow;
  return narrow ? std::numeric_limits<float>::epsilon() : static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <typename T>
void solve(const Case& c, const Place& place, MethodChoice method, Problem<T>& problem, Streams& streams,
           DeviceRecord& r) {
  Options options;
  options.devices = place.device.cuda ? "gpu" : std::to_string(place.device.index);
  options.variant = place.variant;
  options.method = method;
  options.precision = c.precision;
  options.on_device_failure = OnDeviceFailure::error;
  options.use.kernel_times = true;
  const std::unique_ptr<Setting> setting = make_setting(place);
  Solver<T> solver(options);
  const BandsView<T> bands = problem.bands.view();
  r.setup_seconds = seconds_of([&] {
    solver.fill(problem.lines, [&](const BandsPart<T>& to, Index first, Index end) {
      std::copy(bands.lower + first, bands.lower + end, to.lower);
      std::copy(bands.diag + first, bands.diag + end, to.diag);
      std::copy(bands.upper + first, bands.upper + end, to.upper);
    });
    solver.set_up(setting->known());
  });
  const Report& report = solver.report();
  take_report(report, r);
  if (report.device.type == name(DeviceType::host)) {
    r.outcome = Outcome::absent;
    r.note = "no kernel of this device; the host would solve: " + report.device.why;
    return;
  }
  if (const std::string why = place.variant == kPaper ? why_not_paper(report) : ""; !why.empty()) {
    r.outcome = Outcome::absent;
    r.note = "variant paper does not carry it: " + why;
    return;
  }
  problem.spoil();
  const std::unique_ptr<Resident> vectors =
      setting->resident(solver, static_cast<std::size_t>(problem.n()) * sizeof(T));
  vectors->write(problem.y.data());
  vectors->apply();
  vectors->read(problem.x.data());
  r.backward_error_eps =
      normwise_backward_error(problem.lines, bands, problem.x.data(), problem.y.data()) / eps_of<T>(report);
  if (!judge(r)) return;
  if (c.repeats > 0) {
    const int other = vectors->count_others(problem.x.data(), c.repeats);
    if (other > 0) {
      r.outcome = Outcome::wrong;
      r.note = std::to_string(other) + " of " + std::to_string(c.repeats) + " applies gave other bits";
      return;
    }
    r.repeats = c.repeats;
  }
  streams.prepare(r.own_words);
  for (int round = 0; round < c.repetitions; ++round) {
    streams.run([&] { vectors->apply(); }, r.stream_seconds, r.own_stream_seconds);
    r.call_seconds.push_back(seconds_of([&] { r.seconds.push_back(vectors->apply()); }));
    if (place.enqueued || place.device.cuda) {
      const double applies = std::clamp(kBatchSeconds / r.call_seconds.back(), 1.0, kMostApplies);
      r.batch_seconds.push_back(vectors->batch(static_cast<int>(applies)));
    }
    r.end_to_end_seconds.push_back(seconds_of([&] { solver.apply(problem.y.data(), problem.x.data()); }));
  }
}

/// Run f; what it throws becomes the record's failure.
template <typename F>
void attempt(DeviceRecord& record, const F& f) {
  try {
    f();
    return;
  } catch (const Error& error) {
    record.note = error.what();
  } catch (const std::bad_alloc&) {
    record.note = "the host's memory does not hold it";
  }
  record.outcome = Outcome::failed;
}

template <typename T>
void measure_as(const Case& c, const Place& place, const std::function<void(const DeviceRecord&)>& report) {
  std::unique_ptr<Problem<T>> problem;
  std::optional<Streams> streams;
  for (const MethodChoice method : c.methods) {
    DeviceRecord record = record_of(c, name(method), place.variant);
    attempt(record, [&] {
      if (!problem) problem = std::make_unique<Problem<T>>(c.matrix, c.lines);
      if (!streams) streams.emplace(c, place);
      solve(c, place, method, *problem, *streams, record);
    });
    drop_times_unless_timed(record);
    report(record);
  }
}

}  // namespace

void measure(const Case& c, const Place& place, const std::function<void(const DeviceRecord&)>& report) {
  c.is_double ? measure_as<double>(c, place, report) : measure_as<float>(c, place, report);
}

DeviceRecord left_out(const Case& c, const std::string& kernels, const std::string& why) {
  DeviceRecord record = record_of(c, name(c.methods.front()), kernels);
  record.outcome = Outcome::absent;
  record.note = why;
  return record;
}

}  // namespace oclspkt::bench::gpu

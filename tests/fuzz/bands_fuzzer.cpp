// SPDX-License-Identifier: BSD-2-Clause
// Solver<T> over bands, sizes, line sets and options, against LAPACK (tests/support/line_judge.hpp): an answer is
// right, or there is an error of a documented kind with a reason. Several set-ups of one solver, one after the other.

#include "backward_error.hpp"
#include "bands_case.hpp"
#include "evidence.hpp"
#include "line_judge.hpp"
#include "matrix_algebra.hpp"
#include "model_device.hpp"
#include "oclspkt/solver.hpp"

namespace oclspkt::fuzz {
namespace {

/// Set-ups of one solver in one run.
constexpr int kSetUps = 3;

/// How a call ended.
enum class End { good, breakdown, device_error, invalid_input };

template <typename F>
End attempt(const F& f, std::string& text) {
  End end = End::good;
  try {
    f();
    return end;
  } catch (const Breakdown& error) {
    end = End::breakdown;
    text = error.what();
  } catch (const DeviceError& error) {
    end = End::device_error;
    text = error.what();
  } catch (const InvalidInput& error) {
    end = End::invalid_input;
    text = error.what();
  }  // anything else ends the process: it is not documented
  require(text.size() > 10, "an error says nothing");
  return end;
}

/// Whether a method was named that devices do not have for such lines.
bool takes_others(const Options& o, const LineSet& lines) {
  const bool glued = o.method == MethodChoice::truncated_streamed || o.method == MethodChoice::exact_twopass;
  return glued && lines.beside() && !lines.contiguous() && o.devices != "host";
}

std::string describe(const Options& o, const Report& r) {
  std::string text = std::string("devices ") + o.devices + ", method " + name(o.method) + ", rtol " +
                     std::to_string(o.rtol) + ", partition " + std::to_string(o.partition) + ", singular " +
                     name(o.singular) + ", taken " + name(r.method) + " on " + r.device.name + " (" + r.why +
                     "), certificate " + std::to_string(r.certificate) + ", trial " + std::to_string(r.backward_error) +
                     ", ";
  for (const GroupReport& group : r.groups) {
    text += std::to_string(group.lines) + " lines from " + std::to_string(group.first_line) + " on by " +
            name(group.method) + " (" + group.why + "), ";
  }
  return text;
}

/// The first rows, as a test would write them.
template <typename T>
void print_rows(const Bands<T>& bands, const std::vector<T>& y) {
  const BandsView<T> b = bands.view();
  std::fprintf(stderr, "%s, %s\n", sizeof(T) == 8 ? "double" : "float", bands.lines().describe().c_str());
  for (Index i = 0; i < std::min<Index>(1200, bands.lines().extent()); ++i) {
    std::fprintf(stderr, "{%.17g, %.17g, %.17g} y %.17g\n", static_cast<double>(b.lower[i]),
                 static_cast<double>(b.diag[i]), static_cast<double>(b.upper[i]),
                 static_cast<double>(y[static_cast<std::size_t>(i)]));
  }
}

/// The right-hand side of the trial solve, since a set-up knows no other; where it overflows, the row's diagonal.
template <typename T>
std::vector<T> trial_side(const Bands<T>& bands) {
  std::vector<T> y(static_cast<std::size_t>(bands.lines().extent()));
  trial_right_hand_side(bands.lines(), bands.view(), TrialKind::rough, y.data());
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) y[i] = std::copysign(bands.view().diag[i], y[i]);
  }
  return y;
}

/// True if a row's entries lie so far apart that no scaling of the row keeps all of them in the range of T: such a
/// matrix may be refused, or its answer be visibly no number, although LAPACK, by luck with the pivots, manages.
template <typename T>
bool too_wide(const Bands<T>& bands) {
  using Limits = std::numeric_limits<T>;
  const T widest = std::ldexp(T(1), Limits::max_exponent - Limits::digits);
  const BandsView<T> b = bands.view();
  for (Index i = 0; i < bands.lines().extent(); ++i) {
    T least = Limits::infinity(), most = 0;
    for (const T entry : {std::abs(b.lower[i]), std::abs(b.diag[i]), std::abs(b.upper[i])}) {
      if (entry > 0) least = std::min(least, entry);
      most = std::max(most, entry);
    }
    if (least < most && !(most / widest <= least)) return true;
  }
  return false;
}

/// True if what an answer leaves of every row is what unknowns that are rounded to the least numbers of T leave.
template <typename T>
bool is_right_to_underflow(const Bands<T>& bands, const std::vector<T>& y, const std::vector<T>& x) {
  const BandsView<T> b = bands.view();
  const LineSet& lines = bands.lines();
  const auto wide = [](T number) { return static_cast<long double>(number); };
  const Index stride = lines.row_stride();
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * stride;
      const auto of = [&](Index row) { return wide(x[static_cast<std::size_t>(row)]); };
      long double left = wide(y[static_cast<std::size_t>(at)]) - wide(b.diag[at]) * of(at);
      long double size = std::abs(wide(b.diag[at]));
      if (i > 0) left -= wide(b.lower[at]) * of(at - stride), size += std::abs(wide(b.lower[at]));
      if (i + 1 < lines.length(l)) left -= wide(b.upper[at]) * of(at + stride), size += std::abs(wide(b.upper[at]));
      if (!(std::abs(left) <= size * wide(std::numeric_limits<T>::denorm_min()))) return false;
    }
  }
  return true;
}

/// What speaks against a call that ended without an answer: there must be a reason for it.
template <typename T>
std::optional<std::string> against_error(End end, const Options& options, test::LineJudge<T>& judge,
                                         const Bands<T>& bands) {
  if (end == End::device_error) {
    const bool asked_for = options.on_device_failure == OnDeviceFailure::error;
    if (!asked_for || !device_failed()) return "a device error that nobody asked for: ";
  } else if (end == End::invalid_input) {
    const bool without_double = sizeof(T) == 8 && options.devices == "gpu";
    const bool small_memory = options.use.device_memory > 0;
    const bool apart = takes_others(options, bands.lines());
    if (!without_double && !small_memory && !apart) return "good input is refused: ";
  } else if (options.method == MethodChoice::automatic || options.method == MethodChoice::pivot) {
    if (!too_wide(bands) && judge.lapack_manages(trial_side(bands))) return "reported although LAPACK manages: ";
  }
  return std::nullopt;
}

template <typename T>
std::optional<std::string> against_answer(const Bands<T>& bands, const std::vector<T>& x, const Options& options,
                                          const Report& report, const test::LineJudge<T>& judge) {
  if (report.certificate_above_tolerance) return std::nullopt;  // asked for, and said
  const auto visible = [](T value) { return !std::isfinite(value); };
  if (too_wide(bands) && std::any_of(x.begin(), x.end(), visible)) return std::nullopt;
  // A e is what truncation leaves of the residual, |e| <= certificate max |x|.
  return judge.wrong(x.data(), 1.1 * report.certificate, options.singular == Singular::pin);
}

void check_report(const Report& report, const Options& options, const LineSet& lines) {
  require(report.ready, "a set-up that succeeded is not ready");
  require(report.rows == lines.rows(), "the report counts other rows");
  require(!report.candidates.empty() && report.candidates.back().taken, "no candidate is taken");
  require(report.candidates.back().method == report.method, "another candidate is taken than the report says");
  require(report.certificate >= 0 || report.certificate_above_tolerance, "a certificate that is no number is taken");
  if (!report.certificate_above_tolerance && !(report.certificate <= report.tolerance)) {
    finding("certificate above tolerance: " + describe(options, report));
  }
  require(!report.certificate_above_tolerance || options.method != MethodChoice::automatic,
          "auto takes what is above the tolerance");
  Index rows = 0;
  for (const GroupReport& group : report.groups) rows += group.rows;
  require(rows <= report.rows, "groups have more rows than there are");
}

/// Solve into an x of which every place that is not written shows.
template <typename T, typename Apply, typename Reported>
void solve_and_judge(const Bands<T>& bands, const std::vector<T>& y, const Options& options, const Apply& apply,
                     const Reported& report) {
  test::LineJudge<T> judge(bands, y);
  std::vector<T> x(y.size(), T(12345)), again(y.size(), T(12345));
  std::string text;
  const End end = attempt([&] { apply(y.data(), x.data()); }, text);
  const bool underflows = end == End::good && too_wide(bands) && is_right_to_underflow(bands, y, x);
  const auto against = underflows         ? std::nullopt
                       : end == End::good ? against_answer(bands, x, options, report(), judge)
                                          : against_error(end, options, judge, bands);
  if (against) {
    print_rows(bands, y);
    finding(describe(options, report()) + *against + text);
  }
  if (end != End::good) return;
  const bool may_change = !device_failed();  // a device that is lost now moves the rows to the host
  if (attempt([&] { apply(y.data(), again.data()); }, text) != End::good) return;
  if (!may_change || !device_failed()) {
    require(x.empty() || std::memcmp(x.data(), again.data(), x.size() * sizeof(T)) == 0, "another apply, other bits");
  }
}

template <typename T>
void solve_once(Bytes& bytes, Solver<T>& solver, const LineSet& lines, const Bands<T>& bands) {
  const Options options = solver.options();
  const std::vector<T> y = take_right_hand_side(bytes, lines, bands.view());
  std::string text;
  const End end =
      attempt([&] { solver.set_up(lines, bands.view().lower, bands.view().diag, bands.view().upper); }, text);
  if (end != End::good) {
    test::LineJudge<T> judge(bands, y);
    if (const auto against = against_error(end, options, judge, bands)) {
      print_rows(bands, y);
      finding(describe(options, solver.report()) + *against + text);
    }
    std::vector<T> x(y.size());
    require(attempt([&] { solver.apply(y.data(), x.data()); }, text) == End::invalid_input,
            "apply is taken after a set-up that failed");
    return;
  }
  check_report(solver.report(), options, lines);
  solve_and_judge(
      bands, y, options, [&](const T* b, T* x) { solver.apply(b, x); }, [&] { return solver.report(); });
  if (!solver.report().ready || bytes.below(3) != 0) return;
  const Bands<T> transposed = test::transposed(bands);
  solve_and_judge(
      transposed, y, options, [&](const T* b, T* x) { solver.apply_transpose(b, x); },
      [&] { return solver.transposed().report(); });
}

/// Partitions of a few rows that read long halos cost the square of the rows, as asked for: seconds, and nothing new.
bool too_slow(const Options& options, const LineSet& lines) {
  return options.partition > 0 && options.partition < 16 && lines.rows() > 500;
}

template <typename T>
void exercise(Bytes& bytes) {
  Solver<T> solver(take_options(bytes));
  LineSet lines;
  Bands<T> bands;
  for (int i = 0; i < kSetUps && (i == 0 || !bytes.empty()); ++i) {
    const int change = i == 0 ? 0 : bytes.below(4);
    if (change == 0) lines = take_lines(bytes);
    if (change <= 1) bands = take_bands<T>(bytes, lines);
    if (change == 2) poke(bytes, lines, bands.lower(), bands.diag(), bands.upper());
    if (change == 3) solver.set_options(take_options(bytes));
    if (too_slow(solver.options(), lines)) return;
    const int failing = bytes.byte();
    fail_device_call(failing % 4 == 1 ? failing / 4 % 12 : 0);
    solve_once(bytes, solver, lines, bands);
    require(solver.bytes() >= 0, "bytes held are negative");
  }
}

}  // namespace
}  // namespace oclspkt::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  oclspkt::fuzz::Bytes bytes(data, size);
  if (bytes.below(2) == 0) {
    oclspkt::fuzz::exercise<double>(bytes);
  } else {
    oclspkt::fuzz::exercise<float>(bytes);
  }
  return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "trial.hpp"

#include <cctype>
#include <optional>

#include "matrices.hpp"
#include "units.hpp"

namespace oclspkt::attack {
namespace {

template <typename T>
Bands<T> transpose_of(const Bands<T>& bands) {
  Bands<T> result = test::copy_of(bands);
  const LineSet& lines = bands.lines();
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i + 1 < lines.length(l); ++i) {
      const Index at = lines.first(l) + i * lines.row_stride();
      std::swap(result.upper()[at], result.lower()[at + lines.row_stride()]);
    }
  }
  return result;
}

template <typename T>
bool finite(const T* numbers, Index n) {
  return std::all_of(numbers, numbers + n, [](T value) { return std::isfinite(value); });
}

template <typename T>
bool finite(const Bands<T>& bands) {
  const Index n = bands.lines().extent();
  const BandsView<T> b = bands.view();
  return finite(b.lower, n) && finite(b.diag, n) && finite(b.upper, n);
}

/// No T is near the number.
template <typename T>
bool beyond_range(long double x) {
  return std::isinf(static_cast<T>(x));
}

template <typename T>
std::optional<Question<T>> ask(const Exam<T>& exam, Solution kind, std::vector<T> y) {
  if (!finite(y.data(), static_cast<Index>(y.size()))) return std::nullopt;
  Question<T> q;
  q.kind = kind;
  q.y = std::move(y);
  q.truth.x = solve_exactly(exam.judged, exam.pieces, q.y);
  if (std::any_of(q.truth.x.begin(), q.truth.x.end(), beyond_range<T>)) return std::nullopt;
  q.truth.spread = spread_of(exam.judged, exam.pieces, q.truth.x);
  const std::vector<T> lapack = solve_by_lapack(exam.judged, exam.pieces, q.y);
  q.lapack = forward_errors(exam.pieces, lapack.data(), q.truth.x);
  q.lapack_unit = unit_error(exam.pieces, exam.decade, lapack.data(), q.truth, 0);
  return q;
}

/// The forward errors of an answer into `a`. LAPACK may be lucky with one piece of many, so its worst counts.
void compare_forward(const std::vector<double>& ours, const std::vector<double>& lapack, double certificate,
                     Answer& a) {
  for (std::size_t k = 0; k < ours.size(); ++k) {
    if (std::isnan(lapack[k])) continue;  // singular, or nearly so
    a.forward = std::max(a.forward, std::isnan(ours[k]) ? std::numeric_limits<double>::infinity() : ours[k]);
    a.lapack_forward = std::max(a.lapack_forward, lapack[k]);
  }
  a.forward_share = std::max(a.forward - certificate, 0.0) / (kForward * a.lapack_forward + kWrong);
}

/// A shape without its numbers: "halo 40" is "halo".
std::string without_numbers(const std::string& shape) {
  std::string words;
  for (const char c : shape) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) words += c;
  }
  return words;
}

template <typename T>
void set_up(Solver<T>& solver, const Bands<T>& bands) {
  const BandsView<T> b = bands.view();
  solver.set_up(bands.lines(), b.lower, b.diag, b.upper);
}

/// The forward errors of an answer in units into `a`.
template <typename T>
void compare_in_units(const Exam<T>& exam, const Question<T>& q, const T* x, double certificate, Promised promised,
                      Answer& a) {
  const auto error = [&](const Truth& truth, double allowed) {
    return unit_error(exam.pieces, exam.decade, x, truth, allowed);
  };
  const auto size = static_cast<std::size_t>(exam.judged.lines().extent());
  a.lapack_unit = q.lapack_unit;
  a.unit = error(q.truth, certificate);
  if (a.unit > kSpreads && std::isfinite(a.errors.component)) {
    a.unit = error(q.truth.averaged(spread_of(exam.judged, exam.pieces, {x, x + size})), certificate);
  }
  if (promised == Promised::component || !std::isfinite(a.errors.row)) return;
  const std::vector<double> as_given(size, 1.0);
  const std::vector<double>& units = promised == Promised::units ? exam.units : as_given;
  const std::vector<long double> sizes = largest_in_units(exam.pieces, units, x);
  a.rows = error(q.truth.averaged(spread_of(exam.judged, exam.pieces, sizes)), 0) / 2;
}

/// The set-up that is not judged may be refused.
template <typename T>
void set_up_tame(Solver<T>& solver, const Bands<T>& bands) {
  try {
    set_up(solver, bands);
  } catch (const Breakdown&) {
  }
}

template <typename T>
void answer_all(const Exam<T>& exam, Solver<T>& solver, Outcome& outcome) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  const bool transposed = exam.about.use == Use::transpose;
  std::vector<T> x(static_cast<std::size_t>(exam.bands.lines().extent()));
  for (const Question<T>& q : exam.questions) {
    transposed ? solver.apply_transpose(q.y.data(), x.data()) : solver.apply(q.y.data(), x.data());
    const Report& report = transposed ? solver.transposed().report() : solver.report();
    const double bound = rounding_bound(report) + report.certificate / eps;
    if (outcome.answers.empty()) {
      outcome.method = name(report.method);
      outcome.shape = without_numbers(report.shape);
      outcome.device = report.device.type == "host" ? "host" : report.device.platform;
      outcome.above_tolerance = report.certificate_above_tolerance;
      outcome.promised = promise_of(report);
      outcome.bound = bound;
    }
    Answer a;
    a.kind = q.kind;
    a.bound = bound;
    a.errors = judge(exam.judged, exam.pieces, exam.units, x.data(), q.y.data());
    compare_in_units(exam, q, x.data(), report.certificate, outcome.promised, a);
    compare_forward(forward_errors(exam.pieces, x.data(), q.truth.x), q.lapack, report.certificate / eps, a);
    outcome.answers.push_back(a);
  }
}

}  // namespace

template <typename T>
std::vector<double> units_of(const Bands<T>& bands, const std::vector<Piece>& pieces) {
  AlignedArray<T> units;
  std::vector<double> near(static_cast<std::size_t>(bands.lines().extent()), 1.0);
  if (find_units(bands.lines(), bands.view(), units).runs == 0) return near;
  std::copy_n(units.data(), near.size(), near.begin());
  return dominant_units(bands, pieces, std::move(near));
}

template <typename T>
Exam<T> make_exam(const Case& c) {
  Exam<T> exam;
  exam.about = c;
  const System system = make_system(c);
  exam.bands = to_bands<T>(system);
  exam.judged = c.use == Use::transpose ? transpose_of(exam.bands) : test::copy_of(exam.bands);
  if (c.use == Use::later) exam.tame = to_bands<T>(make_system(tame(c)));
  if (!finite(exam.bands)) return exam;
  exam.pieces = pieces_of(exam.judged);
  exam.units = units_of(exam.judged, exam.pieces);
  // The unknowns of the transpose have the units of rows.
  exam.decade = c.use == Use::transpose ? std::vector<int>(system.decade.size()) : system.decade;
  Dice dice(c.seed + 1);
  for (std::size_t k = 0; k < std::size(kSolutionNames); ++k) {
    const auto kind = static_cast<Solution>(k);
    const std::vector<double> wanted = make_solution(kind, system, dice);
    const std::vector<T> x(wanted.begin(), wanted.end());
    // Sources are of the right-hand side, the others of the solution.
    auto q = ask(exam, kind, kind == Solution::sources ? x : multiply(exam.judged, exam.pieces, x));
    if (q) exam.questions.push_back(std::move(*q));
  }
  return exam;
}

template <typename T>
Outcome take(const Exam<T>& exam, const Setting& setting) {
  Options options;
  options.devices = setting.device;
  options.balance = "even";  // several devices share rows, however few
  options.variant = setting.variant;
  options.method = setting.method;
  options.rtol = exam.about.rtol;
  options.partition = exam.about.partition;
  options.on_device_failure = OnDeviceFailure::error;
  Outcome outcome;
  outcome.automatic = setting.method == MethodChoice::automatic;
  try {
    Solver<T> solver(options);
    if (exam.about.use == Use::later) set_up_tame(solver, exam.tame);
    set_up(solver, exam.bands);
    answer_all(exam, solver, outcome);
  } catch (const DeviceError& error) {
    outcome.refused = error.what();
    outcome.broke = true;
  } catch (const Error& error) {
    outcome.refused = error.what();
  }
  return outcome;
}

template std::vector<double> units_of(const Bands<float>&, const std::vector<Piece>&);
template std::vector<double> units_of(const Bands<double>&, const std::vector<Piece>&);
template Exam<float> make_exam(const Case&);
template Exam<double> make_exam(const Case&);
template Outcome take(const Exam<float>&, const Setting&);
template Outcome take(const Exam<double>&, const Setting&);

}  // namespace oclspkt::attack

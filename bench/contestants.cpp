// SPDX-License-Identifier: BSD-2-Clause
#include "contestants.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "clock.hpp"
#include "command_line.hpp"
#include "oclspkt/solver.hpp"
#include "parallel.hpp"
#include "peers.hpp"
#include "selection.hpp"
#include "split.hpp"
#include "stream.hpp"

namespace oclspkt::bench {
namespace {

constexpr const char* kStream = "stream";
constexpr const char* kStreamOpenCL = "stream-opencl";
constexpr double kStreamWords = 5;

/// The library's method of that name, or nothing.
std::optional<MethodChoice> library_method(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kMethodChoiceNames); ++i) {
    if (name == kMethodChoiceNames[i]) return static_cast<MethodChoice>(i);
  }
  return std::nullopt;
}

/// A name of --methods: the method, and the selection behind an '@' if there is one.
struct Entry {
  explicit Entry(const std::string& name) : method(name.substr(0, name.find('@'))) {
    if (method.size() < name.size()) selection = name.substr(method.size() + 1);
  }
  std::string method;
  std::optional<std::string> selection;
};

/// True if the host solves by that method, and does not put stored factors in its place.
bool carried_by_host(MethodChoice choice) {
  return choice == MethodChoice::automatic || choice == MethodChoice::exact || choice == MethodChoice::exact_factored ||
         choice == MethodChoice::pivot;
}

/// True if devices have kernels for such lines by that method; nothing where the library chooses the method.
std::optional<bool> carried_by_devices(MethodChoice choice, const LineSet& lines) {
  for (std::size_t i = 0; i < std::size(kMethodNames); ++i) {
    const auto method = static_cast<Method>(i);
    if (std::string(oclspkt::name(choice)) == oclspkt::name(method)) return device_carries(method, lines);
  }
  return std::nullopt;
}

/// Where a method is to run that comes without a selection of its own. One that no device carries runs on the host,
/// whatever is selected; the others all on the device that the first of them chose, for the figures are compared. Only
/// `auto` and its like are left their choice.
std::string devices_for(MethodChoice choice, const LineSet& lines, const std::string& selected,
                        const std::optional<DeviceInfo>& chosen) {
  const std::optional<bool> carried = carried_by_devices(choice, lines);
  if (!carried) return selected;
  if (!*carried) return "host";
  return chosen ? std::to_string(chosen->index) : selected;
}

template <typename T>
Record record_of(const std::string& solver, const std::string& method, const std::string& variant, double words,
                 Index rows) {
  Record r;
  r.solver = solver;
  r.device = "host";
  r.method = method;
  r.variant = variant;
  r.form = oclspkt::name(Form::general);
  r.scalar = sizeof(T) == 8 ? "double" : "float";
  r.rows = rows;
  r.words_per_row = words;
  return r;
}

/// What the library says about a solver that is set up.
void take_report(const Report& report, Record& record) {
  record.device = report.device.name;
  record.platform = report.device.platform;
  record.method = oclspkt::name(report.method);
  record.form = oclspkt::name(report.form);
  record.words_per_row = report.words_per_row;
  record.why = report.why + "; " + report.device.why;
  if (report.certificate_above_tolerance) {
    record.outcome = Outcome::not_covered;
    record.note = report.why;
  }
}

template <typename T>
Contestant<T> make_solver(MethodChoice choice, const std::string& devices, Precision precision, Problem<T>& problem,
                          Report& report) {
  Options options;
  options.devices = devices;
  options.method = choice;
  options.precision = precision;
  options.on_device_failure = OnDeviceFailure::error;  // a time on the host must not stand for a device
  auto solver = std::make_shared<Solver<T>>(options);
  Contestant<T> c;
  if (precision == Precision::narrow) c.rounding = std::numeric_limits<float>::epsilon();
  c.record = record_of<T>("oclspkt", oclspkt::name(choice),
                          choice == MethodChoice::automatic ? oclspkt::name(choice) : options.variant, 0, problem.n());
  try {
    Bands<T>& bands = solver->bands(problem.lines);
    copy(problem.bands.view().lower, problem.n(), bands.lower());
    copy(problem.bands.view().diag, problem.n(), bands.diag());
    copy(problem.bands.view().upper, problem.n(), bands.upper());
    c.record.setup_seconds = seconds_of([&] { solver->set_up(); });
    report = solver->report();
    take_report(report, c.record);
    if (report.device.type == "host" && !carried_by_host(choice)) {
      c.record.method = oclspkt::name(choice);
      c.record.outcome = Outcome::absent;
      c.record.note = report.why;
    }
  } catch (const InvalidInput&) {
    throw;
  } catch (const Error& error) {  // breakdown, or a device that failed
    c.record.outcome = Outcome::failed;
    c.record.note = error.what();
  }
  c.run = [solver, &problem](int repeats) {
    return seconds_of(repeats, [&] { solver->apply(problem.y.data(), problem.x.data()); });
  };
  return c;
}

template <typename T>
StreamArrays<T> stream_arrays(Problem<T>& p) {
  return {p.bands.view().lower, p.bands.view().diag, p.bands.view().upper, p.y.data(), p.x.data(), p.n()};
}

template <typename T>
Contestant<T> make_stream(Problem<T>& problem) {
  Contestant<T> c;
  c.record = record_of<T>("stream", "stream", std::string("openmp-") + stream_isa(), kStreamWords, problem.n());
  c.answer = Contestant<T>::Answer::sum;
  c.run = [&problem](int repeats) { return seconds_of(repeats, [&] { stream(stream_arrays(problem)); }); };
  return c;
}

template <typename T>
Contestant<T> make_device_stream(const DeviceInfo& device, Problem<T>& problem) {
  Contestant<T> c;
  c.record = record_of<T>("stream", "stream", "opencl", kStreamWords, problem.n());
  c.record.device = device.name;
  c.record.platform = device.platform;
  c.answer = Contestant<T>::Answer::sum;
  c.run = [&problem, index = device.index](int repeats) {
    double seconds = 0;
    for (int i = 0; i < repeats; ++i) seconds += device_module(nullptr)->stream(index, stream_arrays(problem));
    return seconds / repeats;
  };
  return c;
}

template <typename T>
Contestant<T> make_peer(const PeerFacts& facts, Problem<T>& problem) {
  Contestant<T> c;
  c.record = record_of<T>(facts.solver, facts.method, facts.variant, facts.words_per_row<T>(), problem.n());
  Peer<T> peer = facts.make(problem);
  c.record.setup_seconds = peer.setup_seconds;
  if (!peer.absent.empty()) {
    c.record.outcome = Outcome::absent;
    c.record.note = peer.absent;
  }
  c.run = std::move(peer.run);
  return c;
}

DeviceInfo host_info() {
  DeviceInfo host;
  host.type = DeviceType::host;
  host.name = "host";
  return host;
}

/// The device of that report; of the module's first device of that name and platform if there are several.
DeviceInfo device_of(const Report& report) {
  if (report.device.type == "host") return host_info();
  for (const DeviceInfo& d : device_module(nullptr)->devices()) {
    if (d.name == report.device.name && d.platform == report.device.platform) return d;
  }
  throw InvalidInput("device '" + report.device.name + "' solved, but is not in the list of devices");
}

}  // namespace

DeviceInfo first_device(const std::string& devices) {
  if (needs_no_device(devices)) return host_info();
  std::string why;
  DeviceModule* module = device_module(&why);
  const std::vector<DeviceInfo> present = module == nullptr ? std::vector<DeviceInfo>{} : module->devices();
  const Selection selection =
      select_devices(devices, present, module == nullptr ? std::vector<std::string>{why} : module->problems());
  return selection.devices.empty() ? host_info() : present[static_cast<std::size_t>(selection.devices.front())];
}

std::vector<std::string> on_host_and_device(const std::vector<std::string>& names, const DeviceInfo& device) {
  std::vector<std::string> both;
  for (const std::string& name : names) {
    const auto method = library_method(name);
    if (!method || carried_by_host(*method)) both.push_back(method ? name + "@host" : name);
    const bool again =
        method && device.type != DeviceType::host && carried_by_devices(*method, LineSet::one(1)).value_or(true);
    if (again) both.push_back(name + '@' + std::to_string(device.index));
  }
  return both;
}

std::string known_methods() {
  std::string known = std::string(kStream) + ", " + kStreamOpenCL;
  for (const char* name : kMethodChoiceNames) known += std::string(", ") + name;
  for (const PeerFacts& peer : peers()) known += std::string(", ") + peer.name;
  return known;
}

std::vector<std::string> parse_methods(const std::string& list) {
  std::vector<std::string> names{kStream};
  for (const std::string& word : split(list, ',')) {
    const Entry entry(word);
    const bool known = library_method(entry.method) ||
                       (!entry.selection && (word == kStream || word == kStreamOpenCL || find_peer(word) != nullptr));
    if (!known) throw InvalidInput("there is no method '" + word + "'; --methods takes: " + known_methods());
    if (std::find(names.begin(), names.end(), word) == names.end()) names.push_back(word);
  }
  return names;
}

double contestant_arrays(const std::vector<std::string>& names) {
  double held = 0, scratch = 0, setup = 0;
  for (const std::string& name : names) {
    if (const auto method = library_method(Entry(name).method)) {
      const bool stores_factors = *method == MethodChoice::automatic || *method == MethodChoice::exact ||
                                  *method == MethodChoice::exact_factored;
      held += 3 + (stores_factors ? 3 : 0) + (*method == MethodChoice::pivot ? find_peer("gttrs")->arrays : 0);
      setup = 2;  // the trial solve's vectors
    }
    if (const PeerFacts* peer = find_peer(name)) {
      scratch = std::max(scratch, peer->scratch);
      held += peer->arrays;
    }
  }
  return held + scratch + setup;
}

template <typename T>
Field<T> make_field(const std::vector<std::string>& names, const std::string& devices, Problem<T>& problem,
                    Progress& progress, Precision precision) {
  std::vector<Contestant<T>> made(names.size());
  std::optional<DeviceInfo> device;
  for (std::size_t i = 0; i < names.size(); ++i) {
    progress.step("set up " + names[i]);
    const Entry entry(names[i]);
    if (const auto method = library_method(entry.method)) {
      Report report;
      made[i] = make_solver(*method, entry.selection.value_or(devices_for(*method, problem.lines, devices, device)),
                            precision, problem, report);
      if (!device && report.device.type != "host") device = device_of(report);
    } else if (names[i] == kStream) {
      made[i] = make_stream(problem);
    } else if (names[i] != kStreamOpenCL) {
      made[i] = make_peer(*find_peer(names[i]), problem);
    }
  }
  Field<T> field;
  const bool any_solver =
      std::any_of(names.begin(), names.end(), [](const auto& n) { return !!library_method(Entry(n).method); });
  field.device = device ? *device : any_solver ? host_info() : first_device(devices);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == kStreamOpenCL) {
      if (field.device.type == DeviceType::host) continue;
      made[i] = make_device_stream(field.device, problem);
    }
    field.contestants.push_back(std::move(made[i]));
  }
  return field;
}

template Field<float> make_field(const std::vector<std::string>&, const std::string&, Problem<float>&, Progress&,
                                 Precision);
template Field<double> make_field(const std::vector<std::string>&, const std::string&, Problem<double>&, Progress&,
                                  Precision);

}  // namespace oclspkt::bench

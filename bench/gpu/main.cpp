// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-gpu FILE [options]: device times of applies on a GPU, data resident, as a share of a stream of four
// arrays read and one written that is timed in turn with them, and the time with vectors on the host beside it. Every
// answer is checked before its time is kept. Needs neither PETSc nor Boost, so it builds where the GPUs are.
#include <cstdio>

#include "cases.hpp"
#include "clock.hpp"
#include "find_device.hpp"
#include "json_file.hpp"
#include "measure_case.hpp"
#include "oclspkt/error.hpp"
#include "provenance.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// @return false if an answer was wrong or a case failed
bool run(const Settings& settings, const std::string& command) {
  JsonFile json(settings.file);
  const Driven driven = find_driven(settings.device);
  const Place place{driven.module, driven.device, settings.variant, settings.enqueued};
  nlohmann::ordered_json document{{"provenance", provenance(place.device, command)},
                                  {"results", nlohmann::ordered_json::array()}};
  const std::vector<Case> cases = make_cases(settings);
  double work = 0, spent = 0;
  for (const Case& c : cases) work += c.work();
  Estimate estimate(work, settings.seconds);
  bool good = true;
  const auto keep = [&](const DeviceRecord& record) {
    good = good && !is_bad(record);
    document["results"].push_back(to_json(record));
    std::printf("%s\n", describe(record).c_str());
    std::fflush(stdout);
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    std::printf("%zu of %zu: %s%s\n", i + 1, cases.size(), c.describe().c_str(), estimate.describe(c.work()).c_str());
    if (!estimate.may_begin(spent)) {
      keep(left_out(c, place.variant, "no time left"));
      continue;
    }
    const double seconds = seconds_of([&] { measure(c, place, keep); });
    estimate.done(c.work(), seconds);
    spent += seconds;
  }
  json.write(document);
  return good;
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

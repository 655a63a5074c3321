// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-krylov FILE [options]: what Krylov methods do with vectors and matrices of a device: operations on
// vectors, products and iterations of CG, with a stream of the same mix of reads and writes in the same run, and
// CLBlast, cuBLAS and cuSPARSE where they are. Answers are checked before they are timed.
#include "krylov.hpp"

#include <cstdio>

#include "find_device.hpp"
#include "json_file.hpp"
#include "oclspkt/error.hpp"
#include "provenance.hpp"
#include "settings.hpp"

namespace oclspkt::bench::gpu {
namespace {

template <typename T>
void measure_scalar(KrylovRun& run) {
  run.best_read = 0;
  measure_operations<T>(run);
  measure_products<T>(run);
  measure_cg<T>(run);
}

int measure_krylov(const KrylovSettings& settings, const std::string& command) {
  JsonFile json(settings.file);
  const auto [module, device] = find_driven(settings.device);
  std::printf("%s (%s)\n", device.name.c_str(), device.platform.c_str());
  nlohmann::ordered_json document{{"provenance", provenance(device, command)}};
  for (const char* const list : {"operations", "products", "cg"}) document[list] = nlohmann::ordered_json::array();
  KrylovRun run{settings, module, device.index, document};
  for (const std::string& scalar : settings.scalars) {
    scalar == "double" ? measure_scalar<double>(run) : measure_scalar<float>(run);
  }
  json.write(document);
  return 0;
}

}  // namespace
}  // namespace oclspkt::bench::gpu

int main(int argc, char** argv) {
  using namespace oclspkt::bench;
  return gpu::run_program([&] {
    const auto settings = gpu::parse_krylov_settings(argc, argv);
    if (!settings) return 0;
    if (!settings->allow_debug) require_release();
    return gpu::measure_krylov(*settings, gpu::command_of(argc, argv, settings->file));
  });
}

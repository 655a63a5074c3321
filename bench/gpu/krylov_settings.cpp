// SPDX-License-Identifier: BSD-2-Clause
#include "krylov.hpp"
#include "oclspkt/error.hpp"
#include "seed_formats.hpp"
#include "settings.hpp"
#include "sparse_cases.hpp"
#include "split.hpp"

namespace oclspkt::bench::gpu {
namespace {

constexpr const char* kHelp =
    "usage: %s FILE [options]\n"
    "Time what Krylov methods do with vectors and matrices of a device, and write the results to FILE as JSON. Lists "
    "are\n"
    "joined by commas; none is a list of nothing.\n\n"
    "  --device WORD     as -pc_oclspkt_devices has it, the first that it names (gpu); cuda: the first card by CUDA\n"
    "  --rows LIST       lengths of vectors (1e4,1e6,1e8)\n"
    "  --matrices LIST   whose products are timed (stencil5,stencil7,fem,power)\n"
    "  --matrix FILE     one more, of a Matrix Market file; may be given several times\n"
    "  --formats LIST    more formats of products, by OpenCL: csr4, hyb (none)\n"
    "  --cg LIST         systems for CG with Jacobi, MATRIX:ROWS "
    "(stencil5:1e4,stencil5:1e6,stencil5:1e7,stencil7:8e6)\n"
    "  --size N          rows of a matrix at most: those made here become smaller (2^30)\n"
    "  --scalars LIST    of float, double\n"
    "  --repetitions N   rounds that are timed (9)\n"
    "  --allow-debug     time a build that is not for timing, to try the program\n";

void check_systems(const std::vector<std::string>& systems) {
  for (const std::string& system : systems) {
    const std::size_t colon = system.find(':');
    const std::string matrix = system.substr(0, colon);
    if (colon == std::string::npos || (matrix != "stencil5" && matrix != "stencil7")) {
      throw InvalidInput("--cg takes stencil5:ROWS and stencil7:ROWS, such as stencil5:1e6, not '" + system + "'");
    }
    parse_row_list(system.substr(colon + 1), "cg");
  }
}

void take(const std::string& name, const std::string& value, KrylovSettings& s) {
  constexpr const char* kScalars[] = {"float", "double"};
  constexpr double kMostRepetitions = 1e6;
  const bool none = value == "none";
  if (name == "device") s.device = value;
  if (name == "rows") s.rows = none ? std::vector<Index>() : parse_row_list(value, name);
  if (name == "matrices") s.matrices = none ? std::vector<std::string>() : parse_names(value, name, kSparseCases);
  if (name == "matrix") s.files.push_back(value);
  if (name == "formats") s.formats = none ? std::vector<std::string>() : parse_names(value, name, kSeedFormats);
  if (name == "cg") s.cg = none ? std::vector<std::string>() : split(value, ',');
  if (name == "size") s.size = parse_row_list(value, name).at(0);
  if (name == "scalars") s.scalars = parse_names(value, name, kScalars);
  if (name == "repetitions") s.repetitions = static_cast<int>(parse_number(value, name, 1, kMostRepetitions));
  if (name == "allow-debug") s.allow_debug = true;
}

}  // namespace

std::optional<KrylovSettings> parse_krylov_settings(int argc, char** argv) {
  constexpr const char* kOptions =
      "device= rows= matrices= matrix= formats= cg= size= scalars= repetitions= allow-debug";
  KrylovSettings settings;
  const auto words = parse_options(argc, argv, kOptions, kHelp, [&](const std::string& name, const std::string& value) {
    take(name, value, settings);
  });
  if (!words) return std::nullopt;
  settings.file = file_among(*words);
  check_systems(settings.cg);
  return settings;
}

}  // namespace oclspkt::bench::gpu

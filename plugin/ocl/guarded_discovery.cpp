// SPDX-License-Identifier: BSD-2-Clause
#include <new>

#include "discovery.hpp"
#include "driver_cache.hpp"
#include "driver_check.hpp"
#include "driver_files.hpp"

namespace oclspkt::ocl {
namespace {

std::string problem_of(const Driver& driver, const std::string& what) {
  return "driver " + driver.library + ", named in " + driver.source + ", " + what;
}

/// List the devices of the drivers without fault. The loader gets only these.
Discovery discover_good(const std::vector<Driver>& drivers) {
  std::vector<std::string> good, problems;
  std::vector<Driver> tried;
  for (const Driver& driver : drivers) {
    const DriverCache cache = provide_cache(driver);
    if (!cache.problem.empty()) problems.push_back(problem_of(driver, cache.problem));
    if (cache.usable) tried.push_back(driver);
  }
  VendorFolders folders;
  const std::vector<std::string> verdicts = try_in_children(tried, folders);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (verdicts[i].empty()) {
      good.push_back(tried[i].library);
    } else {
      problems.push_back(problem_of(tried[i], verdicts[i]));
    }
  }
  std::optional<Redirection> redirection;
  if (good.size() < drivers.size()) redirection.emplace(folders.add(good));
  Discovery result = look_at_platforms();
  result.problems.insert(result.problems.begin(), problems.begin(), problems.end());
  return result;
}

}  // namespace

Discovery discover() {
  const std::vector<Driver> drivers = named_drivers();
  if (drivers.empty()) return look_at_platforms();  // no driver would be loaded, so none is tried
  try {
    return discover_good(drivers);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    Discovery none;
    none.problems.push_back(std::string("no driver is loaded because none can be tested first: ") + error.what());
    return none;
  }
}

}  // namespace oclspkt::ocl

// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-freeze: run a list of cases and print what was chosen and the hashes of what was computed, a line each, the
// same on every run. Two builds that print the same chose the same and computed the same bits.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "cases.hpp"
#include "oclspkt/solver.hpp"

namespace {

constexpr const char* kUsage =
    "usage: oclspkt-freeze [--quick] [--list] [--only TEXT] [--log FILE]\n"
    "  --quick      the cases of the ctest\n"
    "  --list       print the names of the cases\n"
    "  --only TEXT  cases with this in their names\n"
    "  --log FILE   write what recorded devices were told\n";

struct Wishes {
  bool quick = false, list = false, good = true;
  std::string only;
};

Wishes read(int argc, char** argv) {
  Wishes wishes;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--quick") {
      wishes.quick = true;
    } else if (word == "--list") {
      wishes.list = true;
    } else if (word == "--only" && more) {
      wishes.only = argv[++i];
    } else if (word == "--log" && more) {
      oclspkt::freeze::write_logs_to(argv[++i]);
    } else {
      wishes.good = false;
    }
  }
  return wishes;
}

/// The case's text; what is thrown is a result as well.
std::string outcome(const oclspkt::freeze::Case& c) {
  std::string text;
  try {
    oclspkt::freeze::measure_devices();
    oclspkt::freeze::start_recording();
    text = c.run();
  } catch (const std::exception& error) {
    text = std::string("throws '") + error.what() + "'";
  }
  const std::string recorded = oclspkt::freeze::stop_recording(c.name);
  if (!recorded.empty()) text += " | " + recorded;
  for (char& letter : text) {
    if (letter == '\n') letter = ' ';
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace oclspkt::freeze;
  // Places that are no line's are never written, and copied as they are: they hold what memory is allocated with.
  mallopt(M_PERTURB, 0x5a);
  setenv("OCL_ICD_VENDORS", OCLSPKT_FREEZE_DRIVERS, 1);
  const Wishes wishes = read(argc, argv);
  if (!wishes.good) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  Cases cases;
  add_solver_cases(cases);
  add_recorded_cases(cases);
  add_life_cases(cases);
  add_cut_cases(cases);
#ifdef OCLSPKT_FREEZE_PLANS
  add_plan_cases(cases);
#endif
  int count = 0;
  for (const Case& c : cases) {
    if ((wishes.quick && !c.quick) || c.name.find(wishes.only) == std::string::npos) continue;
    ++count;
    std::printf("%s%s%s\n", c.name.c_str(), wishes.list ? "" : " | ", wishes.list ? "" : outcome(c).c_str());
    std::fflush(stdout);
  }
  std::fprintf(stderr, "%d cases\n", count);
  oclspkt::release_devices();
  return count > 0 ? 0 : 1;
}

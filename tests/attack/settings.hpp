// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "trial.hpp"

namespace oclspkt::attack {

inline constexpr const char* kHelp =
    "usage: oclspkt-attack SECONDS [options]\n"
    "Draw hard systems for so long, solve them by every method, judge the answers in long double. Ends with 1 if an\n"
    "answer was wrong by more than 100 eps in the measure that its report promises and the report did not tell, if "
    "one\n"
    "was above its bound, if it was farther from the truth than that bound allows, or if a device failed. Options may "
    "be\n"
    "given more than once where marked with a plus.\n\n"
    "  --seed N         of the random numbers (1)\n"
    "  --device WORD  + as -pc_oclspkt_devices has it (host); several share rows evenly\n"
    "  --variant WORD + as -pc_oclspkt_variant has it (default); the host has no others\n"
    "  --method WORD  + as -pc_oclspkt_method has it (auto, and one of the named ones in turn)\n"
    "  --scalar WORD  + float or double (both)\n"
    "  --family WORD    only that family\n"
    "  --climb yes      change single numbers of small systems as long as error over bound grows\n"
    "  --case TEXT      one case in every setting, as a finding has it; SECONDS does not matter\n"
    "  --json FILE      write the table there, too\n";

/// What the command line says.
struct Settings {
  double seconds = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> devices, variants;
  std::vector<MethodChoice> methods;  ///< empty: automatic, and one of the named ones
  std::vector<bool> floats;           ///< true: float
  bool climb = false;
  std::string family, only, json;

  /// Every device with every variant and every method.
  std::vector<Setting> every_setting() const;
  /// Every device with every variant by one or two methods.
  std::vector<Setting> some(Dice& dice) const;
};

/// @param words without the program's name
/// @throws BadText
Settings parse_settings(const std::vector<std::string>& words);

/// Solve a small system with every device that is named.
/// @throws Error if one is not there or fails
void check_devices(const Settings& settings);

}  // namespace oclspkt::attack

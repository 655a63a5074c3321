// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "oclspkt/line_set.hpp"

namespace oclspkt {

/// How a line is solved. The methods differ in the level at which they may truncate an interface.
enum class Method { truncated_halo, truncated_streamed, exact_twopass, exact_factored, pivot };

inline constexpr bool truncates(Method m) { return m == Method::truncated_halo || m == Method::truncated_streamed; }

/// The user's choice of a method. With `truncated` and `exact`, set-up chooses between two methods.
enum class MethodChoice {
  automatic,
  truncated,
  truncated_halo,
  truncated_streamed,
  exact,
  exact_twopass,
  exact_factored,
  pivot
};

/// The precision in which bands are stored and used.
///   same    the scalar type of the vectors
///   narrow  set-up rounds bands to float, and stored factors where that is safe; vectors and arithmetic stay double.
///           No effect if vectors are float
enum class Precision { same, narrow };

/// The storage form of the bands: which numbers of a row are stored.
enum class Form { general, symmetric, shared, narrow };

/// The reaction to a failed device. degrade: the remaining devices, at last the host, solve its rows, and one line is
/// printed. quiet: like degrade, without the printed line. error: the call throws.
enum class OnDeviceFailure { degrade, quiet, error };

/// The treatment of a singular line. fail: set-up fails and names the line. pin: set its last unknown to 0, for
/// consistent systems. `automatic` pins if there is one line and the caller states a constant null space (Known), and
/// otherwise fails.
enum class Singular { automatic, fail, pin };

/// The reaction if no method is within the limits of method auto on the rounding bound and the trial solve. Also the
/// reaction if an answer on the host exceeds these limits or is not finite. warn: the report says so. error: the set-up
/// or the apply throws Breakdown.
enum class AboveBound { warn, error };

/// Whether vectors are copied to the device. `automatic` uses host memory directly where the device shares it.
enum class Transfer { automatic, copy };

inline constexpr const char* kMethodNames[] = {"truncated-halo", "truncated-streamed", "exact-twopass",
                                               "exact-factored", "pivot"};
inline constexpr const char* kMethodChoiceNames[] = {"auto",  "truncated",     "truncated-halo", "truncated-streamed",
                                                     "exact", "exact-twopass", "exact-factored", "pivot"};
inline constexpr const char* kPrecisionNames[] = {"same", "narrow"};
inline constexpr const char* kFormNames[] = {"general", "symmetric", "shared", "narrow"};
inline constexpr const char* kOnDeviceFailureNames[] = {"degrade", "quiet", "error"};
inline constexpr const char* kSingularNames[] = {"auto", "fail", "pin"};
inline constexpr const char* kAboveBoundNames[] = {"warn", "error"};
/// Legal values of DeviceUse::fpga_banks.
inline constexpr const char* kFpgaBanksNames[] = {"none", "spread"};
inline constexpr const char* kVariantNames[] = {"default", "cpu", "gpu", "fpga", "paper", "paper-gpu"};
inline constexpr const char* kTransferNames[] = {"auto", "copy"};

inline constexpr const char* name(Method m) { return kMethodNames[static_cast<int>(m)]; }
inline constexpr const char* name(MethodChoice m) { return kMethodChoiceNames[static_cast<int>(m)]; }
inline constexpr const char* name(Precision p) { return kPrecisionNames[static_cast<int>(p)]; }
inline constexpr const char* name(Form f) { return kFormNames[static_cast<int>(f)]; }
inline constexpr const char* name(OnDeviceFailure o) { return kOnDeviceFailureNames[static_cast<int>(o)]; }
inline constexpr const char* name(Singular s) { return kSingularNames[static_cast<int>(s)]; }
inline constexpr const char* name(AboveBound a) { return kAboveBoundNames[static_cast<int>(a)]; }
inline constexpr const char* name(Transfer t) { return kTransferNames[static_cast<int>(t)]; }

struct DeviceUse {
  Index chunk = 0;                 ///< most rows of a transfer to a device; 0: as many as the device's memory holds
  std::int64_t device_memory = 0;  ///< bytes a device may use; 0: the device's own limit
  double timeout = 0;              ///< seconds that a device with memory of its own may take for a solve;
                                   ///< 0: 100 times the predicted time, at least 10 s
  Transfer transfer = Transfer::automatic;
  bool kernel_times = false;        ///< in Solver::apply_on_device(), measure kernels by the device's clock
                                    ///< instead of the host's; this takes 6 us per apply (NVIDIA)
  std::string fpga_binary = {};     ///< files and folders, joined by colons, with the programs that
                                    ///< oclspkt-fpga-build made for devices with FPGAs
  std::string fpga_banks = "none";  ///< use of an FPGA's memory banks, one of kFpgaBanksNames

  bool operator==(const DeviceUse&) const = default;
};

/// Everything a user can set. The member initialisers are the only place where a default is written.
struct Options {
  std::string devices = "auto";                   ///< which devices may solve, see select_devices()
  std::string balance = "time";                   ///< how the named devices share rows, see parse_balance()
  std::string profile = {};                       ///< file of measured figures, or "none"; empty: in the user's cache
  bool reproducible = false;                      ///< no choice depends on a measurement
  bool energy = false;                            ///< add up the joules of applies, see EnergyReport
  std::string rated_power = {};                   ///< watts of a card, a core and a board if power is not measured,
                                                  ///< such as gpu=700,cpu=8,fpga=60; empty: from a table
  MethodChoice method = MethodChoice::automatic;  ///< the method; `automatic`: set-up chooses
  std::string variant = "default";                ///< kernels to use on a device, one of kVariantNames
  Precision precision = Precision::same;
  double rtol = 0;      ///< largest certificate accepted; 0: rounding of the arithmetic
  Index partition = 0;  ///< rows a partition; 0: set-up chooses
  DeviceUse use = {};
  OnDeviceFailure on_device_failure = OnDeviceFailure::degrade;
  Singular singular = Singular::automatic;
  AboveBound above_bound = AboveBound::warn;
  Index gather_limit = -1;  ///< rows of the longest cut line that one process may solve whole if the parts of the line
                            ///< cannot be solved separately; -1: no limit, 0: no line

  std::string spare_devices = {};  ///< devices that take over if all of `devices` failed; empty: the host

  bool operator==(const Options&) const = default;
};

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
#include "options.hpp"

#include <cstdio>

namespace oclspkt::petsc {
namespace {

/// Access to the member of Settings at the end of a path of pointers to members.
template <auto... Path>
constexpr auto member() {
  using T = std::remove_reference_t<decltype((std::declval<Settings&>().*....*Path))>;
  return Member<T>{[](Settings& settings) -> T& { return (settings.*....*Path); },
                   [](const Settings& settings) -> const T& { return (settings.*....*Path); }};
}

template <auto& Names, auto... Path>
constexpr Choice choice() {
  return {Names, [](const Settings& o) { return static_cast<int>(member<Path...>()(o)); },
          [](Settings& o, int value) {
            auto& field = member<Path...>()(o);
            field = static_cast<std::remove_reference_t<decltype(field)>>(value);
          }};
}

const OptionEntry kTable[] = {
    {"lines", "Directions", "const char[]", "directions", member<&Settings::lines>(),
     "the lines to solve: auto, matrix (its own order), x, y, z (axes of the matrix's grid) or given "
     "(PCOCLSPKTSetLines()); several joined by commas",
     "`auto` takes the lines of `PCOCLSPKTSetLines()` or the axes of `PCOCLSPKTSetBands()` if the program gave such. "
     "Else it takes `matrix` for a tridiagonal matrix or one without a grid, and otherwise the axis of the grid with "
     "the strongest coupling. The view says which lines were chosen and why. A set-up chooses again if the pattern of "
     "the matrix changes, or if its values change so that another choice is better by a quarter. The grid is the "
     "`DMDA` of `PCSetDM()`, else the one that made the matrix. If a node has several unknowns, each unknown has lines "
     "of its own. The preconditioner ignores entries of the matrix that do not couple neighbours of a line."},
    {"combine", "Combine", "PCOCLSPKTCombine", "", choice<kCombineNames, &Settings::combine>(),
     "how to combine several directions into one operator",
     "Let D be the diagonal and X, Y the couplings along x and y. `additive` is (D+X)^-1 + (D+Y)^-1; `factored` is "
     "(D+Y)^-1 D (D+X)^-1; `symmetric` is (D+X)^-1 D (D+Y)^-1 D (D+X)^-1; `multiplicative` solves along x, computes "
     "the residual with the matrix, and solves for it along y. If the matrix is symmetric, `additive` and `symmetric` "
     "are symmetric, as CG needs; `factored` and `multiplicative` are not, so use GMRES. With `symmetric`, name the "
     "direction with the strongest coupling last. With one direction all four are the same."},
    {"diagonal", "Diagonal", "PCOCLSPKTDiagonal", "", choice<kDiagonalNames, &Settings::diagonal>(),
     "the diagonal used with the couplings of each direction: full (that of the matrix) or split (the part that "
     "balances the couplings, as in ADI)",
     "`full` is a preconditioner and not an ADI time step. `split` uses the row sums D0 of the matrix and, for each "
     "direction, minus the sum of its couplings, Dx: the factors are D0 + Dx + X, joined by D0^-1. A row sum of 0 is "
     "an error, except with `additive`."},
    {"ignored", "Ignored", "PCOCLSPKTIgnored", "", choice<kIgnoredNames, &Settings::ignored>(),
     "what to do about nonzero entries of the matrix outside the bands of all directions: ignore, warn (print one line "
     "if no Krylov method follows) or error (the set-up fails)",
     "The preconditioner leaves such entries out, and a Krylov method makes up for that. `KSPPREONLY` does not: its "
     "answer then solves another matrix. `warn` prints one line on the error stream for a `KSP` of that type, unless "
     "another solver uses this `KSP` as its part. `warn` also prints one line if a periodic axis of the grid, which "
     "`-pc_oclspkt_lines auto` cannot take, is coupled 10 times as strongly as the axis taken. The view and `-info` "
     "say both in any case. `PCOCLSPKTGetIgnoredEntries()` tells the number."},
    {"devices", "Devices", "const char[]", "list", member<&Options::devices>(),
     "where to solve: auto, all, host, cpu, gpu, fpga, part of a device's or platform's name, or an index; several "
     "joined by commas",
     "`auto` compares the predicted times of the devices of the machine and of the host for the given size, and takes "
     "the fastest; `host` uses no OpenCL at all. `auto` and `all` take one driver per physical device and never an "
     "emulated device; to use an emulated device, name its type, a part of its name or its index. A word that matches "
     "no device is an error, which lists the devices found. Several devices that are named may share the rows of a "
     "solve; see `-pc_oclspkt_balance`.",
     true},
    {"balance", "Balance", "const char[]", "objective", member<&Options::balance>(),
     "how the named devices share the rows: time, kernel, even, energy, or weights joined by commas",
     "`time` gives each device as many rows as make the solve fastest, transfers included, and no rows to a device "
     "that does not pay; so more devices never mean a slower solve. `kernel` leaves the transfers out, as Macintosh, "
     "Banks and Kelson (2019) propose. `even` gives all devices the same number of rows. `energy` takes the fewest "
     "joules, of devices that idle meanwhile as well: by the power that `-pc_oclspkt_energy` measured before, else by "
     "rated power. Weights such as `3,1,1` give the rows in this proportion, in the order of the devices. Shares "
     "change at a set-up only. `auto` in `-pc_oclspkt_devices` takes one device. Two drivers of one physical device "
     "share rows only with `even` and weights. If a part of the rows cannot be solved by itself, one device solves all "
     "of them; the view says why.",
     true},
    {"profile", "Profile", "const char[]", "file", member<&Options::profile>(),
     "file of measured rates, which the shares of later runs are made from; empty: oclspkt/profile.txt in the user's "
     "cache folder; none: no file",
     "The solver measures every solve of shared rows, and uses what it measured at the next set-up. The file is text, "
     "a figure a line; a damaged line is skipped.",
     true},
    {"energy", "Energy", "PetscBool", "", member<&Options::energy>(), "add up the joules of applies",
     "The view has them, and `-info` at the end of each window of at least 2 s. Shorter times are not measured, as "
     "counters move in steps. The joules of cards come from NVML or AMD SMI, which are opened at run time, those of "
     "the host from Linux's powercap (RAPL). Where nothing measures, rated power stands in; the view says so. What "
     "others do with a "
     "device, and with the host, is in the joules, and ranks of a node do not divide them. `-pc_oclspkt_balance "
     "energy` uses the power that was measured. To compare: PETSc 3.25 and newer, built for CUDA, have the joules of a "
     "card in `-log_view -log_view_gpu_energy_meter`, in the row OCLSPKTSolve if vectors lie on the card; there each "
     "event reads the counter, which is for long events.",
     true},
    {"rated_power", "RatedPower", "const char[]", "watts", member<&Options::rated_power>(),
     "watts of a card, a core and a board where nothing measures, such as gpu=700,cpu=8,fpga=60; empty: by a table",
     "The table has the power of some cards and boards by name; all others count as 400 W, boards with FPGAs as 60 W, "
     "and a core as 8 W.",
     true},
    {"reproducible", "Reproducible", "PetscBool", "", member<&Options::reproducible>(),
     "processors and their shares depend on no measurement, so that every run computes the same bits",
     "They then follow from the types of the devices and their cores. A device that fails still leaves its rows to "
     "others; the view says so."},
    {"method", "Method", "PCOCLSPKTMethod", "", choice<kMethodChoiceNames, &Options::method>(),
     "the algorithm that couples the segments of a line",
     "`auto` takes the first method whose error bounds are within their limits for the matrix: a `truncated` one if "
     "its certificate is within the tolerance, an `exact` one if its bounds show that no pivoting is needed, else "
     "`pivot`. A method that the user names is used even if its bounds are above the limits; the view and `-info` then "
     "say so. The host uses stored factors, as `exact-factored` does, for every method but `pivot`: that truncates "
     "nothing, and no other method is faster there. For lines laid end to end there is no `exact-factored` among the "
     "kernels for GPUs: the host solves then. `truncated` and `exact` name two methods each, and a method whose bounds "
     "hold comes before one whose bounds do not: `exact` is `exact-twopass` on such a GPU, or else the host's stored "
     "factors."},
    {"variant", "Variant", "const char[]", "name", member<&Options::variant>(), "the kernels to use on a device",
     "`default` uses the kernels made for the type of the device. `cpu` names the kernels for few wide cores, `gpu` "
     "those for work-groups of many work-items; a method without GPU kernels uses the CPU kernels. `fpga` names those "
     "of one work-item that streams all rows: method `truncated-streamed` for lines end to end whose rows have a "
     "dominance above 1, and Thomas' algorithm, method `exact-factored`, for all others. The name of a scheme takes "
     "that scheme alone: `fpga-spktrunc` is the FPGA form of the paper named below, `fpga-spkboth` a step between it "
     "and `fpga-spkjac`, which `fpga` takes. On a CPU, GPU kernels are compiled without optimisation and are for "
     "tests. `paper` is truncated SPIKE of Macintosh, Banks and Kelson (2019), as a baseline for measurements: on GPUs "
     "and CPUs the form that the paper has for them, method `truncated-halo` for lines end to end, which marshals and "
     "factors the bands in every apply and moves 20 words a row and more, and on FPGAs `fpga-spktrunc`. It needs rows "
     "of dominance 1 or more. Set-up lengthens the partitions (GPU), or the rows that both sweeps of a partition take "
     "(CPU), until the certificate is within the tolerance, and rejects the variant if that does not help. `auto` then "
     "tries the other kernels of the device, which also solve lines side by side; if the method is named, the set-up "
     "fails with the reason. `paper-gpu` is the GPU form on any device, for tests.",
     true},
    {"fpga_binary", "FpgaBinary", "const char[]", "files", member<&Options::use, &DeviceUse::fpga_binary>(),
     "files and folders, joined by colons, with programs for boards with FPGAs, made by oclspkt-fpga-build",
     "A board has no compiler for kernels: its programs are compiled before, in hours, and loaded from files. Beside "
     "each FILE lies FILE.json, which says what it is for. The solver checks a file completely before a driver sees "
     "it. A file that is damaged, or was made for another device, driver or version, is an error of the device that "
     "names the file, the cause and the cure; see `-pc_oclspkt_on_device_failure`. Devices that are no FPGAs ignore "
     "the option. The page docs/fpga.md says how to make such files.",
     true},
    {"fpga_banks", "FpgaBanks", "const char[]", "name", member<&Options::use, &DeviceUse::fpga_banks>(),
     "whether boards with FPGAs have whole arrays on memory banks of their own",
     "`none` leaves buffers to the vendor's run-time, which spreads bursts over all banks unless the image was built "
     "otherwise. `spread` places each array on one of two banks, so that the fuller one moves as little as possible: 3 "
     "words a row on one and 2 on the other for truncated SPIKE. It is for images that were built for that, by "
     "`-no-interleaving` of Intel's compiler or `--connectivity.sp` of AMD's. Bands and vectors that are copied to the "
     "board are placed; buffers of the program that applies are not. Intel's emulator takes the option and has one "
     "memory; all other devices ignore it.",
     true},
    {"precision", "Precision", "PCOCLSPKTPrecision", "", choice<kPrecisionNames, &Options::precision>(),
     "storage of the bands: the precision of the vectors, or rounded to float",
     "`same` is PetscScalar. `narrow` rounds the bands to float: an apply then has an error of about 1e-7 times the "
     "condition number of the lines, which a Krylov method removes. Vectors and arithmetic stay double. If rows are "
     "dominant, the stored factors of method truncated-streamed are floats as well, and on CPUs those of lines side by "
     "side: an apply moves 3.5 words a row instead of 5, and 3 instead of 4 for a symmetric matrix, which stays "
     "symmetric. Otherwise `narrow` saves nothing, and the view says why. The set-up fails and names the row if "
     "rounding changes the excess of a row, |diag| - |lower| - |upper|, by more than 10 %, or if the entries of a row "
     "are too large, too small or too far apart for float."},
    {"rtol", "Rtol", "PetscReal", "bound", member<&Options::rtol>(),
     "largest truncation error that a certificate may have, relative to the solution's largest entry; 0: rounding of "
     "the arithmetic",
     "With a larger value the truncated methods are cheaper and less accurate."},
    {"partition", "Partition", "PetscInt", "rows", member<&Options::partition>(),
     "rows eliminated by one lane; 0: chosen at set-up", "For measurements; the choice of the set-up is normally best.",
     true},
    {"chunk", "Chunk", "PetscInt", "rows", member<&Options::use, &DeviceUse::chunk>(),
     "most rows that one transfer takes to a device; 0: as many as its memory holds",
     "A chunk has a whole number of tiles, at least one. Kernels that need all rows at once ignore the option.", true},
    {"device_memory", "DeviceMemory", "PetscInt64", "bytes", member<&Options::use, &DeviceUse::device_memory>(),
     "most memory to allocate on a device; 0: the device's own limit", "The limit holds for each device separately.",
     true},
    {"timeout", "Timeout", "PetscReal", "seconds", member<&Options::use, &DeviceUse::timeout>(),
     "longest time that a device with memory of its own may take for one solve; 0: 100 times the predicted time, at "
     "least 10 s",
     "The solver abandons a device that takes longer and treats it as failed; see `-pc_oclspkt_on_device_failure`.",
     true},
    {"on_device_failure", "OnDeviceFailure", "PCOCLSPKTOnDeviceFailure", "",
     choice<kOnDeviceFailureNames, &Options::on_device_failure>(),
     "what to do if a device fails: degrade (go on with the remaining devices, finally the host, and print one line), "
     "quiet (the same without the line) or error (stop)",
     "With `degrade` and `quiet` the view lists lost devices as `degraded: <device>: <cause>`. The preconditioner "
     "tries a failed device again when the size of the matrix or an option changes; it never tries an abandoned one "
     "again (see `-pc_oclspkt_timeout`)."},
    {"singular", "Singular", "PCOCLSPKTSingular", "", choice<kSingularNames, &Options::singular>(),
     "what to do with a singular line: fail (the set-up fails and names the line), pin (set its last unknown to 0) or "
     "auto (pin if a constant null space is attached and there is one line, else fail)",
     "`pin` is for consistent systems, such as Neumann problems whose right-hand side sums to 0: it drops the last "
     "equation of a singular line. Other lines do not change. The set-up looks for the null space first on the matrix "
     "that the preconditioner is made from, then on that of the system; attach it with `MatSetNullSpace()` before the "
     "set-up. The view counts the pinned lines and says why."},
    {"above_bound", "AboveBound", "PCOCLSPKTAboveBound", "", choice<kAboveBoundNames, &Options::above_bound>(),
     "what to do if method auto finds no method whose error bounds are within their limits: warn (solve, and say so in "
     "the view and by `-info`) or error (the set-up, or the apply, fails and says why)",
     "The last method of `auto` is `pivot`, whose limit is 100 eps by component: of its bound on rounding, or, for "
     "lines that have none, of their trial solves and of each answer. On the host, an answer that is not finite is "
     "above the limit as well, if its right-hand side is finite. An apply that fails does so on all ranks, which takes "
     "a reduction of one number, and sets the failed reason of the preconditioner: KSP ends with "
     "`KSP_DIVERGED_PC_FAILED`. `MatSolve()` of the direct solver is an error then. A method that is named is used in "
     "any case."},
    {"transfer", "Transfer", "PCOCLSPKTTransfer", "", choice<kTransferNames, &Options::use, &DeviceUse::transfer>(),
     "how vectors get to the device",
     "`auto` shares host memory with devices that can access it; `copy` always copies.", true},
    {"gather_limit", "GatherLimit", "PetscInt", "rows", member<&Options::gather_limit>(),
     "longest line cut among processes that one process may solve whole if its parts cannot be solved separately; -1: "
     "any, 0: none",
     "If a part is singular by itself, or cannot be solved accurately, the processes of its line send their rows to "
     "one of them, which solves the whole line. If the line is longer than the limit, the set-up fails and names it."},
    {"explain", "Explain", "PetscBool", "", member<&Settings::explain>(),
     "print the chosen device and method and the reasons after every set-up",
     "There is one line for each method that the set-up considered, in order, with the numbers that decided. The page "
     "docs/why.md explains them. `-ksp_view ::ascii_info_detail` prints the same lines."},
};

const std::vector<ResultEntry> kResults = {
    {"DirectionsUsed",
     {{"directions", "const char[]", "the directions joined by commas, such as `matrix` or `x,y`"}},
     "the directions that the last set-up solves along",
     "intermediate",
     "These are the words of `-pc_oclspkt_lines`, with what `auto` stood for. The text is the same on all ranks. It "
     "stays valid until the next `PCSetUp()`, `PCReset()` or `PCDestroy()`.",
     "SetDirections GetDirectionMethodUsed GetDirectionDeviceUsed GetDirectionCertificate"},
    {"MethodUsed",
     {{"method", "const char[]",
       "`truncated-halo`, `truncated-streamed`, `exact-twopass`, `exact-factored` or `pivot`"},
      {"why", "const char[]", "the numbers that decided"}},
     "the method that the last set-up chose, and why",
     "intermediate",
     "With several directions each text names all of them: `x: truncated-halo; y: pivot`; "
     "`PCOCLSPKTGetDirectionMethodUsed()` gives one of them. The texts are those of this rank; ranks may differ. They "
     "stay valid until the next call, `PCSetUp()`, `PCReset()` or `PCDestroy()`.",
     "SetMethod GetDirectionMethodUsed GetCertificate",
     "the method that the last set-up chose for one direction, and why",
     "The texts are those of this rank; ranks may differ. They stay valid until the next `PCSetUp()`, `PCReset()` or "
     "`PCDestroy()`."},
    {"DeviceUsed",
     {{"device", "const char[]", "the device's name, `host` if no OpenCL device is used"},
      {"device_type", "const char[]", "`host`, `cpu`, `gpu` or `fpga`"}},
     "the device that solves",
     "intermediate",
     "With several directions each text names all of them: `x: host; y: NVIDIA H200`; "
     "`PCOCLSPKTGetDirectionDeviceUsed()` gives one of them. The texts are those of this rank. If a device was lost, "
     "they name the device that took over its rows. They stay valid until the next call, `PCSetUp()`, `PCApply()`, "
     "`PCReset()` or `PCDestroy()`.",
     "SetDevices GetDirectionDeviceUsed",
     "the device that solves along one direction",
     "The texts are those of this rank. If a device was lost, they name the device that took over its rows. They stay "
     "valid until the next `PCSetUp()`, `PCApply()`, `PCReset()` or `PCDestroy()`."},
    {"Certificate",
     {{"certificate", "PetscReal",
       "bound on max abs(x_computed - x) / max abs(x) without rounding; 0 for the methods that truncate nothing"},
      {"rounding", "PetscReal",
       "bound on the residual that rounding causes in a row, |r_i| / (|A_i| max |x| + |y_i|) with |A_i| the absolute "
       "sum "
       "of row i and the largest x of its line, in units of `PETSC_MACHINE_EPSILON`; `auto` accepts up to 100; Inf if "
       "the "
       "user named a method that has no bound"},
      {"tolerance", "PetscReal", "the setting of `-pc_oclspkt_rtol`, or the rounding of the arithmetic"}},
     "the bounds on the errors of truncation and of rounding, and the tolerance for the first",
     "advanced",
     "Both bounds hold for every right-hand side of a direction and are known before the first solve. They are the "
     "maxima over all directions and all ranks, cuts among ranks included, so every rank gets the same numbers. From "
     "the first `PCApplyTranspose()` after a set-up they cover the transposed matrix as well, which has bounds of its "
     "own; the view lists both.",
     "SetRtol GetMethodUsed GetDirectionCertificate",
     "the bounds on the errors of truncation and of rounding along one direction, and the tolerance for the first",
     "Both bounds hold for every right-hand side of the direction and are known before the first solve. They are the "
     "maxima over all ranks, cuts among ranks included, so every rank gets the same numbers. From the first "
     "`PCApplyTranspose()` after a set-up they cover the transposed matrix as well."},
    {"IgnoredEntries",
     {{"ignored", "PetscInt64", "number of ignored entries, without stored zeros"}},
     "the number of nonzero matrix entries outside the three bands, which the preconditioner ignores",
     "intermediate",
     "If it is 0, the preconditioner solves with the whole matrix: use `KSPPREONLY`, or let a Krylov method converge "
     "in one iteration. With several directions it counts the entries that are in the bands of none.",
     "GetDirectionIgnoredEntries",
     "the number of nonzero matrix entries outside the three bands of one direction",
     "The other directions may have some of them in their bands. It is 0 for bands of `PCOCLSPKTSetBands()`. It is the "
     "sum over all ranks."},
};

const std::vector<ActionEntry> kActions = {
    {"SetLines",
     {{"lines", "IS", "number of each line of this rank, the same on all ranks that hold a part of it"},
      {"starts", "IS", "where each line begins in `rows`, and behind the last one the length of `rows`"},
      {"rows", "IS", "global rows of this rank, line by line from top to bottom"}},
     "Give the lines to solve, for `-pc_oclspkt_lines given` and `auto`.",
     "Each rank lists only rows of its own. Parts of a line on several ranks are joined in the order of the ranks. "
     "Every row of the matrix must be in exactly one line. The function copies the sets. `NULL` for all three removes "
     "the lines again.",
     "SetDirections SetBands"},
    {"SetBands",
     {{"axis", "const char[]", "`x`, `y` or `z`"},
      {"lower", "Vec", "coupling of each row to the row before it along the axis; laid out as the matrix's rows"},
      {"diag", "Vec", "diagonal of each row"},
      {"upper", "Vec", "coupling of each row to the row after it"}},
     "Give the bands along an axis of the grid, instead of reading them from the matrix.",
     "An ADI code calls it at each step: the function copies the values, and the next `PCSetUp()` uses them instead of "
     "reading the matrix for this axis. Call it after `PCSetDM()` and `PCSetOperators()`: if the lines of the grid "
     "change after the call, the next set-up fails. Bands for several axes are combined by multiplying their inverses "
     "(`factored`) or adding them, without a diagonal between them. Couplings that lead out of the grid are ignored. "
     "`NULL` for all three goes back to the matrix.",
     "SetDirections SetLines"},
};

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value + 0.0);  // prints -0 as 0
  return text;
}

struct ValueText {
  const Settings& settings;
  std::string operator()(const Member<std::string>& member) const { return member(settings); }
  std::string operator()(const Member<double>& member) const { return number_text(member(settings)); }
  std::string operator()(const Member<Index>& member) const { return std::to_string(member(settings)); }
  std::string operator()(const Member<bool>& member) const { return member(settings) ? "true" : "false"; }
  std::string operator()(const Choice& choice) const {
    return choice.names[static_cast<std::size_t>(choice.get(settings))];
  }
};

}  // namespace

const ResultValue kDirectionInput{"direction", "const char[]",
                                  "one of those that `PCOCLSPKTGetDirectionsUsed()` lists, such as `x`"};

std::span<const OptionEntry> option_table() { return kTable; }

const std::vector<ResultEntry>& result_table() { return kResults; }

const std::vector<ActionEntry>& action_table() { return kActions; }

std::string value_text(const OptionEntry& entry, const Settings& settings) {
  return std::visit(ValueText{settings}, entry.field);
}

std::span<const char* const> words_of(const OptionEntry& entry) {
  const auto* choice = std::get_if<Choice>(&entry.field);
  return choice ? choice->names : std::span<const char* const>();
}

std::string values_text(const OptionEntry& entry) {
  if (std::holds_alternative<Member<bool>>(entry.field)) return "true|false";
  if (!std::holds_alternative<Choice>(entry.field)) return std::string("<").append(entry.unit).append(">");
  std::string words;
  for (const char* word : words_of(entry)) words.append(words.empty() ? "" : "|").append(word);
  return words;
}

std::string non_default_options(const Settings& settings) {
  const Settings defaults;
  std::string text;
  for (const OptionEntry& entry : option_table()) {
    const std::string value = value_text(entry, settings);
    if (value == value_text(entry, defaults)) continue;
    text.append(text.empty() ? "" : " ").append(kOptionPrefix).append(entry.name).append(" ").append(value);
  }
  return text;
}

}  // namespace oclspkt::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "options.hpp"

#include <cstdio>

namespace oclspkt::petsc {
namespace {

template <auto Member, auto& Names>
constexpr Choice choice() {
  using Enum = std::remove_cvref_t<decltype(Settings{}.*Member)>;
  return {Names, [](const Settings& o) { return static_cast<int>(o.*Member); },
          [](Settings& o, int value) { o.*Member = static_cast<Enum>(value); }};
}

const OptionEntry kTable[] = {
    {"lines", "Directions", "const char[]", "directions", &Settings::lines,
     "which lines to solve: auto, matrix (its own order), x, y, z (of the grid behind the matrix) or given "
     "(PCOCLSPKTSetLines()); several joined by commas",
     "`auto` is `given` or the axes of `PCOCLSPKTSetBands()` where there are such, else `matrix` for a tridiagonal "
     "matrix "
     "and for one without a grid, else the axis of the grid that is coupled most strongly; the view says which and "
     "why. "
     "The choice stays while the pattern of the matrix does. The grid is the `DMDA` of `PCSetDM()`, else the one that "
     "made the matrix. Several unknowns a node are a line each. Entries of the matrix that do not couple neighbours "
     "of a line are ignored."},
    {"combine", "Combine", "PCOCLSPKTCombine", "", choice<&Settings::combine, kCombineNames>(),
     "how several directions make one operator",
     "With D the diagonal and X, Y the couplings along x and y: `additive` is (D+X)^-1 + (D+Y)^-1; `factored` is "
     "(D+Y)^-1 D (D+X)^-1; `symmetric` is (D+X)^-1 D (D+Y)^-1 D (D+X)^-1; `multiplicative` solves x, multiplies by the "
     "matrix for the residual, and solves y for it. For a symmetric matrix `additive` and `symmetric` are symmetric, "
     "as CG needs; `factored` and `multiplicative` are not, so use GMRES. With `symmetric` name the most strongly "
     "coupled "
     "direction last. With one direction all are the same."},
    {"diagonal", "Diagonal", "PCOCLSPKTDiagonal", "", choice<&Settings::diagonal, kDiagonalNames>(),
     "which diagonal goes with the couplings of each direction: full (the matrix's), or split (what they balance, as "
     "ADI has it)",
     "`full` is a preconditioner and not an ADI time step. `split` takes the row sums D0 of the matrix and for each "
     "direction minus the sum of its couplings, Dx: the factors are D0 + Dx + X, joined by D0^-1. It is refused where "
     "a "
     "row sum is 0 (`additive` apart)."},
    {"devices", "Devices", "const char[]", "list", &Options::devices,
     "where to solve: auto, all, host, cpu, gpu, fpga, part of a device's or platform's name, or an index; several "
     "joined by commas",
     "`auto` weighs the devices of the machine by their cost for the size at hand and may stay on the host; `host` "
     "uses no OpenCL at all. `auto` and `all` take one driver per physical device and never an emulated device; a "
     "type, a name or an index counts as naming it. What matches nothing is an error that lists what there is."},
    {"method", "Method", "PCOCLSPKTMethod", "", choice<&Options::method, kMethodChoiceNames>(),
     "how the interfaces between segments are settled",
     "`auto` takes the first that holds for the matrix: `truncated` if its certificate is within the tolerance, "
     "`exact` if there is evidence that no pivoting is needed, else `pivot`. A method that is named is used even where "
     "its certificate is above the tolerance; the view and `-info` then say so. The host solves exactly by stored "
     "factors, as `exact-factored` does, whatever method is named, unless that is `pivot`: it truncates nothing, and "
     "nothing else would cost it less."},
    {"variant", "Variant", "const char[]", "name", &Options::variant, "which kernel carries the method on a device",
     "`default` is the kernel made for the kind of device. `cpu` and `gpu` name those made for few wide cores and for "
     "work-groups of many work-items; what has none for GPUs yet is carried by those for CPUs. On a CPU, kernels made "
     "for "
     "GPUs are compiled without optimisation and are for tests. `paper` is truncated SPIKE as Macintosh, Banks and "
     "Kelson (2019) have it on GPUs, to measure the others against: method `truncated-halo` for lines laid end to end, "
     "marshalled and factored anew in every apply, 20 words a row and more. Rows have to be of dominance 1 or more. "
     "Partitions get longer until the certificate is within the tolerance; where that does not help it is refused. "
     "`auto` then goes on with the kernels for GPUs, which also take lines side by side; a method that was named fails "
     "the set-up with the reason."},
    {"precision", "Precision", "PCOCLSPKTPrecision", "", choice<&Options::precision, kPrecisionNames>(),
     "storage of the bands: that of the vectors, or rounded to float",
     "`same` is PetscScalar. `narrow` rounds the bands to float, for a preconditioner that is as good as floats of the "
     "matrix are: an apply errs by some 1e-7 times the condition of the lines, and a Krylov method takes the rest off. "
     "Vectors and arithmetic stay double. Where rows are dominant, stored factors of method truncated-streamed "
     "are floats as well, and on CPUs those of lines side by side: 3.5 words a row instead of 5 from and to memory, 3 "
     "instead of 4 for a symmetric matrix, which stays symmetric. Elsewhere `narrow` saves nothing, and the view says "
     "why. A row whose diagonal is so nearly balanced by its couplings that rounding changes what is left by more than "
     "10 %, or whose numbers floats cannot hold beside each other, fails the set-up, which names it."},
    {"rtol", "Rtol", "PetscReal", "bound", &Options::rtol,
     "largest certificate of truncation accepted, relative to the solution's largest entry; 0: rounding of the "
     "arithmetic",
     "A larger value makes a cheaper preconditioner of the truncated methods."},
    {"partition", "Partition", "PetscInt", "rows", &Options::partition,
     "rows eliminated by one lane; 0: chosen at set-up",
     "For measurements; the plan's own choice is meant to be best."},
    {"device_memory", "DeviceMemory", "PetscInt64", "bytes", &Options::device_memory,
     "most that may be allocated on a device; 0: its own limit", "The cap is for each device."},
    {"timeout", "Timeout", "PetscReal", "seconds", &Options::timeout,
     "how long a device with memory of its own may take for one solve; 0: 100 times the predicted time, at least 10 s",
     "A device that takes longer is abandoned and counts as failed; see `-pc_oclspkt_on_device_failure`."},
    {"on_device_failure", "OnDeviceFailure", "PCOCLSPKTOnDeviceFailure", "",
     choice<&Options::on_device_failure, kOnDeviceFailureNames>(),
     "degrade: go on with the devices left, at last the host, and print one line; quiet: without the line; error: stop",
     "The view lists lost devices as `degraded: <device>: <cause>` under `degrade` and `quiet` alike. A device that "
     "failed "
     "is tried again by this preconditioner when the size of the matrix or an option changes, one that was abandoned "
     "(see `-pc_oclspkt_timeout`) never."},
    {"singular", "Singular", "PCOCLSPKTSingular", "", choice<&Options::singular, kSingularNames>(),
     "fail: a singular line fails the set-up, which names it; pin: its last unknown is 0; auto: pin if a constant null "
     "space is attached and there is one line, else fail",
     "`pin` is for consistent systems, such as Neumann problems whose right-hand side sums to 0: the last equation of "
     "a singular line is dropped. Lines that are not singular are not touched. The null space is looked for on the "
     "matrix that the preconditioner is made from, then on that of the system; attach it with `MatSetNullSpace()` "
     "before the set-up. The view counts the lines that are pinned and says why."},
    {"transfer", "Transfer", "PCOCLSPKTTransfer", "", choice<&Options::transfer, kTransferNames>(),
     "how vectors reach the device", "`auto` shares host memory with devices that can; `copy` always copies."},
    {"gather_limit", "GatherLimit", "PetscInt", "rows", &Options::gather_limit,
     "longest line cut among processes that one process may solve whole where its parts cannot be solved apart; -1: "
     "any, 0: none",
     "Parts that are singular by themselves, or not solved accurately, send their rows to one process of their line; a "
     "longer line fails the set-up, which names it."},
    {"explain", "Explain", "PetscBool", "", &Settings::explain, "print after every set-up what was chosen and why",
     "One line for each method that was considered, in order, with the numbers that decided. The page "
     "docs/why.md reads them. `-ksp_view ::ascii_info_detail` prints the same lines."},
};

const std::vector<ResultEntry> kResults = {
    {"MethodUsed",
     {{"method", "const char[]",
       "`truncated-halo`, `truncated-streamed`, `exact-twopass`, `exact-factored` or `pivot`"},
      {"why", "const char[]", "the numbers that decided"}},
     "the method that the last set-up chose, and why",
     "intermediate",
     "With several directions each text names all of them: `x: truncated-halo; y: pivot`. They are those of this rank; "
     "ranks may differ. The texts stay valid until the next call, `PCSetUp()`, `PCReset()` or `PCDestroy()`.",
     "SetMethod GetCertificate"},
    {"DeviceUsed",
     {{"device", "const char[]", "the device's name, `host` where no OpenCL is used"},
      {"device_type", "const char[]", "`host`, `cpu`, `gpu` or `fpga`"}},
     "the device that solves",
     "intermediate",
     "With several directions each text names all of them: `x: host; y: NVIDIA H200`. They are those of this rank. "
     "After "
     "a device was lost it is the one that took over its rows. The texts stay valid until the next call, `PCSetUp()`, "
     "`PCApply()`, `PCReset()` or `PCDestroy()`.",
     "SetDevices"},
    {"Certificate",
     {{"certificate", "PetscReal",
       "bound on max abs(x_computed - x) / max abs(x), rounding apart; 0 for the methods that truncate nothing"},
      {"rounding", "PetscReal",
       "bound on what rounding leaves in a row, |r_i| / (|A_i| max |x| + |y_i|) with |A_i| the absolute sum of row i "
       "and the largest x of its line, in units of `PETSC_MACHINE_EPSILON`; `auto` takes up to 100; Inf where a "
       "method was named that has no bound"},
      {"tolerance", "PetscReal", "the setting of `-pc_oclspkt_rtol`, or the rounding of the arithmetic"}},
     "the bounds on the errors of truncation and of rounding, and the tolerance that the first was held against",
     "advanced",
     "Both bounds hold for every right-hand side of a direction and are known before the first solve. They are the "
     "largest over all directions and all ranks, cuts among ranks included, so every rank gets the same.",
     "SetRtol GetMethodUsed"},
    {"IgnoredEntries",
     {{"ignored", "PetscInt64", "how many entries were ignored; stored zeros are not counted"}},
     "the number of nonzero matrix entries off the three bands, which the preconditioner ignores",
     "intermediate",
     "With 0 the preconditioner solves with the whole matrix: use `KSPPREONLY`, or let a Krylov method converge in one "
     "iteration.",
     ""},
};

const std::vector<ActionEntry> kActions = {
    {"SetLines",
     {{"lines", "IS", "number of each line of this rank, the same on all ranks that hold a part of it"},
      {"starts", "IS", "where each line begins in `rows`, and behind the last one the length of `rows`"},
      {"rows", "IS", "global rows of this rank, line by line from top to bottom"}},
     "Give the lines to solve, for `-pc_oclspkt_lines given`, which `auto` then is.",
     "Collective. Each rank lists rows of its own only. Parts of a line on several ranks are joined in the order of "
     "the "
     "ranks. Every row of the matrix is in one line, once. The sets are copied. "
     "`NULL` for all three takes the lines back.",
     "SetDirections SetBands"},
    {"SetBands",
     {{"axis", "const char[]", "`x`, `y` or `z`"},
      {"lower", "Vec", "coupling of each row to the row before it along the axis; laid out as the matrix's rows"},
      {"diag", "Vec", "diagonal of each row"},
      {"upper", "Vec", "coupling to the row behind it"}},
     "Give the bands along an axis of the grid, instead of reading them from the matrix.",
     "Logically collective. An ADI code calls it at each step: the values are copied, and the next `PCSetUp()` takes "
     "them; nothing of the matrix is read for this axis. Call it after `PCSetDM()` and `PCSetOperators()`: bands that "
     "were copied for other lines of the grid are an error at the next set-up. With bands for several axes their "
     "inverses are multiplied "
     "(`factored`) or added, without a diagonal between them. Couplings that lead out of the grid are ignored. `NULL` "
     "for "
     "all three goes back to the matrix.",
     "SetDirections SetLines"},
};

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value + 0.0);  // -0 is 0
  return text;
}

struct ValueText {
  const Settings& settings;
  std::string operator()(std::string Settings::*member) const { return settings.*member; }
  std::string operator()(double Settings::*member) const { return number_text(settings.*member); }
  std::string operator()(Index Settings::*member) const { return std::to_string(settings.*member); }
  std::string operator()(bool Settings::*member) const { return settings.*member ? "true" : "false"; }
  std::string operator()(const Choice& choice) const {
    return choice.names[static_cast<std::size_t>(choice.get(settings))];
  }
};

}  // namespace

std::span<const OptionEntry> option_table() { return kTable; }

const std::vector<ResultEntry>& result_table() { return kResults; }

const std::vector<ActionEntry>& action_table() { return kActions; }

std::string value_text(const OptionEntry& entry, const Settings& settings) {
  return std::visit(ValueText{settings}, entry.field);
}

std::string values_text(const OptionEntry& entry) {
  if (std::holds_alternative<bool Settings::*>(entry.field)) return "true|false";
  const auto* choice = std::get_if<Choice>(&entry.field);
  if (!choice) return std::string("<").append(entry.unit).append(">");
  std::string words;
  for (const char* word : choice->names) words.append(words.empty() ? "" : "|").append(word);
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

// SPDX-License-Identifier: BSD-2-Clause
// The figures and tables of Macintosh, Banks and Kelson (2019) on the devices of this machine.
#pragma once

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "energy.hpp"

namespace oclspkt::bench::paper {

/// Of the file's layout; paper_table.py refuses files of another one.
inline constexpr int kVersion = 1;

inline constexpr Index kPaperSize = 256'000'000;  ///< rows of its figures 6, 7 and 10
inline constexpr double kPaperDominance = 3;      ///< its matrices have more

/// The sections of a file, as --figures names them.
///   operations    tables 1, 2 and 3
///   paper         figures 8 and 11 by the model of the paper's machine
///   solves        figures 6 and 10: kernels and marshalling of each device, the paper's form and ours; peers, figure 7
///   energy        joules by the whole protocol of the meter: ours and cuSPARSE, and both ways to balance
///   roofline      what limits each kernel: peaks and streams of devices, operations, products and iterations of CG
///   accuracy      figure 9
///   combinations  figures 8 and 11, table 5
inline constexpr const char* kSections[] = {"operations", "paper",    "solves",      "energy",
                                            "roofline",   "accuracy", "combinations"};
/// The part of a run's seconds that each section may take, beside the others that are asked for; what one leaves goes
/// to those behind it.
inline constexpr double kSectionWeights[] = {0, 0, 0.2, 0.27, 0.06, 0.07, 0.4};

struct Settings {
  std::string file;
  std::string devices = "auto";  ///< "auto": host and all devices, of two drivers of a processor the first; else words
  Index rows = 0;                ///< of figure 6; 0: as many of kPaperSize as memory and time allow
  Index together = 0;            ///< of the first size of figure 8; 0: the paper's, as memory holds five times as many
  std::vector<std::string> scalars = {"float", "double"};
  std::vector<std::string> sections{std::begin(kSections), std::end(kSections)};
  double seconds = 480;  ///< that all sections share; no measurement begins later
  int rounds = 5;
  RatedWatts rated;
  bool allow_debug = false;
};

/// A processor of this machine.
struct Processor {
  DeviceInfo info;   ///< of the host, type host
  std::string word;  ///< that selects it
  bool host() const { return info.type == DeviceType::host; }
  /// CPU, GPU or FPGA, as the paper has them; an emulator is none of them
  std::string kind() const;
};

/// The paper's board, of which there is a model.
Processor paper_board();

template <typename T>
constexpr const char* scalar_name() {
  return sizeof(T) == 4 ? "float" : "double";
}

/// The seconds that a piece may take. They bound how often it repeats what it measures, which it does once at least.
class Share {
 public:
  explicit Share(double seconds = std::numeric_limits<double>::infinity())
      : begun_(steady_seconds()), seconds_(seconds) {}
  double seconds() const { return seconds_; }
  double left() const { return begun_ + seconds_ - steady_seconds(); }

 private:
  double begun_, seconds_;
};

/// What is measured, a piece at a time, so that a run may end between two of them.
struct Piece {
  std::string section, words;
  double work;  ///< about proportional to its time, among the pieces of its section
  std::function<void(nlohmann::ordered_json& records, const Share& share)> run;
  /// Written in the place of what an error or the end of time left out.
  nlohmann::ordered_json record;
};

struct Plan {
  Settings settings;
  std::vector<Processor> processors;
  Index rows = 0;
};

/// Processors by a selection, see Settings::devices.
/// @throws InvalidInput
std::vector<Processor> find_processors(const std::string& words);

/// Without those that have the name of another one: of equal cards the first.
std::vector<Processor> unlike(const std::vector<Processor>& processors);

/// Rows of figure 6: halves of the paper's until memory and, by a measured trial, time hold all.
Index choose_rows(const Settings& settings, std::size_t processors);

// The pieces of each section.
void add_solves(const Plan& plan, std::vector<Piece>& pieces);
void add_energy(const Plan& plan, std::vector<Piece>& pieces);
void add_roofline(const Plan& plan, std::vector<Piece>& pieces);
void add_combinations(const Plan& plan, std::vector<Piece>& pieces);
void add_accuracy(const Plan& plan, std::vector<Piece>& pieces);
void add_operations(const Plan& plan, std::vector<Piece>& pieces);
void add_paper(const Plan& plan, std::vector<Piece>& pieces);

/// Run all pieces and return the document; ends early when `stop` says so or time is over, and what is left is marked.
/// Each piece gets the part of its section's seconds that its work has in what the section has left.
/// @pre pieces of a section follow each other
nlohmann::ordered_json run(const Plan& plan, const std::vector<Piece>& pieces, const std::function<bool()>& stop);

/// Five digits, which is more than a clock is good for; nothing for what is not finite.
nlohmann::ordered_json figure(double value);

}  // namespace oclspkt::bench::paper

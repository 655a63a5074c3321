// SPDX-License-Identifier: BSD-2-Clause
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <new>
#include <set>
#include <thread>

#include "clock.hpp"
#include "find_device.hpp"
#include "measured.hpp"
#include "oclspkt/error.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "selection.hpp"
#include "settings.hpp"
#include "split.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

/// Bytes a row that problem, solvers and peers hold at most, in doubles.
constexpr double kBytesPerRow = 200;
constexpr Index kTrialRows = 1 << 20;
/// What a run takes for a row, as times of making and checking one; of each processor.
constexpr double kTrialsPerRow = 20;

Processor host() {
  Processor p{{}, "host"};
  p.info.type = DeviceType::host;
  p.info.name = "host";
  p.info.physical = "cpu";
  p.info.cores = static_cast<int>(std::thread::hardware_concurrency());
  return p;
}

Processor of(const DeviceInfo& info) { return {info, std::to_string(info.index)}; }

/// What takes its turn while pieces run, and how long it may.
class Turns {
 public:
  Turns(const std::vector<Piece>& pieces, double limit) : estimate_(0, limit), all_(pieces.size()), limit_(limit) {
    for (const Piece& piece : pieces) work_[piece.section] += piece.work;
    whole_ = work_;
    double weights = 0;
    for (const auto& [section, work] : work_) weights += work > 0 ? weight_of(section) : 0;
    estimate_ = gpu::Estimate(weights, limit);
  }
  /// Whether a piece may begin: behind the end of its section by half of what the section had, the others have the
  /// turn.
  bool may_begin(const Piece& piece) {
    if (piece.section != section_) begin_section(piece.section);
    return estimate_.may_begin(spent_) && spent_ < begun_ + 1.5 * length_;
  }
  /// @param f  takes its share
  template <typename F>
  void run(const Piece& piece, const F& f) {
    progress_.step(std::to_string(++at_) + " of " + std::to_string(all_) + ", " + piece.section + ": " + piece.words +
                   estimate_.describe(part_of(piece)));
    const double left = std::max(0., begun_ + length_ - spent_);
    const Share share(piece.work > 0 ? left * piece.work / work_[piece.section] : left);
    const double seconds = seconds_of([&] { f(share); });
    estimate_.done(part_of(piece), seconds);
    work_[piece.section] -= piece.work;
    spent_ += seconds;
    seconds_[piece.section] += seconds;
    constexpr double kLong = 2;  // what is worth a line for who plans a run
    if (seconds < kLong) return;
    progress_.finish();
    std::printf("%s, %s: %.1f s of %.1f\n", piece.section.c_str(), piece.words.c_str(), seconds, share.seconds());
    std::fflush(stdout);
  }
  /// Of each section.
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  /// Of the weights of all sections: pieces of two of them have units of their own.
  double part_of(const Piece& piece) const {
    return piece.work > 0 ? weight_of(piece.section) * piece.work / whole_.at(piece.section) : 0;
  }
  static double weight_of(const std::string& section) {
    const auto at = std::find(std::begin(kSections), std::end(kSections), section);
    return kSectionWeights[at - std::begin(kSections)];
  }
  void begin_section(const std::string& section) {
    section_ = section;
    begun_ = spent_;
    double weights = 0;
    for (const auto& [name, work] : work_) weights += seconds_.count(name) == 0 ? weight_of(name) : 0;
    length_ = weights > 0 ? (limit_ - spent_) * weight_of(section) / weights : 0;
    seconds_[section];
  }
  gpu::Estimate estimate_;
  Progress progress_;
  std::size_t all_, at_ = 0;
  double limit_, spent_ = 0, begun_ = 0, length_ = 0;
  std::string section_;
  std::map<std::string, double> whole_, work_, seconds_;  ///< work of all, work left, and spent
};

void mark(const Piece& piece, const char* outcome, const std::string& why, Json& records) {
  if (piece.record.is_null()) return;
  Json record = piece.record;
  record["outcome"] = outcome;
  record["note"] = why;
  records.push_back(record);
}

/// Run a piece; what it throws becomes a record, and the others go on.
void attempt(const Piece& piece, const Share& share, Json& records) {
  try {
    piece.run(records, share);
  } catch (const Absent& error) {
    mark(piece, "absent", error.what(), records);
  } catch (const Error& error) {
    mark(piece, "failed", error.what(), records);
  } catch (const std::bad_alloc&) {
    mark(piece, "failed", "the host's memory does not hold it", records);
  }
}

}  // namespace

std::string Processor::kind() const {
  if (info.emulated) return "emulator";
  return info.type == DeviceType::gpu ? "GPU" : info.type == DeviceType::fpga ? "FPGA" : "CPU";
}

Processor paper_board() {
  Processor board{{}, ""};
  board.info.type = DeviceType::fpga;
  board.info.name = "A10PL4";
  return board;
}

Json figure(double value) {
  if (!std::isfinite(value)) return {};
  return std::strtod(text("%.4e", value).c_str(), nullptr);
}

std::vector<Processor> find_processors(const std::string& words) {
  std::vector<Processor> found;
  if (words != "auto") {
    for (const std::string& word : split(words, ',')) {
      const DeviceInfo* info = gpu::find_device(word);
      found.push_back(info == nullptr ? host() : of(*info));
    }
    return found;
  }
  found.push_back(host());
  std::string why;
  DeviceModule* const module = device_module(&why);
  if (module == nullptr) return found;
  for (const DeviceInfo& info : module->devices()) found.push_back(of(info));
  return found;
}

std::vector<Processor> unlike(const std::vector<Processor>& processors) {
  std::set<std::string> names;
  std::vector<Processor> kept = processors;
  std::erase_if(kept, [&](const Processor& p) { return !names.insert(p.info.name).second; });
  return kept;
}

Index choose_rows(const Settings& settings, std::size_t processors) {
  if (settings.rows > 0) return settings.rows;
  const double seconds = seconds_of([] {
    Problem<double> problem({.dominance = kPaperDominance}, kTrialRows);
    Json record;
    right(problem, record);
  });
  const double whole = kTrialsPerRow * seconds / kTrialRows * static_cast<double>(processors);
  Index rows = kPaperSize;
  while (rows > kTrialRows &&
         (!fits_memory(rows, kBytesPerRow) || static_cast<double>(rows) * whole > settings.seconds)) {
    rows /= 2;
  }
  return rows;
}

Json run(const Plan& plan, const std::vector<Piece>& pieces, const std::function<bool()>& stop) {
  Json document;
  for (const std::string& section : plan.settings.sections) document[section] = Json::array();
  Turns turns(pieces, plan.settings.seconds);
  for (const Piece& piece : pieces) {
    Json& records = document[piece.section];
    if (stop()) {
      mark(piece, "left out", "interrupted", records);
    } else if (piece.work > 0 && !turns.may_begin(piece)) {
      mark(piece, "left out", "no time left: raise --seconds, or name fewer --rows or --figures", records);
    } else {
      turns.run(piece, [&](const Share& share) { attempt(piece, share, records); });
    }
  }
  for (const auto& [section, seconds] : turns.seconds()) document["seconds"][section] = figure(seconds);
  return document;
}

}  // namespace oclspkt::bench::paper

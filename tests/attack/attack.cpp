// SPDX-License-Identifier: BSD-2-Clause
// Draws hard systems for some seconds, solves them in every way and judges the answers.
#include <chrono>

#include "settings.hpp"
#include "tally.hpp"

namespace oclspkt::attack {
namespace {

constexpr double kNear = 0.4, kNearInClimbs = 0.9;  // share of cases that are near a bad one
constexpr double kEdited = 0.7;                     // share of these that have single numbers changed, in climbs
constexpr std::size_t kMostClimbed = 24;            // bad cases that are kept
constexpr Index kMostClimbedRows = 300;             // many small steps reach farther than few large ones

/// A case that did badly, and where.
struct Bad {
  Case about;
  bool in_float = false;
  Setting setting;
  double score = 0;
};

/// How badly an outcome did: error over bound where there is one, else over what is wrong.
double score_of(const Outcome& outcome) {
  double most = 0;
  for (const Answer& a : outcome.answers) {
    const bool bounded = outcome.bound > 0 && outcome.bound < kWrong;
    most = std::max(most, outcome.error(a) / (bounded ? outcome.bound : kWrong));
  }
  return most;
}

class Attack {
 public:
  explicit Attack(const Settings& settings) : settings_(settings), dice_(settings.seed) {
    for (const Family& family : families()) {
      if (settings.family.empty() || settings.family == family.name) families_.push_back(&family);
    }
  }

  void run() {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(settings_.seconds);
    while (Clock::now() < end) climb_or_draw();
  }

  void run_case() {
    const Case c = parse_case(settings_.only);
    for (const bool in_float : settings_.floats) examine(c, in_float, settings_.every_setting());
  }

  const Tally& tally() const { return tally_; }

 private:
  void climb_or_draw() {
    if (!bad_.empty() && dice_.chance(settings_.climb ? kNearInClimbs : kNear)) {
      const Bad from = bad_[static_cast<std::size_t>(dice_.whole(0, static_cast<Index>(bad_.size()) - 1))];
      const bool edits = settings_.climb && dice_.chance(kEdited);
      const Case near = edits ? edited_case(from.about, dice_) : near_case(from.about, from.in_float, dice_);
      examine(near, from.in_float, {from.setting});
      return;
    }
    const bool in_float = dice_.of(settings_.floats);
    Case c = draw_case(*dice_.of(families_), in_float, dice_);
    if (settings_.climb) c.rows = std::clamp(c.rows / 8, Index{2}, kMostClimbedRows);
    examine(c, in_float, settings_.some(dice_));
  }

  void examine(const Case& c, bool in_float, const std::vector<Setting>& all) {
    in_float ? examine_in<float>(c, all) : examine_in<double>(c, all);
  }

  template <typename T>
  void examine_in(const Case& c, const std::vector<Setting>& all) {
    constexpr bool in_float = sizeof(T) == sizeof(float);
    const Exam<T> exam = make_exam<T>(c);
    for (const Setting& setting : all) {
      const Outcome outcome = take(exam, setting);
      const std::string scalar = in_float ? "float" : "double";
      const Key key{c.column_decades == 0 ? c.family : c.family + " in units",
                    outcome.refused.empty() ? outcome.method + " " + outcome.shape : "refused",
                    (outcome.device.empty() ? setting.device : outcome.device.substr(0, 20)) +
                        (setting.variant == "default" ? " " : " " + setting.variant + " ") + scalar};
      tally_.add(key, outcome, command(c, scalar, setting));
      if (!settings_.only.empty()) print_outcome(key, outcome);
      keep_if_bad({c, in_float, setting, score_of(outcome)});
    }
  }

  static std::string command(const Case& c, const std::string& scalar, const Setting& setting) {
    return "oclspkt-attack 0 --case '" + to_text(c) + "' --scalar " + scalar + " --device '" + setting.device +
           "' --variant " + setting.variant + " --method " + name(setting.method);
  }

  static void print_outcome(const Key& key, const Outcome& outcome) {
    std::printf("%s on %s, bound %.3g eps by %s%s %s\n", key.scheme.c_str(), key.device.c_str(), outcome.bound,
                kPromisedNames[static_cast<int>(outcome.promised)],
                outcome.above_tolerance ? ", certificate above tolerance" : "", outcome.refused.c_str());
    for (const Answer& a : outcome.answers) {
      std::printf(
          "  %-12s row %.3g eps at %ld, in units %.3g, component %.3g at %ld, norm %.3g; forward %.3g eps "
          "(LAPACK %.3g), of its spread %.3g (LAPACK %.3g), of a bound by rows %.3g\n",
          kSolutionNames[static_cast<int>(a.kind)], a.errors.row, static_cast<long>(a.errors.row_at), a.errors.units,
          a.errors.component, static_cast<long>(a.errors.component_at), a.errors.norm, a.forward, a.lapack_forward,
          a.unit, a.lapack_unit, a.rows);
    }
  }

  void keep_if_bad(const Bad& found) {
    bad_.push_back(found);
    std::stable_sort(bad_.begin(), bad_.end(), [](const Bad& a, const Bad& b) { return a.score > b.score; });
    // One bad case of a family and setting shows the way: the others are its neighbours.
    std::map<std::string, int> seen;
    const auto repeated = [&](const Bad& b) {
      return ++seen[b.about.family + b.setting.device + b.setting.variant + name(b.setting.method)] > 2;
    };
    bad_.erase(std::remove_if(bad_.begin(), bad_.end(), repeated), bad_.end());
    if (bad_.size() > kMostClimbed) bad_.resize(kMostClimbed);
  }

  const Settings& settings_;
  Dice dice_;
  std::vector<const Family*> families_;
  std::vector<Bad> bad_;
  Tally tally_;
};

int attack(const Settings& settings) {
  check_devices(settings);
  Attack attack(settings);
  settings.only.empty() ? attack.run() : attack.run_case();
  attack.tally().print(stdout);
  if (!settings.json.empty()) attack.tally().write_json(settings.json);
  const Counted all = attack.tally().total();
  if (all.answers == 0 && settings.only.empty()) std::fprintf(stderr, "oclspkt-attack: no system was solved\n");
  return all.failed + all.exceeded + all.beyond + all.broke > 0 || (all.answers == 0 && settings.only.empty()) ? 1 : 0;
}

}  // namespace
}  // namespace oclspkt::attack

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty() || words[0] == "--help") {
      std::printf("%s", oclspkt::attack::kHelp);
      return words.empty() ? 2 : 0;
    }
    return oclspkt::attack::attack(oclspkt::attack::parse_settings(words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oclspkt-attack: %s\n", error.what());
    return 2;
  }
}

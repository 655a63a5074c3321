// SPDX-License-Identifier: BSD-2-Clause
// Figures 8, 10 and 11 by the model of the paper's machine, beside what the paper has.
#include "balance_simulate.hpp"
#include "oclspkt/error.hpp"
#include "run.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

/// Table 5, million rows a joule.
constexpr struct {
  const char* set;
  double rows_per_joule;
} kTable5[] = {{"CPU", 1.39e6},
               {"GPU", 12.9e6},
               {"FPGA", 28.6e6},
               {"CPU + GPU", 1.67e6},
               {"CPU + FPGA", 1.81e6},
               {"GPU + FPGA", 15.6e6},
               {"CPU + GPU + FPGA", 2.06e6}};

/// Joules a row. The paper counts a card's or a board's watts while its kernels run; a CPU also waits for memory and
/// moves what the others take, so its watts count as long as the solve is.
/// @param seconds  of the solve
double joules_per_row(const Machine& machine, const Simulated& set, double seconds, double rows) {
  double all_rates = 0, joules = 0;
  for (const std::size_t i : set.members) all_rates += 1 / machine.models[i].seconds_per_row;
  for (const std::size_t i : set.members) {
    const ShareModel& model = machine.models[i];
    const double share = 1 / model.seconds_per_row / all_rates;
    joules += model.watts * (machine.names[i] == "CPU" ? seconds / rows : share * model.kernel_seconds_per_row);
  }
  return joules;
}

void model_paper(const std::string& file, Json& records) {
  const Machine machine = read_machine(file);
  const Index rows = machine.rows.back();
  for (const auto& [name, rows_per_joule] : kTable5) {
    Simulated set;
    for (std::size_t i = 0; i < machine.names.size(); ++i) {
      if (std::string(name).find(machine.names[i]) != std::string::npos) set.members.push_back(i);
    }
    set = simulate(machine, set.members, rows);
    const auto all = static_cast<double>(rows);
    records.push_back({{"kinds", name},
                       {"rows", rows},
                       {"paper_rows_per_second", figure(all / set.measured.value())},
                       {"rows_per_second", figure(all / set.by_rate)},
                       {"our_shares_rows_per_second", figure(all / set.ours.all_seconds)},
                       {"limit", set.limit.name},
                       {"paper_rows_per_joule", rows_per_joule},
                       {"rows_per_joule", figure(1 / joules_per_row(machine, set, set.by_rate, all))},
                       {"source", "modelled"}});
  }
}

}  // namespace

void add_paper(const Plan&, std::vector<Piece>& pieces) {
  pieces.push_back({"paper",
                    "the model of the paper's machine",
                    0,
                    [](Json& records, const Share&) { model_paper(OCLSPKT_PAPER_MACHINE, records); },
                    {}});
}

}  // namespace oclspkt::bench::paper

// SPDX-License-Identifier: BSD-2-Clause
// Tables 1, 2 and 3: operations and words of every scheme, counted and by the formulas.
#include "count_kernels.hpp"
#include "fpga_model.hpp"
#include "run.hpp"

namespace oclspkt::bench::paper {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Operations& o) { return {{"add", o.add}, {"mul", o.mul}, {"div", o.div}}; }

}  // namespace

void add_operations(const Plan&, std::vector<Piece>& pieces) {
  pieces.push_back({"operations",
                    "operations of every scheme, counted",
                    0,
                    [](Json& records, const Share&) {
                      for (const CountedScheme& s : count_schemes()) {
                        records.push_back({{"scheme", s.scheme},
                                           {"m", s.m},
                                           {"m_min", s.m_min},
                                           {"staged", s.staged},
                                           {"counted", to_json(s.counted.operations)},
                                           {"counted_words", s.counted.words()},
                                           {"marshalled_words", s.marshalled},
                                           {"formula", to_json(s.operations)},
                                           {"plan_words", figure(s.words)},
                                           {"table1", to_json(s.table1)},
                                           {"table1_words", s.table1_words},
                                           {"dsp", dsp_of(s.operations) / FpgaBoard{}.dsp_blocks}});
                      }
                    },
                    {}});
}

}  // namespace oclspkt::bench::paper

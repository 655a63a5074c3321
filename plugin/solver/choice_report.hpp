// SPDX-License-Identifier: BSD-2-Clause
/* Texts for the report, about the ways that a set-up judged and the way that it took. */
#pragma once

#include <string>
#include <vector>

#include "cost.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"
#include "processors.hpp"
#include "schemes/proposal.hpp"
#include "ways.hpp"

namespace oclspkt {

/// The error message if all ways are rejected, with causes and cures.
std::string breakdown_text(const std::vector<Candidate>& candidates, const Options& options, bool singular, bool pins);
/// The effect of precision narrow, in words.
/// @param narrowed  largest change of a row's excess by the rounding to float
template <typename T>
std::string precision_text(const Options& options, double narrowed, bool on_host, const Proposal& p);
/// The rounding bound of a proposal, in eps.
inline double eps_of(const Proposal& p) { return p.rounding ? p.rounding->eps : kNothingKnown; }
/// The report's entry for a judged way, with its plan if it has one.
Candidate candidate_of(const Way& way, bool planned, bool taken, std::string why);
/// Write an accepted proposal into a report, which has the fallback groups already.
void write_proposal(const Proposal& p, const LineSet& lines, Report& report);
/// Report why the processor of the taken way was chosen.
/// @param processors, ways  all candidates, with their figures before any way was judged
/// @param taken             the taken way, with the figures of its final plan
void explain_processor(const Processors& processors, std::vector<Way> ways, const Way& taken, Report& report);
/// If all lines are fallback lines, report how the host solves them, because the taken way solves no row.
void write_fallback(Report& report);

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
/* What a report says of the ways that a set-up judged, and of the one that it took. */
#pragma once

#include <string>
#include <vector>

#include "cost.hpp"
#include "narrow.hpp"
#include "oclspkt/options.hpp"
#include "oclspkt/report.hpp"
#include "processors.hpp"
#include "schemes/proposal.hpp"
#include "ways.hpp"

namespace oclspkt {

std::string error_text(double error);
/// Why every way was rejected, and what to do.
std::string breakdown_text(const std::vector<Candidate>& candidates, const Options& options, bool singular, bool pins);
/// What precision narrow did, and what it left alone.
/// @param narrowed  largest change of a row's excess
template <typename T>
std::string precision_text(const Options& options, double narrowed, bool on_host, const Proposal& p);
/// Bound of a proposal on rounding, in eps.
inline double eps_of(const Proposal& p) { return p.rounding ? p.rounding->eps : kNothingKnown; }
/// A way that was judged, with a plan if it got one.
Candidate candidate_of(const Way& way, bool planned, bool taken, std::string why);
/// Write a proposal that holds into a report that has the fallback groups already.
void write_proposal(const Proposal& p, const LineSet& lines, Report& report);
/// Why the processor of a way was chosen.
/// @param processors, ways  as they were before any was judged
/// @param taken             with the figures of the plan that it came to
void explain_processor(const Processors& processors, std::vector<Way> ways, const Way& taken, Report& report);
/// Say of lines that are all left to the host how it solves them: the method for the others solves no row.
void write_fallback(Report& report);

}  // namespace oclspkt

// SPDX-License-Identifier: BSD-2-Clause
// Solves with vectors in place, in the memory of a device: what figures 6, 7 and 10 and the joules are made of.
#pragma once

#include "problem.hpp"
#include "run.hpp"

namespace oclspkt::bench::paper {

/// Put the seconds of a solve into a record, with its joules.
/// @param solve  `each` solves
void add_times(const Plan& plan, const Processor& p, double seconds, const std::function<void()>& solve,
               Windows windows, nlohmann::ordered_json& record, int each = 1);

/// Solve by the library on a device with vectors in its memory, in the paper's form or as the library chooses.
/// @throws DeviceError
template <typename T>
void solve_in_place(const Plan& plan, const Processor& p, bool paper, Windows windows, Problem<T>& problem,
                    const Share& share, nlohmann::ordered_json& record);

/// The same by cuSPARSE on the card. Half of the rows are solved, or half of those, where it fails on more; the
/// record then has their number and why.
/// @param spec  what `problem` is made of
/// @throws Absent, DeviceError
template <typename T>
void solve_by_cusparse(const Plan& plan, const Processor& p, bool pivoting, Windows windows, const MatrixSpec& spec,
                       Problem<T>& problem, const Share& share, nlohmann::ordered_json& record);

}  // namespace oclspkt::bench::paper

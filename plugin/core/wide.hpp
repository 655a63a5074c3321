// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// Compiles a function for several vector widths; the loader selects the widest that the processor has. Results have
/// the same bits, because compilers contract and re-associate nothing. Empty under sanitizers, which do not support
/// code that the loader runs early.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define OCLSPKT_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define OCLSPKT_WIDE
#endif

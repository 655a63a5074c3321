// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// Compiles a function for wide vectors as well; the loader takes the widest that the processor has. Results are the
/// same to the bit: nothing is contracted or re-associated. Sanitizers do not support code that the loader runs early.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define OCLSPKT_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define OCLSPKT_WIDE
#endif

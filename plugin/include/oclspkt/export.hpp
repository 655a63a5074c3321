// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// Marks what the library exports; everything else is compiled with hidden visibility.
#define OCLSPKT_API __attribute__((visibility("default")))

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// Marks exported symbols; everything else is compiled with hidden visibility.
#define OCLSPKT_API __attribute__((visibility("default")))

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// The scalars that templates are instantiated for: X(T) for each T.
#define OCLSPKT_SCALARS(X) \
  X(float)                 \
  X(double)

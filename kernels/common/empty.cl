// SPDX-License-Identifier: BSD-2-Clause
// Purpose: what a launch costs. Launch geometry: any. Reads and writes nothing.
__kernel void empty(void) {}

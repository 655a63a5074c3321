/* SPDX-License-Identifier: BSD-2-Clause */
/* Becomes a libOpenCL.so.1 without a single OpenCL function, as a broken installation has it. */
int oclspkt_no_opencl = 0;

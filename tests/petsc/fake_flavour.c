/* SPDX-License-Identifier: BSD-2-Clause */
/* The plugin for a PETSc that does not exist: tells that it was taken. */
#include <stdio.h>

int PCOCLSPKTInitializePackage(void);
int PCOCLSPKTInitializePackage(void) {
  printf("initialized %s\n", FAKE_KIND);
  return 0;
}

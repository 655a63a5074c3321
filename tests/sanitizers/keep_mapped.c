/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded with the sanitizers' run-times. */
#include <stddef.h>

int dlclose(void* handle);
char* dlerror(void);

/* A library that is unmapped before the process ends takes the names away by which its leaks would be suppressed. */
int dlclose(void* handle) {
  (void)handle;
  return 0;
}

/* PETSc asks after every symbol that it did not find. Under AddressSanitizer that leaves the C library's lock of
   locales released once too often, and the program waits for it for ever when it ends; with any library, not only ours.
 */
char* dlerror(void) { return NULL; }

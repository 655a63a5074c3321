/* SPDX-License-Identifier: BSD-2-Clause */
/* A library with faults, one a function. */
#include <limits.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int use_after_free(void) {
  volatile int* p = malloc(sizeof(int));
  *p = 1;
  free((void*)p);
  return *p;
}

__attribute__((visibility("default"))) int overflow(void) {
  volatile int most = INT_MAX;
  return most + 1;
}

__attribute__((visibility("default"))) int leak(void) {
  void* volatile p = NULL;

  /* Many, because registers and the stack may still hold the last. */
  for (int i = 0; i < 100; ++i) p = malloc(100);
  return p != NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* opener LIBRARY FUNCTION: open a library and call a function of it, as PETSc does with a plugin. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc == 3 ? dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL) : NULL;
  int (*function)(void) = library ? (int (*)(void))dlsym(library, argv[2]) : NULL;

  if (!function) {
    fprintf(stderr, "opener: %s\n", argc == 3 ? dlerror() : "expected LIBRARY FUNCTION");
    return 2;
  }
  return function() == 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_program LIBPETSC PLUGIN...: a program whose PETSc is not visible to other libraries loads plugins. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* petsc = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*load)(const char*) = petsc ? (int (*)(const char*))dlsym(petsc, "FakeLoad") : NULL;
  int code = load ? 0 : 1;
  if (!load) printf("%s does not open: %s\n", argv[1], dlerror());
  for (int i = 2; i < argc && code == 0; ++i) code = load(argv[i]);
  return code;
}

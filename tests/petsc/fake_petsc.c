/* SPDX-License-Identifier: BSD-2-Clause */
/* A libpetsc that can do no more than tell its flavour and load a plugin: FAKE_MINOR is its release, FAKE_INDEX the
   type of its indices, FAKE_SCALAR and FAKE_REAL the numbers of the types of its scalars and reals. PetscBool is the
   one of PETSc 3.24 and newer. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FAKE_DOUBLE = 1, FAKE_COMPLEX = 2, FAKE_FLOAT = 5, FAKE_FLOAT128 = 10 };

int PETSC_COMM_WORLD = 0x44000000; /* MPICH's */

int PetscGetVersionNumber(FAKE_INDEX* major, FAKE_INDEX* minor, FAKE_INDEX* subminor, FAKE_INDEX* release) {
  *major = 3;
  *minor = FAKE_MINOR;
  *subminor = 0;
  *release = 1;
  return 0;
}

int PetscOptionsStringToInt(const char text[], FAKE_INDEX* value) {
  *value = text[0] - '0';
  return 0;
}

int PetscDataTypeFromString(const char name[], int* type, bool* found) {
  const char* const names[] = {"double", "complex", "float", "__float128", "scalar", "real"};
  const int types[] = {FAKE_DOUBLE, FAKE_COMPLEX, FAKE_FLOAT, FAKE_FLOAT128, FAKE_SCALAR, FAKE_REAL};
  *found = false;
  for (int i = 0; i < 6; ++i) {
    if (strcmp(name, names[i]) == 0) {
      *type = types[i];
      *found = true;
    }
  }
  return 0;
}

int PetscError(int comm, int line, const char* function, const char* file, int code, int type, const char* format,
               ...) {
  va_list arguments;
  (void)line;
  (void)function;
  (void)file;
  printf("error %d on %s, %s: ", code, comm == PETSC_COMM_WORLD ? "all" : "another communicator",
         type == 0 ? "initial" : "repeated");
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  return code;
}

/* As PetscInitialize() does what -dll_append asks for. */
int FakeLoad(const char path[]) {
  int code;
  void* library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
  int (*enter)(void) = library ? (int (*)(void))dlsym(library, "PetscDLLibraryRegister_oclspkt") : NULL;
  if (!enter) {
    printf("%s does not open: %s\n", path, dlerror());
    return 1;
  }
  code = enter();
  printf("returned %d\n", code);
  return code;
}

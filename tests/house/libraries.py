# SPDX-License-Identifier: BSD-2-Clause
"""What the built or installed libraries need and export.

    libraries.py FOLDER [petsc] [opencl] [installed]

With petsc there is one library or more for a kind of PETSc.
"""

import os
import re
import subprocess
import sys

folder, parts = sys.argv[1], set(sys.argv[2:])
problems = []


def dynamic(library):
    path = os.path.join(folder, library)
    return subprocess.run(["readelf", "-dW", path], check=True, stdout=subprocess.PIPE, text=True).stdout


def exported(library):
    path = os.path.join(folder, library)
    listing = subprocess.run(["nm", "-DC", "--defined-only", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    symbols = [line.split(" ", 2)[1:] for line in listing.splitlines()]
    # Weak ones are templates of the standard library; the linker's own marks begin with an underscore.
    return [name for kind, name in symbols if kind in "TDBR" and not name.startswith("_")]


def check(library, needs, needs_not, exports):
    text = dynamic(library)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    for pattern in needs:
        if not any(re.match(pattern, n) for n in needed):
            problems.append(f"{library} does not need {pattern}: {needed}")
    for pattern in needs_not:
        problems.extend(f"{library} needs {n}" for n in needed if re.match(pattern, n))
    # PetscFinalize() and dlclose() must not take code away from threads of an OpenCL run-time.
    if not re.search(r"FLAGS_1.*NODELETE", text):
        problems.append(f"{library} may be unloaded (-z nodelete is missing)")
    if "installed" in parts and not re.search(r"R(UN)?PATH\).*\[\$ORIGIN\]", text) and library != "liboclspkt-solver.so":
        problems.append(f"{library} does not look for its neighbours in $ORIGIN")
    names = exported(library)
    # What PETSc calls in the library that -dll_append names.
    register = "PetscDLLibraryRegister_" + re.sub(r"\.so$", "", library)[3:].replace("-", "_")
    if register not in names:
        problems.append(f"{library} does not export {register}")
    problems.extend(f"{library} exports {name}" for name in names if name != register and not re.search(exports, name))


check("liboclspkt-solver.so", [], [r"liblapacke", r"libpetsc", r"libOpenCL", r"libmpi", r"liboclspkt"],
      r"oclspkt::")
if "opencl" in parts:
    check("liboclspkt-cl.so", [r"libOpenCL", r"liboclspkt-solver"], [r"libpetsc", r"libmpi"], r"^oclspkt_cl_(module|set_fault_hook)$|^(oclspkt::ocl::|(vtable|typeinfo|typeinfo name) for oclspkt::ocl::)|oclspkt::ocl::")
    check("liboclspkt-cuda.so", [r"liboclspkt-solver"], [r"libpetsc", r"libmpi", r"libOpenCL", r"libcuda", r"libnvrtc"],
          r"^oclspkt_cl_(module|set_fault_hook)$")
if "petsc" in parts:
    # Every PETSc may load it, hence it brings none along.
    check("liboclspkt.so", [], [r"libpetsc", r"libmpi", r"liboclspkt", r"libOpenCL"], r"^oclspkt_load_for$")
    flavours = [name for name in os.listdir(folder) if name.startswith("liboclspkt-petsc-")]
    if not flavours:
        problems.append(f"there is no liboclspkt-petsc-*.so in {folder}")
    for name in flavours:
        check(name, [r"libpetsc", r"liboclspkt-solver"], [r"libOpenCL"], r"^(PCOCLSPKT|Vec(Create)?OpenCL)")
sys.exit("\n".join(problems) or 0)

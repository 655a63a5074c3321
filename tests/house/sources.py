# SPDX-License-Identifier: BSD-2-Clause
"""What the sources must keep to.

    sources.py arrows|paths ROOT
"""

import os
import re
import sys

# Rooms whose headers a room may include; all may include the public headers.
MAY_INCLUDE = {
    "core": {"core"},
    "balance": {"balance", "core"},
    "solver": {"solver", "balance", "core"},
    "ocl": {"ocl", "core"},
    "petsc": {"petsc", "solver", "balance", "core"},
    "include": set(),
}
# Foreign headers and the only places that may include them.
FOREIGN = [
    (re.compile(r"^CL/"), lambda path: path.startswith("ocl/")),
    (re.compile(r"^(petsc|mpi\.h)"), lambda path: path.startswith("petsc/") or path == "include/oclspkt/oclspkt.h"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_.$}>/])/(work|root|home|farm|tmp|mnt|Users)/", re.MULTILINE)


def text(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def files(root, skip=()):
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in skip and not f.startswith(("build", "."))]
        for name in names:
            yield os.path.join(folder, name)


def check_arrows(root):
    plugin = os.path.join(root, "plugin")
    paths = [os.path.relpath(f, plugin) for f in files(plugin) if f.endswith(("pp", "xx", ".h"))]
    rooms_of = {}  # a header's name -> the rooms that have one of that name
    for path in paths:
        room = path.split(os.sep)[0]
        if room != "include":
            rooms_of.setdefault(path.split(os.sep, 1)[1], set()).add(room)
    problems, seen = [], set()
    for path in paths:
        room = path.split(os.sep)[0]
        if room not in MAY_INCLUDE:
            problems.append(f"plugin/{path}: the room {room} has no arrows")
            continue
        seen.add(room)
        for header in INCLUDE.findall(text(os.path.join(plugin, path))):
            owners = rooms_of.get(header)
            if owners and not owners & MAY_INCLUDE[room]:
                problems.append(f"plugin/{path} includes {header} of {', '.join(sorted(owners))}")
            problems += [f"plugin/{path} includes {header}" for h, allowed in FOREIGN if h.match(header) and not allowed(path)]
    if seen != set(MAY_INCLUDE):
        problems.append(f"no sources in {set(MAY_INCLUDE) - seen}")
    return problems


def check_paths(root):
    problems, count = [], 0
    for path in files(root, skip=("__pycache__",)):
        try:
            content = text(path)
        except UnicodeDecodeError:
            problems.append(f"{os.path.relpath(path, root)} is not text")
            continue
        count += 1
        for match in MACHINE_PATH.finditer(content):
            line = content.count("\n", 0, match.start(2)) + 1
            problems.append(f"{os.path.relpath(path, root)}:{line}: a path of one machine")
    if count < 50:
        problems.append(f"only {count} files were looked at")
    return problems


found = {"arrows": check_arrows, "paths": check_paths}[sys.argv[1]](sys.argv[2])
sys.exit("\n".join(found) or 0)

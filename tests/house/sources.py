# SPDX-License-Identifier: BSD-2-Clause
"""What the sources must keep to.

    sources.py arrows|paths|schemes|kernels ROOT
"""

import os
import re
import sys

# Rooms whose headers a room may include; all may include the public headers.
MAY_INCLUDE = {
    "core": {"core"},
    "balance": {"balance", "core"},
    "power": {"power", "core"},
    "solver": {"solver", "power", "balance", "core"},
    "ocl": {"ocl", "core"},
    "cuda": {"cuda", "ocl", "core"},
    "petsc": {"petsc", "solver", "power", "balance", "core"},
    "include": set(),
}
PETSC_HEADERS = {"include/oclspkt/oclspkt_vec.h"}
# Foreign headers and the only places that may include them.
FOREIGN = [
    (re.compile(r"^CL/"), lambda path: path.startswith(("ocl/", "cuda/"))),
    (re.compile(r"^(petsc|mpi\.h)"), lambda path: path.startswith("petsc/") or path in PETSC_HEADERS),
]
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
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


# What of the rebuilt house is still to be reached: each number may only get smaller.
MOST_PLAN_MEMBERS = 15
# Outside the folders of families nobody names one or asks what only a family knows. Structs that several families share
# are asked for in the headers that define them. Methods are chosen in solver; others only define words of them.
SHARED_STRUCTS = {"core/plan.hpp", "core/geometry.hpp", "core/schemes/beside_scheme.hpp"}
STRUCT_ASKED = re.compile(r"(?:\.|->)(?:template )?(?:has|as|find|add)<")
METHOD_ASKED = re.compile(r"[=!]= Method::|case Method::")
CHOOSES_METHODS = re.compile(r"solver/|core/(?:device\.hpp|schemes/halos\.cpp)$|include/oclspkt/options\.hpp$")
OPENCL_NAME = re.compile(r"\bcl::|\bcl_\w|\bCL_\w|\bcl[A-Z]\w*\(")
MEMBER = re.compile(r"^  (?!return|using|static|friend)[\w:<>*]+(?: [\w:<>*]+)* \w+(?: = [^;()]*)?;", re.MULTILINE)


DEFINED = re.compile(r"^(?:const Scheme&|Carrier) (\w+)\(\) \{", re.MULTILINE)
NAMED = re.compile(r'"((?:tiles|grids|lanes|beside|fpga|host)(?:-\w+)?)"')


MACHINE = re.compile(r"\b(?:[AH]100|H200|MI\d00|EPYC|Xeon)\b")


def scheme_names(folder):
    """Functions of schemes that the table of a folder lists, and that its files define."""
    listed = set(re.findall(r"^  X\((\w+)\)", text(os.path.join(folder, "table.cpp")), re.MULTILINE))
    own = {name for path in files(folder) if path.endswith(".cpp") for name in DEFINED.findall(text(path))}
    return listed, [f"{folder}: {name} is listed or defined, and not both" for name in sorted(listed ^ own)]


def families_outside(plugin, spoken):
    """What files outside the folder of a family say of it."""
    families = [f for f in os.listdir(os.path.join(plugin, "core", "schemes"))
                if os.path.isdir(os.path.join(plugin, "core", "schemes", f))]
    if len(families) < 6:
        return [f"only the families {families} were found"]
    quoted = re.compile("|".join(f'"{name}"' for name in spoken))
    includes = re.compile(rf'#include "schemes/({"|".join(families)})/')
    problems = []
    for path in files(plugin):
        place = os.path.relpath(path, plugin)
        own = re.match(rf"(?:core|ocl)/schemes/({'|'.join(families)})/", place)
        content = COMMENT.sub("", text(path))
        problems += [f"plugin/{place} includes a header of the family {family}" for family in includes.findall(content)
                     if not own or own[1] != family]
        if own:
            continue
        asked = quoted.findall(content) + ([] if place in SHARED_STRUCTS else STRUCT_ASKED.findall(content))
        asked += [] if CHOOSES_METHODS.match(place) else METHOD_ASKED.findall(content)
        problems += [f"plugin/{place} asks by {found}: let the scheme answer (core/schemes/scheme.hpp)" for found in asked]
    return problems


def check_schemes(root):
    plugin = os.path.join(root, "plugin")
    core, ocl = (os.path.join(plugin, room, "schemes") for room in ("core", "ocl"))
    names, problems = scheme_names(core)
    problems += scheme_names(ocl)[1]
    if len(names) < 15:
        problems.append(f"only {len(names)} schemes were found")
    spoken, on_devices = ({name for path in files(folder) if path.endswith(".cpp") for name in NAMED.findall(text(path))}
                          for folder in (core, ocl))
    problems += [f'no file of core/schemes says "{name}"' for name in sorted(n.replace("_", "-") for n in names)
                 if name not in spoken]
    problems += [f"{name} is a scheme of devices and none of core/schemes" for name in sorted(on_devices - spoken)]
    for path in files(ocl):
        problems += [f"{path} names OpenCL: {found}" for found in OPENCL_NAME.findall(text(path))]
    problems += [f"{path} names a machine: what was measured on one belongs into tuning/"
                 for folder in (core, ocl) for path in files(folder) if MACHINE.search(text(path))]
    problems += families_outside(plugin, spoken)
    plan = text(os.path.join(plugin, "core", "plan.hpp"))
    members = MEMBER.findall(plan[plan.index("struct Plan {"):plan.index("struct PlanRequest {")])
    if not 5 < len(members) <= MOST_PLAN_MEMBERS:
        problems.append(f"Plan has {len(members)} data members, {MOST_PLAN_MEMBERS} at most")
    return problems


# Kernel texts are OpenCL C and, by CUDA, C++, where a vector literal (type)(a, b) is the last number alone: vectors are
# loaded from arrays instead. A local array and a local pointer are not declared at once: plugin/cuda/translate.cpp tells
# them apart by the first.
CAST = re.compile(r"(?:(?<=\breturn)|(?<![\w\s])|(?<=[^\w\s]\s))\s*\((\w+)\)\s*\(")


def arguments(content, begin):
    """How many arguments there are in the bracket that opens before `begin`."""
    depth, count = 1, 1
    for c in content[begin:]:
        depth += (c in "([{") - (c in ")]}")
        count += c == "," and depth == 1
        if depth == 0:
            return count
    return count


def literals(content):
    """The types of a text's vector literals."""
    bare = COMMENT.sub("", content)
    return [cast[1] for cast in CAST.finditer(bare) if arguments(bare, cast.end()) > 1]


def check_kernels(root):
    for sample, count in (("x = (float4)(a, b, f(c), d);", 1), ("return (t)(a, b);", 1), ("f((t)(0), (u)(1, 2))", 1),
                          ("x = (t)(f(a, b)) + g(a)(b, c) + JOIN(vload, N)(0, p); // (t)(a, b)", 0)):
        if len(literals(sample)) != count:
            return [f"{literals(sample)} are taken for the vector literals of: {sample}"]
    paths = [path for path in files(os.path.join(root, "kernels")) if path.endswith((".cl", ".clh"))]
    problems = [f"{os.path.relpath(path, root)} has a vector literal of {name}: load it from an array"
                for path in paths for name in literals(text(path))]
    if len(paths) < 50:
        problems.append(f"only {len(paths)} kernel files were looked at")
    return problems


CHECKS = {"arrows": check_arrows, "paths": check_paths, "schemes": check_schemes, "kernels": check_kernels}
found = CHECKS[sys.argv[1]](sys.argv[2])
sys.exit("\n".join(found) or 0)

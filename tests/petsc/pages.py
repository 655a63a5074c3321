# SPDX-License-Identifier: BSD-2-Clause
"""Every function of oclspkt.h has a manual page in PETSc's form, and the Fortran module and the Python helper have it; those
of oclspkt_vec.h, which take handles of OpenCL, have their pages.

    pages.py HEADER HEADER_OF_VECTORS MANUAL OPTIONS_MD FORTRAN|- PYTHON_TABLE

A function that is missing somewhere wants a row in option_table(), action_table() or result_table() of plugin/petsc/options.cpp, from
which all of these are made.
"""

import os
import re
import sys

HOME = "give it a row in plugin/petsc/options.cpp (option_table(), action_table() or result_table())"
ORDER = ["Synopsis", "Input Parameter", "Output Parameter", "Options Database Key", "Level", "Notes", "See also"]
TYPES = ["PCOCLSPKT", "KSPCGDEVICE"]  # which options choose
LEVELS = {"beginner", "intermediate", "advanced", "developer"}
COLLECTIVE = {"Not Collective", "Logically Collective", "Collective"}


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def types(arguments):
    """The types of a prototype's arguments: '*x[]' and '**' are both pointers to pointers, names and blanks are dropped."""
    found = []
    arguments = re.sub(r"struct _(cl_\w+)\*", r"\1", arguments)  # what the names of OpenCL stand for
    for argument in arguments.split(","):
        words = re.findall(r"\w+", argument)
        pointers = argument.count("*") + argument.count("[")
        if words != ["const", "char"] and len(words) > 1:
            words.pop()  # the name
        found.append(" ".join(words) + "*" * pointers)
    return [] if found == ["void"] else found


def enumerations(text):
    """Names of the values by the name of the type."""
    return {name: re.findall(r"\w+", values) for values, name in re.findall(r"typedef enum \{([^}]*)\} (\w+);", text)}


def prototypes(text):
    return dict(re.findall(r"^PETSC_EXTERN PetscErrorCode (\w+)\(([^)]*)\);", text, re.MULTILINE))


def sections(page):
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    names = [re.sub(r"s$", "", n) if re.match("(Input|Output) Parameter|Options", n) else n for n in parts[1::2]]
    return parts[0], names, dict(zip(names, parts[2::2]))


def items(text):
    return re.findall(r"^- `([^`]+)`", text, re.MULTILINE)


def check_parameters(name, arguments, body):
    """Pointers to values come out, all else goes in; each argument of the synopsis is listed once, where it belongs."""
    expected = {"Input Parameter": [], "Output Parameter": []}
    for argument in arguments.split(",") if arguments != "void" else []:
        out = "*" in argument
        expected["Output Parameter" if out else "Input Parameter"].append(re.findall(r"\w+", argument)[-1])
    for section, names in expected.items():
        listed = items(body.get(section, ""))
        if listed != names:
            yield f"{name}: the section {section} lists {listed}, the synopsis has {names}"


def check_page(name, prototype, page, options, header):
    head, names, body = sections(page)
    if f"# {name}\n" not in head:
        yield f"{name}: the page has another title"
    if not re.search(r"\n[A-Z][^\n]*\.\n", head):
        yield f"{name}: no sentence under the title says what it does"
    if names != [n for n in ORDER if n in names]:
        yield f"{name}: the sections are {names}, their order is {ORDER}"
    yield from (f"{name}: there is no section {n}" for n in ("Synopsis", "Level", "Notes", "See also") if n not in names)
    synopsis = re.search(rf"#include <oclspkt/{header}>\nPetscErrorCode {name}\(([^)]*)\)\n", body.get("Synopsis", ""))
    if not synopsis:
        yield f"{name}: the synopsis has no `PetscErrorCode {name}(...)`"
        return
    if types(synopsis[1]) != types(prototype):
        yield f"{name}: the synopsis takes {types(synopsis[1])}, {header} has {types(prototype)}"
    if not any(re.search(rf"^{c}$", body["Synopsis"], re.MULTILINE) for c in COLLECTIVE):
        yield f"{name}: it does not say whether it is collective"
    if body.get("Level", "").strip() not in LEVELS:
        yield f"{name}: the level is not one of {sorted(LEVELS)}"
    if not body.get("Notes", "").strip():
        yield f"{name}: the notes are empty"
    yield from check_parameters(name, synopsis[1], body)
    key = re.search(rf"## `(\S+)`(?:(?!\n## )[\s\S])*\nIn C and Fortran: [^\n]*`{name}\(\)`", options)
    if key and name.startswith("PCOCLSPKTSet") and key[1] not in body.get("Options Database Key", ""):
        yield f"{name}: the section Options Database Key does not name {key[1]}"


def check_links(manual, name, page):
    for target in re.findall(r"\]\(([^)#]+)\)", page):
        if not os.path.exists(os.path.join(manual, target)):
            yield f"{name}: the link to {target} leads nowhere"


def check_enumeration(manual, name, values):
    path = os.path.join(manual, name + ".md")
    if not os.path.exists(path):
        yield f"docs/manual/{name}.md is missing: write what `oclspkt-options {name}` prints"
        return
    _, names, body = sections(read(path))
    if names != ["Synopsis", "Values", "Level", "Notes", "See also"]:
        yield f"{name}: the sections are {names}"
    elif items(body["Values"]) != values:
        yield f"{name}: the page has the values {items(body['Values'])}, oclspkt.h has {values}"


def check_front_page(manual, options):
    """The page of the type names every option."""
    page = read(os.path.join(manual, "PCOCLSPKT.md"))
    listed = re.findall(r"^- `(-pc_oclspkt_\w+)", page, re.MULTILINE)
    wanted = re.findall(r"^## `(\S+)`$", options, re.MULTILINE)
    if listed != wanted:
        yield f"PCOCLSPKT: the Options Database Keys are {listed}, the options are {wanted}"


def check_pages(manual, functions, of_vectors, types, options):
    pages = {f[:-3] for f in os.listdir(manual) if f.endswith(".md")}
    known = {*TYPES, *functions, *of_vectors, *types}
    yield from (f"docs/manual/{n}.md is the page of nothing in oclspkt.h" for n in sorted(pages - known))
    yield from check_front_page(manual, options)
    for name, values in types.items():
        yield from check_enumeration(manual, name, values)
        yield from check_links(manual, name, read(os.path.join(manual, name + ".md")))
    for name, prototype in {**functions, **of_vectors}.items():
        if name not in pages:
            yield f"docs/manual/{name}.md is missing: {HOME}, then write what `oclspkt-options {name}` prints"
            continue
        page = read(os.path.join(manual, name + ".md"))
        yield from check_page(name, prototype, page, options, "oclspkt.h" if name in functions else "oclspkt_vec.h")
        yield from check_links(manual, name, page)
    for name in TYPES:
        yield from check_links(manual, name, read(os.path.join(manual, name + ".md")))


def check_fortran(text, functions, header):
    bound = set(re.findall(r"bind\(C, name='(\w+)'\)", text))
    offered = set(re.findall(r"^  public :: (\w+)$", text, re.MULTILINE))
    for name in functions:
        if name not in bound or name not in offered:
            yield f"the Fortran module does not have {name}: {HOME}"
    yield from (f"the Fortran module has {n}, oclspkt.h does not" for n in sorted((bound | offered) - set(functions)))
    for names in re.findall(r"typedef enum \{([^}]*)\}", header):
        for value, word in enumerate(re.findall(r"\w+", names)):
            if not re.search(rf":: {word} = {value}$", text, re.MULTILINE):
                yield f"the Fortran module lacks {word} = {value}"


def check_python(path, functions):
    table = {}
    exec(read(path), table)  # our own build made it
    offered = {"PCOCLSPKTInitializePackage", "PCOCLSPKTFinalizePackage"}  # the second is PETSc's to call
    offered |= {"PCOCLSPKT" + verb + row[0] for row in table["SETTINGS"].values() for verb in ("Set", "Get")}
    offered |= {"PCOCLSPKT" + row[0] for row in table["ACTIONS"].values()}
    offered |= {"PCOCLSPKTGet" + row[0] for row in table["RESULTS"].values()}
    yield from (f"the Python helper does not have {n}: {HOME}" for n in functions if n not in offered)
    yield from (f"the Python helper has {n}, oclspkt.h does not" for n in sorted(offered - set(functions)))


header_path, vectors_path, manual_path, options_path, fortran_path, python_path = sys.argv[1:]
header_text, vectors_text = read(header_path), read(vectors_path)
declared, of_vectors = prototypes(header_text), prototypes(vectors_text)
read_of = len(declared) + len(of_vectors)
extern = re.findall(r"^PETSC_EXTERN PetscErrorCode", header_text + vectors_text, re.MULTILINE)
found = [] if declared and of_vectors and read_of == len(extern) else [f"read {read_of} of {len(extern)} prototypes"]
found += check_pages(manual_path, declared, of_vectors, enumerations(header_text), read(options_path))
found += check_python(python_path, declared)
if fortran_path != "-":
    found += check_fortran(read(fortran_path), declared, header_text)
sys.exit("\n".join(found) or 0)

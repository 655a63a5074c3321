#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether each family of schemes can be deleted: remove its files and table rows in a copy of the tree, build, test.

    deletable.py [--compile-only] [--only NAME,...] SOURCE WORK [CMAKE_OPTION...]

A family is a file core/schemes/NAME.cpp and the schemes that it defines. For one after the other the script removes
that file, those of ocl/schemes that define the same, the kernels that nothing else names, and their rows in both
tables. It then builds plugin/all and, unless --compile-only, the tests, and runs the
unit tests, the tests of a scheme from outside and the quick frozen cases. The table says of each scheme, and
below that what the linker misses or which tests fail (four of them; the logs have all):

    compiles   plugin/all, or with tests those as well, builds without it
    tests      unit tests that fail without it, of all; tests whose own text names the scheme are left out
    orphans    frozen cases where something still proposes the scheme that is gone
    names      lines of code of plugin/ that name it outside its files and the tables
    asks       lines of code there that ask by a member of Plan whether it is this scheme
    entries    kernels to take out of the list in ocl/CMakeLists.txt

WORK keeps the build folder (use ccache) and a log of each scheme. Exit status: 0 if each scheme compiles and, unless
--compile-only, nothing fails and there are no orphans.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

CORE, OCL = "plugin/core/schemes", "plugin/ocl/schemes"
TABLES = [f"{CORE}/table.cpp", f"{OCL}/table.cpp"]
KERNELS = [f"kernels/{folder}" for folder in ("cpu", "gpu", "fpga")]
TARGETS = ["oclspkt-unit", "oclspkt-own-scheme-test", "oclspkt-freeze"]
# Questions to plans that tell schemes apart, as far as others still ask them.
QUESTIONS = {
    "beside_factored": r"\bthrough_x\b|\bwindowed\b",
    "grids": r"\bgrid_condenses(_at_once)?\(|\bgoes_through_tiles\(|\bgrid_reach\(|\bin_flight\b|\bin_one_tile\(",
    "lanes_paper": r"\bPaperLanes\b",
    "lanes_streamed": r"\binterleaved\(|\blead_in\b",
    "lanes_twisted": r"\btwisted\(",
    "lanes_twopass": r"\bby_partitions\(",
    "lanes_tiles": r"\bJoinedPartitions\b",
    "tiles_kept": r"\bkeeps_factors\(",
    "tiles_paper": r"\bPaperForm\b|\bstaged\b",
    "tiles_streamed": r"\bruns_are_lines\(",
    "tiles_twopass": r"\breduces_tiles\(",
}


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


DEFINED = re.compile(r"^(?:const Scheme&|Carrier) (\w+)\(\) \{", re.MULTILINE)


def defined(root, file):
    return DEFINED.findall(read(os.path.join(root, file)))


def families(root):
    """Files of core/schemes that define schemes, by name, in the order of the core's table."""
    order = re.findall(r"^\s*X\((\w+)\)", read(os.path.join(root, TABLES[0])), re.MULTILINE)
    of = {name: file[:-4] for file in os.listdir(os.path.join(root, CORE)) if file.endswith(".cpp")
          for name in defined(root, f"{CORE}/{file}")}
    return list(dict.fromkeys(of[name] for name in order))


def copy_tree(source, to):
    """Copy what git knows or would add; files that are the same keep their times, so that builds go on."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout
    wanted = {name for name in listed.split("\0") if name and os.path.isfile(os.path.join(source, name))}
    for folder, _, names in os.walk(to):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.relpath(path, to) not in wanted:
                os.remove(path)
    for name in wanted:
        target = os.path.join(to, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(os.path.join(source, name), "rb") as stream:
            content = stream.read()
        if os.path.exists(target):
            with open(target, "rb") as stream:
                if stream.read() == content:
                    continue
        shutil.copyfile(os.path.join(source, name), target)
        shutil.copymode(os.path.join(source, name), target)


def snapshot(root):
    """What deleting a scheme changes: whoever edits the source meanwhile does not matter."""
    kept = {}
    for part in ("plugin", "kernels"):
        for folder, _, names in os.walk(os.path.join(root, part)):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as stream:
                    kept[path] = stream.read()
    return kept


def restore(kept):
    for path, content in kept.items():
        if os.path.exists(path):
            with open(path, "rb") as stream:
                if stream.read() == content:
                    continue
        with open(path, "wb") as stream:
            stream.write(content)


def own_files(root, name):
    """The family's file of core, and those of ocl that define its schemes, or parts of some of their forms."""
    core = f"{CORE}/{name}.cpp"
    if not os.path.exists(os.path.join(root, core)):
        return []
    rows = defined(root, core)
    on_devices = [f"{OCL}/{file}" for file in sorted(os.listdir(os.path.join(root, OCL))) if file.endswith(".cpp")]
    return [core] + [file for file in on_devices
                     if any(d == row or d.startswith(f"{row}_") for d in defined(root, file) for row in rows)]


def own_kernels(root, name):
    """Kernels that this family's files name and no other file of the plugin does."""
    paths = [os.path.join(root, file) for file in own_files(root, name)]
    entries = [n[:-3] for k in KERNELS for n in sorted(os.listdir(os.path.join(root, k))) if n.endswith(".cl")]
    texts = [read(p) for p in sources(root) if p not in paths]
    mine = "\n".join(read(path) for path in paths)
    quoted = {e: re.compile(rf'"(?:\w+/)?{e}(?:\.cl)?"') for e in entries}
    return [e for e in entries if quoted[e].search(mine) and not any(quoted[e].search(t) for t in texts)]


def sources(root):
    for folder, _, names in os.walk(os.path.join(root, "plugin")):
        for name in names:
            if name.endswith((".cpp", ".hpp", ".cxx", ".hxx", ".h")):
                yield os.path.join(folder, name)


def lines_with(root, name, pattern):
    """Lines of code outside the scheme's files and the tables; comments do not count."""
    left_out = {os.path.join(root, f) for f in own_files(root, name) + TABLES}
    found = []
    for path in sources(root):
        if path in left_out:
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            if re.search(pattern, line.split("//")[0]):
                found.append(f"{os.path.relpath(path, root)}:{number}: {line.strip()}")
    return found


def remove_row(path, name):
    """Take a row out of a table; the last one has no backslash."""
    lines = read(path).splitlines(keepends=True)
    kept = [line for line in lines if not re.match(rf"\s*X\({name}\)", line)]
    for i, line in enumerate(kept[:-1]):
        if re.match(r"\s*X\(\w+\)\s*\\$", line) and not re.match(r"\s*X\(", kept[i + 1]):
            kept[i] = line.rstrip("\\\n ") + "\n"
    write(path, "".join(kept))


def delete(root, name):
    """@return kernels that went with the family."""
    kernels = own_kernels(root, name)
    for path in (os.path.join(root, folder, f"{kernel}.cl") for kernel in kernels for folder in KERNELS):
        if os.path.exists(path):
            os.remove(path)
    files = own_files(root, name)
    rows = [row for file in files for row in defined(root, file)]
    for file in files:
        os.remove(os.path.join(root, file))
    for table in TABLES:
        for row in rows:
            remove_row(os.path.join(root, table), row)
    return kernels


def run(command, log, timeout=1200):
    """@return status and output; the log gets both."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=timeout, check=False)
    log.write(f"$ {' '.join(command)}\n{done.stdout}\n")
    return done.returncode, done.stdout


def named_tests(root, name):
    """Suites of the unit tests in files that name the scheme."""
    suites = set()
    folder = os.path.join(root, "tests/unit")
    for file in sorted(os.listdir(folder)):
        text = read(os.path.join(folder, file)) if file.endswith(".cpp") else ""
        if re.search(pattern_of(name), text):
            suites.update(re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),", text, re.MULTILINE))
    return suites


def pattern_of(name):
    return rf"\b{name}\b|\b{name.replace('_', '-')}\b"


def failures(build, root, name, log):
    """@return (failed unit tests and programs, tests run)."""
    skip = "".join(f":{s}.*:{s}/*" for s in sorted(named_tests(root, name))) if name else ""
    command = [os.path.join(build, "bin", "oclspkt-unit")] + ([f"--gtest_filter=*-{skip[1:]}"] if skip else [])
    status, text = run(command, log)
    failed = sorted(set(re.findall(r"^\[  FAILED  \] ([\w/]+\.\w+)", text, re.MULTILINE)))
    ran = re.search(r"(\d+) tests? from \d+ test suites? ran", text)
    if status != 0 and not failed:
        failed = ["oclspkt-unit ends early"]
    status, _ = run([os.path.join(build, "bin", "oclspkt-own-scheme-test")], log)
    return failed + (["oclspkt-own-scheme-test"] if status != 0 else []), int(ran.group(1)) if ran else 0


def orphans(build, name, log):
    """Frozen cases that end with a scheme that is gone; those of plans made by hand name it themselves."""
    _, text = run([os.path.join(build, "bin", "oclspkt-freeze"), "--quick"], log)
    return [line for line in text.splitlines() if not line.startswith("plan ") and f"no scheme {name}" in line]


def missing(text):
    """Functions that the linker misses, and names that the compiler does."""
    called = re.findall(r"undefined reference to `([^'(]*)\(", text)
    names = {re.sub(r"<[^<>]*>$", "", c).split("::")[-1] for c in called}
    return sorted(names | set(re.findall(r"error: .([\w:]+). (?:was not|has not)", text)))


class Build:
    def __init__(self, source, work, options, compile_only):
        self.work, self.compile_only = work, compile_only
        self.copy, self.folder = os.path.join(work, "source"), os.path.join(work, "build")
        os.makedirs(work, exist_ok=True)
        copy_tree(source, self.copy)
        self.all = snapshot(self.copy)
        self.targets = ["plugin/all"] + ([] if compile_only else TARGETS)
        configure = ["cmake", "-G", "Ninja", "-S", self.copy, "-B", self.folder, "-DCMAKE_BUILD_TYPE=Debug",
                     "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DOCLSPKT_WITH_PETSC=OFF",
                     "-DOCLSPKT_BENCH=OFF", "-DOCLSPKT_EXAMPLES=OFF", "-DOCLSPKT_UNITY_TESTS=ON",
                     f"-DOCLSPKT_TESTS={'OFF' if compile_only else 'ON'}"] + options
        with open(os.path.join(work, "all.log"), "w", encoding="utf-8") as log:
            if run(configure, log)[0] != 0 or run(self.ninja(), log)[0] != 0:
                sys.exit(f"the tree as it is does not build: see {log.name}")
            failed = [] if compile_only else failures(self.folder, self.copy, "", log)[0]
            if failed:
                sys.exit(f"tests fail with every scheme there: {', '.join(failed)}")

    def ninja(self):
        return ["ninja", "-k", "0", "-C", self.folder] + self.targets

    def without(self, name):
        """Delete a family and see. @return a row of the table"""
        row = {"names": len(lines_with(self.copy, name, pattern_of(name))),
               "asks": len(lines_with(self.copy, name, QUESTIONS[name])) if name in QUESTIONS else 0}
        with open(os.path.join(self.work, f"{name}.log"), "w", encoding="utf-8") as log:
            for pattern in [pattern_of(name)] + ([QUESTIONS[name]] if name in QUESTIONS else []):
                log.write("\n".join(lines_with(self.copy, name, pattern)) + "\n")
            row["entries"] = len(delete(self.copy, name))
            status, text = run(self.ninja(), log)
            row["compiles"] = status == 0
            row["missing"] = missing(text)
            row["failed"], row["ran"], row["orphans"] = [], 0, []
            if row["compiles"] and not self.compile_only:
                row["failed"], row["ran"] = failures(self.folder, self.copy, name, log)
                row["orphans"] = orphans(self.folder, name.replace("_", "-"), log)
        restore(self.all)
        return row


def text_of(row, compile_only):
    if compile_only or not row["compiles"]:
        tests, left = "-", "-"
    else:
        tests = f"{len(row['failed'])} of {row['ran']} fail" if row["failed"] else f"all {row['ran']} pass"
        left = str(len(row["orphans"]))
    return (f"{'yes' if row['compiles'] else 'no':9}| {tests:16}| {left:8}| {row['names']:6}| {row['asks']:5}|"
            f" {row['entries']:7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("source")
    parser.add_argument("work")
    parser.add_argument("options", nargs="*", help="of CMake, behind --")
    asked = parser.parse_args()
    source, work = os.path.abspath(asked.source), os.path.abspath(asked.work)
    build = Build(source, work, asked.options, asked.compile_only)
    names = [n.replace("-", "_") for n in asked.only.split(",") if n] or families(source)
    good = True
    print(f"{'family':17}| compiles | tests           | orphans | names | asks | entries", flush=True)
    for name in names:
        row = build.without(name)
        good = good and row["compiles"] and not row["failed"] and not row["orphans"]
        print(f"{name:17}| {text_of(row, asked.compile_only)}", flush=True)
        for what in row["missing"][:4] + row["failed"][:4]:
            print(f"{'':17}|   {what}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

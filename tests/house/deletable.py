#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether each family of schemes can be deleted: remove its folders and table rows in a copy of the last
commit, build, test.

    deletable.py [--only FAMILY,...] SOURCE WORK [CMAKE_OPTION...]

A family is a folder of core/schemes. For one after the other the script removes it, the folder of that name in
ocl/schemes, the kernels that nothing else names, and the rows in both tables of the schemes that are defined there. It
then builds plugin/all, the conformance tests, which go through the table, the test of a scheme from outside and
oclspkt-freeze, and runs them. The table says of each family, and below that what the linker misses, which tests fail
and which frozen cases are orphans (four of each; the logs have all):

    compiles   all these build without it
    tests      tests that fail without it, of all
    orphans    frozen cases where something still proposes what is gone, or that end with an error and did not before
    kernels    kernel files that went with it
    seconds    to build and to test

WORK keeps the build folder (use ccache), the logs of each family, one a program, and what the frozen cases say with
every family there; a commit whose tests passed is not tested again. GTEST_FILTER chooses tests of all.
The family host solves what all others reject and is looked at only if it is named: without it nothing is a remedy. Exit
status: 0 if each family compiles, nothing fails and there are no orphans.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

CORE, OCL = "plugin/core/schemes", "plugin/ocl/schemes"
TABLES = [f"{CORE}/table.cpp", f"{OCL}/table.cpp"]
KERNELS = ["common", "cpu", "gpu", "fpga"]
TARGETS = ["oclspkt-conformance", "oclspkt-own-scheme-test", "oclspkt-freeze"]
REMEDIES = {"host"}
# Files of families are compiled one by one, so that the others are compiled together as before when a family goes.
ALONE = """cmake_language(DEFER CALL families_alone)
function(families_alone)
  foreach(room core ocl)
    file(GLOB files ${PROJECT_SOURCE_DIR}/plugin/${room}/schemes/*/*.cpp)
    set_source_files_properties(${files} DIRECTORY plugin/${room} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
"""
HANGS = 7200  # seconds of one test program on a busy machine; builds take what they take


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def git(root, *words):
    return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True, text=True).stdout


def copy_tree(source, to):
    """Copy the last commit; files that are the same keep their times, so that builds go on."""
    if not os.path.isdir(to):
        git(source, "clone", "--quiet", "--shared", source, to)
    git(to, "fetch", "--quiet", source, "HEAD")
    git(to, "reset", "--quiet", "--hard", "FETCH_HEAD")


DEFINED = re.compile(r"^(?:const Scheme&|Carrier) (\w+)\(\) \{", re.MULTILINE)


def families(root):
    return sorted(name for name in os.listdir(os.path.join(root, CORE)) if os.path.isdir(os.path.join(root, CORE, name)))


def change_lookers(root, family):
    """Change files that ask __has_include() for a family's headers: neither ninja nor ccache notices that one comes back."""
    for path in sources(os.path.join(root, "tests")):
        text = read(path)
        if f'__has_include("schemes/{family}/' in text:
            write(path, f"{text}// without {family}\n")


def own_folders(root, family):
    return [folder for folder in (os.path.join(root, CORE, family), os.path.join(root, OCL, family)) if os.path.isdir(folder)]


def sources(folder):
    for path, _, names in os.walk(folder):
        yield from (os.path.join(path, name) for name in names if name.endswith((".cpp", ".hpp", ".cxx", ".hxx", ".h")))


def own_kernels(root, family):
    """Kernels that this family's files name and no other file of the plugin does."""
    paths = [path for folder in own_folders(root, family) for path in sources(folder)]
    entries = [name for name in kernel_files(root) if name.endswith(".cl")]
    mine = "\n".join(read(path) for path in paths)
    others = "\n".join(read(path) for path in sources(os.path.join(root, "plugin")) if path not in paths)
    quoted = {e: re.compile(rf'"(?:\w+/)?{os.path.basename(e)[:-3]}(?:\.cl)?"') for e in entries}
    return {e for e in entries if quoted[e].search(mine) and not quoted[e].search(others)}


def kernel_files(root):
    """Texts of the kernel files by the names that #include gives them."""
    names = [f"{folder}/{name}" for folder in KERNELS for name in os.listdir(os.path.join(root, "kernels", folder))]
    return {name: read(os.path.join(root, "kernels", name)) for name in names}


def included(files):
    return {name for text in files.values() for name in re.findall(r'#include "(\w+/\w+\.clh)"', text)}


def remove_kernels(root, names):
    """Remove kernels, and the headers that then no file includes. @return how many files"""
    before, gone = included(kernel_files(root)), 0
    while names:
        for name in names:
            os.remove(os.path.join(root, "kernels", name))
        gone += len(names)
        left = kernel_files(root)
        names = (before & left.keys()) - included(left)
    return gone


def remove_row(path, name):
    """Take a row out of a table; the last one has no backslash."""
    lines = read(path).splitlines(keepends=True)
    kept = [line for line in lines if not re.match(rf"\s*X\({name}\)", line)]
    for i, line in enumerate(kept[:-1]):
        if re.match(r"\s*X\(\w+\)\s*\\$", line) and not re.match(r"\s*X\(", kept[i + 1]):
            kept[i] = line.rstrip("\\\n ") + "\n"
    write(path, "".join(kept))


def delete(root, family):
    """@return the schemes that are gone, and how many kernel files went with them."""
    kernels = remove_kernels(root, own_kernels(root, family))
    rows = {name for folder in own_folders(root, family) for path in sources(folder) for name in DEFINED.findall(read(path))}
    for folder in own_folders(root, family):
        shutil.rmtree(folder)
    for table in TABLES:
        for name in rows:
            remove_row(os.path.join(root, table), name)
    return rows, kernels


def run(command, log):
    """@return status and output; the log gets both, line by line."""
    log.write(f"$ {' '.join(command)}\n")
    log.flush()
    start = log.tell()
    status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    with open(log.name, encoding="utf-8", errors="replace") as stream:
        stream.seek(start)
        return status, stream.read()


def environment(build):
    """What the ctests have in theirs: drivers, and folders of kernels that are compiled already."""
    cache = read(os.path.join(build, "CMakeCache.txt"))
    icds = re.search(r"^OCLSPKT_ICD_FOLDER:\w+=(.+)$", cache, re.MULTILINE)
    return {**os.environ, "XDG_CACHE_HOME": os.path.join(build, "tests", "cache"),
            "POCL_CACHE_DIR": os.path.expanduser("~/.cache/pocl"),
            "OCLSPKT_KERNEL_CACHE": os.path.expanduser("~/.cache/oclspkt/kernels"),
            **({"OCL_ICD_VENDORS": icds[1]} if icds else {})}


def run_tests(build, log):
    """Run all programs, as many at a time as there are cores; each writes a log beside that of the build.
    @return failed tests and programs, tests run, and what frozen cases say by their names"""
    env, shards = environment(build), os.cpu_count()
    jobs = [("oclspkt-conformance", [], {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(i)})
            for i in range(shards)] + [("oclspkt-own-scheme-test", [], {}), ("oclspkt-freeze", ["--quick"], {})]

    def start(job):
        """@return the exit status and what the program wrote"""
        program, options, more = job
        path = log.name.replace(".log", f".{program}{more.get('GTEST_SHARD_INDEX', '')}.log")
        with open(path, "w", encoding="utf-8") as out:
            try:
                status = subprocess.run([os.path.join(build, "bin", program)] + options, env={**env, **more},
                                        timeout=HANGS, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
            except subprocess.TimeoutExpired:
                status = f"no status after {HANGS} s"
        return status, read(path)

    failed, ran, frozen = [], 0, {}
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        for (program, _, _), (status, text) in zip(jobs, pool.map(start, jobs)):
            lost = re.findall(r"^\[  FAILED  \] ([\w/]+\.\w+)", text, re.MULTILINE)
            failed += sorted(set(lost)) or ([f"{program} ends with {status}"] if status else [])
            ran += sum(int(n) for n in re.findall(r"(\d+) tests? from \d+ test suites? ran", text))
            if program == "oclspkt-freeze":
                frozen = dict(line.split(" | ", 1) for line in text.splitlines() if " | " in line)
    return failed, ran, frozen


def orphans(frozen, whole, rows):
    """Frozen cases that end with a scheme that is gone, and those that had an answer with every scheme there."""
    names = "|".join(row.replace("_", "-") for row in rows)
    return [f"{name}: {text}" for name, text in frozen.items()
            if re.search(rf"no scheme ({names})\b", text) or ("throws" in text and "throws" not in whole.get(name, ""))]


def missing(text):
    """Functions that the linker misses, and names that the compiler does."""
    called = re.findall(r"undefined reference to `([^'(]*)\(", text)
    names = {re.sub(r"<[^<>]*>$", "", c).split("::")[-1] for c in called}
    return sorted(names | set(re.findall(r"error: .([\w:]+). (?:was not|has not)", text)))


class Build:
    def __init__(self, source, work, options):
        self.work = work
        self.copy, self.folder = os.path.join(work, "source"), os.path.join(work, "build")
        os.makedirs(work, exist_ok=True)
        copy_tree(source, self.copy)
        write(os.path.join(work, "alone.cmake"), ALONE)
        configure = ["cmake", "-G", "Ninja", "-S", self.copy, "-B", self.folder, "-DCMAKE_BUILD_TYPE=Debug",
                     "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DOCLSPKT_WITH_PETSC=OFF",
                     "-DOCLSPKT_BENCH=OFF", "-DOCLSPKT_EXAMPLES=OFF", "-DOCLSPKT_FREEZE_PLANS=OFF",
                     "-DCMAKE_UNITY_BUILD=ON", f"-DCMAKE_PROJECT_oclspkt_INCLUDE={work}/alone.cmake",
                     "-DOCLSPKT_TESTS=ON"] + options
        with open(os.path.join(work, "all.log"), "w", encoding="utf-8") as log:
            if run(configure, log)[0] != 0 or run(self.ninja(), log)[0] != 0:
                sys.exit(f"the tree as it is does not build: see {log.name}")
            self.frozen = self.whole(log)

    def whole(self, log):
        """@return what the frozen cases say with every family there"""
        commit, kept = git(self.copy, "rev-parse", "HEAD"), os.path.join(self.work, "all.json")
        if os.path.exists(kept) and json.loads(read(kept))["commit"] == commit:
            return json.loads(read(kept))["frozen"]
        failed, _, frozen = run_tests(self.folder, log)
        if failed:
            sys.exit(f"tests fail with every scheme there: {', '.join(failed)}")
        write(kept, json.dumps({"commit": commit, "frozen": frozen}))
        return frozen

    def ninja(self):
        return ["ninja", "-k", "0", "-C", self.folder, "plugin/all"] + TARGETS

    def without(self, family):
        """Delete a family and see. @return a row of the table"""
        row = {"failed": [], "ran": 0, "orphans": [], "seconds": [time.monotonic()]}
        with open(os.path.join(self.work, f"{family}.log"), "w", encoding="utf-8") as log:
            rows, row["kernels"] = delete(self.copy, family)
            change_lookers(self.copy, family)
            status, text = run(self.ninja(), log)
            row["seconds"].append(time.monotonic())
            row["compiles"] = status == 0
            row["missing"] = missing(text)
            if row["compiles"]:
                row["failed"], row["ran"], frozen = run_tests(self.folder, log)
                row["orphans"] = orphans(frozen, self.frozen, rows)
            row["seconds"].append(time.monotonic())
        git(self.copy, "checkout", "--quiet", "--", ".")
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("source")
    parser.add_argument("work")
    parser.add_argument("options", nargs="*", help="of CMake, behind --")
    asked = parser.parse_args()
    source, work = os.path.abspath(asked.source), os.path.abspath(asked.work)
    names = asked.only.split(",") if asked.only else [f for f in families(source) if f not in REMEDIES]
    unknown = sorted(set(names) - set(families(source)))
    if unknown:
        sys.exit(f"{', '.join(unknown)} is no folder of {CORE}: name one of {', '.join(families(source))}")
    build = Build(source, work, asked.options)
    good = True
    print(f"{'family':17}| compiles | tests fail      | orphans | kernels | seconds", flush=True)
    for name in names:
        row = build.without(name)
        good = good and row["compiles"] and not row["failed"] and not row["orphans"]
        begun, built, tested = row["seconds"]
        print(f"{name:17}| {'yes' if row['compiles'] else 'no':9}| {len(row['failed']):3} of {row['ran']:<8} | "
              f"{len(row['orphans']):7} | {row['kernels']:7} | {built - begun:5.0f}, {tested - built:.0f}", flush=True)
        for what in row["missing"][:4] + row["failed"][:4] + row["orphans"][:4]:
            print(f"{'':17}|   {what}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-2-Clause
"""Run a command and check how it ends and what it says.

    expect.py [--rc CODE|failure] [--match REGEX]... [--without REGEX]... -- COMMAND [ARGUMENTS]
"""

import argparse
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rc", default="0", help="a code, or `failure` for any but 0")
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    done = subprocess.run(options.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    ended_well = done.returncode != 0 if options.rc == "failure" else done.returncode == int(options.rc)
    problems = [] if ended_well else [f"exit code {done.returncode}, expected {options.rc}"]
    problems += [f"no match of {p!r}" for p in options.match if not re.search(p, done.stdout)]
    problems += [f"a match of {p!r}" for p in options.without if re.search(p, done.stdout)]
    if problems:
        sys.exit("\n".join(problems) + "\nin the output of " + " ".join(options.command) + "\n" + done.stdout)


main()

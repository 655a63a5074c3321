# SPDX-License-Identifier: BSD-2-Clause
"""The C code of a page is that of a program, line by line, blanks in front aside.

    page_shows.py PAGE SOURCE
"""

import re
import sys


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


page, source = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
blocks = re.findall(r"^```c\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
program = "\n".join(lines(source))
strange = [block for block in blocks if "\n".join(lines(block)) not in program]
if not blocks or strange:
    sys.exit(f"{sys.argv[1]} has {len(blocks)} pieces of C; these are not in {sys.argv[2]}:\n" + "\n".join(strange))

# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page what `oclspkt-bench fpga-model` prints of each board.

    fpga_table.py PROGRAM BOARDS PAGE [--check]

PROGRAM: oclspkt-bench; BOARDS: the folder of board files; PAGE: Markdown with the lines <!-- begin boards --> and
<!-- end boards -->; what stands between them is replaced. --check writes nothing and ends with 1 if the page is not what
it would write.
"""

import pathlib
import subprocess
import sys

BEGIN, END = "<!-- begin boards -->\n", "<!-- end boards -->\n"


def board_part(program, path):
    command = [program, "fpga-model", "--board", str(path)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return "\n" + text.replace("\n## ", "\n#### ").replace("# ", "### ", 1)


def main(arguments):
    check = "--check" in arguments
    program, boards, page = [a for a in arguments if a != "--check"]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    parts = [board_part(program, path) for path in sorted(pathlib.Path(boards).glob("*.json"))]
    made = before + BEGIN + "".join(parts) + "\n" + END + after
    if check:
        if made != text:
            print(f"{page} is not what fpga_table.py makes of {boards}")
        return int(made != text)
    pathlib.Path(page).write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: BSD-2-Clause
"""Files that the installed documents link and that are not beside them; measurements in bench/ and what tests/ have stay with
the sources.

    links.py FOLDER
"""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
pages = sorted(folder.rglob("*.md"))
missing = [f"{page.relative_to(folder)} links {link}, which is not installed"
           for page in pages
           for link in re.findall(r"\]\((?!https?:|\.\./(?:bench|tests)/)([^)#]+)", page.read_text())
           if not (page.parent / link).exists()]
if len(pages) < 10:
    missing.append(f"{folder} has {len(pages)} pages: README.md, docs/ and docs/manual are not all there")
sys.exit("\n".join(missing) or 0)

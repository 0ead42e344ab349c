"""A preprocessor of mdBook. mdBook turns every link to `x.md` into one to `x.html`, also where the file is not a
chapter. This keeps links that leave the book (`../../DESIGN.md`) as they are: without a dot that mdBook can see."""

import json
import re
import sys


def keep(part):
    """Rewrites the links in all chapters below a part of the book."""
    if isinstance(part, list):
        for below in part:
            keep(below)
    elif isinstance(part, dict):
        if isinstance(part.get("content"), str):
            part["content"] = re.sub(r"(\]\(\.\./\.\./[^)#\s]*)\.md", r"\1%2Emd", part["content"])
        for below in part.values():
            keep(below)


if sys.argv[1:2] != ["supports"]:
    _, book = json.load(sys.stdin)
    keep(book)
    json.dump(book, sys.stdout)

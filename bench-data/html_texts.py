#!/usr/bin/env python3
"""Makes pages for lost.py of HTML: JSON Lines with `id`, `html`, and `text`, which is what html.parser finds outside of what is never shown.

    python3 bench-data/html_texts.py FOLDER... FILE.warc.gz... > pages.jsonl
    python3 bench-data/lost.py --methods balanced:texts --flags='--html --text-field html' -- NAME=pages.jsonl

dupsieve reads the field `html`, and lost.py compares the field `text`. Of a folder all files are taken whose names end in .html, in the order of their paths, but for those that hold whole books of mdBook. Of
a web archive the answers with code 200 are taken; this needs fastwarc.
"""

import html.parser
import json
import pathlib
import sys

HIDDEN = {"script", "style", "template", "noscript"}
WHOLE_BOOKS = {"index.html", "print.html", "toc.html"}


class Text(html.parser.HTMLParser):
    """The text of a page."""

    def __init__(self, page):
        super().__init__()
        self.parts, self.hidden = [], 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in HIDDEN

    def handle_endtag(self, tag):
        self.hidden -= tag in HIDDEN and self.hidden > 0

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def of_archive(path):
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    for number, record in enumerate(ArchiveIterator(path.open("rb"), record_types=WarcRecordType.response)):
        http = record.http_headers
        if http and http.status_code == 200 and (record.http_content_type or "").endswith("html"):
            yield f"{path.name}:{number}", record.reader.read().decode(record.http_charset or "utf8", errors="replace")


def of_folder(folder):
    for path in sorted(folder.rglob("*.html")):
        if path.name not in WHOLE_BOOKS:
            yield str(path), path.read_text(encoding="utf8", errors="replace")


def main():
    for path in map(pathlib.Path, sys.argv[1:]):
        for name, page in of_folder(path) if path.is_dir() else of_archive(path):
            print(json.dumps({"id": name, "html": page, "text": " ".join(Text(page).parts)}, ensure_ascii=False))


if __name__ == "__main__":
    main()

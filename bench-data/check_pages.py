#!/usr/bin/env python3
"""Compares the texts that dupsieve takes of HTML with those of other programs.

    python3 bench-data/check_pages.py --program target/release/dupsieve [--archives DIR] [--html DIR]

The texts of the pages in the archives, and of the files of HTML, are compared with those of trafilatura and resiliparse: F1 of
their words, median and quartiles. Texts are a matter of taste, so no figure of these is wrong. (The records of archives are counted by
tests/archives.py.)

Installs nothing: what needs a package that is not there is NOT CHECKED. (`pip install fastwarc trafilatura resiliparse`.)
"""

import argparse
import collections
import gzip
import importlib
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

MOST_PAGES = 400
MOST_BYTES = 1 << 20


def package(name):
    """A package, or none with a word about it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"NOT CHECKED: {name} ({error})")
        return None


def run(program, *words, config=None):
    """The counts in the summary of a command, or the reason why it failed."""
    command = [program, *words, *(["--config", config] if config else [])]
    ended = subprocess.run(command, capture_output=True, text=True)
    summary = json.loads(ended.stdout.splitlines()[-1])
    return summary["counts"] if ended.returncode == 0 else {"failed": summary["error"]}


def pages_of_archives(folder):
    """The pages of HTML in archives, decoded."""
    warc, encoding = package("fastwarc.warc"), package("resiliparse.parse.encoding")
    if not (warc and encoding):
        return
    for path in sorted(folder.glob("*.warc.gz")):
        with open(path, "rb") as stream:
            for record in warc.ArchiveIterator(stream, record_types=warc.WarcRecordType.response):
                http = record.http_headers
                if http is None or http.status_code != 200 or "html" not in (record.http_content_type or ""):
                    continue
                body = record.reader.read(MOST_BYTES)
                if body:
                    kind = record.http_charset or encoding.detect_encoding(body)
                    yield encoding.bytes_to_str(body, kind)


def pages_of_folder(folder):
    for path in sorted(folder.rglob("*.html*")):
        body = path.read_bytes() if path.is_file() else b""
        body = gzip.decompress(body) if path.suffix == ".gz" else body
        if 0 < len(body) <= MOST_BYTES:
            yield body.decode("utf-8", "replace")


def our_texts(program, pages, scratch, text):
    """The text of each page, as `filter` writes those of files."""
    folder = scratch / f"pages-{text}"
    folder.mkdir()
    for at, page in enumerate(pages):
        (folder / f"{at}.html").write_text(page, "utf-8", errors="replace", newline="")
    (scratch / "ids.txt").write_text("".join(f"{at}.html\n" for at in range(len(pages))))
    (scratch / "text.toml").write_text(f'[fingerprint]\ntext = "{text}"\nformat = "html"\n')
    output = scratch / f"{text}.jsonl"
    counts = run(program, "filter", "--input", folder, "--ids", scratch / "ids.txt", "--output", output, config=scratch / "text.toml")
    if "failed" in counts:
        print(f"NOT CHECKED: text = {text} ({counts['failed']})")
        return None
    lines = map(json.loads, output.read_text("utf-8").splitlines())
    texts = {page["id"]: page["text"] for page in lines}
    return [texts[f"{at}.html"] for at in range(len(pages))]


def words(text):
    return collections.Counter(re.findall(r"\w+", (text or "").lower()))


def f1(one, other):
    one, other = words(one), words(other)
    common = (one & other).total()
    return 2 * common / (one.total() + other.total()) if one or other else 1.0


def texts(program, pages, scratch):
    """Prints how alike the texts are."""
    pages = pages[:MOST_PAGES]
    if not pages:
        print("  no pages")
        return
    found = {name: our_texts(program, pages, scratch, name) for name in ("all", "main")}
    plain, trafilatura = package("resiliparse.extract.html2text"), package("trafilatura")
    if plain:
        found["resiliparse"] = [plain.extract_plain_text(page, list_bullets=False, form_fields=True, alt_texts=False) for page in pages]
        found["resiliparse main"] = [plain.extract_plain_text(page, main_content=True, list_bullets=False) for page in pages]
    if trafilatura:
        found["trafilatura"] = [trafilatura.extract(page, include_comments=False) for page in pages]
    for ours, others in {"all": ["resiliparse"], "main": ["resiliparse main", "trafilatura", "all"],
                         "resiliparse main": ["trafilatura"]}.items():
        for other in others:
            if found.get(ours) and found.get(other):
                scores = sorted((f1(one, two), at) for at, (one, two) in enumerate(zip(found[ours], found[other])))
                low, middle, high = statistics.quantiles([score for score, _ in scores], n=4) if len(scores) > 1 else [scores[0][0]] * 3
                print(f"  {len(pages)} pages, {ours} and {other}: median {middle:.3f} ({low:.3f} to {high:.3f}); least {scores[0][0]:.3f} (page {scores[0][1]})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("target/release/dupsieve"))
    parser.add_argument("--archives", type=pathlib.Path, help="a folder of WARC and ARC files")
    parser.add_argument("--html", type=pathlib.Path, default=pathlib.Path("/usr/share/doc"))
    asked = parser.parse_args()
    program = asked.program.resolve()
    if asked.archives:
        print("Texts of the pages in archives")
        with tempfile.TemporaryDirectory() as scratch:
            texts(program, list(pages_of_archives(asked.archives)), pathlib.Path(scratch))
    else:
        print("NOT CHECKED: archives (--archives names no folder)")
    print("Texts of files of HTML")
    with tempfile.TemporaryDirectory() as scratch:
        texts(program, list(pages_of_folder(asked.html)), pathlib.Path(scratch))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the sample's three days and their true near-duplicate pairs from seeds/ and plants.tsv.

    python3 bench-data/sample/make.py

seeds/HOST.txt holds the pages of one invented site: first what stands around every page of it, then
each page as `==== DAY PATH | TITLE` and its text. plants.tsv says which pages come back, on which
day, under which address, and what is different about them. The same seeds give the same days.
"""

import csv
import gzip
import json
import random
import re
import subprocess
from datetime import date, datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
DAYS = {"2026-11-18": "pages.jsonl", "2026-11-19": "pages.jsonl.gz", "2026-11-20": "pages.jsonl.zst"}

# What each edit changes: the date in the footer, the visitor counter, the words. A `mirror` has
# another host as well, a `recrawl` has the very address of its original.
EDITS = {
    "copy": (),
    "date": ("date",),
    "counter": ("counter",),
    "sentence": ("words",),
    "mirror": ("counter",),
    "recrawl": ("date", "counter"),
}


def sites():
    """Every seed page: address -> day, title, and text with the site's words around it."""
    pages = {}
    for file in sorted((HERE / "seeds").glob("*.txt")):
        around, *chunks = re.split(r"^==== ", file.read_text(encoding="utf-8"), flags=re.M)
        for chunk in chunks:
            head, body = chunk.split("\n", 1)
            day, path, title = re.match(r"(\S+) (\S+) \| (.+)", head).groups()
            text = around.strip().replace("{body}", body.strip())
            pages[file.stem + path] = {"day": day, "title": title, "text": text}
    return pages


def record(address, page, shown, visits, fetched):
    """One page as the crawl stores it; `shown` is the date that its footer gives."""
    shown = date.fromisoformat(shown)
    text = page["text"].replace("{visits}", str(visits))
    text = text.replace("{date}", f"{shown.day} {shown:%B %Y}")
    text = text.replace("{日期}", f"{shown.year}年{shown.month}月{shown.day}日")
    stamp = fetched.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"id": f"https://{address}", "title": page["title"], "text": text, "fetched": stamp}


def originals(pages, chance):
    """The seed pages as first crawled, in the small hours of their day."""
    for address, page in pages.items():
        page["visits"] = chance.randrange(1_000, 90_000)
        page["fetched"] = datetime.fromisoformat(page["day"]) + timedelta(seconds=chance.randrange(20_000))
        yield page["day"], record(address, page, page["day"], page["visits"], page["fetched"])


def planted(pages, plants, chance):
    """The pages that come back, each later than its original."""
    for plant in plants:
        page = dict(pages[plant["original"]])
        changed = EDITS[plant["edit"]]
        if "words" in changed:
            assert page["text"].count(plant["words"]) == 1, plant
            page["text"] = page["text"].replace(plant["words"], plant["instead"])
        later = plant["day"] > page["day"]
        other_date = plant["day"] if later else str(date.fromisoformat(page["day"]) - timedelta(days=1))
        shown = other_date if "date" in changed else page["day"]
        visits = page["visits"] + chance.randrange(1, 900) if "counter" in changed else page["visits"]
        fetched = datetime.fromisoformat(plant["day"]) + timedelta(seconds=chance.randrange(40_000, 80_000))
        yield plant["day"], record(plant["new"], page, shown, visits, fetched)


def true_pair(plant, pages):
    """The pair as `matches.tsv` would name it: inside a day the larger id is the new one."""
    new, existing = f"https://{plant['new']}", f"https://{plant['original']}"
    if plant["day"] == pages[plant["original"]]["day"]:
        new, existing = max(new, existing), min(new, existing)
    return f"{new}\t{existing}\t{plant['edit']}\n"


def write(path, records):
    """Writes one day, compressed as its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = subprocess.run(["zstd", "-19", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    path.write_bytes(data)


def main():
    chance = random.Random(2007)
    pages = sites()
    with (HERE / "plants.tsv").open(encoding="utf-8") as file:
        plants = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    days = {day: [] for day in DAYS}
    for day, page in [*originals(pages, chance), *planted(pages, plants, chance)]:
        days[day].append(page)

    # A page without a word, and an address that the crawler fetched twice in one day.
    first, second, _ = days.values()
    wordless = {"day": "2026-11-18", "title": "", "text": "* * *\n-- (...) --\n* * *"}
    first.append(record("tidepost.example/spacer", wordless, "2026-11-18", 0, datetime(2026, 11, 18, 9)))
    for day in days.values():
        chance.shuffle(day)
    second.append(second[7])

    for day, name in DAYS.items():
        write(HERE / "crawl" / day / name, days[day])
    truth = sorted(true_pair(plant, pages) for plant in plants)
    (HERE / "truth.tsv").write_text("new\texisting\tedit\n" + "".join(truth), encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares dropped pages with the pages that are kept for them, exactly, over all pairs.

    python3 bench-data/lost.py --dupsieve target/release/dupsieve --methods METHOD... -- DOCS.jsonl.gz...

A METHOD is the name of a preset, or RECIPE/CHECK/K, such as wide/shingles/5 or words/none/3. Each file is one batch without a
store. The name of a preset with :days behind it feeds the pages to `run` on ten days, page by page in turn, with a store; a page goes that is dropped or
replaced, and counts by the page that is kept for it in the end. DOCS.jsonl.gz may be NAME=PATH. A folder given with --keep has the verdicts afterwards;
`--flags='--boilerplate FILE'` gives `fingerprint` further flags.

A text is the set of its 3-word shingles, in lower case; a word is one character of Han, kana, Thai or Lao, or a run of letters and
digits. Prints a row for each file and method:

  could go       pages that could go if each had to be contained to 0.9 in a kept page, longest first
  dropped        pages that the verdicts drop
  over a tenth   dropped pages of which more than a tenth is not in the kept page
  lost           the share of the shingles of the dropped pages that the kept pages lack
  missed         pages that are kept though another kept page contains 0.95 of them (of two that contain each other, one counts)

Needs numpy.
"""

import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ALONE = "\u3400-\u9fff\u3040-\u30ff\u0e00-\u0eff"
WORD = re.compile(f"[{ALONE}]|[^\\W_{ALONE}]+")
WORD_BITS = 21
HELD, FULLY = 0.9, 0.95
DAYS = 10
COLUMNS = ["could go", "dropped", "over a tenth", "lost", "missed"]


class Texts:
    """The pages of a file as sets of numbered runs."""

    def __init__(self, path):
        self.place, runs, words = {}, [], {}
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf8") as lines:
            for line in lines:
                page = json.loads(line)
                if page["id"] not in self.place:
                    self.place[page["id"]] = len(runs)
                    runs.append(runs_of(page["text"], words))
        assert len(words) < 1 << WORD_BITS, "too many words for numbers of three"
        self.sizes = np.array([len(page) for page in runs])
        _, numbers, self.pages_with = np.unique(np.concatenate(runs), return_inverse=True, return_counts=True)
        self.runs = np.split(numbers.astype(np.int32), np.cumsum(self.sizes)[:-1])
        self.mark = np.zeros(len(self.pages_with), bool)
        self.near = self.containers()
        self.could_go = self.greedy()

    def containers(self):
        """For each page the others that have HELD of its runs, with their shares. A page that has them shares one of
        the rarest runs that are not all missing."""
        order = np.argsort(np.concatenate(self.runs), kind="stable")
        owners = np.repeat(np.arange(len(self.runs)), self.sizes)[order]
        ends = np.cumsum(self.pages_with)
        near = []
        for page, runs in enumerate(self.runs):
            rare = runs[np.argsort(self.pages_with[runs], kind="stable")]
            first = rare[: len(runs) - int(np.ceil(HELD * len(runs))) + 1]
            others = np.unique(np.concatenate([owners[ends[run] - self.pages_with[run] : ends[run]] for run in first]))
            shares = zip(others[others != page], self.shares(page, others[others != page]))
            near.append([(other, share) for other, share in shares if share >= HELD])
        return near

    def shares(self, page, others):
        """The share of the runs of a page that each of the others has."""
        self.mark[self.runs[page]] = True
        found = [self.mark[self.runs[other]].sum() / self.sizes[page] for other in others]
        self.mark[self.runs[page]] = False
        return found

    def greedy(self):
        """How many pages go if each must be contained in a page that stays, longest first."""
        stays = set()
        for page in np.argsort(-self.sizes, kind="stable"):
            if not any(other in stays for other, _ in self.near[page]):
                stays.add(page)
        return len(self.runs) - len(stays)

    def missed(self, stays):
        """The pages that stay though a page that stays has FULLY of them."""
        order = lambda page: (self.sizes[page], -page)
        held = lambda page: any(
            share >= FULLY and other in stays and order(other) > order(page) for other, share in self.near[page]
        )
        return sum(held(page) for page in stays)


def runs_of(text, words):
    """The sorted distinct runs of a text, as numbers made of the numbers of their words."""
    numbers = [words.setdefault(word, len(words) + 1) for word in WORD.findall(text.lower())]
    numbers = np.array(numbers + [0] * (3 - len(numbers)), np.int64)
    return np.unique(numbers[:-2] << 2 * WORD_BITS | numbers[1:-1] << WORD_BITS | numbers[2:])


def verdicts(dupsieve, docs, method, folder, flags=()):
    """The dropped pages with the pages named."""
    method, _, days = method.partition(":")
    if days:
        return verdicts_of_days(dupsieve, docs, method, folder)
    recipe, check, distance = method.split("/") if "/" in method else (None, None, None)
    making = ["--recipe", recipe, *(["--check", check] if check != "none" else [])] if recipe else ["--preset", method]
    joining = ["--distance", distance, *(["--check", check] if check != "none" else [])] if recipe else ["--preset", method]
    segment = folder / f"{name_of(docs)}-{'-'.join(making[1:])}.seg"
    output = folder / f"{name_of(docs)}-{method.replace('/', '-')}"
    if not segment.exists():
        run(dupsieve, "fingerprint", "--input", docs, *making, *flags, "--output", segment)
    run(dupsieve, "dedup", "--batch", segment, *joining, "--output", output)
    rows = [line.split("\t") for line in (output / "verdicts.tsv").read_text(encoding="utf8").splitlines()[1:]]
    return {row[0]: row[2] for row in rows if row[1] == "drop"}


def verdicts_of_days(dupsieve, docs, preset, folder):
    """The pages that go on ten days, each with the page that is kept for it in the end."""
    home = folder / f"{name_of(docs)}-{preset}-days"
    home.mkdir()
    with (gzip.open if docs.suffix == ".gz" else open)(docs, "rt", encoding="utf8") as lines:
        pages = list(lines)
    days = [f"2026-11-{day:02}" for day in range(1, DAYS + 1)]
    for number, day in enumerate(days):
        (home / f"{day}.jsonl").write_text("".join(pages[number::DAYS]), encoding="utf8")
    places = {"inputs": [f"{home}/{{date}}.jsonl"], "output": f"{home}/out/{{date}}", "store": f"{home}/store", "preset": preset}
    config = home / "run.toml"
    config.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in places.items()))
    run(dupsieve, "run", config, "--date", f"{days[0]}..{days[-1]}")
    going = {}
    for day in days:
        for table in ["verdicts", "replaced"]:
            text = (home / "out" / day / "dedup" / f"{table}.tsv").read_text(encoding="utf8")
            rows = [line.split("\t") for line in text.splitlines()[1:]]
            going |= {row[0]: row[2] for row in rows if table == "replaced" or row[1] == "drop"}
    stays = lambda page: stays(going[page]) if page in going else page
    return {page: stays(page) for page in going}


def name_of(docs):
    """What the files are called that are made of a file: two files of one folder must not share them."""
    return f"{docs.parent.name}-{docs.name.split('.')[0]}"


def run(*words):
    ended = subprocess.run([*map(str, words), "-q"], capture_output=True, text=True)
    if ended.returncode:
        sys.exit(ended.stderr)


def judged(texts, dropped):
    """What became of the pages of a file: counts, and the share of the dropped text that is lost."""
    place = texts.place
    pairs = [(place[page], place[named]) for page, named in dropped.items()]
    held = np.array([texts.shares(page, [named])[0] for page, named in pairs])
    sizes = texts.sizes[[page for page, _ in pairs]]
    return {
        "pages": len(texts.runs),
        "dropped": len(dropped),
        "could go": texts.could_go,
        "over a tenth": int((held < HELD).sum()),
        "lost": ((1 - held) * sizes).sum() / sizes.sum(),
        "missed": texts.missed(set(range(len(texts.runs))) - {page for page, _ in pairs}),
    }


def cells(found):
    """A judgement as the cells of COLUMNS."""
    return [f"{found[name]:.1%}".replace("%", " %") if name == "lost" else f"{found[name]:,}" for name in COLUMNS]


def named(docs):
    """The name of a set, and its file."""
    name, path = docs.split("=") if "=" in docs else (pathlib.Path(docs).parent.name, docs)
    return name, pathlib.Path(path)


def head(*columns):
    print("|", " | ".join(columns), "|\n|" + "---|" * len(columns), flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--dupsieve", default="target/release/dupsieve")
    arguments.add_argument("--methods", nargs="+", default=["paper", "balanced", "balanced:days"])
    arguments.add_argument("--keep", type=pathlib.Path)
    arguments.add_argument("--flags", default="", help="further flags of `fingerprint`, in one text")
    arguments.add_argument("docs", nargs="+")
    given = arguments.parse_args()
    head("set", "method", *COLUMNS)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        for name, path in map(named, given.docs):
            texts = Texts(path)
            for method in given.methods:
                dropped = verdicts(given.dupsieve, path, method, folder, given.flags.split())
                print("|", " | ".join([name, method, *cells(judged(texts, dropped))]), "|", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws the pictures of the book and of the README:

    python3 docs/pictures.py

Each picture is an SVG in docs/src/pictures that follows the reader's light or dark theme. Figures in them come from the text of the book, so the
two never differ: docs/check.py looks. bench-data/report.py draws those of the chapter on figures. Needs nothing but Python.
"""

import argparse
import html
import pathlib
import re

BOOK = pathlib.Path(__file__).parent / "src"
PICTURES = BOOK / "pictures"
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px } .faint { fill: #59636e } .title { font-size: 15px; font-weight: 600 } .code { font-family: ui-monospace, monospace }
  .middle { text-anchor: middle } .end { text-anchor: end }
  .paper { fill: #ffffff } .box { fill: #f6f8fa; stroke: #59636e } .line { stroke: #59636e; fill: none } .grid { stroke: #d1d9e0 }
  .a { fill: #9a6700 } .b { fill: #0969da } .c { fill: #1a7f37 } .gone { fill: #cf222e } .hollow { fill: none; stroke: #59636e; stroke-dasharray: 4 3 }
  .curve-a { stroke: #9a6700 } .curve-b { stroke: #0969da } .curve-c { stroke: #1a7f37 } .curve { fill: none; stroke-width: 2 }
  .on { fill: #ffffff } .mono { font: 11.5px ui-monospace, monospace } .del { fill: #ffe1cc } .ins { fill: #d3f0e1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .faint { fill: #9198a1 } .paper { fill: #0d1117 } .box { fill: #151b23; stroke: #9198a1 } .line { stroke: #9198a1 }
    .grid { stroke: #3d444d } .a { fill: #d29922 } .b { fill: #4493f8 } .c { fill: #3fb950 } .gone { fill: #f85149 } .hollow { stroke: #9198a1 }
    .curve-a { stroke: #d29922 } .curve-b { stroke: #4493f8 } .curve-c { stroke: #3fb950 } .on { fill: #0d1117 } .del { fill: #5a3416 } .ins { fill: #17472f }
  }
"""


class Picture:
    """An SVG of fixed size, on paper of its own, with a sentence that says what it shows to those who cannot see it."""

    def __init__(self, width, height, says):
        self.width, self.height, self.says, self.parts = width, height, says, []

    def add(self, name, body=None, **attributes):
        written = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items())
        self.parts.append(f"<{name}{written}/>" if body is None else f"<{name}{written}>{html.escape(body)}</{name}>")

    def text(self, x, y, words, kind=""):
        self.add("text", words, x=x, y=y, class_=kind)

    def rect(self, x, y, width, height, kind):
        self.add("rect", x=round(x, 1), y=round(y, 1), width=round(width, 1), height=round(height, 1), rx=3, class_=kind)

    def box(self, x, y, width, words, note=""):
        self.rect(x, y, width, 46 if note else 30, "box")
        self.text(x + width / 2, y + 20, words, "middle")
        if note:
            self.text(x + width / 2, y + 36, note, "middle small faint")

    def line(self, x, y, to_x, to_y, kind="line"):
        self.add("line", x1=round(x, 1), y1=round(y, 1), x2=round(to_x, 1), y2=round(to_y, 1), class_=kind)

    def arrow(self, x, y, to_x, to_y):
        self.add("line", x1=x, y1=y, x2=to_x, y2=to_y, class_="line", marker_end="url(#tip)")

    def curve(self, points, kind):
        self.add("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_=f"curve {kind}")

    def __str__(self):
        tip = ('<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
               '<path d="M0 0 8 4 0 8" class="line"/></marker></defs>')
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" role="img">'
        paper = f'<rect width="{self.width}" height="{self.height}" class="paper"/>'
        return "\n".join([head, f"<title>{html.escape(self.says)}</title>", f"<style>{STYLE}</style>", tip, paper, *self.parts, "</svg>", ""])


def flow():
    """From pages to the next version of the store."""
    picture = Picture(860, 250, "Pages become fingerprints and a segment. The segment is made into tables, the store streams past them as chunks, "
                                "matches become verdicts, and what is kept enters the next version of the store.")
    for x, words, note in [(20, "pages", "JSON, WARC, Parquet, ..."), (200, "fingerprints", "64 or 128 bits"), (380, "segment", "the batch, sorted")]:
        picture.box(x, 20, 150, words, note)
    picture.arrow(170, 43, 198, 43)
    picture.arrow(350, 43, 378, 43)
    picture.box(380, 110, 150, "tables", "the batch, permuted")
    picture.arrow(455, 66, 455, 108)
    picture.box(20, 180, 150, "store", "all earlier days")
    picture.box(200, 180, 150, "chunks", "streamed, on all workers")
    picture.arrow(170, 203, 198, 203)
    picture.box(560, 110, 120, "probe", "k bits, or an anchor")
    picture.arrow(530, 133, 558, 133)
    picture.line(350, 203, 620, 203)
    picture.arrow(620, 203, 620, 158)
    picture.box(710, 110, 130, "verdicts", "contained to 0.9?")
    picture.arrow(680, 133, 708, 133)
    picture.box(710, 20, 130, "kept pages", "and their copies")
    picture.arrow(775, 110, 775, 68)
    picture.line(775, 156, 775, 236)
    picture.line(775, 236, 95, 236)
    picture.arrow(95, 236, 95, 228)
    picture.text(640, 230, "the next version of the store", "end small faint")
    return picture


def containment():
    """Which of two pages is dropped."""
    picture = Picture(860, 210, "A page is dropped if a kept page contains nine tenths of it. A page that stands in a longer one is dropped; a page with "
                                "much text of its own is kept.")
    cases = [(20, "stands in a longer page", 60, 0, 0, "dropped"), (310, "another date in the footer", 152, 0, 8, "dropped"),
             (600, "much of its text is new", 100, 0, 60, "kept")]
    for x, words, common, before, own, verdict in cases:
        picture.text(x, 24, words, "title")
        picture.text(x, 60, "kept", "small faint")
        picture.rect(x + 50, 44, 160, 24, "b")
        picture.text(x, 100, verdict, "small faint")
        picture.rect(x + 50, 84, common, 24, "b")
        if own:
            picture.rect(x + 50 + common, 84, own, 24, "a")
        share = common / (common + own)
        picture.text(x + 50, 130, f"containment: {share:.2f}", "code small")
    picture.rect(20, 168, 10, 10, "b")
    picture.text(36, 177, "text that both pages have", "small")
    picture.rect(230, 168, 10, 10, "a")
    picture.text(246, 177, "text of the shorter page alone", "small")
    picture.text(460, 177, "0.9 is enough; --containment asks for more or for less", "small faint")
    return picture


def blocks():
    """Why tables find every pair within k bits."""
    picture = Picture(860, 230, "Two fingerprints that differ in three bits, cut into four blocks: one block at least is equal, and a table sorted by that "
                                "block finds the pair.")
    picture.text(20, 26, "Two fingerprints within 3 bits, cut into 4 blocks: 3 bits can spoil 3 blocks, so one block is equal", "title")
    spoilt = {5, 22, 57}
    for row, y in enumerate((50, 84)):
        picture.text(20, y + 15, ["new", "stored"][row], "small faint")
        for bit in range(64):
            x = 70 + bit * 11.6 + 8 * (bit // 16)
            different = row == 1 and bit in spoilt
            picture.rect(x, y, 9, 20, "gone" if different else ("c" if bit // 16 == 2 else "box"))
    for block, words in enumerate(["1 bit differs", "1 bit differs", "equal", "1 bit differs"]):
        x = 70 + block * (16 * 11.6 + 8) + 92
        picture.text(x, 124, words, "middle small" + (" " if block == 2 else " faint"))
    picture.arrow(70 + 2 * (16 * 11.6 + 8) + 92, 132, 70 + 2 * (16 * 11.6 + 8) + 92, 158)
    picture.rect(280, 160, 560, 50, "box")
    picture.text(560, 181, "the table whose key is the third block: both stand side by side", "middle")
    picture.text(560, 199, "then all 64 bits are compared, so no pair is missed and none is made up", "middle small faint")
    return picture


def output():
    """What one corpus and one day leave behind."""
    picture = Picture(860, 290, "The files of an output: the fingerprints, the verdicts, the matches, the lists, and the report.")
    tree = [(0, "found/", ""), (1, "batch.seg", "the fingerprints of all pages; `store add` takes it"), (1, "dedup/", ""),
            (2, "verdicts.tsv", "one row a page: keep, drop or empty, and the kept page"), (2, "matches.tsv", "pairs of near pages, with their distance in bits"),
            (2, "replaced.tsv  slack.tsv", "pages of the store that a kept page contains, and what pages may lack in such a page"), (2, "keep.txt  drop.txt", "the ids of what is kept, and of what is dropped"),
            (2, "report.html", "the figures, for a browser"), (2, "report.json", "the figures, for programs"),
            (2, "_SUCCESS", "written last: the output is complete")]
    for place, (depth, name, means) in enumerate(tree):
        y = 30 + 27 * place
        if depth:
            picture.line(20 + 30 * depth - 18, y - 5, 20 + 30 * depth - 4, y - 5)
        picture.text(20 + 30 * depth, y, name, "code")
        if means:
            picture.arrow(270, y - 4, 300, y - 4)
            picture.text(310, y, means.replace("`", ""))
    picture.line(32, 36, 32, 79)
    picture.line(62, 90, 62, 30 + 27 * 9 - 5)
    return picture


def store():
    """The life of a store, version by version."""
    steps = [("store add, day 1", "k", "", ""), ("store add, day 2", "k", "k", ""), ("run, day 3, with replaced pages", "r", "k", "k"),
             ("run --redo day 3", "r", "k", "n"), ("store remove, a page of day 2", "r", "x", "k"), ("store expire --keep-days 2", "-", "x", "k"),
             ("store rollback, to before it", "r", "x", "k")]
    picture = Picture(860, 90 + 34 * len(steps) + 40, "A store has versions. Days are added, pages are replaced, removed and expired, and a rollback shows "
                                                      "an earlier version again, without the removed pages.")
    for at, words in enumerate(["after the command", "day 1", "day 2", "day 3"]):
        picture.text([20, 330, 500, 670][at], 30, words, "title")
    for place, (command, *days) in enumerate(steps):
        y = 60 + 34 * place
        picture.line(20, y - 16, 840, y - 16, "grid")
        picture.text(20, y + 4, command, "code")
        for at, state in enumerate(days):
            x = 330 + 170 * at
            for page in range(8):
                gone = (state == "r" and page in (2, 5)) or (state == "x" and page == 3) or state == "-"
                if state:
                    picture.rect(x + 17 * page, y - 8, 13, 16, "hollow" if gone else ("b" if state == "n" else "c"))
    y = picture.height - 22
    for at, (kind, words) in enumerate([("c", "a page that queries and joins see"), ("hollow", "replaced, removed or expired: not seen"), ("b", "made again")]):
        picture.rect(20 + 270 * at, y - 10, 13, 12, kind)
        picture.text(40 + 270 * at, y, words, "small")
    return picture


def clusters():
    """A star and a component of the same pairs."""
    picture = Picture(860, 250, "Five pages that are near in a chain. Stars make two clusters, whose members are near the kept page. A component makes one "
                                "cluster, whose ends are far from each other.")
    chain = [(60, 150), (150, 90), (240, 150), (320, 90), (390, 150)]
    for left, words, links, kinds in [(20, "stars: near the kept page", [(0, 1), (2, 3)], ["b", "b", "c", "c", "box"]),
                                      (450, "components: near one another by a chain", [(0, 1), (1, 2), (2, 3), (3, 4)], "bbbbb")]:
        picture.text(left, 28, words, "title")
        for one, two in zip(range(4), range(1, 5)):
            if (one, two) not in links:
                picture.line(left - 20 + chain[one][0], chain[one][1], left - 20 + chain[two][0], chain[two][1], "hollow")
        for one, two in links:
            picture.line(left - 20 + chain[one][0], chain[one][1], left - 20 + chain[two][0], chain[two][1])
        for place, ((x, y), kind) in enumerate(zip(chain, kinds)):
            picture.add("circle", cx=left - 20 + x, cy=y, r=16, class_=kind)
            picture.text(left - 20 + x, y + 5, "ABCDE"[place], "middle" if kind == "box" else "middle on")
    picture.text(20, 205, "A, C and E are kept; B is dropped for A, and D for C", "small")
    picture.text(20, 224, "2 clusters; E has no copy, so it is in none", "small faint")
    picture.text(450, 205, "1 cluster: A, B, C, D, E", "small")
    picture.text(450, 224, "A and E may have nothing in common", "small faint")
    return picture


def bands():
    """How likely buckets find a pair, by its similarity."""
    picture = Picture(860, 330, "The chance that a pair shares a bucket, by its Jaccard similarity, for three numbers of bands and rows.")
    left, top, width, height = 70, 40, 560, 240
    for step in range(6):
        picture.line(left + width * step / 5, top, left + width * step / 5, top + height, "grid")
        picture.line(left, top + height * step / 5, left + width, top + height * step / 5, "grid")
        picture.text(left + width * step / 5, top + height + 18, f"{step / 5:.1f}", "middle small faint")
        picture.text(left - 8, top + height * (5 - step) / 5 + 4, f"{20 * step} %", "end small faint")
    picture.text(left, 24, "pairs that share a bucket", "title")
    picture.text(left + width / 2, top + height + 40, "Jaccard similarity of the two documents", "middle")
    for at, (count, rows, kind) in enumerate([(20, 5, "a"), (14, 8, "b"), (9, 13, "c")]):
        chance = [(s / 100, 1 - (1 - (s / 100) ** rows) ** count) for s in range(101)]
        picture.curve([(left + width * s, top + height * (1 - p)) for s, p in chance], f"curve-{kind}")
        half = next(s for s, p in chance if p >= 0.5)
        picture.rect(660, 70 + 50 * at, 10, 10, kind)
        picture.text(678, 79 + 50 * at, f"{count} bands of {rows} rows")
        picture.text(678, 96 + 50 * at, f"half of the pairs at {half:.2f}", "small faint")
    return picture


def report():
    """The upper part of report.html of a day of the sample: its figures as the chapter on results takes them from its report.json, and the pair
    that loses most as `sample` prints it in the first chapter."""
    shown = (BOOK / "results.md").read_text().partition("\n## report.html\n")[2].partition("\n## ")[0]
    figures = {name: float(value) for name, value in re.findall(r'"([\w.-]+)": ([\d.]+)', shown)}
    count = lambda name: f"{figures[name]:.0f}"
    worst = (BOOK / "first-day.md").read_text().partition("most text lost:")[2].partition("```")[0]
    dropped, kept, against, containment = re.search(r"^(\S+)  (\S+) \((.+?)\)  containment (\S+)", worst, re.MULTILINE).groups()
    picture = Picture(860, 460, "The report of a day: what became of the records, the page that loses most with the words that differ, and the days of the kept pages.")
    picture.text(20, 34, re.search(r"out/(\S+?)/", shown)[1], "title")
    picture.text(20, 58, f"{count('read')} records: {count('kept')} pages kept, {count('dropped')} pages dropped as duplicates. "
                         f"Every dropped page is at least {1000 * float(containment) // 1 / 10} % contained in a kept page.")
    picture.text(20, 80, f"{figures['share']:.1%} of the text of the dropped pages is lost.".replace("%", " %"))

    def bars(top, words, rows):
        picture.text(20, top, words, "title")
        most = max(figures[name] for _, name in rows)
        for place, (label, name) in enumerate(rows):
            y = top + 12 + 24 * place
            picture.text(20, y + 13, label, "small")
            picture.rect(190, y + 2, 560 * figures[name] / most, 14, "a")
            picture.text(800, y + 13, count(name), "end small")

    bars(112, "What became of the records", [("records read", "read"), ("duplicates", "dropped"), ("kept", "kept")])
    picture.text(20, 220, "Dropped pages that lose most", "title")
    picture.rect(20, 232, 820, 96, "box")
    picture.text(34, 252, f"{containment} contained", "small")
    picture.text(34, 272, f"dropped  {dropped}", "small")
    picture.text(34, 290, f"kept, {against}  {kept}", "small")
    x = 34
    for words in re.findall(r"\[-.+?-\]|\{\+.+?\+\}|[^\[{\n]+", " ... ".join(re.findall(r"^    (.+)$", worst, re.MULTILINE))):
        kind = {"[": "del", "{": "ins"}.get(words[0])
        words = words[2:-2] if kind else words
        width = 7 * len(words)
        if kind:
            picture.rect(x, 303, width, 17, kind)
        picture.parts.append(f'<text x="{x}" y="316" class="mono" xml:space="preserve">{html.escape(words)}</text>')
        x += width
    bars(358, "Days of the kept pages", [("2026-11-18", "2026-11-18"), ("2026-11-19", "2026-11-19"), ("this batch", "batch")])
    return picture


DRAWN = [flow, containment, blocks, output, store, clusters, bands, report]


def drawn():
    """The path of each picture, and what is drawn for it."""
    return {PICTURES / f"{draw.__name__}.svg": str(draw()) for draw in DRAWN}


def out_of_date():
    """The names of the pictures that are not what is drawn from the tables of today."""
    return [path.name for path, svg in drawn().items() if not path.exists() or path.read_text() != svg]


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    PICTURES.mkdir(exist_ok=True)
    for path, svg in drawn().items():
        path.write_text(svg)


if __name__ == "__main__":
    main()

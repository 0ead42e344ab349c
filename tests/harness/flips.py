"""Bits flipped, files cut short and files gone, in every kind of file that the program writes: what reads it says so and
names the file, or has the same result."""

import pathlib
import random
import re

from bench import DAYS, DOCUMENTED, Violation
from tally import Tally

MUSEUM = pathlib.Path(__file__).parent.parent / "data"
CODECS = ["elias-fano", "huffman"]
# Damaged, or, where a name or a number leads elsewhere, missing; 78 where a recipe names the file.
FOUND = {65, 66, 78}
INTERNAL = 70
PATIENCE = 20
RECIPE = """scheme = "simhash"
features = "character-shingles"
length = 4
weights = "tf"
hash = "xxh3"
width = 64
ties = "clear"
normalise = { nfkc = true, case = "fold", digits = "keep", white_space = "collapse" }
"""


class Kind:
    """Files of one kind, and the command that reads them; what people write carries no checksum, and what
    is made of it may be another.
    """

    def __init__(self, name, paths, words, checksums=True):
        self.name, self.paths, self.words, self.checksums = name, paths, words, checksums


def run(bench, seed, cycles=None):
    """Cycles over all kinds in turn: a file of the kind, a place in it, a flip or a cut."""
    tally = Tally("flips", seed)
    home = bench.fresh()
    kinds = make(bench, home)
    sound = {kind.name: said(bench, home, kind.words).expect(0) for kind in kinds}
    for number in range(cycles or 2000):
        kind = kinds[number % len(kinds)]
        chance = random.Random(f"{seed} {number}")
        tally.cycle(f"{number} {kind.name}", lambda: cycle(bench, tally, home, kind, sound[kind.name], chance))
    return tally


def make(bench, home):
    """One file or several of every kind."""
    kinds = []
    for path in sorted([*MUSEUM.glob("*.seg"), *MUSEUM.glob("*/*.seg")]):
        (home / path.name).write_bytes(path.read_bytes())
        kinds.append(Kind(f"museum: {path.name}", [home / path.name], f"inspect {path.name} --dump"))
    bench.done(home, "store", "add", "store", "--segment", "batch.seg", "--day", DAYS[1], "--only", "ids.txt")
    for codec in CODECS:
        bench.done(home, "generate", "segment", "--count", "3000", "--codec", codec, "--output", f"{codec}.seg")
        kinds.append(Kind(f"segment: {codec}", [home / f"{codec}.seg"], f"inspect {codec}.seg --dump"))
    kinds.append(Kind("store: segments", [*home.glob("store/segments/*")], "store verify store"))
    kinds.append(Kind("store: manifests", [max(home.glob("store/manifests/*"))], "store verify store"))
    kinds.append(Kind("store: removed pages", [home / "gone/REMOVED", home / "gone/CURRENT"], "store verify gone"))
    kinds.append(Kind("store: CURRENT", [home / "store/CURRENT"], "store verify store"))
    bench.done(home, "dedup", "--batch", "batch.seg", "--store", "store", "--output", "out")
    for name in ["report.json", "matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt", "_SUCCESS"]:
        kinds.append(Kind(f"output: {name}", [home / "out" / name], "verify out"))
    bench.done(home, "dedup", *"--batch newer.seg --store banded --check points:0.6 --output banded-out".split())
    bench.done(home, "lsh", *"--input pages.tsv --similarity 0.8 --output lsh".split())
    for name in ["banded-out", "lsh/dedup"]:
        for file in ["report.json", "matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt", "_SUCCESS"]:
            kinds.append(Kind(f"{name}: {file}", [home / name / file], f"verify {name}"))
    kinds.append(Kind("store: bands", [*home.glob("banded/segments/*")], "store verify banded"))
    for name in ["report.json", "clusters.tsv", "sizes.tsv", "pages.bin", "links.bin", "_SUCCESS"]:
        kinds.append(Kind(f"clusters: {name}", [home / "clusters" / name], "verify clusters"))
    (home / "bad.tsv").write_text((home / f"crawl/{DAYS[0]}.tsv").read_text() + "no fingerprint\nnone here\n")
    bench.done(home, "fingerprint", "--format", "fingerprints", "--input", "bad.tsv", "--output", "bad.seg")
    kinds.append(Kind("quarantine", [home / "bad.seg.quarantine.tsv"], "verify bad.seg"))
    (home / "recipe.toml").write_text(RECIPE)
    (home / "weighted.toml").write_text(RECIPE.replace('"tf"', '"tf-idf"\nidf = "counts"'))
    bench.done(home, "weights", "--recipe", "recipe.toml", "--input", "pages.tsv", "--output", "counts")
    kinds.append(Kind("table of counts", [home / "counts"], "explain --recipe weighted.toml --input pages.tsv 1 2"))
    kinds.append(Kind("configuration", [home / "days.toml"], "run days.toml --dry-run", checksums=False))
    kinds.append(Kind("recipe", [home / "recipe.toml"], "compare days.toml ids.txt --recipe recipe.toml", checksums=False))
    kinds.append(Kind("documents", [home / f"crawl/{DAYS[0]}.tsv"], "run days.toml --dry-run", checksums=False))
    return kinds


def said(bench, home, line):
    return bench.run(home, *line.split(), patience=PATIENCE)


def cycle(bench, tally, home, kind, sound, chance):
    path = chance.choice(kind.paths)
    whole = path.read_bytes()
    path.unlink()  # It may have another name elsewhere.
    if chance.random() < 0.9:
        path.write_bytes(damaged(whole, chance))
    try:
        ended = said(bench, home, kind.words)
    finally:
        path.unlink(missing_ok=True)
        path.write_bytes(whole)
    tally.sample("seconds to read", ended.seconds)
    if not kind.checksums:
        tally.count(f"{kind.name}: ended with {ended.code}")
        if ended.code not in DOCUMENTED or ended.code == INTERNAL or "panicked" in ended.stderr:
            raise Violation(f"ended with {ended.code}: {ended.stderr[-500:]}")
        return
    if ended.code == 0:
        if result(ended) != result(sound):
            raise Violation(f"{path.name} is damaged, and the result another")
        tally.count("harmless")
        return
    tally.count("found")
    if ended.code not in FOUND or "panicked" in ended.stderr:
        raise Violation(f"ended with {ended.code}: {ended.stderr[-500:]}")
    if path.name not in ended.stderr:
        tally.count(f"found, with another file named: {kind.name}")


def damaged(whole, chance):
    """The bytes with a bit flipped, or cut short; where there are none, one."""
    if not whole:
        return b"\0"
    if chance.random() < 0.25:
        return whole[:chance.randrange(len(whole))]
    changed = bytearray(whole)
    changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def result(ended):
    """What was found, without how long it took."""
    return re.sub(r'"seconds":\{[^}]*\}', "", ended.stdout)

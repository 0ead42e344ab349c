"""kill -9, at random moments, of what changes a store that has everything: bands, digests, an index, filters, days that
expire, and the clusters of every day. A day of `run` does all of it; its parts are killed by themselves too.
"""

import random
import shutil

import stores
from bench import Bench, Job
from tally import Tally

DAYS = [f"2026-01-{day:02}" for day in range(1, 6)]
CONFIG = f"""inputs = ["whole/{{date}}.tsv"]
output = "whole/out/{{date}}"
dates = {DAYS}
[store]
path = "whole/store"
keep_days = 3
keep_versions = 8
[fingerprint]
recipe = "shingles-1"
keep_digests = true
[clusters]
method = "components"
[dedup]
matches = "all"
[machines]
workers = 2
"""
STORE = "whole/store"
# What `store verify` says where a file of the index or of the filters is missing.
MISSING = 66
LACKS_CLUSTERS = DAYS[3]
PARTS = ["batch.seg", "dedup", "clusters"]


def parts(day):
    return [f"whole/out/{day}/{part}" for part in PARTS]


KEEPS = {"store": STORE, "verified": (0, MISSING)}
JOBS = [
    Job("a day", f"run whole.toml --date {DAYS[4]}", **KEEPS, outputs=parts(DAYS[4])),
    Job("[clusters]", f"run whole.toml --date {LACKS_CLUSTERS}", **KEEPS, outputs=parts(LACKS_CLUSTERS)),
    Job("store expire", f"store expire {STORE} --keep-days 1", **KEEPS, upkeep=f"store compact {STORE} --tiers"),
    Job("store index", f"store index {STORE} --design 4 --filters", **KEEPS),
]


def run(bench, seed, cycles=None):
    """Cycles of every job in turn; by themselves a thousand of each."""
    tally = Tally("whole", seed)
    bench = Whole(bench.program, bench.scratch / "whole")
    for number in range(cycles or 1000 * len(JOBS)):
        job = JOBS[number % len(JOBS)]
        chance = random.Random(f"{seed} {number}")
        tally.cycle(f"{number} {job.name}", lambda: stores.cycle(bench, tally, chance, job))
    return tally


class Whole(Bench):
    """A folder with such a store and its days alone."""

    def make(self):
        """Five days of texts, each with copies of pages of the days before it: four in the store, and one to come."""
        chance = random.Random(2)
        texts = [[word(chance) for _ in range(60)] for _ in range(60)]
        for day in DAYS:
            path = self.made / f"whole/{day}.tsv"
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [f"{day}-{page}\t{' '.join(edited(chance, texts))}\n" for page in range(80)]
            path.write_text("id\ttext\n" + "".join(lines))
        (self.made / "whole.toml").write_text(CONFIG)
        self.done(self.made, "run", "whole.toml", "--date", DAYS[0])
        self.done(self.made, "store", "index", STORE, "--filters", "--design", "mirror")
        for day in DAYS[1:4]:
            self.done(self.made, "run", "whole.toml", "--date", day)
        shutil.rmtree(self.made / f"whole/out/{LACKS_CLUSTERS}/clusters")


def edited(chance, texts):
    words = list(chance.choice(texts))
    for _ in range(chance.choice([0, 1, 8, 30])):
        words[chance.randrange(len(words))] = word(chance)
    return words


def word(chance):
    return "".join(chance.choices("abcdefgh", k=4))

"""A join that is killed at a random moment does again no chunk that it had finished; where a ledger of finished
chunks is damaged besides, no more than what is damaged.
"""

import json
import random
import shutil
import signal
import struct
import time

from bench import Violation
from crowd import Crowd
from flips import damaged
from tally import Tally

WORKERS = 2
# A ledger's bytes, by the ledger's FORMAT.md: what it is and its key, then frames of a head and a body.
BEGIN, HEAD, RECEIPT = 52, 24, 2


def run(bench, seed, cycles=None):
    tally = Tally("redone", seed)
    crowd = Crowd(bench)
    if "chunks_resumed" not in told(crowd, "alone")["run"]:
        tally.skipped = "there are no ledgers of finished chunks"
        return tally
    for number in range(cycles or 40):
        chance = random.Random(f"{seed} {number}")
        tally.cycle(number, lambda: cycle(crowd, tally, chance))
    return tally


def told(crowd, output):
    return json.loads((crowd.home / output / "report.json").read_bytes())


def cycle(crowd, tally, chance):
    flags = ["--workers", str(WORKERS)]
    is_killed = False
    while not is_killed:
        shutil.rmtree(crowd.home / "out", ignore_errors=True)
        running = crowd.start("out", *flags)
        time.sleep(chance.uniform(0, crowd.seconds))
        running.signal_all(signal.SIGKILL)
        is_killed = running.end().expect(0, -signal.SIGKILL).code != 0
    noted, begun = ledgers(crowd)
    is_damaged = chance.random() < 0.5 and damage(crowd, chance)
    crowd.start("out", *flags).end().expect(0)
    report = told(crowd, "out")
    resumed, planned = report["run"]["chunks_resumed"], report["probe"]["chunks_planned"]
    if resumed > noted or resumed < noted and not is_damaged:
        raise Violation(f"{noted} chunks were finished, and {resumed} resumed")
    if begun > WORKERS:
        raise Violation(f"{begun} chunks were begun by {WORKERS} workers and not finished")
    if not crowd.is_right("out"):
        raise Violation("other bytes")
    tally.count("chunks finished before kills", noted)
    tally.count("chunks of the runs that were killed", planned)
    tally.sample("chunks begun, not finished", begun)
    if is_damaged:
        tally.count("ledgers damaged")
        tally.count("chunks done again for that", noted - resumed)
    tally.sample("chunks resumed, of all", resumed / planned)


def damage(crowd, chance):
    """Damages one of the ledgers, if there is any."""
    paths = sorted(path for path in (crowd.home / ".out.resume").glob("*.ledger") if path.stat().st_size)
    for path in paths[:1]:
        path.write_bytes(damaged(path.read_bytes(), chance))
    return bool(paths)


def ledgers(crowd):
    """How many chunks have their receipts in the ledgers, and how many only some of their pairs."""
    finished, begun = set(), set()
    for path in (crowd.home / ".out.resume").glob("*"):
        if path.is_file():
            for chunk, kind in frames(path.read_bytes()):
                (finished if kind == RECEIPT else begun).add(chunk)
    return len(finished), len(begun - finished)


def frames(ledger):
    at = BEGIN
    while at + HEAD + 8 <= len(ledger):
        length, kind, chunk = struct.unpack_from("<II16xQ", ledger, at)
        at += HEAD + length
        if at <= len(ledger):
            yield chunk, kind

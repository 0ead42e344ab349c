"""The figures of a fault: cycles, violations, and what was timed or counted on the way."""

import json
import statistics
import time

from bench import Violation


class Tally:
    """One fault's figures; printed as a line of JSON when it is through."""

    def __init__(self, fault, seed):
        self.fault, self.seed = fault, seed
        self.began = time.monotonic()
        self.cycles, self.violations, self.skipped = 0, [], None
        self.counts, self.samples = {}, {}

    def cycle(self, name, one):
        """Runs one cycle, which raises a Violation where a promise is broken; what the machine refuses the
        harness itself counts too, and does not lose the figures of the others."""
        self.cycles += 1
        try:
            one()
        except (Violation, OSError) as violation:
            told = {"fault": self.fault, "seed": self.seed, "cycle": name, "violation": str(violation)}
            self.violations.append(told)
            print(json.dumps(told), flush=True)

    def count(self, name, number=1):
        self.counts[name] = self.counts.get(name, 0) + number

    def sample(self, name, value):
        self.samples.setdefault(name, []).append(value)

    def figures(self):
        figures = {"fault": self.fault, "seed": self.seed, "cycles": self.cycles,
                   "violations": len(self.violations), "seconds": round(time.monotonic() - self.began, 1)}
        if self.skipped:
            figures["skipped"] = self.skipped
        figures.update(sorted(self.counts.items()))
        for name, values in sorted(self.samples.items()):
            figures[f"{name} median"] = round(statistics.median(values), 3)
            figures[f"{name} greatest"] = round(max(values), 3)
        return figures


def table(tallies):
    """The figures of all faults for people."""
    rows = [["fault", "cycles", "violations", "seconds", "besides"]]
    for tally in tallies:
        figures = tally.figures()
        fault, _, cycles, violations, seconds = [str(figures.pop(name)) for name in
                                                 ["fault", "seed", "cycles", "violations", "seconds"]]
        besides = ", ".join(f"{name} {value}" for name, value in figures.items())
        rows.append([fault, cycles, violations, seconds, besides])
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]) for row in rows)
    return "\n".join(lines)

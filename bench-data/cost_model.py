#!/usr/bin/env python3
"""Holds the choice of the cost model against what all designs take, over the points of a case.

    python3 bench-data/cost_model.py bench-data/cases/cost-model.toml [--program DUPSIEVE]

For each point `dupsieve plan` names its choice; that and all designs which it estimates at less than
`within` times as much are measured by the bench `kernels`, on one thread: what it takes to build, and to
probe a part of the store, from which follows the whole. Prints the choice, the best, and their ratio.
"""

import argparse
import subprocess
import tomllib
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=Path)
    parser.add_argument("--program", default="target/release/dupsieve")
    options = parser.parse_args()
    case = tomllib.loads(options.case.read_text())
    print("| batch | store | k | chosen | s (estimated) | best | s (estimated) | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    ratios = []
    for batch, store, k in case["points"]:
        estimates = plan(options.program, batch, store, k)
        chosen, least = next(iter(estimates.items()))
        near = [name for name, seconds in estimates.items() if seconds <= case["within"] * least]
        seconds = kernels(case, batch, store, k, near, least)
        best = min(seconds, key=seconds.get)
        ratios.append(seconds[chosen] / seconds[best])
        print(f"| {batch:.0e} | {store:.0e} | {k} | {chosen} | {seconds[chosen]:.3f} ({estimates[chosen]:.3f}) "
              f"| {best} | {seconds[best]:.3f} ({estimates[best]:.3f}) | {ratios[-1]:.2f} |", flush=True)
    over = sum(ratio > case["goal"] for ratio in ratios)
    print(f"\n{len(ratios)} points, the greatest ratio {max(ratios):.2f}, {over} over {case['goal']}")


def plan(program, batch, store, k):
    """The designs that fit into memory, the chosen one first, with the seconds they are estimated at."""
    command = [program, "plan", "--batch", f"{batch:.0f}", "--store", f"{store:.0f}", "--distance", str(k)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    rows = [line.split() for line in told if " MiB " in line and "the batch and itself" not in line]
    fits = [row for row in rows if "large" not in row]
    name = lambda row: row[0] + ("/sorted" if row[1] == "sorted" else "")
    return {name(row): max(float(row[4]), float(row[3]) * store / 1e9) for row in fits}


def kernels(case, batch, store, k, designs, estimate):
    """The seconds that each design takes to build and to probe all of the store."""
    count = int(min(store, max(1e6, case["probe_seconds"] * store / max(estimate, 1e-3))))
    command = ["cargo", "bench", "-q", "--bench", "kernels", "--", "--batch", f"{batch:.0f}",
               "--density", f"{store:.0f}", "--count", str(count), "--distance", str(k),
               "--times", str(case["times"]), "--designs", "+".join(designs)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in told if line.startswith("|")][2:]
    return {row[0]: float(row[1]) * store / 1e9 + float(row[5]) for row in rows}


if __name__ == "__main__":
    main()

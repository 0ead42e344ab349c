#!/usr/bin/env python3
"""Holds the choice of the cost model against what all designs take, over the points of a case.

    python3 bench-data/cost_model.py bench-data/cases/cost-model.toml [--points 0:20] [--bench KERNELS]

For each point the bench `kernels` measures the design that the cost model chooses and all that it prices at less
than `within` times as much, on one thread: what it takes to build, and to probe a part of the store, from which
follows the whole. Prints the choice, the best, and their ratio. Medians of `times` turns.
"""

import argparse
import subprocess
import tomllib
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=Path)
    parser.add_argument("--points", default="0:", help="which of them, from 0: the first and the one after the last")
    parser.add_argument("--bench", default="cargo bench -q --bench kernels --", help="the command that measures a point")
    options = parser.parse_args()
    case = tomllib.loads(options.case.read_text())
    first, end = (int(at) if at else None for at in options.points.split(":"))
    print("| batch | store | k | shape | chosen | s (estimated) | best | s (estimated) | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    ratios = []
    for batch, store, k, *shape in case["points"][first:end]:
        shape = shape[0] if shape else "uniform"
        designs = measured(options.bench, case, batch, store, k, shape)
        chosen = next(iter(designs))
        best = min(designs, key=lambda name: designs[name][0])
        ratios.append(designs[chosen][0] / designs[best][0])
        of = lambda name: "{:.3f} ({:.3f})".format(*designs[name])
        print(f"| {batch:.0e} | {store:.0e} | {k} | {shape} | {chosen} | {of(chosen)} | {best} | {of(best)} "
              f"| {ratios[-1]:.2f} |", flush=True)
    over = sum(ratio > case["goal"] for ratio in ratios)
    print(f"\n{len(ratios)} points, the greatest ratio {max(ratios):.2f}, {over} over {case['goal']}")


def measured(bench, case, batch, store, k, shape):
    """The designs, the chosen one first, with the seconds that each takes for all of the store, and is priced at."""
    count = int(min(store, max(case["least_probed"], case["probed"] * batch)))
    command = [*bench.split(), "--batch", f"{batch:.0f}", "--density", f"{store:.0f}", "--count", str(count),
               "--distance", str(k), "--times", str(case["times"]), "--shape", shape,
               "--designs", f"within:{case['within']}"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in told if line.startswith("|")][2:]
    return {row[0]: (float(row[1]) * store / 1e9 + float(row[5]), float(row[8])) for row in rows}


if __name__ == "__main__":
    main()

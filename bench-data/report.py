#!/usr/bin/env python3
"""Measures commands in turn, several times, and writes the page of figures: tables, drawings, and targets that are reached or missed.

    python3 bench-data/report.py bench-data/cases/report/*.toml [--size short|hour|full] [--program DUPSIEVE] [--rivals PYTHON] [--data FOLDER]
                                 [--scratch FOLDER] [--output docs/src/figures.md]

A case has a `title`, a `place` on the page, what it is `about`, and commands for bash, which run in a folder of their own with `dupsieve` on their path: `inputs`
once, `fresh` before each command, and then those of its table `commands` in turn, as often as `rounds` says; those that `once` names run in the first round alone.
Names in braces are the numbers of its table for the size: `short` shows in seconds that the commands still work, and a missed target is no failure then; all cases
of the size `hour` take half an hour on two quiet cores; `full` takes larger inputs.
`{python}` is PYTHON, an interpreter with the other programs, `{data}` is FOLDER, and `{bench}` is the folder of this file: a command or a case that needs what is not given is named as not measured.
A command that fails ends its case; the other cases are measured, and the exit code is 1.
With `cold` the system's cache is dropped before each command (that needs root). A command of the table `prints` runs once, and what it prints stands on the page.

A target holds the medians of two commands against each other: `of` and `to`, the clock (`wall` or `processor`) and the `most` that the ratio may be.
A case draws the processor time of its commands, or what `draw` says: a `column` of the first printed table, from 0, and what the bars mean (`says`).
Prints the page; with --output it is a file, and the drawings are in the folder `pictures` beside it.
"""

import argparse
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

HOME = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HOME.parent / "docs"))
sys.dont_write_bytecode = True
from pictures import Picture  # noqa: E402: beside the book, which it draws

CLOCKS = ("wall", "processor")


class Bench:
    """Runs the commands of one case."""

    def __init__(self, case, folder, names, short):
        self.case, self.folder, self.names, self.short = case, folder, names, short
        self.missing = set()
        self.found = {"case": case, "runs": {}, "prints": {}, "left_out": [], "needs": [], "targets": []}

    def filled(self, command):
        """The command with the names in braces replaced; None if one of them is not given."""
        for name, value in self.names.items():
            if value is None and f"{{{name}}}" in command:
                self.missing.add(name)
                return None
            command = command.replace(f"{{{name}}}", str(value))
        return command

    def run(self, command, **how):
        return subprocess.run(["bash", "-euc", command], cwd=self.folder, check=True, **how)

    def timed(self, command):
        """The wall and the processor seconds of a command, and its peak memory in MB."""
        for before in self.case.get("fresh", []):
            self.run(self.filled(before))
        if self.case.get("cold") and not self.short:
            subprocess.run("sync; echo 3 > /proc/sys/vm/drop_caches", shell=True, check=True)
        begun = time.perf_counter()
        child = subprocess.Popen(["bash", "-euc", command], cwd=self.folder, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        if status:
            raise subprocess.CalledProcessError(status, command)
        return {"wall": wall, "processor": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024}

    def measured(self):
        """What the case measured: the runs of each command, what commands print, and what was left out."""
        inputs = [self.filled(command) for command in self.case.get("inputs", [])]
        found = self.found
        if None not in inputs:
            for command in inputs:
                self.run(command, stdout=subprocess.DEVNULL)
            commands = {name: self.filled(command) for name, command in self.case.get("commands", {}).items()}
            prints = {name: self.filled(command) for name, command in self.case.get("prints", {}).items()}
            found["left_out"] = [name for name, command in {**commands, **prints}.items() if command is None]
            for turn in range(1 if self.short else self.case.get("rounds", 1)):
                for name, command in commands.items():
                    if command and (turn == 0 or name not in self.case.get("once", [])):
                        found["runs"].setdefault(name, []).append(self.timed(command))
            for name, command in prints.items():
                if command:
                    found["prints"][name] = self.run(command, stdout=subprocess.PIPE, text=True).stdout
        found["needs"] = sorted(self.missing)
        found["targets"] = [held(target, found["runs"]) for target in self.case.get("targets", [])]
        return found


def held(target, runs):
    """The ratio of the two commands of a target, and whether it is reached; neither if one of them did not run."""
    clock, sides = target.get("clock", "wall"), [runs.get(target[side]) for side in ("of", "to")]
    if not all(sides):
        return {**target, "clock": clock, "ratio": None, "reached": None}
    turns = [of[clock] / to[clock] for of, to in zip(*sides)]
    ratio = statistics.median(turns)
    return {**target, "clock": clock, "ratio": ratio, "least": min(turns), "greatest": max(turns), "reached": ratio <= target["most"]}


def spread(runs, figure, digits=2):
    values = [run[figure] for run in runs]
    whole = f" ({min(values):.{digits}f} to {max(values):.{digits}f})" if len(values) > 1 else ""
    return f"{statistics.median(values):.{digits}f}{whole}"


def anchor(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def verdict(target):
    """What a target asks for and what was found, as cells."""
    found = "not measured" if target["ratio"] is None else f"{target['ratio']:.2f} ({target['least']:.2f} to {target['greatest']:.2f})"
    met = {None: "", True: "reached", False: "**missed**"}[target["reached"]]
    return f"{target['of']} / {target['to']}, {'clock' if target['clock'] == 'wall' else 'processor'} | {target['most']} | {found} | {met}"


def written(name, found, drawn):
    """The section of the page about one case."""
    case = found["case"]
    lines = [f"## {case['title']}", "", f"{case['about'].strip()} [The commands](../../bench-data/cases/report/{name}.toml).", ""]
    if found["runs"]:
        lines += ["| command | clock, s | processor, s | memory, MB |", "|---|---|---|---|"]
        lines += [f"| {command} | {spread(runs, 'wall')} | {spread(runs, 'processor')} | {max(run['memory'] for run in runs):,.0f} |" for command, runs in found["runs"].items()]
        lines.append("")
    for command, printed in found["prints"].items():
        lines += [f"{command}:", "", printed.rstrip() if "\n|---" in printed else f"```text\n{printed.rstrip()}\n```", ""]
    if drawn:
        lines += [f"![{case['title']}, as bars](pictures/figures-{name}.svg)", ""]
    if found["targets"]:
        lines += ["| target | at most | found | |", "|---|---|---|---|", *(f"| {verdict(target)} |" for target in found["targets"]), ""]
    if "failed" in found:
        lines += [f"FAILED: `{found['failed']}`", ""]
    if found["needs"]:
        what = ", ".join(found["left_out"]) or "the case"
        lines += [f"Not measured: {what}. Needs {' and '.join('--rivals' if it == 'python' else f'--{it}' for it in found['needs'])}.", ""]
    return "\n".join(lines)


def bars(found):
    """What a case draws: what the bars mean, and their names and lengths."""
    if draw := found["case"].get("draw"):
        table = re.search(r"(?:^\|.*\n)+", "\n".join(found["prints"].values()) + "\n", re.MULTILINE)
        rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.group().splitlines()[2:]] if table else []
        return draw["says"], {row[0]: float(re.sub(r"[^\d.]", "", row[draw["column"]].split()[0])) for row in rows}
    return "processor seconds; less is better", {name: statistics.median(run["processor"] for run in runs) for name, runs in found["runs"].items()}


def drawing(found):
    """The bars of a case; None if there are none."""
    says, lengths = bars(found)
    if not lengths:
        return None
    most = max(lengths.values()) or 1
    picture = Picture(860, 60 + 34 * len(lengths), f"{found['case']['title']}: {says}")
    picture.text(20, 28, says, "title")
    for place, (name, length) in enumerate(lengths.items()):
        y = 46 + 34 * place
        other = "{python}" in found["case"].get("commands", {}).get(name, "") or ("draw" in found["case"] and not name.startswith("dupsieve"))
        picture.text(290, y + 15, name[:40], "end")
        picture.rect(300, y, max(1, 460 * length / most), 20, "a" if other else "b")
        picture.text(308 + 460 * length / most, y + 15, f"{length:,.2f}" if length % 1 else f"{length:,.0f}", "small")
    return str(picture)


def head(asked, program, begun):
    """What the page says before its cases: the command, the build and the machine."""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip().replace("\n", "; ")
    return f"""# Figures

All figures of this page, and those of the README, are from one build on one machine, by one command:

    python3 bench-data/report.py bench-data/cases/report/*.toml --size {asked.size} --rivals PYTHON --data FOLDER --output docs/src/figures.md

- **Build**: {version}
- **Machine**: {cpu[1] if cpu else platform.processor()}, {os.cpu_count()} cores, {int(memory[1]) / 2**20:.0f} GiB, Linux {platform.release()}; {time.strftime("%Y-%m-%d", time.gmtime())}, load {begun:.1f} at the start

Commands ran in turn. Each figure is the median, with the least and the greatest behind it. *Clock* and *processor* are seconds of the whole command, from its start to its end; *memory* is the most that one of its processes took.
"""


def targets(cases):
    """All targets in one table."""
    rows = [(found["case"]["title"], target) for found in cases.values() for target in found["targets"]]
    counts = [sum(target["reached"] is it for _, target in rows) for it in (True, False, None)]
    lines = ["## Targets", "", f"{counts[0]} reached, {counts[1]} missed, {counts[2]} not measured. A target is the most that the first command may take of the second one.", ""]
    lines += ["| | target | at most | found | |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *(f"| [{title}](#{anchor(title)}) | {verdict(target)} |" for title, target in rows), ""])


def measured(path, asked):
    """What one case measured."""
    case = tomllib.loads(path.read_text())
    names = {"python": asked.rivals and asked.rivals.absolute(), "data": asked.data and asked.data.resolve(), "bench": HOME, **case.get(asked.size, {})}
    with tempfile.TemporaryDirectory(dir=asked.scratch) as folder:
        bench = Bench(case, folder, names, asked.size == "short")
        try:
            return bench.measured()
        except subprocess.CalledProcessError as failure:
            return {**bench.found, "failed": failure.cmd if isinstance(failure.cmd, str) else failure.cmd[-1]}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("cases", type=pathlib.Path, nargs="+")
    words.add_argument("--size", choices=["short", "hour", "full"], default="hour")
    words.add_argument("--program", type=pathlib.Path, default="target/release/dupsieve")
    words.add_argument("--rivals", type=pathlib.Path, metavar="PYTHON")
    words.add_argument("--data", type=pathlib.Path, metavar="FOLDER")
    words.add_argument("--scratch", type=pathlib.Path, help="where inputs are made [default: the system's folder for that]")
    words.add_argument("--output", type=pathlib.Path, metavar="PAGE.md")
    asked = words.parse_args()
    program = asked.program.resolve()
    os.environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    if asked.scratch:
        asked.scratch.mkdir(parents=True, exist_ok=True)
    first = head(asked, program, os.getloadavg()[0])
    print(first, flush=True)
    cases, sections, drawings = {}, [], {}
    for path in sorted(asked.cases, key=lambda path: tomllib.loads(path.read_text())["place"]):
        begun = time.monotonic()
        found = cases[path.stem] = measured(path, asked)
        if svg := drawing(found):
            drawings[f"figures-{path.stem}.svg"] = svg
        sections.append(written(path.stem, found, svg))
        print(sections[-1], flush=True)
        print(f"{path.stem}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    if asked.output:
        asked.output.write_text("\n".join([first, targets(cases), *sections]))
        pictures = asked.output.parent / "pictures"
        pictures.mkdir(exist_ok=True)
        for old in pictures.glob("figures-*.svg"):
            old.unlink()
        for name, svg in drawings.items():
            (pictures / name).write_text(svg)
    if failed := [name for name, found in cases.items() if "failed" in found]:
        raise SystemExit(f"a command failed in {', '.join(failed)}")


if __name__ == "__main__":
    main()

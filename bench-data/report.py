#!/usr/bin/env python3
"""Measures commands in turn, several times, and writes tables, drawings and reached or missed targets:

    python3 bench-data/report.py bench-data/cases/report/*.toml [--size short|hour|full] [--program DUPSIEVE] [--rivals PYTHON] [--data FOLDER]
                                 [--scratch FOLDER] [--output FOLDER]

A case has commands for bash, which run in a folder of their own with `dupsieve` on their path: `inputs` once, `fresh` before each command, and then those of its
table `commands` in turn, as often as `rounds` says. Names in braces are the numbers of its table for the size: `short` shows in seconds that the commands still
work, and a missed target is no failure then; all cases of the size `hour` take less than an hour on two cores; `full` is the size of the figures of the book.
`{python}` is PYTHON, an interpreter with the rivals, `{data}` is FOLDER, and `{bench}` is the folder of this file: a command or a case that needs what is not given is named as not measured.
A command that fails ends its case; the other cases are measured, and the exit code is 1.
With `cold` the system's cache is dropped before each command (that needs root). A command of the table `prints` runs once, and what it prints stands in the report.

A target holds the medians of two commands against each other: `of` and `to`, the clock (`wall` or `processor`) and the `most` that the ratio may be.
Prints the report; with --output, FOLDER gets report.md, report.json and a drawing of each case.
"""

import argparse
import json
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
        self.found = {"title": case["title"], "runs": {}, "prints": {}, "left_out": [], "needs": [], "targets": []}

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
            for _ in range(1 if self.short else self.case.get("rounds", 1)):
                for name, command in commands.items():
                    if command:
                        run = self.timed(command)
                        found["runs"].setdefault(name, []).append(run)
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
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def written(name, found):
    """The part of the report about one case."""
    lines = [f"## {found['title']}", ""]
    if found["runs"]:
        lines += ["| command | wall s | processor s | peak MB |", "|---|---|---|---|"]
        lines += [f"| {command} | {spread(runs, 'wall')} | {spread(runs, 'processor')} | {spread(runs, 'memory', 0)} |" for command, runs in found["runs"].items()]
        lines.append("")
    for target in found["targets"]:
        said = f"{target['of']} / {target['to']}, {target['clock']}: at most {target['most']}"
        if target["ratio"] is None:
            lines.append(f"- {said}: not measured")
        else:
            verdict = "reached" if target["reached"] else "MISSED"
            lines.append(f"- {said}: {target['ratio']:.2f} ({target['least']:.2f} to {target['greatest']:.2f}), {verdict}")
    for command, printed in found["prints"].items():
        lines += [f"{command}:", "", printed.rstrip() if printed.startswith("|") else f"```text\n{printed.rstrip()}\n```", ""]
    if "failed" in found:
        lines.append(f"FAILED: {found['failed']}")
    if found["needs"]:
        what = ", ".join(found["left_out"]) or "the case"
        lines.append(f"Not measured: {what}. Needs {' and '.join('--rivals' if it == 'python' else f'--{it}' for it in found['needs'])}.")
    lines += ["", f"`cases/report/{name}.toml`", ""]
    return "\n".join(lines)


def drawing(found):
    """The processor seconds of the commands of a case as bars; None if there are none."""
    medians = {name: statistics.median(run["processor"] for run in runs) for name, runs in found["runs"].items()}
    if not medians:
        return None
    most = max(medians.values()) or 1
    picture = Picture(860, 60 + 34 * len(medians), f"Processor seconds: {found['title']}")
    picture.text(20, 28, "processor seconds; less is better", "title")
    for place, (name, seconds) in enumerate(medians.items()):
        y = 46 + 34 * place
        picture.text(290, y + 15, name[:44], "end")
        picture.rect(300, y, max(1, 460 * seconds / most), 20, "a" if "{python}" in found["commands"][name] else "b")
        picture.text(308 + 460 * seconds / most, y + 15, f"{seconds:.2f}", "small")
    return str(picture)


def machine(program):
    """What the figures depend on."""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return {"program": " ".join(version.split()), "processor": cpu[1] if cpu else platform.processor(), "cores": os.cpu_count(),
            "memory_gib": round(int(memory[1]) / 2**20), "system": platform.release(), "load_before": os.getloadavg()[0]}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("cases", type=pathlib.Path, nargs="+")
    words.add_argument("--size", choices=["short", "hour", "full"], default="hour")
    words.add_argument("--program", type=pathlib.Path, default="target/release/dupsieve")
    words.add_argument("--rivals", type=pathlib.Path, metavar="PYTHON")
    words.add_argument("--data", type=pathlib.Path, metavar="FOLDER")
    words.add_argument("--scratch", type=pathlib.Path, help="where inputs are made [default: the system's folder for that]")
    words.add_argument("--output", type=pathlib.Path, metavar="FOLDER")
    asked = words.parse_args()
    program = asked.program.resolve()
    os.environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    if asked.scratch:
        asked.scratch.mkdir(parents=True, exist_ok=True)
    report = {"machine": machine(program), "size": asked.size, "cases": {}}
    of = report["machine"]
    head = (f"{of['program']}; {of['processor']}, {of['cores']} cores, {of['memory_gib']} GiB, Linux {of['system']}; load {of['load_before']:.1f} before. "
            f"Size `{asked.size}`. Commands ran in turn; medians with the least and the greatest.")
    texts = [f"# Figures of {time.strftime('%Y-%m-%d', time.gmtime())}\n\n{head}\n"]
    print(texts[0], flush=True)
    for path in asked.cases:
        case = tomllib.loads(path.read_text())
        names = {"python": asked.rivals and asked.rivals.absolute(), "data": asked.data and asked.data.resolve(), "bench": HOME, **case.get(asked.size, {})}
        with tempfile.TemporaryDirectory(dir=asked.scratch) as folder:
            bench = Bench(case, folder, names, asked.size == "short")
            try:
                found = bench.measured()
            except subprocess.CalledProcessError as failure:
                found = {**bench.found, "failed": failure.cmd if isinstance(failure.cmd, str) else failure.cmd[-1]}
        found["commands"] = case.get("commands", {})
        report["cases"][path.stem] = found
        texts.append(written(path.stem, found))
        print(texts[-1], flush=True)
    if asked.output:
        asked.output.mkdir(parents=True, exist_ok=True)
        (asked.output / "report.md").write_text("\n".join(texts))
        (asked.output / "report.json").write_text(json.dumps(report, indent=1) + "\n")
        for name, found in report["cases"].items():
            if svg := drawing(found):
                (asked.output / f"{name}.svg").write_text(svg)
    if failed := [name for name, found in report["cases"].items() if "failed" in found]:
        raise SystemExit(f"a command failed in {', '.join(failed)}")


if __name__ == "__main__":
    main()

"""Two processes of which one has a quarter of the speed: the time of a command over the ideal.

    python3 bench-data/slow.py --program target/release/dupsieve [--before OTHER] [--rounds 3] [--slow 1] [--scratch DIR] [--short]

One process of a hosts file is stopped for 75 of every 100 ms. The ideal is the time in which both do all of the work if neither ever waits: with F seconds for
one process alone, and S seconds for one process alone that is stopped in the same way, 1 / (1/F + 1/S). The three are measured in turn, round by round. Jobs:
fingerprints of one file, fingerprints of the same pages in forty files, and a join with a store. `--before` measures another program beside. Prints a line of JSON for
each job and program: the seconds of each round, and the median of the times over the ideal.
"""

import argparse
import json
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ON, OFF = 0.025, 0.075
FILES = 40


class Slowed:
    """Stops a process for most of the time, while it runs."""

    def __init__(self, process):
        self.process = process
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(OFF)
            self.process.send_signal(signal.SIGCONT)
            time.sleep(ON)


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return "127.0.0.1:%d" % server.getsockname()[1]


class Bench:
    def __init__(self, home, asked):
        self.home, self.slow = home, asked.slow
        self.run_alone(asked.program, "generate documents --count %d --output pages.jsonl" % (2000 if asked.short else 80000))
        (home / "parts").mkdir()
        lines = (home / "pages.jsonl").read_bytes().splitlines(keepends=True)
        for number in range(FILES):
            part = lines[number * len(lines) // FILES : (number + 1) * len(lines) // FILES]
            (home / f"parts/{number:02}.jsonl").write_bytes(b"".join(part))
        store, batch = (2e5, 2e4) if asked.short else (asked.store, asked.batch)
        self.run_alone(asked.program, f"generate segment --count {store:.0f} --density 8e9 --output old.seg")
        self.run_alone(asked.program, f"generate segment --count {batch:.0f} --density 4e8 --seed 2 --output batch.seg")
        self.run_alone(asked.program, "store init store")
        self.run_alone(asked.program, "store add store --segment old.seg --day 2026-01-01")
        (home / "secret").write_text("known to the two of us\n")
        (home / "secret").chmod(0o600)
        self.jobs = {
            "one file": "fingerprint --input pages.jsonl --output out/made.seg",
            "forty files": "fingerprint --input parts/ --output out/made.seg",
            "join": f"dedup --batch batch.seg --store store --distance {asked.distance} --output out/made",
        }

    def start(self, program, line):
        words = [program, "--quiet", *line.split()]
        return subprocess.Popen(words, cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def run_alone(self, program, line, slowed=False):
        began = time.monotonic()
        process = self.start(program, line)
        slow = Slowed(process) if slowed else None
        said = process.communicate()[1]
        seconds = time.monotonic() - began
        if slow:
            slow.thread.join()
        if process.returncode:
            sys.exit(f"{line} ended with {process.returncode}: {said}")
        return seconds

    def run_both(self, program, line):
        (self.home / "hosts.txt").write_text(f"{free_address()}\n{free_address()}\n")
        began = time.monotonic()
        both = [self.start(program, f"{line} --hosts hosts.txt --secret-file secret --process {process}") for process in range(2)]
        slow = Slowed(both[self.slow])
        said = [process.communicate()[1] for process in both]
        seconds = time.monotonic() - began
        slow.thread.join()
        if any(process.returncode for process in both):
            sys.exit(f"{line} ended with {[process.returncode for process in both]}: {said}")
        return seconds

    def measure(self, job, programs, rounds):
        line = self.jobs[job] + " --workers 1"
        runs = {name: {"alone": [], "slowed": [], "both": []} for name in programs}
        for _ in range(rounds):
            for name, program in programs.items():
                kinds = {
                    "alone": lambda: self.run_alone(program, line),
                    "slowed": lambda: self.run_alone(program, line, slowed=True),
                    "both": lambda: self.run_both(program, line),
                }
                for kind, run in kinds.items():
                    shutil.rmtree(self.home / "out", ignore_errors=True)
                    (self.home / "out").mkdir()
                    runs[name][kind].append(run())
        for name, found in runs.items():
            over = [both * (1 / alone + 1 / slowed) for alone, slowed, both in zip(found["alone"], found["slowed"], found["both"])]
            times = {kind: [round(seconds, 2) for seconds in found[kind]] for kind in found}
            print(json.dumps({"job": job, "program": name, **times, "over the ideal": [round(one, 2) for one in over],
                              "median": round(statistics.median(over), 2)}), flush=True)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--program", type=pathlib.Path, default="target/release/dupsieve")
    words.add_argument("--before", type=pathlib.Path, help="another program, measured in turn with this one")
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--slow", type=int, choices=[0, 1], default=1, help="which process is slow")
    words.add_argument("--store", type=float, default=2e7, help="fingerprints of the store")
    words.add_argument("--batch", type=float, default=1e6, help="fingerprints of the batch")
    words.add_argument("--distance", type=int, default=6)
    words.add_argument("--job", choices=["one file", "forty files", "join"], action="append")
    words.add_argument("--scratch")
    words.add_argument("--short", action="store_true", help="little input, to see that the commands work")
    asked = words.parse_args()
    programs = {"this": asked.program.resolve()}
    asked.program = programs["this"]
    if asked.before:
        programs = {"before": asked.before.resolve(), **programs}
    with tempfile.TemporaryDirectory(dir=asked.scratch, prefix="dupsieve-slow-") as home:
        bench = Bench(pathlib.Path(home), asked)
        for job in asked.job or bench.jobs:
            bench.measure(job, programs, asked.rounds)


if __name__ == "__main__":
    main()

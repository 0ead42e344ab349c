"""Machines that have an object store and nothing else in common run three days, are killed at random moments, lose their disks, and go on in
other numbers: the outputs must be those of one process on local files.

    python3 tests/harness/machines.py --program target/release/dupsieve [--cycles 200] [--pages 400] [--seed 1]

In each cycle a few runs lose a machine, or a machine and its disk; then runs are started until all machines of one end well. Some requests to
tests/objects_server.py fail or come late. Prints a line of JSON; ends with 1 if an output differs, if a machine ends with a code that would
not be run again, or if a cycle does not come to its end.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
DAYS = ["2026-11-18", "2026-11-19", "2026-11-20"]
MADE = ["batch.seg", *(f"dedup/{name}" for name in ("verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt")), "clusters/clusters.tsv"]
AGAIN = {69, 74, 75}
# Seconds that a run may take, and tries until a cycle must have ended well.
PATIENCE, TRIES = 600, 12
FAULTS = [{"do": "status", "status": 503, "every": 23}, {"do": "reset", "every": 37}, {"do": "lost", "method": "PUT", "every": 29},
          {"do": "delay", "seconds": 0.1, "every": 11}]


class Server:
    def __init__(self):
        words = [sys.executable, HERE.parent / "objects_server.py"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{json.loads(self.process.stdout.readline())['port']}"

    def put(self, path, told):
        body = told if isinstance(told, bytes) else json.dumps(told).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/{path}", body, method="PUT")).close()

    def get(self, path):
        with urllib.request.urlopen(f"{self.url}/{path}") as answer:
            return answer.read()

    def held(self, tree, name):
        return self.get(f"{tree}/{json.loads(self.get(f'{tree}/_SUCCESS'))['files'][name]['object']}")


def config(days, root):
    return (f'inputs = ["{days}/{{date}}/*"]\noutput = "{root}/{{date}}"\nstore = "{root}/store"\n'
            f"dates = {json.dumps(DAYS)}\n[clusters]\n")


def make_reference(program, home, pages):
    """Three days as one process runs them on local files. Returns the seconds that it took."""
    subprocess.run([program, "-q", "generate", "documents", "--count", str(4 * pages), "--near-share", "0.4", "--output", home / "all.jsonl"],
                   check=True, stdout=subprocess.DEVNULL)
    all_pages = (home / "all.jsonl").read_text().splitlines(keepends=True)
    for number, day in enumerate(DAYS):
        (home / "days" / day).mkdir(parents=True)
        for part in range(2):
            first = number * pages + part * pages
            (home / "days" / day / f"{part}.jsonl").write_text("".join(all_pages[first : first + pages]))
    (home / "local.toml").write_text(config(home / "days", home / "out"))
    began = time.monotonic()
    subprocess.run([program, "-q", "run", home / "local.toml", "--workers", "1"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


class Run:
    """The processes of one run, each with a home, a folder for temporary files and a cache of its own."""

    def __init__(self, program, server, home, bucket, machines):
        (home / "hosts.txt").write_text("".join(f"127.0.0.1:{port}\n" for port in free_ports(machines)))
        self.machines, self.logs = [], []
        for number in range(machines):
            disk = home / f"disk-{number}"
            (disk / "tmp").mkdir(parents=True, exist_ok=True)
            environment = {"PATH": os.environ["PATH"], "HOME": str(disk), "TMPDIR": str(disk / "tmp"), "AWS_ENDPOINT_URL": server.url,
                           "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}
            words = [program, "run", f"s3://{bucket}/run.toml", "--workers", "1", "--hosts", home / "hosts.txt", "--process", str(number),
                     "--peer-timeout", "20"]
            self.logs.append(home / f"log-{number}")
            with open(self.logs[-1], "w") as log:
                self.machines.append(subprocess.Popen(words, env=environment, cwd=disk, stdout=subprocess.DEVNULL, stderr=log))

    def wait(self, seconds):
        """Waits so long, or until one machine has ended."""
        late = time.monotonic() + seconds
        while time.monotonic() < late and all(it.poll() is None for it in self.machines):
            time.sleep(0.01)

    def end(self):
        late = time.monotonic() + PATIENCE
        codes = []
        for machine in self.machines:
            try:
                codes.append(machine.wait(max(0, late - time.monotonic())))
            except subprocess.TimeoutExpired:
                codes.append(None)
                machine.kill()
                machine.wait()
        return codes


def cycle(program, server, home, bucket, seconds, tally):
    """Runs the days with losses until they are done. Returns what was wrong, if anything."""
    home.mkdir()
    server.put("-/faults", [])
    server.put(f"{bucket}/run.toml", config("s3://pages", f"s3://{bucket}/out").encode())
    server.put("-/faults", FAULTS)
    losses = random.randint(1, 3)
    for tried in range(TRIES):
        run = Run(program, server, home, bucket, random.randint(1, 3))
        lost = None
        if tried < losses:
            run.wait(random.uniform(0, 2 * seconds))
            lost = random.randrange(len(run.machines))
            run.machines[lost].kill()
        codes = run.end()
        tally["runs"] += 1
        tally.update(f"code {code}" for code in codes)
        if lost is not None and random.random() < 0.5:
            shutil.rmtree(home / f"disk-{lost}")
            tally["disks lost"] += 1
        bad = [code for number, code in enumerate(codes) if number != lost and code != 0 and code not in AGAIN]
        if bad:
            return f"codes {codes}: " + " | ".join(log.read_text()[-600:] for log in run.logs)
        if all(code == 0 for code in codes):
            break
    else:
        return "no end: " + " | ".join(log.read_text()[-600:] for log in run.logs)
    server.put("-/faults", [])
    for day in DAYS:
        for name in MADE:
            if server.held(f"{bucket}/out/{day}", name) != (home.parent / "out" / day / name).read_bytes():
                return f"{day} {name} differs"
    return None


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--program", type=pathlib.Path, required=True)
    words.add_argument("--cycles", type=int, default=200)
    words.add_argument("--pages", type=int, default=400)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    random.seed(asked.seed)
    server, tally, wrong = Server(), collections.Counter(), []
    program = asked.program.resolve()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        seconds = make_reference(program, home, asked.pages)
        server.put("-/load", {"folder": str(home / "days"), "bucket": "pages", "prefix": ""})
        done = 0
        # Ctrl-C ends the series early, and what was done counts.
        with contextlib.suppress(KeyboardInterrupt):
            for done in range(1, asked.cycles + 1):
                said = cycle(program, server, home / f"cycle-{done}", f"c{done}", seconds, tally)
                wrong += [f"cycle {done}: {said}"] if said else []
                shutil.rmtree(home / f"cycle-{done}")
                print(f"{done} cycles, {tally['runs']} runs, {len(wrong)} wrong", file=sys.stderr)
    server.process.kill()
    print(json.dumps({"cycles": done, "seed": asked.seed, **tally, "wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

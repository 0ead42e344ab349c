"""What the faults stand on: small jobs with known results, the program, and what must hold of a folder."""

import ctypes
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

# What takes so long hangs, on a busy machine too.
PATIENCE = 600
# A lost or damaged machine, an interrupted run, a peer that is not there: run again, says the program.
RETRYABLE = {69, 74, 75}
DOCUMENTED = {0, 2, 65, 66, 69, 70, 73, 74, 75, 77, 78}
DAYS = ["2026-01-01", "2026-01-02"]
CONFIG = """inputs = ["crawl/{date}.tsv"]
output = "out/{date}"
store = "out/store"
dates = ["2026-01-01", "2026-01-02"]
[fingerprint]
format = "fingerprints"
"""


class Violation(Exception):
    """A promise that was not kept."""


class Ended:
    """How a run of the program ended; the code is negative where a signal ended it."""

    def __init__(self, code, stdout, stderr, seconds):
        self.code, self.stdout, self.stderr, self.seconds = code, stdout, stderr, seconds

    def summary(self):
        return json.loads(self.stdout.splitlines()[-1])

    def expect(self, *codes):
        if self.code not in codes:
            raise Violation(f"ended with {self.code}, not {codes}: {self.stderr[-500:]}")
        return self


LIBC, PR_SET_PDEATHSIG = ctypes.CDLL(None), 1


def dies_with_us():
    """A harness that is killed leaves nothing that runs."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Running:
    """A program at work, and whatever it has started, in a group of its own."""

    def __init__(self, words, home):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [str(word) for word in words], cwd=home, text=True, errors="replace", start_new_session=True,
            preexec_fn=dies_with_us, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def goes_on(self):
        return self.process.poll() is None

    def listens(self):
        """Whether it has begun to listen to every signal; before that, the system ends it. SIGXFSZ is the last that it asks for."""
        try:
            text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return False
        return int(text.split("SigCgt:")[1].split()[0], 16) >> (signal.SIGXFSZ - 1) & 1 == 1

    def signal_all(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def children(self):
        try:
            text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            return []
        return [int(number) for number in text.split()]

    def end(self, patience=PATIENCE):
        try:
            stdout, stderr = self.process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            self.signal_all(signal.SIGKILL)
            self.process.communicate()
            raise Violation(f"hangs for more than {patience} s") from None
        seconds = time.monotonic() - self.began
        return Ended(self.process.returncode, stdout, stderr, seconds)


class Job:
    """A command, the outputs that it makes, each absent or whole, and the store that it changes. Of its upkeep it may
    leave a part for the next run, if it says by which command that is done. A store that keeps files beside its segments
    may lack some of them when it was killed; `store verify` says so with one of these codes."""

    def __init__(self, name, words, outputs=(), store=None, upkeep=None, verified=(0,)):
        self.name, self.words, self.outputs, self.store = name, words.split(), list(outputs), store
        self.upkeep, self.verified = upkeep, verified


JOBS = [
    Job("fingerprint", "fingerprint --format fingerprints --input crawl/2026-01-02.tsv --output new.seg",
        outputs=["new.seg"]),
    Job("dedup", "dedup --batch batch.seg --store store --output new/dedup", outputs=["new/dedup"]),
    Job("lsh", "lsh --input pages.tsv --similarity 0.8 --matches all --output new-lsh",
        outputs=["new-lsh/batch.seg", "new-lsh/dedup"]),
    Job("bands against a store", "dedup --batch newer.seg --store banded --check points:0.6 --output new/lsh",
        outputs=["new/lsh"]),
    Job("cluster", "cluster --matches found --output new/clusters --method components", outputs=["new/clusters"]),
    Job("cluster a day", "cluster --previous clusters --matches found --day 2026-01-02 --output new/clusters",
        outputs=["new/clusters"]),
    Job("store init", "store init new-store", store="new-store"),
    Job("store add", "store add store --segment batch.seg --day 2026-01-02 --only ids.txt", store="store"),
    Job("store compact", "store compact store", store="store"),
    Job("store prune", "store prune ten --keep-versions 1", store="ten"),
    Job("store expire", "store expire ten --keep-days 4", store="ten", upkeep="store compact ten --tiers"),
    Job("store remove", "store remove ten --ids gone.txt", store="ten"),
    Job("store purge", "store purge gone", store="gone"),
    Job("store index", "store index store", store="store"),
    Job("store add, merging", "store add nine --segment batch.seg --day 2026-01-10", store="nine",
        upkeep="store compact nine --tiers"),
    Job("store add, replacing",
        "store add nine --segment batch.seg --day 2026-01-10 --replaced replaced.tsv --slack slack.tsv", store="nine",
        upkeep="store compact nine --tiers"),
    Job("weights", "weights --recipe shingles-1 --input pages.tsv --output new-table", outputs=["new-table"]),
    Job("filter", "filter --input pages.tsv --ids numbers.txt --output new/kept.tsv", outputs=["new/kept.tsv"]),
    Job("run", "run days.toml", store="out/store",
        outputs=[f"out/{day}/{part}" for day in DAYS for part in ["batch.seg", "dedup"]]),
]
RUN = JOBS[-1]


class Bench:
    """A folder of inputs to copy from, and the program to run on the copies."""

    def __init__(self, program, scratch):
        self.program, self.scratch = program.resolve(), scratch
        self.made = scratch / "made"
        self.make()
        self.expected = {}

    def make(self):
        chance = random.Random(1)
        pages = [chance.getrandbits(64) for _ in range(2500)]
        (self.made / "crawl").mkdir(parents=True)
        for day in DAYS:
            lines = [f"{day}-{page}\t{near(chance, pages):#018x}\n" for page in range(1500)]
            (self.made / f"crawl/{day}.tsv").write_text("".join(lines))
        pages = [f"{page}\tpage {page % 40} of {page // 40 % 9}\n" for page in range(400)]
        (self.made / "pages.tsv").write_text("id\ttext\n" + "".join(pages))
        for name, part in [("older", pages[:200]), ("newer", pages[200:])]:
            (self.made / f"{name}.tsv").write_text("id\ttext\n" + "".join(part))
        (self.made / "days.toml").write_text(CONFIG)
        (self.made / "ids.txt").write_text("".join(f"2026-01-02-{page}\n" for page in range(0, 1500, 2)))
        (self.made / "numbers.txt").write_text("".join(f"{page}\n" for page in range(0, 400, 3)))
        for day, name in zip(DAYS, ["old", "batch"]):
            self.done(self.made, "fingerprint", "--format", "fingerprints", "--input", f"crawl/{day}.tsv",
                      "--output", f"{name}.seg")
        self.done(self.made, "store", "init", "store")
        self.done(self.made, "store", "add", "store", "--segment", "old.seg", "--day", DAYS[0])
        for name in ["older", "newer"]:
            self.done(self.made, "fingerprint", "--input", f"{name}.tsv", "--sketch", "points",
                      "--keep-bands", "minhash-8x2", "--output",
                      f"{name}.seg")
        self.done(self.made, "store", "init", "banded")
        self.done(self.made, "store", "add", "banded", "--segment", "older.seg", "--day", DAYS[0])
        self.done(self.made, "store", "init", "nine")
        for day in range(1, 10):
            self.done(self.made, "store", "add", "nine", "--segment", "old.seg", "--day", f"2026-01-{day:02}")
        rows = [f"2026-01-01-{page}\t2026-01-{1 + page % 9:02}\t2026-01-02-{page}\t0.9500\n" for page in range(0, 1500, 2)]
        (self.made / "replaced.tsv").write_text("id\tday\tby\tcontainment\n" + "".join(rows))
        rows = [f"2026-01-02-{page}\tbatch\t{page % 40}\n" for page in range(0, 1500, 2)]
        (self.made / "slack.tsv").write_text("id\tday\tslack\n" + "".join(rows))
        shutil.copytree(self.made / "nine", self.made / "ten")
        self.done(self.made, "store", "add", "ten", "--segment", "old.seg", "--day", "2026-01-10")
        gone = [f"{day}-{page}\n" for day in DAYS for page in range(0, 1500, 7)]
        (self.made / "gone.txt").write_text("".join(gone))
        shutil.copytree(self.made / "store", self.made / "gone")
        self.done(self.made, "store", "add", "gone", "--segment", "batch.seg", "--day", DAYS[1])
        self.done(self.made, "store", "remove", "gone", "--ids", "gone.txt")
        for name, words in [("earlier", ["--batch", "old.seg"]), ("found", ["--batch", "batch.seg", "--store", "store"])]:
            self.done(self.made, "dedup", *words, "--output", name)
        self.done(self.made, "cluster", "--matches", "earlier", "--day", DAYS[0], "--output", "clusters")

    def command(self, *words):
        return [self.program, *words, "--quiet"]

    def run(self, home, *words, patience=PATIENCE):
        return Running(self.command(*words), home).end(patience)

    def done(self, home, *words):
        return self.run(home, *words).expect(0)

    def fresh(self, name="home"):
        """A new copy of the inputs."""
        home = self.scratch / name
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.made, home, symlinks=True)
        return home

    def undisturbed(self, job, flags=()):
        """The files that a job leaves when nothing happens to it, and the least seconds it takes."""
        if (job.name, flags) not in self.expected:
            seconds = []
            for _ in range(3):
                home = self.fresh("undisturbed")
                seconds.append(self.done(home, *job.words, *flags).seconds)
            self.expected[job.name, flags] = files(home), min(seconds)
        return self.expected[job.name, flags]

    def check(self, home, job, expected, ended=None):
        """Whatever stands in place is whole, all of it if the job said so, and the store can be read."""
        if ended and ended.code == 0:
            left = job.upkeep and job.upkeep in ended.stderr
            if not (left or files(home) == expected) or not ended.stdout.startswith("{"):
                raise Violation("ended with 0, and not all is there, or the summary is not")
        for output in job.outputs:
            if (home / output).exists():
                whole = {name: text for name, text in expected.items() if within(name, output)}
                if {name: text for name, text in files(home).items() if within(name, output)} != whole:
                    raise Violation(f"{output} is there and not whole")
        if job.store and (home / job.store / "CURRENT").exists():
            self.run(home, "store", "verify", job.store).expect(*job.verified)

    def complete(self, home, job, expected, flags=()):
        """Runs a job again until it is through; how often, the seconds of all, and those of the last."""
        began, runs = time.monotonic(), 0
        while True:
            runs += 1
            ended = self.run(home, *job.words, *flags)
            if ended.code == 0:
                break
            if ended.code not in RETRYABLE or time.monotonic() - began > PATIENCE:
                raise Violation(f"does not complete: {ended.code}: {ended.stderr[-500:]}")
            time.sleep(0.02)
        found = files(home)
        if found != expected:
            differ = [name for name in {*found, *expected} if found.get(name) != expected.get(name)]
            raise Violation(f"completed, with other bytes in {sorted(differ)}")
        return runs, time.monotonic() - began


def near(chance, pages):
    page = chance.choice(pages)
    for _ in range(chance.randrange(4)):
        page ^= 1 << chance.randrange(64)
    return page


def within(name, output):
    return name == output or name.startswith(output + "/")


def files(home):
    """The files below a folder that count: no locks, nothing unfinished; of a report, not how it was run."""
    found = {}
    for path in home.rglob("*"):
        parts = path.relative_to(home).parts
        hidden = any(part.startswith(".") for part in parts)
        counts = not hidden and path.name != "LOCK" and not path.name.endswith(".failed.json")
        if counts and path.is_file():
            found["/".join(parts)] = content(path)
    return found


def content(path):
    if path.name == "report.html":
        return b"drawn from report.json, with the times that it took"
    if path.name != "report.json":
        return path.read_bytes()
    report = json.loads(path.read_bytes())
    report.pop("run", None)
    return json.dumps(report).encode()


def strays(home):
    """What a run that is through has left besides its files."""
    names = (path.name for path in home.rglob("*"))
    return [name for name in names if ".tmp-" in name or name.startswith(".unfinished-")]

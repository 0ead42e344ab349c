"""An evening with a crawl in web archives, by the book alone:

    python3 tests/evening.py target/release/dupsieve [--objects]

Makes two days of WARC.gz, runs every command of the chapter "An evening with web archives" as it stands there, in its order, and checks
what comes out. Of Python it needs the standard library; the queries are run where duckdb can be imported, and pyarrow reads the verdicts where that
is. A program with the feature `object-store` goes through the part about object stores too, with the server of the tests; --objects demands the feature."""

import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

TESTS = pathlib.Path(__file__).resolve().parent
CHAPTER = TESTS.parent / "docs" / "src" / "evening.md"
# The part that needs a feature of the build.
OBJECTS = "In an object store"
DAYS = ["2026-11-18", "2026-11-19"]
WORDS = [first + last for first in "ba co du fe gi ha jo ku la me ni po ru sa te vi wo".split()
         for last in "bel dor fin gam hol kin lum mar nes pil ran sol tur ven wyk".split()]
PAGES, COPIES = 40, 15


def text(chance):
    """The paragraphs of a page that is like no other."""
    return [" ".join(chance.choices(WORDS, k=60)) for _ in range(6)]


def edited(paragraphs, chance):
    """The same with one word changed, as by an editor."""
    words = [paragraph.split() for paragraph in paragraphs]
    place = chance.randrange(len(words))
    words[place][chance.randrange(60)] = "corrected"
    return [" ".join(line) for line in words]


def record(url, time_of, paragraphs):
    """A page as a crawler writes it: a member of gzip that holds the answer of the host."""
    body = "".join(f"<p>{line}</p>\n" for line in paragraphs)
    page = f"<!doctype html><html><head><title>{url}</title></head><body><nav>Home News</nav>{body}</body></html>".encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
    head = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {time_of}\r\n"
            f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, url)}>\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n").encode()
    return gzip.compress(head + answer + b"\r\n\r\n", mtime=0)


def crawl(folder):
    """Writes two days of pages; returns for each copy the page that it is a copy of, by day."""
    chance, known, planted = random.Random(7), {}, {}
    for day in DAYS:
        new = {f"https://news.example/{day}/{number}": text(chance) for number in range(PAGES)}
        copies = {}
        for number in range(COPIES):
            original = chance.choice(sorted(known or new))
            copies[f"https://repeats.example/{day}/{number}"] = original
        planted[day] = copies
        known.update(new)
        pages = list(new.items()) + [(url, edited(known[of], chance)) for url, of in copies.items()]
        folder.joinpath(day).mkdir(parents=True)
        for part in range(2):
            # The parts were written side by side; a copy is fetched after its original.
            records = [record(url, f"{day}T00:{at // 60:02}:{at % 60:02}Z", lines)
                       for at, (url, lines) in list(enumerate(pages))[part::2]]
            folder.joinpath(day, f"part-{part}.warc.gz").write_bytes(b"".join(records))
    return planted


def blocks():
    """The blocks of the chapter that are run: the heading they are below, their language and their text."""
    for part in re.split(r"^## ", CHAPTER.read_text(), flags=re.MULTILINE):
        for language, block in re.findall(r"^```(sh|sql)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL):
            yield part.splitlines()[0], language, block


def check(holds, what):
    if not holds:
        sys.exit(f"WRONG: {what}")


class Evening:
    """The commands of the chapter, in a folder of their own."""

    def __init__(self, program, home):
        self.home, self.told = home, {}
        (home / "bin").mkdir()
        (home / "bin" / "dupsieve").symlink_to(program)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DUPSIEVE_")}
        self.environment = {**kept, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}

    def type(self, line):
        """Types a command, which must succeed."""
        began = time.monotonic()
        run = subprocess.run(["bash", "-c", line], cwd=self.home, env=self.environment, capture_output=True, text=True)
        print(f"{time.monotonic() - began:5.1f} s  {line}", flush=True)
        check(run.returncode == 0, f"{line}\nended with {run.returncode}\n{run.stdout}{run.stderr}")
        self.told[line] = run.stdout

    def ask(self, query):
        """Runs a query where DuckDB is installed; returns its rows."""
        if importlib.util.find_spec("duckdb") is None:
            return None
        import duckdb
        here = os.getcwd()
        os.chdir(self.home)
        try:
            return duckdb.sql(query).fetchall()
        finally:
            os.chdir(here)


class Objects:
    """The object store of the tests, with the crawl in it."""

    def __init__(self, evening):
        command = [sys.executable, TESTS / "objects_server.py"]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = f"http://127.0.0.1:{json.loads(self.server.stdout.readline())['port']}"
        load = {"folder": str(evening.home / "crawl"), "bucket": "crawl", "prefix": "pages"}
        request = urllib.request.Request(f"{self.address}/-/load", json.dumps(load).encode(), method="PUT")
        urllib.request.urlopen(request).close()
        evening.environment.update(
            AWS_ENDPOINT_URL=self.address, AWS_ACCESS_KEY_ID="evening", AWS_SECRET_ACCESS_KEY="evening", AWS_REGION="us-east-1", AWS_ALLOW_HTTP="true",
            HOME=str(evening.home), XDG_CACHE_HOME=str(evening.home / "cache"))

    def read(self, key):
        with urllib.request.urlopen(f"{self.address}/crawl/{key}") as answer:
            return answer.read()

    def check(self, home):
        """The lists there must be those of the same days on this machine."""
        for day in DAYS:
            files = json.loads(self.read(f"out/{day}/_SUCCESS"))["files"]
            for name in ("dedup/keep.txt", "dedup/drop.txt"):
                there, here = self.read(f"out/{day}/{files[name]['object']}"), (home / "out" / day / name).read_bytes()
                check(there == here, f"{day}: {name} in the object store is another")

    def close(self):
        self.server.stdin.close()
        self.server.wait()


def has_objects(program):
    """Whether the program reads object stores."""
    told = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return any(line.startswith("features:") and "object-store" in line for line in told.splitlines())


def verdicts(home):
    """The verdict on each page, by pyarrow; none where it is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        return None
    from pyarrow import parquet
    rows = [row for day in DAYS for row in parquet.read_table(home / "out" / day / "dedup" / "verdicts.parquet").to_pylist()]
    return {row["id"]: row for row in rows}


def check_results(evening, planted, answers):
    home = evening.home
    copies = {url: of for day in DAYS for url, of in planted[day].items()}
    for day in DAYS:
        folder = home / "out" / day / "dedup"
        dropped, kept = [folder.joinpath(name).read_text().split() for name in ("drop.txt", "keep.txt")]
        check(sorted(dropped) == sorted(planted[day]), f"{day}: {dropped} was dropped, not {sorted(planted[day])}")
        check(len(kept) == PAGES, f"{day}: {len(kept)} pages were kept")
        check((folder / "report.html").read_text().startswith("<!doctype html>"), f"{day} has no page")
    if (read := verdicts(home)) is None:
        print("NOT CHECKED: pyarrow is not here, so it did not read the verdicts")
    else:
        near = {url: copies.get(row["of"], row["of"]) for url, row in read.items() if row["verdict"] == "drop"}
        check(near == {url: copies[url] for url in near}, f"copies of other pages: {near}")
    if None in answers:
        print("NOT CHECKED: duckdb is not here, so the queries were not run")
    else:
        counts = {verdict: pages for verdict, pages in answers[0]}
        check(counts == {"drop": 2 * COPIES, "keep": 2 * PAGES}, f"DuckDB counts {counts}")
        check(len(answers[1]) == COPIES, f"DuckDB finds {len(answers[1])} copies of the second day")


def check_telemetry(home):
    metrics = (home / "dupsieve.prom").read_text()
    for series in ['dupsieve_last_run_exit_code{command="run"} 0', 'dupsieve_runs_total{command="run",exit_code="0"} 3',
                   'dupsieve_last_run_changed{command="run"} 0']:
        check(series in metrics.splitlines(), f"the metrics lack {series}:\n{metrics}")


def walk(evening):
    """Goes through the chapter and checks what comes out."""
    planted = crawl(evening.home / "crawl")
    objects = Objects(evening) if has_objects(evening.home / "bin" / "dupsieve") else None
    answers = []
    for heading, language, block in blocks():
        if heading == OBJECTS and objects is None:
            print("NOT CHECKED: this program has no feature `object-store`")
        elif language == "sql":
            answers.append(evening.ask(block))
        else:
            for line in block.replace("\\\n", " ").splitlines():
                evening.type(line)
    check(len(evening.told) > 8 and len(answers) == 2, "the chapter has lost its commands")
    check_results(evening, planted, answers)
    check_telemetry(evening.home)
    if objects is not None:
        objects.check(evening.home)
        objects.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--objects", action="store_true")
    asked = parser.parse_args()
    program = asked.program.resolve()
    check(has_objects(program) or not asked.objects, f"{program} has no feature `object-store`")
    with tempfile.TemporaryDirectory(prefix="evening-") as folder:
        walk(Evening(program, pathlib.Path(folder)))
    print("the evening went as the book says")


if __name__ == "__main__":
    main()

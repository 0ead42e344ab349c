"""Feeds days of pages to `dupsieve serve` as a crawler would, and compares the store with the one that `run` makes.

    python3 bench-data/serve_days.py --program target/release/dupsieve --base base.jsonl --days DIR

Each page of a day is asked for and remembered, and the day is committed; `run` gets the same files in another
folder. After a merge, which leaves out the hidden pages, the days of both stores must have the same rows.
"""

import argparse
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time

AT_ONCE = 50


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--program", type=pathlib.Path, required=True)
    words.add_argument("--base", type=pathlib.Path, required=True, help="JSON Lines of the first day")
    words.add_argument("--days", type=pathlib.Path, required=True, help="folder of DAY.jsonl")
    words.add_argument("--scratch", help="where to work")
    words.add_argument("--port", type=int, default=8399)
    asked = words.parse_args()
    days = sorted(path.stem for path in asked.days.glob("*.jsonl"))
    with tempfile.TemporaryDirectory(dir=asked.scratch) as scratch:
        return compare(asked, days, pathlib.Path(scratch))


def compare(asked, days, home):
    program = asked.program.resolve()
    first = days[0][:8] + "01"
    crawl = home / "crawl"
    crawl.mkdir()
    for day, path in [(first, asked.base), *((day, asked.days / f"{day}.jsonl") for day in days)]:
        (crawl / f"{day}.jsonl").write_bytes(path.read_bytes())
    all_days = [first, *days]
    dates = json.dumps(all_days)
    (home / "run.toml").write_text(
        f'inputs = ["crawl/{{date}}.jsonl"]\noutput = "out/{{date}}"\nstore = "by-run"\n'
        f'dates = {dates}\n[dedup]\nkeep = "first-id"\n')
    began = time.monotonic()
    subprocess.run([program, "run", "run.toml", "-q"], cwd=home, check=True, stdout=subprocess.DEVNULL)
    ran = time.monotonic() - began
    served = subprocess.Popen(
        [program, "serve", "--store", "by-serve", "--create", "--listen", f"127.0.0.1:{asked.port}", "-q"],
        cwd=home, stdout=subprocess.DEVNULL)
    try:
        began = time.monotonic()
        counts = feed(asked.port, crawl, all_days)
        fed = time.monotonic() - began
    finally:
        served.terminate()
        served.wait()
    rows = [listed(program, home, store) for store in ("by-run", "by-serve")]
    same = rows[0] == rows[1]
    print(json.dumps({"days": len(all_days), **counts, "rows": sum(row["rows"] for row in rows[0]), "same": same,
                      "seconds of run": round(ran, 1), "seconds of serve": round(fed, 1), "exit": served.returncode}))
    return 0 if same else 1


def feed(port, crawl, days):
    counts = {"pages": 0, "keep": 0, "drop": 0, "empty": 0, "repeated": 0, "gone": 0, "replaced": 0}
    wait(port)
    for day in days:
        pages = [json.loads(line) for line in (crawl / f"{day}.jsonl").read_text().splitlines() if line.strip()]
        pages = [{"id": page["id"], "text": page["text"]} for page in pages]
        for at in range(0, len(pages), AT_ONCE):
            some = pages[at:at + AT_ONCE]
            ask(port, "/v1/query", {"pages": some})
            for answer in ask(port, "/v1/pages", {"pages": some, "remember": "all"})["answers"]:
                counts[answer["verdict"]] += 1
        counts["pages"] += len(pages)
        gone = ask(port, "/v1/commit", {"day": day}).get("gone", [])
        counts["gone"] += len(gone)
        counts["replaced"] += sum(page["day"] is not None for page in gone)
    return counts


def wait(port):
    late = time.monotonic() + 60
    while time.monotonic() < late:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit("the service does not answer")


def ask(port, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    text = reply.read()
    if reply.status != 200:
        sys.exit(f"{path}: {reply.status} {text[:500]}")
    return json.loads(text)


def listed(program, home, store):
    """The rows of the days after a merge, and their digests. (A segment also says what it was made from, so the bytes of the files differ.)"""
    subprocess.run([program, "store", "compact", store, "-q"], cwd=home, check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([program, "store", "list", store, "--json"], cwd=home, check=True, capture_output=True).stdout
    return [{key: day[key] for key in ("day", "rows", "digest")} for day in json.loads(text)["days"]]


if __name__ == "__main__":
    sys.exit(main())

"""What it costs to read pages from an object store: `fingerprint` of local files and of the same files in a server on this machine, in turn.

    python3 bench-data/objects.py --program target/release/dupsieve [--pages 200000] [--files 8] [--delay 0.05] [--rounds 5] [--server tests/objects_server.py]

The program needs the feature `object-store`. With --delay, each answer of the server comes so many seconds later. Makes pages with `dupsieve generate`, as JSON Lines, plain and gzip, loads them into the test
server, and runs both sides alternately. Prints a line of JSON for each: the median of the seconds, the fastest and the slowest, MB of
files a second, and the processor time of the program. Exits with 1 if the segments differ. The server is Python and shares the processors with the program: the figure is a lower
bound of what a store on a network with the same bandwidth allows.
"""

import argparse
import filecmp
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent


def make(program, folder, pages, files):
    """Writes `pages` pages to files in two folders: plain and packed."""
    whole = folder / "pages.jsonl"
    subprocess.run([program, "-q", "generate", "documents", "--count", str(pages), "--output", whole], check=True, capture_output=True)
    lines = whole.read_bytes().splitlines(keepends=True)
    for name in ["plain", "gzip"]:
        (folder / "b" / name).mkdir(parents=True)
    for number in range(files):
        part = b"".join(lines[number::files])
        (folder / "b" / "plain" / f"part-{number:05}.jsonl").write_bytes(part)
        (folder / "b" / "gzip" / f"part-{number:05}.jsonl.gz").write_bytes(gzip.compress(part, 6))


def serve(script, folder, delay):
    """Starts the server with the files. Returns it and the variables by which the program finds it."""
    server = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    endpoint = f"http://127.0.0.1:{json.loads(server.stdout.readline())['port']}"
    told = json.dumps({"folder": str(folder / "b"), "bucket": "b"}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/-/load", told, method="PUT")).read()
    faults = json.dumps([{"do": "delay", "seconds": delay}] if delay else []).encode()
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/-/faults", faults, method="PUT")).read()
    variables = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_REGION": "us-east-1",
        "DUPSIEVE_CACHE": str(folder / "cache"),
    }
    return server, {**os.environ, **variables}


def seconds(program, source, output, variables):
    output.unlink(missing_ok=True)
    began, before = time.monotonic(), os.times()
    words = [program, "-q", "fingerprint", "--input", source, "--output", output]
    subprocess.run(words, check=True, capture_output=True, env=variables)
    after = os.times()
    return time.monotonic() - began, after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/dupsieve")
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--server", default=HERE.parent / "tests" / "objects_server.py")
    told = parser.parse_args()
    program = str(pathlib.Path(told.program).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make(program, folder, told.pages, told.files)
        server, variables = serve(told.server, folder, told.delay)
        differ = False
        for packing in ["plain", "gzip"]:
            sources = {"local": str(folder / "b" / packing), "objects": f"s3://b/{packing}"}
            outputs = {side: folder / f"{side}.seg" for side in sources}
            taken = {side: [] for side in sources}
            for number in range(told.rounds):
                sides = list(sources) if number % 2 == 0 else list(sources)[::-1]
                for side in sides:
                    taken[side].append(seconds(program, sources[side], outputs[side], variables))
            differ |= not filecmp.cmp(*outputs.values(), shallow=False)
            size = sum(file.stat().st_size for file in (folder / "b" / packing).iterdir())
            for side, pairs in taken.items():
                times, busy = zip(*pairs)
                median = statistics.median(times)
                figures = {"files": packing, "from": side, "rounds": told.rounds, "seconds": round(median, 3)}
                figures |= {"fastest": round(min(times), 3), "slowest": round(max(times), 3), "mb_per_second": round(size / median / 1e6, 1)}
                figures |= {"processor_seconds": round(statistics.median(busy), 2)}
                print(json.dumps(figures), flush=True)
        server.kill()
        server.wait()
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()

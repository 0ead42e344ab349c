"""Several writers commit to one tree in an object store, through a proxy that fails: no commit may be lost, none may be there twice,
and none that was told to have lost may be there.

    python3 tests/harness/objects.py --commits target/release/deps/commits-* --server 127.0.0.1:5000 --bucket faults --count 10000

The server must be running, with the bucket in it: any that speaks S3, such as moto or s3s-fs, with --scheme az Azurite, with --scheme gs
tests/objects_server.py. moto and s3s-fs look at the condition of a put and write in two steps, so that two writers can both win; the proxy counts
such puts (`both won`), and passes puts on one by one with --one-at-a-time. Credentials are taken from the environment. Prints a line of JSON; ends with 1 if a promise was broken.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKEXAMPLES3S", "AWS_SECRET_ACCESS_KEY": "SKEXAMPLES3S", "AWS_REGION": "us-east-1"}


def start_proxy(asked):
    words = [sys.executable, HERE / "proxy.py", "--to", asked.server, "--seed", str(asked.seed), "--share", str(asked.share)]
    words += ["--one-at-a-time"] if asked.one_at_a_time else []
    proxy = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    return proxy, int(proxy.stdout.readline())


def environment(port):
    at = f"http://127.0.0.1:{port}"
    s3 = {"AWS_ENDPOINT": at, "AWS_ALLOW_HTTP": "true"}
    azurite = {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": at}
    account = {"gcs_base_url": at, "disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    google = {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(account), "GOOGLE_ALLOW_HTTP": "true"}
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "SERVICE_ACCOUNT"))}
    return CREDENTIALS | ours | s3 | azurite | google | {"DUPSIEVE_OBJECT_PATIENCE": "20"}


def write(asked, port, scratch):
    """Runs the writers. Returns what each said of its commits: done, lost or unsure, and the name."""
    address = f"{asked.scheme}://{asked.bucket}/{asked.name}"
    writers = []
    for writer in range(asked.writers):
        share = asked.count // asked.writers + (writer < asked.count % asked.writers)
        cache = pathlib.Path(scratch) / str(writer)
        words = [asked.commits, address, cache, f"w{writer}", str(share)]
        said = open(pathlib.Path(scratch) / f"said-{writer}", "w+")
        writers.append((subprocess.Popen(words, stdout=said, env=environment(port)), said))
    told = []
    for writer, said in writers:
        if writer.wait() != 0:
            raise SystemExit("a writer failed")
        said.seek(0)
        told += [line.split() for line in said]
    return told


def lines_there(asked, scratch):
    """The lines of the file of the tree, read past the proxy."""
    words = [asked.commits, f"{asked.scheme}://{asked.bucket}/{asked.name}", pathlib.Path(scratch) / "end", "end", "1"]
    port = asked.server.split(":")[1]
    subprocess.run(words, check=True, env=environment(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    [file] = (pathlib.Path(scratch) / "end").rglob("lines")
    return [line for line in file.read_text().split() if not line.startswith("end")]


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--commits", type=pathlib.Path, required=True, help="the program of bench-data/commits.rs")
    words.add_argument("--server", required=True, help="HOST:PORT")
    words.add_argument("--scheme", choices=["s3", "az", "gs"], default="s3")
    words.add_argument("--bucket", default="faults")
    words.add_argument("--name", default=f"tree-{time.time_ns()}")
    words.add_argument("--count", type=int, default=1000)
    words.add_argument("--writers", type=int, default=3)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--share", type=float, default=0.1, help="of the requests that meet a fault")
    words.add_argument("--one-at-a-time", action="store_true", help="for a server whose conditional puts are not atomic")
    asked = words.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dupsieve-objects-") as scratch:
        proxy, port = start_proxy(asked)
        try:
            told = write(asked, port, scratch)
        finally:
            proxy.terminate()
            faults = json.loads(proxy.communicate()[0])
        there = lines_there(asked, scratch)
    names = {kind: {name for said, name in told if said == kind} for kind in ("done", "lost", "unsure")}
    broken = {
        "lost though done": sorted(names["done"] - set(there)),
        "there though lost": sorted(names["lost"] & set(there)),
        "there twice": sorted({name for name in there if there.count(name) > 1}) if len(set(there)) < len(there) else [],
        "from nowhere": sorted(set(there) - names["done"] - names["unsure"]),
    }
    figures = {kind: len(those) for kind, those in names.items()}
    figures["unsure and there"] = len(names["unsure"] & set(there))
    figures |= {what: len(those) for what, those in broken.items()}
    print(json.dumps({"server": asked.server, "seconds": round(time.monotonic() - began, 1), **figures, "faults": faults}))
    return 1 if any(broken.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

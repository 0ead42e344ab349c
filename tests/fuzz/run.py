"""Runs the fuzz targets one after the other for so many seconds each and prints a line of JSON for each.

    python3 tests/fuzz/run.py --seconds 480 [--targets segment ledger] [--seed 1]

Takes cargo-fuzz. A target begins with files of the museum, and what it finds stays in tests/fuzz/corpus.
Ends with 1 if a target panicked, took more than ten seconds for an input, or more than a gigabyte.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent.resolve()
MUSEUM = HERE.parent / "data"
RECIPES = HERE.parents[1] / "src/text/fingerprint/recipes.toml"
BUILT = HERE / "target/x86_64-unknown-linux-gnu"
# The others are readers by name, all in one program.
OF_THEIR_OWN = ["config", "head"]
TARGETS = sorted([*OF_THEIR_OWN, *re.findall(r'^    \("(\w+)", [\w:]+\),$', (HERE / "readers.rs").read_text(), re.M)])
CONFIGS = HERE.parents[1] / "configs"
PAGES = [
    '{"id": "a", "text": "a page 页面\\n", "time": "2026-01-01T00:00:00Z"}\n',
    "id\ttext\ttime\nb\twords of a page\t7\n",
    "c\t0x1f\nd\t31\n",
    "e\tfeature:1.5 other:-2\n",
    'id,text\n"a, ""b""","words\nof a page"\n',
    "<!doctype html><title>a</title><table><td>words of<td>a page</table>",
    "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: f\r\nContent-Length: 4\r\n\r\npage\r\n\r\n",
    "filedesc://a 0.0.0.0 20050101000000 text/plain 0\n\nhttp://g/ 1.2.3.4 20050101000000 text/html 4\npage\n",
]
RESPONSES = [
    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=gbk\r\n\r\n<p>one<pre>two &amp; three</pre><script>x</script>",
    "HTTP/1.1 200\nContent-Type: text/html\nTransfer-Encoding: chunked\n\n3\r\n<p>\r\n0\r\n",
    *(f"HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: {name}\r\n\r\n" for name in ("br", "deflate")),
]
LISTS = ["# some\n的\nthe\n", "词 10 n\nword 3\n", "a.example:7 # host\n", "id\tcluster\na\t1\nb\t1\n", "id1\tid2\tJ3\na\tb\t0.5\n"]
TABLE = 'dupsieve counts 1\n{"of":"words","documents":9,"min_count":1,"identity":""}\n7\tfeature\nend 1 0\n'
CERTIFICATE = '{"format": 1, "version": 1, "oldest": 1, "segments": {}, "ids": {}, "later": []}'
SETTINGS = ["default", "blocks:6,choose:2", "2026-11-21", "minhash:0.5"]
UNITS = ["<!--", "](a ", "<a ", "&amp", "http://", "a", "words ", "2024-02-", "1 May ", "中国", "e\u0301\u0327", "\ufdfa"]
SENTENCES = ["小明在ACM会议上说：我来到北京清华大学，他来到了网易杭研大厦。", "二〇二一年人々𠀀𠀁㐀", "鿖鿕龦豈更的了是"]
ADDRESSES = ["s3://bucket/a/b", "s3a://b", "gs://b/", "az://b//c", "https://user:word@host:8/a?b#c", "http://[::1]/%2f/..", "file:///a"]
HEAD = ('{"dupsieve":"tree","format":1,"attempt":"9b1f0c6ad2e47530","earlier":["0000000000000001"],"empty_folders":["a"],'
        '"files":{"b/c":{"object":"9b1f0c6ad2e47530/b/c","bytes":24,"digest":"0123456789abcdef0123456789abcdef"}},"released":["d/e"]}')
BODIES = ['{"distance": 3, "fingerprints": ["0x9ae16a3b2f90404f", "7"]}', '{"day": "2026-11-22", "confirm_day": true}',
          '{"remember": "all", "pages": [{"id": 5, "text": "a\\u0000b", "time": "2026-11-22"}, {"id": "b", "fingerprint": "1f"}]}']
CALLS = ["\1\x40\0\0\0\0\0\0\0greeting", "\0dupsiev1\x30\0then"]
FIGURES = {"executions": r"stat::number_of_executed_units: *(\d+)", "inputs kept": r"corp: (\d+)/",
           "branches reached": r"cov: (\d+)", "peak MB": r"stat::peak_rss_mb: *(\d+)",
           "slowest input, seconds": r"stat::slowest_unit_time_sec: *(\d+)"}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--seconds", type=int, default=60, help="for each target")
    words.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--dev", action="store_true", help="build with cargo's profile `dev`")
    asked = words.parse_args()
    profile = "--dev" if asked.dev else "-a"
    subprocess.run(["cargo", "fuzz", "build", "--fuzz-dir", HERE, "--sanitizer", "none", profile], cwd=HERE.parent,
                   env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, check=True)
    built = BUILT / ("debug" if asked.dev else "release")
    failed = False
    for target in asked.targets:
        figures = run(built, target, asked.seconds, asked.seed)
        print(json.dumps(figures), flush=True)
        failed |= figures["code"] != 0
    return 1 if failed else 0


def run(built, target, seconds, seed):
    program = built / (target if target in OF_THEIR_OWN else "readers")
    corpus = HERE / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(seeds(target)):
        (corpus / f"seed-{number}").write_bytes(text)
    artifacts = HERE / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    command = [program, corpus, "-rss_limit_mb=1024", "-timeout=10", f"-max_total_time={seconds}",
               f"-seed={seed}", f"-artifact_prefix={artifacts}/", "-print_final_stats=1"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                           env={**os.environ, "READER": target})
    figures = {"target": target, "seed": seed, "seconds": seconds, "code": ended.returncode}
    for name, pattern in FIGURES.items():
        found = re.findall(pattern, ended.stderr)
        figures[name] = int(found[-1]) if found else None
    if ended.returncode:
        figures["end"] = ended.stderr[-2000:]
    return figures


def seeds(target):
    """What a target begins with."""
    museum = {"segment": "**/*.seg", "manifest": "**/*.json", "ledger": "**/*.ledger", "journal": "**/*.journal",
              "removed": "**/REMOVED", "note": "**/*.ids", "index": "index-1/**/*.seg",
              "filters": "filters-1/filters/*", "clusters": "**/*.bin", "tables": "tables-1/*/[vm]*",
              "vectors": "**/*.parquet"}
    if target in museum:
        return [path.read_bytes() for path in sorted(MUSEUM.glob(museum[target]))]
    if target == "documents":
        parquet = [path.read_bytes() for path in sorted(MUSEUM.glob("**/*.parquet"))]
        return [bytes([choice]) + page for choice in range(12) for page in [*map(str.encode, PAGES), *parquet]]
    if target == "config":
        return [path.read_bytes() for path in sorted(CONFIGS.glob("*.toml"))]
    if target == "bodies":
        return [bytes([choice]) + body.encode() for choice in (252, 253, 254, 255, 4) for body in BODIES]
    if target == "recipe":
        named = re.split(r"\n(?=\[)", RECIPES.read_text())
        return [text.encode() for text in [*SETTINGS, *named, *(re.sub(r"^\[.*\]\n", "", one) for one in named)]]
    if target == "page":
        return [bytes([way]) + unit.encode() for way, unit in enumerate(UNITS * 4)]
    texts = {"counts": [TABLE], "handshake": CALLS, "response": RESPONSES, "certificate": [CERTIFICATE],
             "address": ADDRESSES, "head": [HEAD], "html": UNITS, "words": UNITS + SENTENCES}.get(target, LISTS)
    return [text.encode("latin-1" if target == "handshake" else "utf-8") for text in texts]


if __name__ == "__main__":
    sys.exit(main())

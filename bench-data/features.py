#!/usr/bin/env python3
"""Measures features: texts to fingerprints, on one core and on two, beside others.

    cargo build --release
    python3 bench-data/features.py bench-data/cases/features.toml TEXTS.jsonl... [--rivals PYTHON]
                                   [--cppjieba FOLDER]

Each file holds a JSON object with id and text a line. The recipes of the case and jieba-rs alone run in
turn, several times, with PYTHON (an interpreter with jieba, simhash and datasketch) these, and with FOLDER
(the sources of cppjieba, which `npm install --ignore-scripts nodejieba` brings) cppjieba.cc. Prints medians
with the least and the greatest, as a table.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
import tomllib
from pathlib import Path

TF_IDF = """scheme = "simhash"
features = "words"
hmm = true
weights = "tf-idf"
hash = "xxh3"
width = 64
ties = "clear"
normalise = { nfkc = true, case = "fold", digits = "keep", white_space = "collapse" }
"""

# Each prints the seconds it took over the first megabytes of the texts, and how many these were.
LOAD = """
import json, sys, time
texts, size = [], 0
for line in open(sys.argv[1]):
    texts.append(json.loads(line)["text"]); size += len(texts[-1].encode())
    if size > 2e6: break
def tell(work):
    start = time.perf_counter()
    for text in texts: work(text)
    print(time.perf_counter() - start, size / 1e6)
"""
RIVALS = {
    "Python jieba alone": LOAD + "import jieba; jieba.initialize(); tell(lambda text: jieba.lcut(text))",
    "Python simhash, its own features": LOAD + "from simhash import Simhash; tell(Simhash)",
    "datasketch MinHash 128, 4-character shingles": LOAD + """
from datasketch import MinHash
def work(text):
    hash = MinHash(128); hash.update_batch([text[i:i + 4].encode() for i in range(len(text) - 3)])
tell(work)
""",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=Path)
    parser.add_argument("texts", nargs="+", type=lambda name: str(Path(name).resolve()))
    parser.add_argument("--rivals", help="a Python with the rivals installed")
    parser.add_argument("--cppjieba", type=Path, help="the sources of cppjieba")
    parser.add_argument("--folder", default="target/release", type=Path)
    options = parser.parse_args()
    case = tomllib.loads(options.case.read_text())
    seen = {}
    with tempfile.TemporaryDirectory() as scratch:
        tf_idf = Path(scratch, "tf-idf.toml")
        tf_idf.write_text(TF_IDF)
        recipes = [str(tf_idf) if name == "tf-idf" else name for name in case["recipes"]]
        cppjieba = options.cppjieba and Path(scratch, "cppjieba")
        if cppjieba:
            output("g++", "-std=c++17", "-O3", "-I", options.cppjieba / "include", "-I",
                   options.cppjieba / "deps/limonp/include", "-o", cppjieba, Path(__file__).with_name("cppjieba.cc"))
        for turn in range(case["times"]):
            lines = output("cargo", "bench", "-q", "--bench", "features", "--",
                           "--times", 1, "--recipes", "+".join(recipes), *options.texts)
            for name, text, seconds, size in (line.split("\t") for line in lines.splitlines()):
                note(seen, text, Path(name).stem, float(size) / float(seconds))
            for text in options.texts:
                size = sum(len(json.loads(line)["text"].encode()) for line in open(text)) / 1e6
                for workers in (1, 2):
                    to = Path(scratch, f"{turn}-{workers}-{Path(text).name}.seg")
                    start = time.perf_counter()
                    output(options.folder / "dupsieve", "fingerprint", "-q", "--workers", workers,
                           "--input", text, "--output", to)
                    note(seen, text, f"the command, default recipe, {workers} worker(s)",
                         size / (time.perf_counter() - start))
                for name, code in RIVALS.items() if options.rivals else ():
                    seconds, size_of = map(float, output(options.rivals, "-c", code, text).split())
                    note(seen, text, name, size_of / seconds)
                if cppjieba:
                    texts = "".join(json.loads(line)["text"].replace("\0", " ") + "\0" for line in open(text))
                    told = output(cppjieba, options.cppjieba / "dict", input=texts)
                    note(seen, text, "TF-IDF simhash on cppjieba", size / float(told.split()[0]))
    print("| texts | what | MB/s | least | greatest |\n|---|---|---|---|---|")
    for (text, name), rates in seen.items():
        print(f"| {Path(text).stem} | {name} | {statistics.median(rates):.1f} | {min(rates):.1f} | {max(rates):.1f} |")
    for text in options.texts:
        rate = lambda name: statistics.median(seen[text, name])
        for name, least in case["least"].items():
            print(f"{Path(text).stem}: {name} at {rate(name) / rate('jieba-rs'):.2f} of jieba-rs alone (least {least})")


def output(*command, input=None):
    """What a command prints, given `input`."""
    command = [str(part) for part in command]
    return subprocess.run(command, capture_output=True, text=True, check=True, input=input).stdout


def note(seen, text, name, rate):
    seen.setdefault((text, name), []).append(rate)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares the pages that dupsieve and other programs drop with the pages that are kept, exactly, as lost.py does it for presets.

    python3 bench-data/lost_rivals.py --dupsieve target/release/dupsieve -- DOCS.jsonl.gz...

Each program runs in a process of its own and says which pages are dropped, and which page belongs to which group.
A dropped page counts as contained in that kept page of its group which has most of it; so a program that names no page is measured by
the best page that it could name. The columns are those of lost.py, and the processor time of the program.

datasketch and rensa take sets: they get the 3-word shingles of lost.py, which are made in Python, and a page is dropped if the index has a kept page that
is near, from a similarity of 0.8 on. gaoya, datatrove (its default of 14 x 8, runs of five words) and text-dedup read the texts by themselves. Programs that
are not installed are left out, and that is said.
"""

import argparse
import gzip
import importlib.metadata
import json
import os
import pathlib
import pickle
import resource
import subprocess
import sys
import tempfile

# Its defaults, and what its documentation has for a corpus: runs of five words, and pairs that are confirmed.
TEXT_DEDUP = """
[input]
input_type = "local_files"
file_type = "json"
read_arguments = {{ path = "json", data_files = "{work}/pages.jsonl", split = "train", cache_dir = "{work}/cache" }}

[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = 240
ngram_size = 5
threshold = 0.7
check_false_positive = true
num_proc = 1

[output]
output_dir = "{work}/kept"
save_clusters = true

[debug]
"""


def pages(docs):
    """The first page with each id, as the verdicts count them."""
    seen = set()
    with (gzip.open if docs.suffix == ".gz" else open)(docs, "rt", encoding="utf8") as lines:
        for line in lines:
            page = json.loads(line)
            if page["id"] not in seen:
                seen.add(page["id"])
                yield page["id"], page["text"]


def sets_of(docs):
    from lost import WORD

    for page, text in pages(docs):
        words = WORD.findall(text.lower())
        yield page, {" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))}


def datasketch(docs, _):
    """Groups as pairs: a page that is dropped, and a page that stays and is near."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.8, num_perm=128)
    for page, runs in sets_of(docs):
        hashes = MinHash(128)
        hashes.update_batch([run.encode() for run in runs])
        near = index.query(hashes)
        yield from ((page, other) for other in near)
        if not near:
            index.insert(page, hashes)


def rensa(docs, _):
    from rensa import RMinHash, RMinHashDeduplicator

    index = RMinHashDeduplicator(0.8, 128, True)
    for page, runs in sets_of(docs):
        hashes = RMinHash(num_perm=128, seed=42)
        hashes.update(sorted(runs))
        near = index.get_duplicates(hashes)
        yield from ((page, other) for other in near)
        if not near:
            index.add(page, hashes)


def datatrove(docs, work):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster
    from datatrove.pipeline.dedup import MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.word_tokenizers import WordTokenizer

    from lost import WORD

    class Words(WordTokenizer):
        """The words of lost.py: the program's own tokenizer is chosen for each language."""

        def word_tokenize(self, text):
            return WORD.findall(text)

        def sent_tokenize(self, text):
            return [text]

        def span_tokenize(self, text):
            return [(0, len(text))]

    config = MinhashConfig()
    (work / "documents").mkdir()
    with open(work / "documents" / "0.jsonl", "w") as out:
        for page, text in pages(docs):
            print(json.dumps({"id": page, "text": text}), file=out)

    def run(tasks, *steps):
        LocalPipelineExecutor(list(steps), tasks=tasks, workers=1, logging_dir=f"{work}/logs/{steps[-1].name}").run()

    run(1, JsonlReader(f"{work}/documents"), MinhashDedupSignature(f"{work}/signatures", config, Words()))
    run(config.num_buckets, MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config))
    clusters = MinhashDedupCluster(f"{work}/buckets", f"{work}/clusters", config, save_cluster_id=True)
    run(1, clusters)
    kept = JsonlWriter(f"{work}/kept", compression=None)
    removed = JsonlWriter(f"{work}/removed", compression=None)
    run(1, JsonlReader(f"{work}/documents"),
        MinhashDedupFilter(f"{work}/clusters", exclusion_writer=removed, load_cluster_ids=True), kept)

    def members(folder):
        for file in sorted(folder.glob("*.jsonl")):
            for page in map(json.loads, open(file)):
                yield page["metadata"].get("minhash_cluster_id", -1), page["id"]

    stays = {}
    for cluster, page in members(work / "kept"):
        stays.setdefault(cluster, []).append(page)
    for cluster, page in members(work / "removed"):
        yield from ((page, other) for other in stays[cluster])


def gaoya(docs, _):
    from gaoya.minhash import MinHashStringIndex

    index, ids = MinHashStringIndex(32, 0.8, 14, 8, None, "word", True, (3, 3)), []
    for page, text in pages(docs):
        near = index.query(text)
        yield from ((page, ids[other]) for other in near)
        if not near:
            index.insert_document(len(ids), text)
            ids.append(page)


def text_dedup(docs, work):
    ids = []
    with open(work / "pages.jsonl", "w") as out:
        for page, text in pages(docs):
            ids.append(page)
            print(json.dumps({"text": text}), file=out)
    (work / "config.toml").write_text(TEXT_DEDUP.format(work=work))
    subprocess.run([sys.executable, "-m", "text_dedup.minhash"], cwd=work, check=True, capture_output=True)
    with open(work / "kept/clusters.pickle", "rb") as file:
        yield from ((ids[page], ids[first]) for page, first in pickle.load(file).items() if page != first)


def dupsieve(docs, work):
    from lost import verdicts

    yield from verdicts(os.environ["DUPSIEVE"], docs, "balanced", work).items()


PROGRAMS = {"dupsieve": dupsieve, "datasketch": datasketch, "rensa": rensa, "gaoya": gaoya, "datatrove": datatrove, "text-dedup": text_dedup}


def child(program, docs):
    """Prints the pairs of a program as JSON, and the processor time that they took."""
    with tempfile.TemporaryDirectory() as work, open(os.dup(1), "w") as out:
        os.dup2(2, 1)
        pairs = list(PROGRAMS[program](pathlib.Path(docs), pathlib.Path(work)))
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        json.dump({"pairs": pairs, "seconds": sum(it.ru_utime + it.ru_stime for it in used)}, out)


def dropped_of(texts, pairs):
    """For each dropped page the page that stays and holds most of it."""
    near = {}
    for page, other in pairs:
        near.setdefault(page, []).append(other)
    place = texts.place
    best = {}
    for page, others in near.items():
        shares = texts.shares(place[page], [place[other] for other in others])
        best[page] = others[max(range(len(others)), key=lambda at: shares[at])]
    return best


def version(program):
    if program == "dupsieve":
        return subprocess.run([os.environ["DUPSIEVE"], "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    return importlib.metadata.version(program)


def main():
    import lost

    arguments = argparse.ArgumentParser()
    arguments.add_argument("--dupsieve", default="target/release/dupsieve")
    arguments.add_argument("--programs", nargs="+", default=list(PROGRAMS))
    arguments.add_argument("docs", nargs="+")
    given = arguments.parse_args()
    os.environ["DUPSIEVE"] = given.dupsieve
    rows, of = [], {}
    for name, path in map(lost.named, given.docs):
        texts = lost.Texts(path)
        for program in given.programs:
            try:
                called = f"{program} {version(program)}"
            except importlib.metadata.PackageNotFoundError:
                print(f"{program} is not installed", file=sys.stderr)
                continue
            ended = subprocess.run([sys.executable, __file__, "--child", program, str(path)], capture_output=True, text=True)
            if ended.returncode:
                print(f"{called} fails: {ended.stderr.splitlines()[-1]}", file=sys.stderr)
                continue
            found = json.loads(ended.stdout)
            row = lost.judged(texts, dropped_of(texts, found["pairs"])) | {"seconds": found["seconds"]}
            rows.append([name, called, *lost.cells(row), f"{row['seconds']:.1f} s"])
            of.setdefault(called, []).append(row)
    whole = max(of.values(), key=len)
    print(f"{len(whole)} sets, {sum(row['pages'] for row in whole):,} pages, of which {sum(row['could go'] for row in whole):,} could go:\n")
    lost.head("program", *lost.COLUMNS[1:], "processor time")
    for called, rows_of in of.items():
        total = {name: sum(row[name] for row in rows_of) for name in rows_of[0]}
        share = [lost.cells(row)[lost.COLUMNS.index("lost")] for row in sorted(rows_of, key=lambda row: row["lost"])]
        numbers = [f"{total['dropped']:,}", f"{total['over a tenth']:,}", f"{share[0].split()[0]} to {share[-1]}", f"{total['missed']:,}"]
        print("|", " | ".join([called, *numbers, f"{total['seconds']:.1f} s"]), "|" if len(rows_of) == len(whole) else f"| ({len(rows_of)} sets)")
    print("\nEach set:\n")
    lost.head("set", "program", *lost.COLUMNS, "processor time")
    for row in rows:
        print("|", " | ".join(row), "|")


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

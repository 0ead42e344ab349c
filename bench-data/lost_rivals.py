#!/usr/bin/env python3
"""Compares what goes with the pages that other programs drop with their texts, exactly, as lost.py does it for dupsieve.

    python3 bench-data/lost_rivals.py --programs datasketch rensa datatrove text-dedup -- DOCS.jsonl.gz...

Each program runs in a process of its own, with the settings of SETTINGS, and says which pages stay and which page belongs to which group.
A dropped page counts as held by that page of its group which stays and holds most of it; so a program that names no page is measured by
the best page that it could name. The columns are those of lost.py; the last one is the processor time of the program in seconds.

datasketch and rensa take sets: they get the runs of three words of lost.py, and a page is dropped if the index has a page that stays and
is near. datatrove and text-dedup read the texts by themselves. Programs that are not installed are left out, and that is said.
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

SETTINGS = {
    "datasketch": "MinHashLSH(threshold=0.8, num_perm=128)",
    "rensa": "RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True)",
    "datatrove": "MinhashConfig() by default: 14 x 8, runs of 5 words",
    "text-dedup": "text_dedup.minhash, threshold 0.7 and runs of 5 words, its defaults",
}


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


def text_dedup(docs, work):
    (work / "documents").mkdir()
    ids = []
    with open(work / "documents" / "0.jsonl", "w") as out:
        for page, text in pages(docs):
            ids.append(page)
            print(json.dumps({"id": page, "text": text}), file=out)
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--split", "train"]
    command += ["--data_dir", work / "documents", "--cache_dir", work / "cache", "--output", work / "kept"]
    command += ["--column", "text", "--num_proc", 1, "--debug"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    with open(work / "kept/uf.pkl", "rb") as file:
        parents = pickle.load(file)
    parents = getattr(parents, "parent", parents)

    def root(at):
        while parents.get(at, at) != at:
            at = parents[at]
        return at

    yield from ((page, ids[root(at)]) for at, page in enumerate(ids) if root(at) != at)


PROGRAMS = {"datasketch": datasketch, "rensa": rensa, "datatrove": datatrove, "text-dedup": text_dedup}


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


def main():
    import lost

    arguments = argparse.ArgumentParser()
    arguments.add_argument("--programs", nargs="+", default=list(PROGRAMS))
    arguments.add_argument("docs", nargs="+")
    given = arguments.parse_args()
    print("|", " | ".join([*lost.COLUMNS, "s"]), "|\n|" + "---|" * (len(lost.COLUMNS) + 1), flush=True)
    for docs in given.docs:
        name, path = docs.split("=") if "=" in docs else (pathlib.Path(docs).parent.name, docs)
        texts = lost.Texts(pathlib.Path(path))
        for program in given.programs:
            try:
                version = importlib.metadata.version(program)
            except importlib.metadata.PackageNotFoundError:
                print(f"{program} is not installed", file=sys.stderr)
                continue
            ended = subprocess.run([sys.executable, __file__, "--child", program, path], capture_output=True, text=True)
            if ended.returncode:
                print(f"{program} {version} fails: {ended.stderr.splitlines()[-1]}", file=sys.stderr)
                continue
            found = json.loads(ended.stdout)
            row = lost.row(texts, dropped_of(texts, found["pairs"]), None)
            print("|", " | ".join(map(str, [name, f"{program} {version}", *row, f"{found['seconds']:.1f}"])), "|", flush=True)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

#!/usr/bin/env python3
"""Finds documents that overlap by another program: what overlap.py measures beside `dupsieve lsh`.

    python3 bench-data/overlap_rivals.py PROGRAM FOLDER

FOLDER/documents has two halves, `0.jsonl` and `1.jsonl`: objects with id and text, one a line. Each
program makes 112 MinHashes of runs of five words, puts them into 14 bands of 8 rows, and writes what it finds
as `new existing` lines of ids into FOLDER/pairs.tsv: its pairs, or for programs that only say which documents
belong together, each member with one of its cluster.
"""

import json
import pickle
import struct
import subprocess
import sys
import time
from pathlib import Path

HASHES, BANDS, ROWS, WORDS = 112, 14, 8, 5


def main():
    program, folder = sys.argv[1:]
    with open(Path(folder, "pairs.tsv"), "w") as pairs:
        for pair in {**PROGRAMS, **MEASUREMENTS}[program](Path(folder)):
            print(*pair, sep="\t", file=pairs)


def documents(folder):
    for half in ["0.jsonl", "1.jsonl"]:
        with open(folder / "documents" / half) as lines:
            for line in lines:
                document = json.loads(line)
                yield document["id"], document["text"]


def shingles(text):
    words = text.lower().split()
    return {" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))}


def rensa(folder):
    from rensa import RMinHash, RMinHashLSH

    ids, hashes = [], []
    for id, text in documents(folder):
        ids.append(id)
        hashes += RMinHash.from_token_sets([shingles(text)], HASHES, 1)
    index = RMinHashLSH(0.8, HASHES, BANDS)
    index.insert_many(hashes)
    for new, near in enumerate(index.query_all(hashes)):
        yield from ((ids[new], ids[existing]) for existing in near if existing < new)


def datasketch(folder):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS))
    for id, text in documents(folder):
        hashes = MinHash(HASHES, seed=1)
        hashes.update_batch([shingle.encode() for shingle in shingles(text)])
        yield from ((id, existing) for existing in index.query(hashes))
        index.insert(id, hashes)


def datatrove(folder):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster
    from datatrove.pipeline.dedup import MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.word_tokenizers import WordTokenizer

    config = MinhashConfig(n_grams=WORDS, num_buckets=BANDS, hashes_per_bucket=ROWS)
    work = folder / "datatrove"

    def run(tasks, *steps):
        logs = f"{work}/logs/{steps[-1].name}"
        LocalPipelineExecutor(list(steps), tasks=tasks, workers=2, logging_dir=logs).run()

    def read():
        return JsonlReader(f"{folder}/documents")

    class Words(WordTokenizer):
        """Much faster than its tokenizer for English, and the same words here."""

        def word_tokenize(self, text):
            return text.split()

        def sent_tokenize(self, text):
            return [text]

        def span_tokenize(self, text):
            return [(0, len(text))]

    run(2, read(), MinhashDedupSignature(f"{work}/signatures", config, Words()))
    run(BANDS, MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config))
    run(1, MinhashDedupCluster(f"{work}/buckets", f"{work}/clusters", config))
    kept = JsonlWriter(f"{work}/kept", compression=None)
    run(2, read(), MinhashDedupFilter(f"{work}/clusters"), kept)

    ids = [[], []]
    for half, listed in enumerate(ids):
        listed += (json.loads(line)["id"] for line in open(folder / f"documents/{half}.jsonl"))
    for file in sorted((work / "buckets").glob("*.dups")):
        for one, first, other, second in struct.iter_unpack("<4I", file.read_bytes()):
            yield ids[one][first], ids[other][second]


def text_dedup(folder):
    work = folder / "text-dedup"
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--split", "train"]
    command += ["--data_dir", folder / "documents", "--cache_dir", work / "cache", "--output", work / "kept"]
    command += ["--column", "text", "--num_perm", HASHES, "--b", BANDS, "--r", ROWS, "--ngram", WORDS]
    command += ["--min_length", 1, "--hash_func", "xxh3", "--num_proc", 2, "--debug"]
    subprocess.run([str(part) for part in command], check=True)
    ids = [id for id, _ in documents(folder)]
    with open(work / "kept/uf.pkl", "rb") as file:
        clusters = pickle.load(file)
    for new, existing in clusters.parent.items() if hasattr(clusters, "parent") else clusters.items():
        if new != existing:
            yield ids[new], ids[existing]


def signatures(folder):
    """How fast rensa is on one thread, from texts and from numbers: `name seconds signatures`."""
    from rensa import RMinHash

    texts = [text for _, text in documents(folder)]
    sets = [shingles(text) for text in texts]
    numbers = RMinHash.hash_token_sets(sets)
    ways = {
        "from texts": lambda: RMinHash.digest_matrix_from_token_sets(map(shingles, texts), HASHES, 1),
        "from sets of strings": lambda: RMinHash.digest_matrix_from_token_sets(sets, HASHES, 1),
        "from sets of numbers": lambda: RMinHash.digest_matrix_from_token_hash_sets(numbers, HASHES, 1),
        "by rho": lambda: RMinHash.digest_matrix_from_token_hash_sets_rho(numbers, HASHES, 1),
    }
    for name, way in list(ways.items()) * 3:
        start = time.perf_counter()
        way()
        print(name, f"{time.perf_counter() - start:.4f}", len(texts), sep="\t")
    return []


PROGRAMS = {
    "datatrove": datatrove,
    "text-dedup": text_dedup,
    "datasketch": datasketch,
    "rensa": rensa,
}
MEASUREMENTS = {"signatures": signatures}

if __name__ == "__main__":
    main()

"""Single queries by the binary indexes of faiss, beside those of `cargo bench --bench query`.

    python3 bench-data/query.py --random 1e7 [--distance 3] [--queries 200]

Takes numpy and faiss-cpu. Prints a line for each index: bytes a fingerprint, microseconds a query (half and 99 of a
hundred), and the share of planted near fingerprints that were found. One thread.
"""

import argparse
import os
import time

import faiss
import numpy

faiss.omp_set_num_threads(1)


def resident():
    """The memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--random", type=float, default=1e7, help="how many fingerprints")
    words.add_argument("--distance", type=int, default=3)
    words.add_argument("--queries", type=int, default=200)
    asked = words.parse_args()
    random = numpy.random.default_rng(1)
    held = random.integers(0, 2**63, int(asked.random), dtype=numpy.uint64) << 1
    held |= random.integers(0, 2, len(held), dtype=numpy.uint64)
    near = held[random.integers(0, len(held), asked.queries)].copy()
    for bit in range(asked.distance):
        near ^= numpy.uint64(1) << random.integers(bit * 20, bit * 20 + 20, len(near), dtype=numpy.uint64)
    strangers = random.integers(0, 2**63, asked.queries, dtype=numpy.uint64)
    bits = int(numpy.log2(len(held)))

    def by_hash():
        index = faiss.IndexBinaryHash(64, bits)
        index.nflip = asked.distance
        return index

    def by_many_hashes():
        # One of k + 1 parts has no bit that differs.
        index = faiss.IndexBinaryMultiHash(64, asked.distance + 1, 64 // (asked.distance + 1))
        index.nflip = 0
        return index

    for name, make in [("IndexBinaryHash", by_hash), ("IndexBinaryMultiHash", by_many_hashes)]:
        before = resident()
        index = make()
        begun = time.time()
        index.add(held.view(numpy.uint8).reshape(-1, 8))
        built = time.time() - begun
        size = (resident() - before) / len(held)
        measure(name, index, near, strangers, asked.distance, f"{size:.1f} bytes each, built in {built:.1f} s")
        del index


def measure(name, index, near, strangers, distance, size):
    for kind, queries in (("random", strangers), ("near", near)):
        times, found = [], 0
        for query in queries:
            begun = time.perf_counter()
            # faiss counts what is below the radius.
            limits, _, _ = index.range_search(query.reshape(1).view(numpy.uint8).reshape(1, 8), distance + 1)
            times.append((time.perf_counter() - begun) * 1e6)
            found += int(limits[-1] > 0)
        half, most = numpy.percentile(times, [50, 99])
        print(f"{name}, {kind}: {size}; p50 {half:.1f} us, p99 {most:.1f} us; {found} of {len(queries)} near", flush=True)


if __name__ == "__main__":
    main()

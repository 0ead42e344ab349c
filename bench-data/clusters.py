"""Files of edges for `cargo bench --bench clusters`, and their components by scipy.

    python3 bench-data/clusters.py make random|groups EDGES FILE [SEED]
    python3 bench-data/clusters.py scipy FILE PAGES

`random` joins any two of as many pages as there are edges: a giant component and many small ones. `groups` joins
each page with one of the group of ten that it is in. Needs numpy, and scipy for the second.
"""

import sys
import time

import numpy

PART = 10_000_000


def make(kind, edges, path, seed=1):
    chance = numpy.random.default_rng(seed)
    pages = edges
    with open(path, "wb") as file:
        for first in range(0, edges, PART):
            count = min(PART, edges - first)
            one = chance.integers(0, pages, count, dtype=numpy.uint32)
            if kind == "random":
                other = chance.integers(0, pages, count, dtype=numpy.uint32)
            else:
                # Numbers of pages are ranks of their ids, so the members of a group lie anywhere.
                other = (one + numpy.uint32(pages // 10) * chance.integers(0, 10, count, dtype=numpy.uint32)) % pages
            numpy.stack([one, other], axis=1).astype("<u4").tofile(file)


def components(path, pages):
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    began = time.monotonic()
    edges = numpy.fromfile(path, dtype="<i4").reshape(-1, 2)
    ones = numpy.ones(len(edges), dtype=numpy.int8)
    graph = coo_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(pages, pages))
    count, _ = connected_components(graph, directed=False)
    print(f"{len(edges)} edges, {count} components, {time.monotonic() - began:.2f} s")


def main():
    what, *words = sys.argv[1:]
    if what == "make":
        kind, edges, path, *seed = words
        make(kind, int(float(edges)), path, *map(int, seed))
    else:
        path, pages = words
        components(path, int(float(pages)))


main()

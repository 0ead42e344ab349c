#!/usr/bin/env python3
"""Makes idf.bin of the table of inverse document frequencies of jieba-rs. Needs the package `xxhash`.

    cargo vendor /tmp/vendor
    python3 idf.py /tmp/vendor/jieba-rs/src/data/idf.txt idf.bin

The table has a word and its idf in each line. What idf.bin holds, all numbers in little-endian order:

    count    meaning
    1        number of different idfs (4 bytes)
    idfs     the different idfs, ascending (8 bytes each, IEEE 754)
    65536    how many words have a hash that begins with the number of the count (1 byte each)
    words    the 48 bits of the hash that follow, then which of the idfs the word has, from 0 (8 bytes each, the hash in the high ones)

The hash of a word is XXH3 with 64 bits. The words ascend by their hashes, which all differ.
"""

import struct
import sys
from collections import Counter

import xxhash


def packed(lines):
    """The bytes of the file."""
    rows = [(xxhash.xxh3_64_intdigest(word), float(idf)) for word, idf in map(str.split, lines)]
    assert len({key for key, _ in rows}) == len(rows)
    rows.sort()
    idfs = sorted({idf for _, idf in rows})
    number = {idf: at for at, idf in enumerate(idfs)}
    begin = Counter(key >> 48 for key, _ in rows)
    words = [(key << 16 | number[idf]) & (1 << 64) - 1 for key, idf in rows]
    counts = bytes(begin[first] for first in range(1 << 16))
    return struct.pack(f"<I{len(idfs)}d", len(idfs), *idfs) + counts + struct.pack(f"<{len(words)}Q", *words)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = packed(file)
    with open(sys.argv[2], "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()

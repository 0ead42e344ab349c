#!/usr/bin/env python3
"""Makes lexicon.zst of the dictionary of jieba-rs.

    cargo vendor /tmp/vendor
    python3 lexicon.py /tmp/vendor/jieba-rs/src/data/dict.txt lexicon.zst

The dictionary has a word, its frequency and its part of speech in each line. Of its words those of Han alone are taken, since
a run of Han has no others. What lexicon.zst holds, all numbers in little-endian order:

    count       meaning
    1           sum of the frequencies of all words, also of those that are not taken (8 bytes)
    1           number of words (4 bytes)
    1           number of different frequencies (4 bytes)
    frequencies the different frequencies, ascending (4 bytes each)
    words       which of them a word has, from 0 (2 bytes each)
    words       how many characters a word has in common with the word before, times 16, plus how many others it has, less 1 (1 byte)
    letters     these other characters of all words, each less U+33FF (2 bytes each)

The words ascend. The whole is one frame of Zstandard.
"""

import subprocess
import sys
from itertools import takewhile

FIRST = 0x33FF


def lexicon(lines):
    """The bytes before they are compressed."""
    rows = [(word, int(frequency)) for word, frequency, _ in (line.split(" ") for line in lines)]
    total = sum(frequency for _, frequency in rows)
    is_han = lambda word: all(FIRST < ord(c) <= 0x9FFF for c in word)
    rows = sorted(row for row in rows if is_han(row[0]))
    frequencies = sorted({frequency for _, frequency in rows})
    place = {frequency: at for at, frequency in enumerate(frequencies)}
    head = total.to_bytes(8, "little") + len(rows).to_bytes(4, "little")
    head += len(frequencies).to_bytes(4, "little")
    numbers = b"".join(frequency.to_bytes(4, "little") for frequency in frequencies)
    places, shapes, letters = bytearray(), bytearray(), bytearray()
    before = ""
    for word, frequency in rows:
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, word)))
        places += place[frequency].to_bytes(2, "little")
        shapes.append(common << 4 | (len(word) - common - 1))
        for c in word[common:]:
            letters += (ord(c) - FIRST).to_bytes(2, "little")
        before = word
    return head + numbers + places + shapes + letters


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = lexicon(file.read().splitlines())
    command = ["zstd", "--ultra", "-22", "-q", "-f", "-o", sys.argv[2]]
    subprocess.run(command, input=data, check=True)


if __name__ == "__main__":
    main()

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
    1           number of prefixes of words (4 bytes)
    frequencies the different frequencies, ascending (4 bytes each)
    words       which of them a word has, from 0 (2 bytes each)
    words       how many characters a word has in common with the word before, times 16, plus how many others it has, less 1 (1 byte)
    prefixes    the bases of all prefixes of words, in the order in which the words show them (3 bytes each)
    letters     these other characters of all words, each less U+33FF (2 bytes each)

The words ascend. The whole is one frame of Zstandard. A base is what lexicon.rs finds the children of a prefix by: the child with the letter L
is at the place `base ^ L`. No two prefixes have the same base, and no two children the same place.
"""

import subprocess
import sys
from itertools import takewhile

FIRST = 0x33FF
# The places. Those of single characters come first.
PLACES, SINGLE = 1 << 20, 1 << 15


def bases(children):
    """The bases of prefixes whose children have these letters. Those with the most children choose first."""
    taken, used, chosen, tried = bytearray(PLACES), bytearray(PLACES), {}, SINGLE
    for prefix, letters in sorted(children.items(), key=lambda it: -len(it[1])):
        while used[tried] or any(taken[tried ^ letter] for letter in letters):
            tried = tried + 1 if tried + 1 < PLACES else SINGLE
        used[tried] = 1
        for letter in letters:
            taken[tried ^ letter] = 1
        chosen[prefix] = tried
    return chosen


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
    children = {}
    before = ""
    for word, frequency in rows:
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, word)))
        places += place[frequency].to_bytes(2, "little")
        shapes.append(common << 4 | (len(word) - common - 1))
        for at in range(common, len(word)):
            letter = ord(word[at]) - FIRST
            letters += letter.to_bytes(2, "little")
            if at > 0:
                children.setdefault(word[:at], []).append(letter)
        before = word
    chosen = bases(children)
    head += len(children).to_bytes(4, "little")
    prefixes = b"".join(chosen[prefix].to_bytes(3, "little") for prefix in children)
    return head + numbers + places + shapes + prefixes + letters


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = lexicon(file.read().splitlines())
    command = ["zstd", "--ultra", "-22", "-q", "-f", "-o", sys.argv[2]]
    subprocess.run(command, input=data, check=True)


if __name__ == "__main__":
    main()

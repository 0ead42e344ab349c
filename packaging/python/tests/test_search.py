"""Passages of texts and items in them, against the program's."""

import json
import random
import unittest

import pyarrow
from support import DAYS, InAFolder, pages, rows

import dupsieve


class Search(InAFolder):
    def test_passages_are_those_of_the_program(self):
        table = pages(*DAYS)
        # The program takes pages in the order of their ids.
        table = table.sort_by("id")
        ids, texts = table["id"].to_pylist(), table["text"].to_pylist()
        with open(self.folder / "pages.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": id, "text": text}) + "\n" for id, text in zip(ids, texts))
        self.command("passages", "--input", "pages.jsonl", "--output", "found", "--words", "20")
        expected = [
            {name: row[name] if name in ("id", "of") else int(row[name]) for name in ("id", "begin", "end", "words", "of", "of_begin")}
            for row in self.read("found/passages.tsv")
        ]
        found = rows(dupsieve.passages(table["text"], words=20, memory=1 << 20))
        named = [{"id": ids[row.pop("row")], **row, "of": ids[row["of"]]} for row in found]
        self.assertGreater(len(expected), 10)
        self.assertEqual(named, expected)

    def test_a_passage_is_told_in_bytes(self):
        texts = ["Müll. All rights reserved by the author.", None, "x ALL RIGHTS reserved\nby the author!"]
        (found,) = rows(dupsieve.passages(texts, words=4))
        self.assertEqual((found["row"], found["words"], found["of"], found["of_begin"]), (2, 6, 0, len("Müll. ".encode())))
        self.assertEqual(texts[2].encode()[found["begin"] : found["end"]], b"ALL RIGHTS reserved\nby the author")
        self.assertEqual(rows(dupsieve.passages([])), [])
        with self.assertRaises(ValueError):
            dupsieve.passages(texts, words=0)

    def test_items_are_found_wherever_they_stand(self):
        draw = random.Random(5)
        word = lambda: f"word{draw.randrange(10**6)}"
        items = [" ".join(word() for _ in range(30)) for _ in range(20)]
        texts = [" ".join(word() for _ in range(200)) for _ in range(100)]
        expected = []
        for row, item in ((3, 7), (50, 0), (99, 19)):
            texts[row] = f"{texts[row]}\n{items[item].upper()}. {texts[row]}"
            expected.append((row, item, 1.0))
        found = rows(dupsieve.contains(pyarrow.array(texts), items, workers=2))
        self.assertEqual([(one["row"], one["item"], one["share"]) for one in found], expected)
        for one in found:
            stretch = texts[one["row"]].encode()[one["begin"] : one["end"]].decode()
            self.assertEqual(stretch, items[one["item"]].upper())
        self.assertEqual(rows(dupsieve.contains(texts, items, workers=1)), found)
        for wrong in ({"items": [None, "."]}, {"items": items, "share": 0.0}):
            with self.assertRaises(ValueError):
                dupsieve.contains(texts, **wrong)


if __name__ == "__main__":
    unittest.main()

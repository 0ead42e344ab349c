"""Fingerprints, sketches and comparisons against the program's."""

import json
import time
import unittest

import polars
import pyarrow
from support import DAYS, InAFolder, pages

import dupsieve


class Texts(InAFolder):
    def test_fingerprints_are_those_of_the_program(self):
        table = pages(DAYS[0])
        ids, texts = table["id"].to_pylist(), table["text"]
        with open(self.folder / "pages.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in table.to_pylist())
        self.command("fingerprint", "--input", "pages.jsonl", "--output", "day.seg")
        dumped = self.command("inspect", "day.seg", "--dump").splitlines()
        expected = {id: int(value, 16) for id, value in (line.split("\t") for line in dumped if "\t0x" in line)}
        made = pyarrow.array(dupsieve.fingerprint(texts))
        self.assertEqual(made.type, pyarrow.uint64())
        self.assertEqual({id: value for id, value in zip(ids, made.to_pylist()) if value is not None}, expected)
        self.assertEqual(pyarrow.array(dupsieve.fingerprint(texts.to_pylist())), made)
        self.assertEqual(pyarrow.array(dupsieve.fingerprint(polars.Series(texts.to_pylist()))), made)

    def test_texts_without_a_word_have_none(self):
        texts = ["a text of some words", "", None, " .,;"]
        made = pyarrow.array(dupsieve.fingerprint(texts))
        self.assertEqual(made.is_null().to_pylist(), [False, True, True, True])
        self.assertEqual(pyarrow.array(dupsieve.sketch(texts)).is_null().to_pylist(), [False, True, True, True])
        self.assertEqual(pyarrow.array(dupsieve.fingerprint([])).to_pylist(), [])

    def test_recipes(self):
        wide = pyarrow.array(dupsieve.fingerprint(["a text"], recipe="charikar-128"))
        self.assertEqual(wide.type, pyarrow.binary(16))
        self.assertEqual(pyarrow.array(dupsieve.sketch(["a text"])).type, pyarrow.binary())
        for wrong in ({"recipe": "none"}, {"preset": "none"}):
            with self.assertRaises(ValueError):
                dupsieve.fingerprint(["a text"], **wrong)
        with self.assertRaises(ValueError):
            dupsieve.sketch(["a text"], preset="paper")
        with self.assertRaises(TypeError):
            dupsieve.fingerprint("a text")
        with self.assertRaises(ValueError):
            dupsieve.fingerprint(pyarrow.array([1.5]))

    def test_a_comparison_is_that_of_the_program(self):
        one = "The council closed the old bridge over the canal on Monday after engineers found cracks in two of its pillars."
        another = one + " Traffic is led over the northern crossing until the repairs end in spring."
        for name, text in (("one.txt", one), ("another.txt", another)):
            (self.folder / name).write_text(text)
        expected = json.loads(self.command("compare", "one.txt", "another.txt"))
        found = dupsieve.compare(one, another)
        for name in ("recipe", "distance", "fingerprints"):
            self.assertEqual(found[name], expected[name])
        self.assertEqual([name.lower() for name in expected["classes"]], found["classes"])
        jaccard = json.loads(self.command("compare", "--recipe", "jaccard", "one.txt", "another.txt"))
        self.assertEqual(found["jaccard"], jaccard["similarity"])
        self.assertGreater(found["containment"][0], 0.9)
        self.assertLess(found["containment"][1], 0.8)
        self.assertEqual(dupsieve.compare(one, one, preset="paper")["distance"], 0)
        with self.assertRaises(ValueError):
            dupsieve.compare(one, "")


class Linear(unittest.TestCase):
    """The rows are handled in pieces, and no piece may read what all of them share."""

    def seconds(self, texts):
        before = time.process_time()
        dupsieve.fingerprint(texts)
        return time.process_time() - before

    def test_a_shared_buffer_is_read_once(self):
        texts = [f"a text of number {row}" for row in range(20_000)]
        alone = self.seconds(pyarrow.array(texts))
        for column in (pyarrow.large_string(), pyarrow.string_view()):
            beside = pyarrow.array(["x" * (64 << 20), *texts], column)[1:]
            self.assertLess(self.seconds(beside), 5 * alone + 1)
        dictionary = pyarrow.array([f"a text of number {row}" for row in range(500_000)])
        keyed = pyarrow.DictionaryArray.from_arrays(pyarrow.array(range(20_000), pyarrow.int32()), dictionary)
        self.assertLess(self.seconds(keyed), 5 * alone + 1)


class Described(unittest.TestCase):
    def test_everything_has_a_docstring(self):
        public = [getattr(dupsieve, name) for name in dupsieve.__all__ if name != "__version__"]
        public += [member for name, member in vars(dupsieve.Store).items() if not name.startswith("_")]
        self.assertGreater(len(public), 14)
        for one in public:
            self.assertTrue(one.__doc__, one)


if __name__ == "__main__":
    unittest.main()

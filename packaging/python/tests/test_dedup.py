"""`dedup` against the command of that name, by every way in."""

import datetime
import json
import unittest

import arro3.core
import duckdb
import pandas
import polars
import pyarrow
from support import DAYS, InAFolder, pages, rows

import dupsieve


def told(row):
    """A verdict as the program writes it."""
    def containment(value):
        return "" if value is None else f"{value:.4f}"

    row = {name: "" if value is None else str(value) for name, value in row.items() if name not in ("of_row", "containment")} | {
        "containment": containment(row["containment"])
    }
    return row


class TheSame(InAFolder):
    def check(self, table, flags=(), **settings):
        with open(self.folder / "pages.jsonl", "w", encoding="utf-8") as file:
            for row in table.to_pylist():
                file.write(json.dumps(row) + "\n")
        self.command("dedup", "--input", "pages.jsonl", "--output", "found", *flags)
        expected = {row["id"]: row for row in self.read("found/dedup/verdicts.tsv")}
        found = rows(dupsieve.dedup(table, id="id", **settings))
        self.assertEqual([row["id"] for row in found], table["id"].to_pylist())
        names = list(next(iter(expected.values())))
        for row in found:
            self.assertEqual({name: told(row)[name] for name in names}, expected[row["id"]])
        return found

    def test_verdicts_are_those_of_the_program(self):
        found = self.check(pages(*DAYS))
        self.assertGreater(sum(row["verdict"] == "drop" for row in found), 50)

    def test_with_times(self):
        self.check(pages(*DAYS), ["--time-field", "fetched"], time="fetched")

    def test_the_newest_stays(self):
        self.check(pages(*DAYS), ["--time-field", "fetched", "--keep", "newest"], time="fetched", keep="newest")

    def test_by_a_column(self):
        table = pages(*DAYS)
        scores = [len(text) % 7 / 3 for text in table["text"].to_pylist()]
        table = table.append_column("score", pyarrow.array(scores))
        self.check(table, ["--keep", "score:max"], keep="score:max")

    def test_presets_and_settings(self):
        self.check(pages(*DAYS), ["--preset", "paper"], preset="paper")
        (self.folder / "found").rename(self.folder / "paper")
        self.check(pages(*DAYS), ["--containment", "0.6", "--distance", "8"], containment=0.6, distance=8)

    def test_any_number_of_threads(self):
        one, three = (rows(dupsieve.dedup(pages(*DAYS), id="id", workers=workers)) for workers in (1, 3))
        self.assertEqual(one, three)


class WaysIn(unittest.TestCase):
    def setUp(self):
        self.table = pages(DAYS[0])
        self.expected = rows(dupsieve.dedup(self.table, id="id"))

    def test_every_library(self):
        table = self.table
        relation = duckdb.from_arrow(table)
        ways = {
            "polars": polars.from_arrow(table),
            "pandas": pandas.DataFrame(table.to_pydict()),
            "duckdb": relation,
            "arro3": arro3.core.Table.from_arrow(table),
            "record batch": table.combine_chunks().to_batches()[0],
            "stream": table.to_reader(max_chunksize=7),
        }
        for name, way in ways.items():
            with self.subTest(name):
                self.assertEqual(rows(dupsieve.dedup(way, id="id")), self.expected)

    def test_datasets_of_hugging_face(self):
        import datasets

        dataset = datasets.Dataset(self.table)
        self.assertEqual(rows(dupsieve.dedup(dataset, id="id")), self.expected)
        chosen = dataset.select([3, 1, 2])
        ids = self.table["id"].to_pylist()
        self.assertEqual([row["id"] for row in rows(dupsieve.dedup(chosen, id="id"))], [ids[3], ids[1], ids[2]])

    def test_types_of_columns(self):
        table = self.table
        for column in (pyarrow.large_string(), pyarrow.string_view(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())):
            with self.subTest(str(column)):
                texts = table["text"].combine_chunks()
                # Not every type is one that pyarrow casts to.
                texts = texts.dictionary_encode() if pyarrow.types.is_dictionary(column) else texts.cast(column)
                other = table.set_column(1, "text", texts)
                self.assertEqual(rows(dupsieve.dedup(other, id="id")), self.expected)

    def test_times_of_every_type(self):
        texts = [f"one and the same text of several words {i // 3}" for i in range(9)]
        seconds = [100 + 86400 * day for day in (2, 0, 1) * 3]
        moments = [datetime.datetime.fromtimestamp(second, datetime.timezone.utc) for second in seconds]
        columns = {
            "seconds": seconds,
            "texts": [moment.isoformat() for moment in moments],
            "dates": [moment.date() for moment in moments],
            **{unit: pyarrow.array(moments, pyarrow.timestamp(unit, "UTC")) for unit in ("s", "ms", "us", "ns")},
        }
        for name, times in columns.items():
            with self.subTest(name):
                found = rows(dupsieve.dedup(pyarrow.table({"text": texts, "at": times}), time="at"))
                self.assertEqual([row["of_row"] for row in found], [1, None, 1, 4, None, 4, 7, None, 7])


class Rows(unittest.TestCase):
    text = "the river rose by two metres in the night, and the lower streets of the town were closed until noon"

    def test_numbers_stand_for_ids(self):
        # Row 2 comes before row 10, though "10" comes before "2".
        texts = ["", None, *[self.text] * 10]
        found = rows(dupsieve.dedup(pyarrow.table({"text": texts})))
        self.assertEqual([row["id"] for row in found], [str(row) for row in range(12)])
        self.assertEqual([row["verdict"] for row in found], ["empty", "empty", "keep"] + 9 * ["drop"])
        self.assertEqual([(row["of"], row["of_row"]) for row in found[3:]], 9 * [("2", 2)])
        self.assertEqual(found[2]["copies"], 9)

    def test_numbers_and_nulls_as_ids(self):
        table = pyarrow.table({"key": [70, None, 72], "text": [self.text, self.text, "something else"]})
        found = rows(dupsieve.dedup(table, id="key"))
        self.assertEqual([(row["id"], row["of"]) for row in found], [("70", "1"), ("1", None), ("72", None)])

    def test_repeated_ids(self):
        table = pyarrow.table({"id": ["a", "b", "a"], "text": [self.text, "something else", self.text]})
        found = rows(dupsieve.dedup(table, id="id"))
        self.assertEqual([row["verdict"] for row in found], ["keep", "keep", "repeated"])
        self.assertEqual((found[2]["of"], found[2]["of_row"]), ("a", 0))

    def test_a_row_that_cannot_be_read(self):
        ids = [f"page-{row}" for row in range(200)]
        ids[7], ids[9] = "a\tb", "page-8"
        table = pyarrow.table({"id": ids, "text": [f"{self.text} {row * 7919}" for row in range(200)]})
        found = rows(dupsieve.dedup(table, id="id"))
        self.assertEqual([found[row]["verdict"] for row in (7, 9)], ["bad", "repeated"])

    def test_nothing(self):
        self.assertEqual(rows(dupsieve.dedup(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}))), [])
        self.assertEqual(rows(dupsieve.dedup(pyarrow.table({"text": pyarrow.nulls(2)})))[1]["verdict"], "empty")


class Refused(InAFolder):
    def refused(self, kind, sentence, table, **settings):
        with self.assertRaises(kind) as raised:
            dupsieve.dedup(table, **settings)
        self.assertIsInstance(raised.exception, dupsieve.Error)
        self.assertIn(sentence, str(raised.exception))
        return raised.exception

    def test_what_is_wrong(self):
        table = pyarrow.table({"text": ["a text"], "n": [0.5]})
        self.refused(ValueError, 'no column "url": expected one of text, n', table, id="url")
        self.refused(ValueError, "expected texts or whole numbers, found Float64", table, id="n")
        self.refused(ValueError, "expected texts, found Float64", table, text="n")
        self.refused(ValueError, "there is no such preset", table, preset="best")
        self.refused(ValueError, "there is no such keep order", table, keep="best")
        self.refused(ValueError, "not a share", table, containment=2.0)
        self.refused(ValueError, "does not say how much", table, containment=0.5, preset="paper")
        self.refused(ValueError, "one column that decides", table, keep="n:max", time="n")
        missing = self.refused(FileNotFoundError, "", table, store=self.folder / "store")
        self.assertEqual((missing.code, missing.retryable), (66, False))
        self.assertIn(missing.help, str(missing))
        with self.assertRaises(TypeError):
            dupsieve.dedup([{"text": "a text"}])

    def test_too_much_is_bad(self):
        bad = pyarrow.table({"text": ["a", "b"], "id": ["", "b"]})
        self.refused(ValueError, "found 1 of 2, the first of them row 0: the id is empty", bad, id="id")
        when = pyarrow.table({"text": ["a"], "at": ["soon"]})
        self.refused(ValueError, "not a time", when, time="at")
        same = pyarrow.table({"text": ["a", "b", "c", "d"], "id": ["x"] * 4})
        self.refused(ValueError, "too many ids are repeated", same, id="id")

    def test_a_producer_that_fails(self):
        def batches():
            yield pyarrow.record_batch({"text": ["a text"]})
            raise KeyError("the producer broke")

        schema = pyarrow.schema({"text": pyarrow.string()})
        reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
        self.refused(ValueError, "the producer broke", reader)

    def test_bytes_that_are_no_text(self):
        def column(of, *buffers):
            return pyarrow.Array.from_buffers(of, 1, [None, *map(pyarrow.py_buffer, buffers)])

        wrong = {
            "bytes": column(pyarrow.string(), b"\0\0\0\0\2\0\0\0", b"\xff\xfe"),
            "bytes in a view": column(pyarrow.string_view(), b"\2\0\0\0\xff\xfe" + bytes(10)),
        }
        keys = pyarrow.array([0], pyarrow.int32())
        wrong["bytes in a dictionary"] = pyarrow.DictionaryArray.from_arrays(keys, wrong["bytes"])
        for name, texts in wrong.items():
            with self.subTest(name):
                self.refused(ValueError, "a column is damaged", pyarrow.table({"text": texts}))


if __name__ == "__main__":
    unittest.main()

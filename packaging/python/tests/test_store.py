"""A store fed and asked from Python, against one that `run` feeds, and the jobs that start the program."""

import datetime
import json
import os
import unittest

import pyarrow
from support import DAYS, SAMPLE, InAFolder, pages, rows

import dupsieve


class Stores(InAFolder):
    def fill(self):
        store = dupsieve.Store(self.folder / "store", create=True)
        told = [store.add(pages(day), day=day, id="id", time="fetched") for day in DAYS]
        return store, told

    def test_days_are_those_of_run(self):
        _, told = self.fill()
        config = f'inputs = ["{SAMPLE}/{{date}}/*"]\noutput = "out/{{date}}"\nstore = "other"\n[fingerprint]\ntime_field = "fetched"\n'
        (self.folder / "dupsieve.toml").write_text(config)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        summary = dupsieve.run("dupsieve.toml", date=list(DAYS), workers=1)
        kept = sum(row["verdict"] == "keep" for day in told for row in rows(day))
        self.assertEqual(summary["counts"]["kept"], kept)
        for day, verdicts in zip(DAYS, told):
            expected = {row["id"]: (row["verdict"], row["of"]) for row in self.read(f"out/{day}/dedup/verdicts.tsv")}
            found = {row["id"]: (row["verdict"], row["of"] or "") for row in rows(verdicts) if row["verdict"] != "repeated"}
            self.assertEqual(found, expected)
        logs = [json.loads(self.command("store", "log", store, "--json")) for store in ("store", "other")]
        self.assertEqual(*logs)
        self.assertEqual(dupsieve.Store("store").versions, logs[0]["versions"])

    def test_the_newest_page_of_a_key_stays(self):
        """A page comes again under other spellings of its address, with other texts: the third day is older than the second."""
        texts = [" ".join(f"{word}{number}" for number in range(60)) for word in ("fare", "ferry", "closed")]
        urls = ["https://a.example/fares", "http://www.a.example/fares/?sid=7", "https://a.example/fares?"]
        days = ["2026-11-18", "2026-11-20", "2026-11-19"]
        for key, settings in (("surt", {"recrawled": "newest"}), ("surt:url", {"keep": "newest", "time": "at"})):
            store = dupsieve.Store(self.folder / key, create=True)
            told = []
            for number, day in enumerate(days):
                id = urls[number] if key == "surt" else str(number)
                page = pyarrow.table({"id": [id], "url": [urls[number]], "text": [texts[number]], "at": [day]})
                keys = {"key": key, "drop_parameters": ["sid"]} if number == 0 else {}
                told += rows(store.add(page, day=day, id="id", **keys, **settings))
            self.assertEqual([row["verdict"] for row in told], ["keep", "keep", "superseded"])
            self.assertEqual([row["recrawl"] for row in told[:2]], ["new", "changed"])
            self.assertEqual(told[1]["former_against"], days[0])
            self.assertEqual([row["held"] for row in rows(store.seen([row["id"] for row in told]))], [False, True, False])
        table = pyarrow.table({"url": urls, "text": texts[:1] * 3})
        found = rows(dupsieve.dedup(table, id="url", key="surt", drop_parameters=["sid"], recrawled="keep"))
        self.assertEqual({row["verdict"] for row in found}, {"keep"})
        self.assertEqual(sorted(row["recrawl"] for row in found), ["new", "unchanged", "unchanged"])
        for wrong in ({"key": "page"}, {"drop_parameters": ["sid"]}, {"recrawled": "newest"}, {"key": "surt", "recrawled": "last"}):
            with self.assertRaises(ValueError):
                dupsieve.dedup(table, id="url", **wrong)

    def test_a_day_again(self):
        store, told = self.fill()
        versions = store.versions
        again = store.add(pages(DAYS[1]), day=datetime.date.fromisoformat(DAYS[1]), id="id", time="fetched")
        self.assertEqual(rows(again), rows(told[1]))
        self.assertEqual(store.versions, versions)
        with self.assertRaises(FileExistsError):
            store.add(pages(DAYS[0]), day=DAYS[1], id="id", time="fetched")

    def test_questions(self):
        store, told = self.fill()
        kept = [row["id"] for row in rows(told[0]) if row["verdict"] == "keep"]
        seen = rows(store.seen([*kept, "nowhere"]))
        self.assertEqual([row["held"] for row in seen], [True] * len(kept) + [False])
        self.assertEqual(seen[0]["day"], datetime.date.fromisoformat(DAYS[0]))
        answers = rows(store.query(pages(DAYS[0]), id="id"))
        near = {row["id"]: [page["id"] for page in row["near"]] for row in answers}
        self.assertTrue(all(id in near[id] for id in kept if store_has(store, id)))
        self.assertEqual(rows(store.query(pyarrow.table({"text": ["", "words found nowhere else"]})))[0]["verdict"], "empty")
        found = rows(dupsieve.dedup(pages(DAYS[0]), id="id", store=store.path))
        self.assertEqual({row["verdict"] for row in found if row["id"] in kept}, {"drop"})
        self.assertIn(DAYS[0], {row["against"] for row in found})

    def test_removed_pages_are_gone(self):
        store, told = self.fill()
        gone = next(row["id"] for row in rows(told[0]) if row["verdict"] == "keep")
        told = store.remove([gone, "nowhere"])
        self.assertEqual((told["listed"], told["held"]), (2, 1))
        self.assertEqual([row["held"] for row in rows(store.seen([gone]))], [False])

    def test_what_is_refused(self):
        with self.assertRaises(FileNotFoundError):
            dupsieve.Store(self.folder / "none")
        store, _ = self.fill()
        table = pages(DAYS[0])
        for wrong in ({"day": "today"}, {"day": "2026-11-21", "only": "some"}, {"day": "2026-11-21", "preset": "paper"}):
            with self.assertRaises(ValueError):
                store.add(table, id="id", **wrong)
        with self.assertRaises(ValueError):
            store.seen(["a\nb"])


def store_has(store, id):
    return rows(store.seen([id]))[0]["held"]


class Programs(InAFolder):
    def test_lsh_and_clusters(self):
        found = dupsieve.lsh(SAMPLE / DAYS[0], self.folder / "overlaps", similarity=0.7)
        self.assertGreater(found["counts"]["kept"], 0)
        clusters = dupsieve.clusters(self.folder / "overlaps", self.folder / "clusters")
        self.assertGreater(clusters["counts"]["clusters"], 0)

    def test_failures(self):
        with self.assertRaises(FileNotFoundError) as raised:
            dupsieve.lsh(self.folder / "none", self.folder / "found")
        self.assertIsInstance(raised.exception, dupsieve.Error)
        self.assertIn("none", str(raised.exception))
        with self.assertRaisesRegex(ValueError, "not a similarity"):
            dupsieve.lsh(self.folder, self.folder / "found", similarity=2)


if __name__ == "__main__":
    unittest.main()

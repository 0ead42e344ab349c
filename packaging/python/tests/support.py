"""The bundled sample as tables, and folders that go with a test."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyarrow

from dupsieve import program

SAMPLE = Path(__file__).resolve().parents[3] / "bench-data" / "sample" / "crawl"
DAYS = ("2026-11-18", "2026-11-19", "2026-11-20")


def lines(day):
    """The lines of the pages of a day."""
    # The name tells how a file is packed.
    with pyarrow.input_stream(next((SAMPLE / day).iterdir())) as file:
        return file.read().splitlines()


def pages(*days):
    """The pages of some days, the later ones behind: a table of `id`, `text` and `fetched`. Of an id that comes again, the first."""
    rows = {}
    for row in (json.loads(line) for day in days for line in lines(day)):
        rows.setdefault(row["id"], row)
    return pyarrow.table({name: [row.get(name) for row in rows.values()] for name in ("id", "text", "fetched")})


def rows(table):
    """The rows of a table as dictionaries."""
    return pyarrow.table(table).to_pylist()


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def command(self, *arguments):
        """Runs the program, and returns what it prints."""
        done = subprocess.run([program.find(), *arguments], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read(self, path):
        """The rows of a TSV that the program wrote."""
        head, *rest = (self.folder / path).read_text().splitlines()
        return [dict(zip(head.split("\t"), line.split("\t"))) for line in rest]

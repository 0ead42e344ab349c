"""dupsieve from Python, cell by cell: the bundled sample through pyarrow, Polars, pandas, DuckDB and Hugging Face datasets.

Run the file from the root of the project, or open it as a notebook: each `# %%` begins a cell.
"""

# %% The pages of one day
import tempfile
from pathlib import Path

import pyarrow.json

import dupsieve

SAMPLE = Path("bench-data/sample/crawl")


def pages(day):
    with pyarrow.input_stream(next((SAMPLE / day).iterdir())) as file:
        return pyarrow.json.read_json(file).select(["id", "title", "text", "fetched"])


monday = pages("2026-11-18")
print(monday.num_rows, "pages with the columns", monday.column_names)

# %% pyarrow: which of them are near-duplicates?
verdicts = pyarrow.table(dupsieve.dedup(monday, id="id", text="text", time="fetched"))
print(verdicts.group_by("verdict").aggregate([([], "count_all")]).to_pylist())
kept = monday.filter(pyarrow.compute.equal(verdicts["verdict"], "keep"))

# %% The same for a frame of Polars. The verdicts are in the order of the rows, so they stand beside the pages
import polars

frame = polars.from_arrow(monday)
beside = frame.with_columns(polars.DataFrame(dupsieve.dedup(frame, id="id", time="fetched")).select("verdict", "of", "containment"))
print(beside.filter(polars.col("verdict") == "drop").select("title", "of", "containment").head(3))
assert beside.filter(polars.col("verdict") == "keep").height == kept.num_rows

# %% pandas
import pandas

frame = pandas.DataFrame(monday.to_pydict())
found = pyarrow.table(dupsieve.dedup(frame, id="id", time="fetched")).to_pandas()
# `of_row` is the row of the page that stays.
dropped = found[found.verdict == "drop"]
print(frame.title[dropped.of_row.astype(int)].value_counts().head(3))
assert (found.verdict == "keep").sum() == kept.num_rows

# %% DuckDB: a relation goes in, and the verdicts are a table for the next query
import duckdb

relation = duckdb.sql("select id, text, fetched from monday")
found = pyarrow.table(dupsieve.dedup(relation, id="id", time="fetched"))
print(duckdb.sql("select against, count(*) as pages, avg(containment) as containment from found where verdict = 'drop' group by against"))

# %% Hugging Face datasets: the rows of the dataset that are kept
import datasets

dataset = datasets.Dataset(monday)
found = pyarrow.table(dupsieve.dedup(dataset, id="id", time="fetched"))
rows = [row for row, verdict in enumerate(found["verdict"].to_pylist()) if verdict == "keep"]
dataset = dataset.select(rows)
assert dataset.num_rows == kept.num_rows

# %% Two texts beside each other
row = next(row for row in verdicts.to_pylist() if row["verdict"] == "drop")
texts = dict(zip(monday["id"].to_pylist(), monday["text"].to_pylist()))
print(dupsieve.compare(texts[row["id"]], texts[row["of"]]))

# %% A store of days: what is new today, against all days before
folder = tempfile.TemporaryDirectory()
store = dupsieve.Store(Path(folder.name) / "store", create=True)
for day in ("2026-11-18", "2026-11-19", "2026-11-20"):
    told = pyarrow.table(store.add(pages(day), day=day, id="id", time="fetched"))
    print(day, told["verdict"].value_counts().to_pylist())
for version in store.versions:
    print(version)

# %% Has the store seen these? By id, and by text
print(pyarrow.table(store.seen(["https://shanjian.example/mianshi/shouganmian", "https://nowhere.example/"])).to_pylist())
answers = pyarrow.table(store.query(monday.slice(0, 5), id="id"))
assert set(answers["verdict"].to_pylist()) == {"drop"}

# %% A page that has to go
gone = store.remove(["https://shanjian.example/mianshi/shouganmian"])
print(gone)
folder.cleanup()

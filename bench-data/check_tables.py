#!/usr/bin/env python3
"""Reads the tables of dupsieve with pyarrow, DuckDB and Polars, in every format, and holds them against each other.

    python3 bench-data/check_tables.py [DUPSIEVE]

The three days of the sample are run in TSV, Parquet and JSON Lines, with clusters. Every program must read the same rows from every
file, with the types that the book promises; the statistics of Parquet must be those of its values; and the joins of the book must
give the pages that were kept. Prints what differs, and ends with 1 then. Installs nothing.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb
import polars
import pyarrow
import pyarrow.csv
import pyarrow.json
from pyarrow import parquet

ROOT = pathlib.Path(__file__).resolve().parent.parent
DAY, DAYS = "2026-11-20", 3
FORMATS = ["tsv", "parquet", "jsonl"]
TABLES = {
    "dedup/verdicts": {"id": "text", "verdict": "text", "of": "text", "distance": "bits", "against": "text",
                       "containment": "share", "copies": "count", "hosts": "count"},
    "dedup/matches": {"new": "text", "existing": "text", "distance": "bits", "against": "text", "check": "share",
                      "verdict": "text"},
    "clusters/clusters": {"member": "text", "cluster": "text", "day": "day"},
    "clusters/sizes": {"cluster": "text", "size": "count"},
    "clusters/changes": {"cluster": "text", "member": "text", "diff": "change", "day": "day"},
}
ARROW = {"text": pyarrow.string(), "bits": pyarrow.uint8(), "share": pyarrow.float64(), "count": pyarrow.int64(),
         "change": pyarrow.int8(), "day": pyarrow.date32()}
DUCKDB = {"text": "VARCHAR", "bits": "UTINYINT", "share": "DOUBLE", "count": "BIGINT", "change": "TINYINT", "day": "DATE"}
POLARS = {"text": polars.String, "bits": polars.UInt8, "share": polars.Float64, "count": polars.Int64, "change": polars.Int8,
          "day": polars.Date}
JSON = {"text": polars.String, "share": polars.Float64, "day": polars.String}
wrong = []


def check(is_right, what):
    if not is_right:
        wrong.append(what)
        print(f"  WRONG: {what}")


def run(program, *words):
    subprocess.run([program, *words, "--quiet"], check=True, capture_output=True, cwd=ROOT)


def text(value, kind):
    """A value as the TSV has it."""
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.date):
        return value.strftime("%Y-%m-%d")
    return {"share": "{:.4f}", "change": "{:+d}"}.get(kind, "{}").format(value)


def texts(rows, kinds):
    return [tuple(text(value, kind) for value, kind in zip(row, kinds)) for row in rows]


def by_definition(path):
    header, *lines = path.read_text("utf-8").splitlines()
    return header.split("\t"), [tuple(line.split("\t")) for line in lines]


def of_arrow(table):
    return list(zip(*(column.to_pylist() for column in table.columns))) if table.num_rows else []


def readings(path, columns):
    """How each program reads a table of any format: its rows, by its name."""
    names, kinds = list(columns), list(columns.values())
    if path.suffix == ".parquet":
        sql, frame, table = f"'{path}'", polars.read_parquet(path), parquet.read_table(path)
        found = {row[0]: row[1] for row in duckdb.sql(f"DESCRIBE FROM {sql}").fetchall()}
        check(found == {name: DUCKDB[kind] for name, kind in columns.items()}, f"{path}: types by DuckDB: {found}")
        check(dict(frame.schema) == {name: POLARS[kind] for name, kind in columns.items()}, f"{path}: types by Polars: {frame.schema}")
        fields = {field.name: field.type for field in table.schema}
        check(fields == {name: ARROW[kind] for name, kind in columns.items()}, f"{path}: types by pyarrow: {fields}")
    elif path.suffix == ".jsonl":
        types = ", ".join(f"{name!r}: {DUCKDB[kind]!r}" for name, kind in columns.items())
        sql = f"read_json('{path}', format='newline_delimited', columns={{{types}}})"
        frame = polars.read_ndjson(path, schema={name: JSON.get(kind, polars.Int64) for name, kind in columns.items()})
        schema = pyarrow.schema({name: pyarrow.string() if kind == "day" else ARROW[kind] for name, kind in columns.items()})
        table = pyarrow.json.read_json(path, parse_options=pyarrow.json.ParseOptions(explicit_schema=schema))
    else:
        # Nothing is quoted or escaped. A program that takes quotes would swallow lines.
        sql = f"read_csv('{path}', delim='\t', quote='', escape='', header=true)"
        frame = polars.read_csv(path, separator="\t", quote_char=None, schema_overrides={name: POLARS[kind] for name, kind in columns.items()})
        # pyarrow reads no `+1` as a number.
        types = {name: pyarrow.string() if kind == "change" else ARROW[kind] for name, kind in columns.items()}
        table = pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
                                     convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True))
    check([table.column_names, frame.columns] == [names, names], f"{path}: columns {table.column_names}, {frame.columns}")
    yield "DuckDB", texts(duckdb.sql(f"FROM {sql}").fetchall(), kinds)
    yield "Polars", texts(frame.rows(), kinds)
    yield "pyarrow", texts(of_arrow(table), kinds)


def statistics(path, columns):
    """The least and the greatest value and the nulls of each column of each row group. Those of doubles are in an order that
    pyarrow does not know, so DuckDB is asked for them."""
    file = parquet.ParquetFile(path)
    for number in range(file.num_row_groups):
        rows, group = file.read_row_group(number), file.metadata.row_group(number)
        for at, (name, kind) in enumerate(columns.items()):
            values, told = [value for value in rows[name].to_pylist() if value is not None], group.column(at).statistics
            check(told is not None and told.null_count == rows.num_rows - len(values), f"{path}: nulls of {name}")
            if kind == "share":
                found = duckdb.sql(f"SELECT stats_min_value, stats_max_value FROM parquet_metadata('{path}') WHERE row_group_id = {number} AND column_id = {at}")
                bounds = tuple(float(value) for value in found.fetchall()[0])
            else:
                bounds = (told.min, told.max)
            if values:
                order = (lambda value: value.encode()) if kind == "text" else None
                check(bounds == (min(values, key=order), max(values, key=order)), f"{path}: {name} is said to be from {bounds}")


def tables(out):
    """All tables of a day, in all formats."""
    for table, columns in TABLES.items():
        header, expected = by_definition(out / "tsv" / DAY / f"{table}.tsv")
        kinds = list(columns.values())
        check(header == list(columns) and len(expected) > 3, f"{table}: header {header}, {len(expected)} rows")
        for format in FORMATS:
            path = out / format / DAY / f"{table}.{format}"
            for program, rows in readings(path, columns):
                check(rows == expected, f"{path}: {program} reads other rows")
        statistics(out / "parquet" / DAY / f"{table}.parquet", columns)
        print(f"  {table}: {len(expected)} rows, the same in {len(FORMATS)} formats by 3 programs")


def joins(program, out):
    """The pages of the day in Parquet, joined with their verdicts as the book says."""
    pages, verdicts = out / "pages.parquet", out / "parquet" / DAY / "dedup" / "verdicts.parquet"
    lines = [path for path in (ROOT / "bench-data/sample/crawl" / DAY).iterdir()]
    frame = polars.concat([polars.read_ndjson(path) for path in lines]).unique("id", keep="first", maintain_order=True)
    parquet.write_table(pyarrow.Table.from_pylist(frame.to_dicts()), pages, row_group_size=20)
    kept = len((out / "parquet" / DAY / "dedup" / "keep.txt").read_text().splitlines())
    book = (ROOT / "docs/src/results.md").read_text()
    [sql] = re.findall(r"^SELECT p\.\* FROM .*?;$", book, re.MULTILINE)
    sql = sql.replace("crawl/*.parquet", str(pages)).replace("out/DAY/dedup/verdicts.parquet", str(verdicts))
    check(len(duckdb.sql(sql).fetchall()) == kept, f"{sql}: not {kept} rows")
    joined = polars.scan_parquet(pages).join(polars.scan_parquet(verdicts), on="id").collect()
    check(joined.filter(polars.col("verdict") == "keep").height == kept, "the join of Polars")
    table = parquet.read_table(pages).join(parquet.read_table(verdicts), "id")
    check(table.filter(pyarrow.compute.equal(table["verdict"], "keep")).num_rows == kept, "the join of pyarrow")
    print(f"  {kept} kept pages by joins")


def main(program):
    with tempfile.TemporaryDirectory() as out:
        out = pathlib.Path(out)
        for format in FORMATS:
            config = out / f"{format}.toml"
            config.write_text((ROOT / "configs/local.toml").read_text().replace('"out/', f'"{out}/{format}/') + "\n[clusters]\n")
            run(program, "run", config, "--output-format", format)
        tables(out)
        joins(program, out)
    print(f"{len(wrong)} wrong; pyarrow {pyarrow.__version__}, DuckDB {duckdb.__version__}, Polars {polars.__version__}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/dupsieve").resolve()))

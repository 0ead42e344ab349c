#!/usr/bin/env python3
"""Makes the Parquet files of this folder: the same three pages as pyarrow, DuckDB and Polars write them."""

from datetime import datetime, timezone

import duckdb
import polars
import pyarrow
from pyarrow import parquet

PAGES = {
    "id": ["a", "b", "c"],
    "text": ["the first page", "第二页", None],
    "fetched": [datetime(2026, 11, day, 12, tzinfo=timezone.utc) for day in (20, 21, 22)],
}

pages = pyarrow.table(PAGES)
parquet.write_table(pages, "pyarrow.parquet", compression="zstd", data_page_version="2.0")
parquet.write_table(pages, "pyarrow-int96.parquet", use_deprecated_int96_timestamps=True, row_group_size=1)
polars.DataFrame(PAGES).write_parquet("polars.parquet")
duckdb.sql("SET TimeZone = 'UTC'; COPY (FROM pages) TO 'duckdb.parquet'")

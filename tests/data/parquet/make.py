#!/usr/bin/env python3
"""Makes the Parquet files of this folder: the same three pages, and the same vectors, as pyarrow, DuckDB and Polars write them."""

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

VECTORS = {
    "id": ["a", "b", "c", "d", "null", "hole"],
    "vector": [[0.5, 0.0, 0.0], [0.5, 0.0625, 0.0], [0.0, 3.0, 0.0], [0.0, 6.0, 0.125], None, [None, 1.0, 0.0]],
}
OF_32_BITS = pyarrow.list_(pyarrow.float32())
for name, kind in {
    "half": pyarrow.list_(pyarrow.float16()),
    "float": OF_32_BITS,
    "double": pyarrow.large_list(pyarrow.float64()),
    "fixed": pyarrow.list_(pyarrow.float32(), 3),
}.items():
    vectors = pyarrow.table({"id": VECTORS["id"], "vector": pyarrow.array(VECTORS["vector"], OF_32_BITS).cast(kind)})
    parquet.write_table(vectors, f"vectors-{name}.parquet", row_group_size=4)
array = polars.Array(polars.Float32, 3)
polars.DataFrame(VECTORS, schema={"id": polars.String, "vector": array}).write_parquet("vectors-polars.parquet")
vectors = pyarrow.table(VECTORS)
duckdb.sql("COPY (SELECT id, vector::DOUBLE[3] AS vector FROM vectors) TO 'vectors-duckdb.parquet'")

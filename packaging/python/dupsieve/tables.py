"""Tables that do not speak Arrow's PyCapsule interface by themselves."""

from __future__ import annotations

from typing import Any

# Rows of a Hugging Face dataset that are read at once.
_ROWS = 1000


def stream(table: Any) -> Any:
    """An object with `__arrow_c_stream__` or `__arrow_c_array__` for a table."""
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return table
    # A dataset of Hugging Face: it gives its rows, as they were chosen and put in order, as tables of pyarrow.
    if hasattr(table, "with_format") and hasattr(table, "features"):
        import pyarrow

        schema = table.features.arrow_schema
        parts = table.with_format("arrow").iter(_ROWS)
        batches = (batch for part in parts for batch in part.cast(schema).to_batches())
        return pyarrow.RecordBatchReader.from_batches(schema, batches)
    raise TypeError(
        f"expected a table with __arrow_c_stream__, such as one of pyarrow, Polars, pandas or DuckDB, found {type(table).__name__}"
    )

"""Near-duplicate detection for web crawls and corpora, over Arrow.

Tables go in as anything with `__arrow_c_stream__` (pyarrow, Polars, pandas, DuckDB) or as a dataset of Hugging Face, and come out as
tables of `arro3.core`, which all of these take without a copy:

    import dupsieve, polars

    pages = polars.read_parquet("pages.parquet")
    verdicts = polars.DataFrame(dupsieve.dedup(pages, id="url", text="text", time="fetched"))
    kept = pages.filter(verdicts["verdict"] == "keep")

`dedup`, `fingerprint`, `sketch`, `compare`, `passages`, `contains` and `Store` are the library, in this process. `run`, `lsh` and `clusters` start the program,
which this package brings along, and leave their results in folders.
"""

from ._dupsieve import Store, __version__, compare, contains, dedup, fingerprint, passages, sketch
from .errors import Error
from .program import clusters, lsh, run

__all__ = [
    "Error",
    "Store",
    "__version__",
    "clusters",
    "compare",
    "contains",
    "dedup",
    "fingerprint",
    "lsh",
    "passages",
    "run",
    "sketch",
]

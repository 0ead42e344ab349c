#!/usr/bin/env python3
"""Makes the Arrow files of this folder: the same rows as pyarrow and Polars write them, in every kind of column and packing."""

import uuid
from datetime import date, datetime, timezone
from decimal import Decimal

import polars
import pyarrow
from pyarrow import feather, ipc

TEXTS = ["the first page", "第二页", None, "", "a text of more than twelve bytes", "the first page", "the last"]
ROWS = len(TEXTS)
NUMBERS = list(range(1, ROWS + 1))
URLS = [f"https://host.example/{number}" for number in NUMBERS]
TIMES = [datetime(2026, 11, number, 12, tzinfo=timezone.utc) for number in NUMBERS]
VECTORS = [[0.5, 0.0], [], None, [None, 1.0], [3.0], [0.25] * 3, [6.0, 0.125]]

COLUMNS = {
    "flag": pyarrow.array([number % 2 == 0 for number in NUMBERS]),
    "tags": pyarrow.array([["a", "b"][: number % 3] for number in NUMBERS]),
    "nothing": pyarrow.nulls(ROWS),
    "views": pyarrow.array(TEXTS, pyarrow.string_view()),
    "union": pyarrow.UnionArray.from_dense(
        pyarrow.array([0] * ROWS, pyarrow.int8()),
        pyarrow.array(range(ROWS), pyarrow.int32()),
        [pyarrow.array(NUMBERS)],
    ),
    "map": pyarrow.array([[("k", number)] for number in NUMBERS], pyarrow.map_(pyarrow.string(), pyarrow.int32())),
    "id": pyarrow.array([f"p{number}" for number in NUMBERS]),
    "text": pyarrow.array(TEXTS),
    "large": pyarrow.array(TEXTS, pyarrow.large_string()),
    "binary": pyarrow.array([text and text.encode() for text in TEXTS], pyarrow.binary()),
    "named": pyarrow.array(TEXTS).dictionary_encode(),
    "meta": pyarrow.StructArray.from_arrays(
        [
            pyarrow.array(URLS),
            pyarrow.array(TIMES, pyarrow.timestamp("ms", "UTC")),
            pyarrow.array(TEXTS, pyarrow.string_view()),
        ],
        ["url", "at", "view"],
        mask=pyarrow.array([number == 2 for number in NUMBERS]),
    ),
    "long": pyarrow.array(NUMBERS, pyarrow.int64()),
    "byte": pyarrow.array([number - 4 for number in NUMBERS], pyarrow.int8()),
    "unsigned": pyarrow.array([2**64 - number for number in NUMBERS], pyarrow.uint64()),
    "decimal": pyarrow.array([Decimal(-number * 10**20) for number in NUMBERS], pyarrow.decimal128(38, 0)),
    "fraction": pyarrow.array([Decimal(number) for number in NUMBERS], pyarrow.decimal128(10, 2)),
    "score": pyarrow.array([number / 2 for number in NUMBERS]),
    "half": pyarrow.array([number / 2 for number in NUMBERS], pyarrow.float16()),
    "uuid": pyarrow.array([uuid.UUID(int=number).bytes for number in NUMBERS], pyarrow.uuid()),
    "day": pyarrow.array([date(2026, 11, number) for number in NUMBERS], pyarrow.date32()),
    "day64": pyarrow.array([date(2026, 11, number) for number in NUMBERS], pyarrow.date64()),
    "seconds": pyarrow.array(NUMBERS, pyarrow.timestamp("s")),
    "nanos": pyarrow.array([number * 10**9 + 1 for number in NUMBERS], pyarrow.timestamp("ns")),
    "vector": pyarrow.array(VECTORS, pyarrow.list_(pyarrow.float32())),
    "large_vector": pyarrow.array(VECTORS, pyarrow.large_list(pyarrow.float64())),
    "half_vector": pyarrow.array(VECTORS, pyarrow.list_(pyarrow.float16())),
    "fixed": pyarrow.array([v if v and len(v) == 2 else None for v in VECTORS], pyarrow.list_(pyarrow.float32(), 2)),
}

pages = pyarrow.table(COLUMNS)


def write(name, writer, **options):
    with writer(name, pages.schema, options=ipc.IpcWriteOptions(**options)) as out:
        out.write_batch(pages.slice(0, 3).combine_chunks().to_batches()[0])
        out.write_batch(pages.slice(3).to_batches()[0])


write("stream.arrow", ipc.new_stream, unify_dictionaries=True)
write("file.arrow", ipc.new_file, unify_dictionaries=True)
write("lz4.arrow", ipc.new_stream, compression="lz4")
write("zstd.arrow", ipc.new_file, compression="zstd")
write("old.arrow", ipc.new_stream, metadata_version=ipc.MetadataVersion.V4)

# Dictionaries that grow, and that are replaced, between batches.
for name, deltas in [("deltas", True), ("replaced", False)]:
    batches = [["a", "b", "a"], ["a", "b", "c"]] if deltas else [["a", "b", "a"], ["c", "d", "c"]]
    schema = pyarrow.schema([("id", pyarrow.int32()), ("text", pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))])
    with ipc.new_stream(f"{name}.arrow", schema, options=ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)) as out:
        for at, texts in enumerate(batches):
            texts = pyarrow.array(texts).dictionary_encode().cast(schema.field("text").type)
            out.write_batch(pyarrow.record_batch([pyarrow.array([3 * at, 3 * at + 1, 3 * at + 2], pyarrow.int32()), texts], schema=schema))

few = pages.select(["id", "text", "score", "vector"])
feather.write_feather(few, "feather.feather", compression="lz4")
frame = {"id": COLUMNS["id"].to_pylist(), "text": TEXTS, "vector": VECTORS}
frame = polars.DataFrame(frame, schema={"id": polars.String, "text": polars.String, "vector": polars.List(polars.Float32)})
frame.write_ipc("polars.arrow")
frame.write_ipc("polars-zstd.arrow", compression="zstd")

from datetime import date as _date
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, Sequence, TypedDict, Union, final

from arro3.core import Array, Table

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _Dataset(Protocol):
    features: Any

    def with_format(self, type: str) -> Any: ...

_Table = Union[_ArrowStream, _ArrowArray, _Dataset]
_Texts = Union[_ArrowStream, _ArrowArray, Sequence[str | None]]
_Path = Union[str, PathLike[str]]
_Preset = Literal["paper", "balanced"]
_Day = Union[str, _date]

class _Comparison(TypedDict, total=False):
    recipe: str
    distance: int
    fingerprints: list[str]
    classes: list[Literal["full", "short"]]
    jaccard: float
    check: str
    containment: list[float]

class _Revision(TypedDict):
    version: int
    change: str
    days: int
    rows: int
    replaced: int

class _Removed(TypedDict):
    listed: int
    held: int
    rows: int

__all__ = ["Store", "__version__", "compare", "contains", "dedup", "fingerprint", "passages", "sketch"]

__version__: str

def dedup(
    table: _Table,
    *,
    id: str | None = None,
    text: str = "text",
    time: str | None = None,
    store: _Path | None = None,
    preset: _Preset | None = None,
    distance: int | None = None,
    containment: float | None = None,
    keep: str | None = None,
    key: str | None = None,
    drop_parameters: list[str] | None = None,
    recrawled: Literal["rule", "newest", "keep"] | None = None,
    workers: int | None = None,
    memory: int | None = None,
) -> Table: ...
def fingerprint(
    texts: _Texts, *, preset: _Preset = "balanced", recipe: str | None = None, workers: int | None = None
) -> Array: ...
def sketch(texts: _Texts, *, preset: _Preset = "balanced", workers: int | None = None) -> Array: ...
def compare(one: str, another: str, *, preset: _Preset = "balanced") -> _Comparison: ...
def passages(texts: _Texts, *, words: int = 50, memory: int | None = None) -> Table: ...
def contains(texts: _Texts, items: _Texts, *, share: float = 0.8, workers: int | None = None) -> Table: ...

@final
class Store:
    def __new__(cls, path: _Path, *, create: bool = False) -> Store: ...
    @property
    def path(self) -> Path: ...
    @property
    def versions(self) -> list[_Revision]: ...
    def query(
        self,
        table: _Table,
        *,
        id: str | None = None,
        text: str = "text",
        distance: int | None = None,
        limit: int = 1000,
        version: int | None = None,
        workers: int | None = None,
    ) -> Table: ...
    def seen(self, ids: _Texts, *, version: int | None = None, workers: int | None = None) -> Table: ...
    def add(
        self,
        table: _Table,
        *,
        day: _Day,
        id: str,
        text: str = "text",
        time: str | None = None,
        only: Literal["kept", "all"] = "kept",
        preset: _Preset | None = None,
        distance: int | None = None,
        containment: float | None = None,
        keep: str | None = None,
        key: str | None = None,
        drop_parameters: list[str] | None = None,
        recrawled: Literal["rule", "newest", "keep"] | None = None,
        workers: int | None = None,
        memory: int | None = None,
    ) -> Table: ...
    def remove(self, ids: _Texts, *, until: _Day | None = None, workers: int | None = None) -> _Removed: ...

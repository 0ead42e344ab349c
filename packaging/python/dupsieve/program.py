"""The program, which the wheel brings along, for jobs that need all of it: they write their results into folders."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Iterable, Sequence, Union

from . import errors

StrPath = Union[str, "os.PathLike[str]"]
Paths = Union[StrPath, Sequence[StrPath]]


def find() -> str:
    """The path of the program: that of this environment, else the one on the PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "dupsieve"
    found = str(beside) if beside.exists() else shutil.which("dupsieve")
    if found is None:
        raise errors.of(66, "the program dupsieve is not in this environment and not on the PATH", "missing")
    return found


def call(arguments: Iterable[StrPath]) -> dict[str, Any]:
    """Runs the program with these arguments, and returns the summary that it ends with.

    What the program tells while it works appears on stderr. Ctrl-C ends the program too.
    """
    line = [find(), *(os.fspath(word) for word in arguments), "--json"]
    sentence = None
    with tempfile.TemporaryFile("w+") as told:
        with subprocess.Popen(line, stdout=told, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                # A notebook shows what is written here, and not what the program writes to the terminal.
                for said in process.stderr:
                    sys.stderr.write(said)
                    sentence = said.strip().removeprefix("error: ") if said.startswith("error: ") else sentence
            except BaseException:
                process.terminate()
                raise
        told.seek(0)
        last = told.read().splitlines()[-1:]
    summary: dict[str, Any] = json.loads(last[0]) if last else {}
    code = process.returncode
    if code != 0:
        # A program that a signal ends can be started again.
        sentence = summary.get("error") or sentence or f"the program ended with {code}"
        kind = summary.get("kind") or ("interrupted" if code < 0 else "usage")
        raise errors.of(code if code > 0 else 75, sentence, kind, summary.get("help"))
    return summary


def run(config: StrPath, *, date: Any = None, **flags: Any) -> dict[str, Any]:
    """Does the days of a configuration, as `dupsieve run` does: fingerprints, verdicts, store, clusters.

    Args:
        config: The configuration, a TOML file.
        date: A day or a list of days, as `datetime.date` or texts such as `2026-11-20` or `2026-11-18..2026-11-20`. By default
            the days that the configuration names.
        flags: Other flags of `dupsieve run`, with `_` for `-`: `workers=2` is `--workers 2`, `dry_run=True` is `--dry-run`.

    Returns:
        The summary: counts and paths.

    Raises:
        dupsieve.Error: The class fits the exit code of the program.
    """
    dates = [] if date is None else date if isinstance(date, (list, tuple)) else [date]
    return call(["run", config, *(word for day in dates for word in ("--date", str(day))), *_typed(flags)])


def lsh(inputs: Paths, output: StrPath, **flags: Any) -> dict[str, Any]:
    """Finds documents that overlap, by buckets, as `dupsieve lsh` does. The results stand in the folder `dedup` of `output`.

    Args:
        inputs: A file, a folder, or several.
        output: The folder to write.
        flags: Other flags of `dupsieve lsh`, with `_` for `-`: `similarity=0.7` is `--similarity 0.7`.

    Returns:
        The summary: counts and paths.
    """
    return call(["lsh", "--input", *_paths(inputs), "--output", output, *_typed(flags)])


def clusters(matches: Paths, output: StrPath, **flags: Any) -> dict[str, Any]:
    """Puts the pages of outputs into clusters, as `dupsieve cluster` does. The results stand in the folder `output`.

    Args:
        matches: An output of `dedup`, `run` or `lsh`, or several.
        output: The folder to write.
        flags: Other flags of `dupsieve cluster`, with `_` for `-`: `method="components"` is `--method components`.

    Returns:
        The summary: counts and paths.
    """
    return call(["cluster", "--matches", *_paths(matches), "--output", output, *_typed(flags)])


def _paths(paths: Paths) -> list[StrPath]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)


def _typed(flags: dict[str, Any]) -> list[str]:
    """Flags as they are typed."""
    line: list[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            line.append(flag)
        elif value is not None and value is not False:
            values = value if isinstance(value, (list, tuple)) else [value]
            line.extend(f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}" for one in values)
    return line

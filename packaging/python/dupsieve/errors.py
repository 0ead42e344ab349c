"""The exceptions of dupsieve. Each is also the exception of Python that fits, and its text is the sentence of the program."""

from __future__ import annotations


class Error(Exception):
    """A failure of dupsieve."""

    code: int = 70
    """The exit code with which the program ends for this failure."""
    retryable: bool = False
    """Whether the same call may succeed later."""
    kind: str = "defect"
    """The stable name of the failure, such as `store-locked`: a heading of the chapter "What can go wrong"."""
    help: str | None = None
    """What to do about it, if that is known. The text has it too."""


class UsageError(Error, ValueError):
    """What was asked for is impossible, or a name or a setting is wrong."""

    code = 2


class DataError(Error, ValueError):
    """Too much of the input is bad, a file of dupsieve is damaged, or there are too many matches."""

    code = 65


class MissingError(Error, FileNotFoundError):
    """An input or a store does not exist."""

    code = 66


class UnavailableError(Error, ConnectionError):
    """Another process or a server did not answer."""

    code, retryable = 69, True


class DefectError(Error, RuntimeError):
    """A defect of dupsieve."""

    code, retryable = 70, True


class ExistsError(Error, FileExistsError):
    """What is to be made exists, made from other inputs or settings."""

    code = 73


class DiskError(Error, OSError):
    """Reading or writing failed, or the disk is full."""

    code, retryable = 74, True


class TemporaryError(Error, OSError):
    """Another run holds the lock, or something that the machine lends is used up for now."""

    code, retryable = 75, True


class OutOfMemoryError(Error, MemoryError):
    """The machine has no memory left."""

    code, retryable = 75, True


class AccessError(Error, PermissionError):
    """Permissions or a limit of the system forbid to read or write."""

    code = 77


class ConfigError(Error, ValueError):
    """The configuration file is wrong."""

    code = 78


_CLASSES = {
    one.code: one
    for one in (
        UsageError,
        DataError,
        MissingError,
        UnavailableError,
        DefectError,
        ExistsError,
        DiskError,
        TemporaryError,
        AccessError,
        ConfigError,
    )
}


def of(code: int, sentence: str, kind: str, help: str | None = None, *, is_memory: bool = False) -> Error:
    """The exception for an exit code of the program."""
    error = (OutOfMemoryError if is_memory else _CLASSES.get(code, DefectError))(sentence)
    error.kind, error.help = kind, help
    return error

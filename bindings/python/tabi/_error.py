"""Errors of tabi, and what it notices but can live with."""
from __future__ import annotations

import warnings
from typing import NamedTuple


class Error(Exception):
    """What went wrong, where, and what to do about it.

    Attributes:
        message: what is wrong, with the cure behind a semicolon.
        file: the file to blame, or "".
        line: its line from 1, or 0.
        cure: what to do about it, or "".
        kind: what kind of error it is, in a few words.
    """

    def __init__(self, message: str, file: str = "", line: int = 0, kind: str = "") -> None:
        super().__init__(message, file, line, kind)
        self.message = message
        self.file = file
        self.line = line
        self.kind = kind

    @property
    def cure(self) -> str:
        return self.message.partition("; ")[2]

    def __str__(self) -> str:
        if not self.file:
            return self.message
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}"


class Finding(NamedTuple):
    """Something that a loader or the model doctor noticed."""

    severity: str
    """"note" (of no consequence), "warning" (behaves otherwise than expected) or "error"."""
    file: str
    line: int
    message: str
    item: str
    """What was repaired, as in "link 'foot'"; "" if nothing was."""
    what: str
    """How it was repaired."""
    size: float
    """The change relative to what was changed."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.severity}: {self.message}"


class ModelWarning(UserWarning):
    """A file is used otherwise than its author may expect."""


def tell(found: list[tuple], level: int = 3) -> tuple[Finding, ...]:
    """Findings of what the extension collected; those that matter are warned of."""
    findings = tuple(Finding(*item) for item in found)
    for finding in findings:
        if finding.severity != "note":
            warnings.warn(str(finding), ModelWarning, stacklevel=level + 1)
    return findings

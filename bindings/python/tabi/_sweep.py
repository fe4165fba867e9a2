"""Studies: a scene run many times over what is not known, on this machine or on a Dask cluster."""
from __future__ import annotations

import json
import os
import pathlib
import sqlite3
import tempfile
from typing import Any, Iterator

import numpy as np
from numpy.typing import NDArray

from ._command import run_command

_TASKS = 100  # of a cluster, as with Slurm


class Sweep:
    """The results of a study: `sweep["m_fell"]`, a value for each run.

    Attributes:
        path: the SQLite file with one row for each run.
        summary: what `tabi sweep --json` prints: means, probabilities, intervals and effects by measure.
    """

    def __init__(self, path: str, summary: dict[str, Any]) -> None:
        self.path, self.summary = path, summary

    def _rows(self, columns: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.path) as base:
            return base.execute(f"select {columns} from runs order by id").fetchall()

    @property
    def columns(self) -> tuple[str, ...]:
        """id, seed, status, hash, engine, version, seconds, p_NAME of parameters, m_NAME of measures."""
        with sqlite3.connect(self.path) as base:
            return tuple(row[1] for row in base.execute("pragma table_info(runs)"))

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column not in self.columns:
            raise KeyError(f"no column '{column}'; there are {', '.join(self.columns)}")
        values = [np.nan if value is None else value for value, in self._rows(column)]
        return np.array(values)

    def __len__(self) -> int:
        return int(self._rows("count(*)")[0][0])

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each run."""
        import pandas  # type: ignore[import-untyped]
        return pandas.DataFrame(self._rows("*"), columns=list(self.columns)).set_index("id")

    def replay(self, run: int, log: str | os.PathLike[str]) -> str:
        """Do a run again, record it to a log, and return what `tabi sweep --replay` prints."""
        return run_command("sweep", self.path, "--replay", str(run), "--log", os.fspath(log))

    def __repr__(self) -> str:
        return f"<tabi.Sweep: {len(self)} of {self.summary['planned']} runs, '{self.path}'>"


def run_shard(study: str, shard: int, shards: int) -> bytes:
    """One shard of a study, on whatever machine this is called: the file of its results."""
    with tempfile.TemporaryDirectory() as folder:
        part = os.path.join(folder, "part.sqlite")
        run_command("sweep", study, "--jobs", "1", "--shard", f"{shard + 1}/{shards}", "--out", part)
        return pathlib.Path(part).read_bytes()


def _missing_shards(out: str, shards: int) -> Iterator[int]:
    """Shards of which the results lack a run."""
    if not os.path.exists(out):
        yield from range(shards)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.sqlite")
        planned = json.loads(run_command("sweep", "--merge", copy, out, "--json"))["planned"]
    with sqlite3.connect(out) as base:
        done = {run for run, in base.execute("select id from runs")}
    for shard in range(shards):
        if any(run not in done for run in range(shard, planned, shards)):
            yield shard


def _take(out: str, part: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.sqlite")
        pathlib.Path(path).write_bytes(part)
        run_command("sweep", "--merge", out, path)


def _run_on(client: Any, study: str, out: str, shards: int) -> None:
    from distributed import as_completed
    futures = [client.submit(run_shard, study, shard, shards, pure=False) for shard in _missing_shards(out, shards)]
    for _, part in as_completed(futures, with_results=True):
        _take(out, part)


def sweep(study: str | os.PathLike[str], out: str | os.PathLike[str] | None = None, *, client: Any = None,
          jobs: int | None = None, resume: bool = False, report: str | os.PathLike[str] | None = None) -> Sweep:
    """Run a study (docs/studies.md).

    Args:
        study: its file; workers of a cluster read it, its scene and its robots at the same paths.
        out: the SQLite file of results; default: the study's name with .sqlite.
        client: a `distributed.Client`: Dask's workers do the runs, and rows are kept as shards come in.
            None: the processors of this machine.
        jobs: runs at a time; with a client the number of tasks, 100 by default.
        resume: go on with results that are there.
        report: write a page (HTML) with intervals, curves, maps and replays.

    Returns:
        The results; rows are the same whatever did the runs, but for their seconds.
    """
    path = os.path.abspath(study)
    target = os.fspath(out) if out is not None else pathlib.Path(path).stem + ".sqlite"
    if client is not None:
        if os.path.exists(target) and not resume:
            raise FileExistsError(f"{target} is there already; go on with resume=True, or give another out")
        _run_on(client, path, target, jobs or _TASKS)
    # what is left, which is nothing behind a cluster, and the summary
    arguments = ["sweep", path, "--out", target, "--json"]
    if resume or client is not None:
        arguments.append("--resume")
    if jobs is not None and client is None:
        arguments += ["--jobs", str(jobs)]
    if report is not None:
        arguments += ["--report", os.fspath(report)]
    return Sweep(target, json.loads(run_command(*arguments)))

"""Logs of runs."""
from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from . import _tabi
from ._command import run_command
from ._error import Error, tell
from ._scene import Scene, Signal, Table, setting_list
from ._world import World


class Log(_tabi.Log):
    """A log of `Scene.run(log=...)` or `tabi run --log`: `log["com.z"]` over `log.time`.

    Args:
        path: the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        super().__init__(self.path)
        self.info = SimpleNamespace(**self._info())
        self._range = (0, self.info.nsample)
        self._cached_scene: Scene | None = None
        self._cached_states: tuple[NDArray[np.float64], ...] | None = None

    @property
    def scene(self) -> Scene:
        """The scene of the log, read from its files; plugins are idle."""
        if self._cached_scene is None:
            found: list[tuple] = []
            self._cached_scene = self._scene(Scene, [], found, False)
            self._cached_scene.findings = tell(found)
        return self._cached_scene

    @property
    def signals(self) -> tuple[Signal, ...]:
        """All signals of the log: name, unit, meaning."""
        return tuple(Signal(*item) for item in self._signals(self.scene))

    def table(self, *patterns: str) -> Table:
        """Signals by name, group ("com") or pattern with stars; none: all."""
        names, values = self._eval(self.scene, list(patterns) or ["*"], *self._range)
        known = {signal.name: signal for signal in self.signals}
        return Table(self.time, [known[name] for name in names], values)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A signal over time: [samples]; a group or pattern: [samples, signals]."""
        names, values = self._eval(self.scene, [name], *self._range)
        return values[:, 0] if len(names) == 1 else values

    def __len__(self) -> int:
        return self._range[1] - self._range[0]

    def _states_once(self) -> tuple[NDArray[np.float64], ...]:
        if self._cached_states is None:
            self._cached_states = self._states(*self._range)
        return self._cached_states

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the samples, s: [samples]."""
        return self._states_once()[0]

    @property
    def q(self) -> NDArray[np.float64]:
        """Positions: [samples, nq]."""
        return self._states_once()[1]

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocities: [samples, nv]."""
        return self._states_once()[2]

    @property
    def sensors(self) -> NDArray[np.float64]:
        """Readings of all sensors: [samples, readings]."""
        return self._states_once()[3]

    def between(self, start: float = -np.inf, stop: float = np.inf) -> Log:
        """The part of the log from one time to another, s, both included."""
        part = type(self)(self.path)
        first, last = self._range
        time = self.time
        part._range = (first + int(np.searchsorted(time, start - 1e-9)),
                       first + int(np.searchsorted(time, stop + 1e-9)))
        part._range = (part._range[0], max(part._range))
        return part

    def to_pandas(self, *patterns: str) -> Any:
        """Signals as a pandas DataFrame with the time as index."""
        return self.table(*patterns).to_pandas()

    def resume(self, at: float | None = None, *, set: Mapping[str, Any] | Iterable[str] = {},
               plugins: bool = False) -> World:
        """The world of the log at a time (s; None: its end), to the last bit, ready to continue.

        Args:
            at: time, s.
            set: changes of the scene from then on, such as {"contact.model": "exact"}.
            plugins: load shared objects that the scene names, and run their code.
        """
        if self.info.tabi_version != _tabi.VERSION:
            raise Error("written by another version of tabi, which may step differently; run the scene again",
                        self.path)
        step = self.info.last if at is None else round(at / self.info.timestep)
        if not self.info.first <= step <= self.info.last:
            raise ValueError(f"at={at} is outside the log")
        world = self._rewind(self._scene(Scene, [], [], plugins), step)
        if not set:
            return world
        changed = self._scene(Scene, setting_list(set), [], plugins).world()
        changed.continue_from(world)
        return changed

    def _rewind(self, scene: Scene, step: int) -> World:
        world = scene.world()
        if not scene.stateful:
            snapshot, _ = self._snapshot(step)
            world.restore(snapshot)
        elif self.info.first > 0:
            raise Error("a controller with a state of its own has to run from the start, and this log begins "
                        "later; resume the log from which it was branched", self.path)
        world.step(step - world.steps)
        index = self._find(step)
        _, q, _, _ = self._states(index, index + 1)
        if self._states(index, index + 1)[0][0] == world.time and not np.array_equal(q[0], world.q):
            raise Error("the steps do not reproduce the log: files of its scene or the build of tabi have "
                        "changed; run the scene again", self.path)
        return world

    def export(self, path: str | os.PathLike[str], *patterns: str, every: int = 1) -> None:
        """Write the log as CSV, HDF5 or MCAP, by the extension of the path; uses the command `tabi`."""
        arguments = ["export", self.path, "-o", os.fspath(path), "--every", str(every)]
        for pattern in patterns:
            arguments += ["--signals", pattern]
        run_command(*arguments)

    def plot(self, *names: str) -> Any:
        """Draw signals with matplotlib; see `tabi.plot.signals`."""
        from . import plot
        return plot.signals(self.table(*names) if names else self.table(), *names)

    def show(self, width: str = "100%", height: int = 480) -> Any:
        """The viewer's page with the log, inline in a notebook."""
        from ._show import show_log
        return show_log(self.path, width, height)

    def __repr__(self) -> str:
        return f"<tabi.Log: '{self.info.scene}', {self.info.contact}, {len(self)} samples>"

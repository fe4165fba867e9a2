"""Scenes: loading them, running them, and what came out."""
from __future__ import annotations

import json
import os
import sys
import time as clock
from typing import Any, Iterable, Mapping, NamedTuple, Protocol, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _tabi
from ._error import Finding, tell
from ._model import Model
from ._world import World

_MAX_ROWS = 2000


class Signal(NamedTuple):
    """A number of a sample: "com.z", "l_knee.q"; docs/signals.md lists them all."""

    name: str
    unit: str
    about: str


class Controller(Protocol):
    """What a controller in Python needs: `update(world)`, called before every step.

    It writes `world.target`, `world.tau` or `world.control`, or calls `world.set_servo` and `world.apply`.
    """

    def update(self, world: World) -> None: ...


def setting_text(value: Any) -> str:
    """A value of `set` as a scene would write it."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    return json.dumps(value)


def setting_list(changes: Mapping[str, Any] | Iterable[str]) -> list[str]:
    """Texts "path=value" of a mapping, or as they are."""
    if isinstance(changes, Mapping):
        return [f"{path}={setting_text(value)}" for path, value in changes.items()]
    return list(changes)


class Table:
    """Signals over time: rows of samples, columns by name."""

    def __init__(self, time: NDArray[np.float64], signals: Sequence[Signal], values: NDArray[np.float64]) -> None:
        self.time = time
        self.signals = tuple(signals)
        self._values = values
        self._column = {signal.name: i for i, signal in enumerate(self.signals)}

    def _find(self, name: str) -> int:
        if name in self._column:
            return self._column[name]
        found = [i for known, i in self._column.items() if known.endswith("/" + name)]
        if len(found) == 1:
            return found[0]
        import difflib
        near = difflib.get_close_matches(name, self._column, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise KeyError(f"{len(found)} signals are called '{name}'{hint}" if found else f"no signal '{name}'{hint}")

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self._values[:, self._find(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._column or any(k.endswith("/" + name) for k in self._column))

    def __len__(self) -> int:
        return len(self.time)

    def signal(self, name: str) -> Signal:
        """Name, unit and meaning of a signal."""
        return self.signals[self._find(name)]

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the time as index."""
        import pandas  # type: ignore[import-untyped]
        names = [signal.name for signal in self.signals]
        return pandas.DataFrame(self._values, index=pandas.Index(self.time, name="time"), columns=names)


class Check(NamedTuple):
    """What the scene's section `check` bounds, and what a run did."""

    name: str
    """"penetration" (m), "energy_gain" (share of the range of the energy) or "residual" (m/s)."""
    worst: float
    time: float
    """s, of the worst."""
    bound: float
    ok: bool


class Result(Table):
    """What a run did: `result["com.z"]` over `result.time`.

    Attributes:
        world: the world at its end.
        scene: the scene that ran.
        steps: number of steps.
        seconds: how long it took.
        hash: of the last state.
        worst: the largest residuals of the contact laws over all steps (gap in m, complementarity and
            dissipation in m/s, cone in N, penetration in m), and the numbers of steps with a fallback, with
            limited energy and without convergence.
        checks: the bounds of the scene's section `check`, as `tabi run --check` judges them.
        ok: whether all of them were kept.
        ended: whether a gait ended before the time was over.
        log: the path of the log, or None.
    """

    def __init__(self, run: _tabi.Run, world: World, seconds: float, log: str | None) -> None:
        table = run.table()
        super().__init__(table[:, 0], [Signal(*column) for column in run.columns()], table[:, 1:])
        self.world = world
        self.scene = world.scene
        self.seconds = seconds
        self.worst: dict[str, float] = run.worst()
        self.steps = int(self.worst.pop("steps"))
        self.checks = tuple(Check(*check) for check in run.checks())
        self.ok = all(check.ok for check in self.checks)
        self.ended = run.ended()
        self.hash = world.hash
        self.log = log

    def plot(self, *names: str) -> Any:
        """Draw signals with matplotlib; see `tabi.plot.signals`."""
        from . import plot
        return plot.signals(self, *names)

    def show(self, width: str = "100%", height: int = 480) -> Any:
        """The viewer's page with the run, inline in a notebook; needs `log=`."""
        from ._show import show_log
        if self.log is None:
            raise ValueError("run the scene with log=FILE to show it")
        return show_log(self.log, width, height)

    def __repr__(self) -> str:
        return (f"<tabi.Result: {self.steps} steps to {self.world.time:.6g} s in {self.seconds:.3g} s, "
                f"{len(self.signals)} signals x {len(self)} samples, hash {self.hash:016x}>")


class Scene(_tabi.Scene):
    """A model with its initial state, controllers, external forces and the settings of its world.

    A scene controls one world at a time.  Scenes can be pickled; the files that they name must be there.
    """

    findings: tuple[Finding, ...] = ()
    """What was noticed while it was loaded."""
    _options: dict[str, Any] = {}
    _model: Model | None = None

    @classmethod
    def _make(cls, path: str, text: bytes | None, changes: list[str], options: dict[str, Any]) -> Scene:
        found: list[tuple] = []
        scene = cls._load(path, text, changes, found, **options)
        scene.findings = tell(found, 4)
        scene._options = options
        return scene

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, set: Mapping[str, Any] | Iterable[str] = {},
             package_path: str | None = None, strict: bool = False, plugins: bool = False) -> Scene:
        """The scene of a YAML file, of an SDF world or of a Choreonoid project.

        Args:
            path: the file.
            set: changes, {"bodies.box.mass": 3}, as `tabi run --set`.
            package_path: folders, separated by ':', in which package:// is looked for.
            strict: refuse what would be repaired with a warning.
            plugins: load shared objects that the scene names, and run their code.
        """
        options = {"package_path": package_path, "strict": strict, "plugins": plugins}
        return cls._make(os.fspath(path), None, setting_list(set), options)

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any], *, folder: str | os.PathLike[str] = ".",
                  set: Mapping[str, Any] | Iterable[str] = {}, plugins: bool = False) -> Scene:
        """A scene from a dictionary with the keys of docs/scenes.md; files are looked for in `folder`."""
        text = json.dumps(contents, default=lambda x: x.tolist() if hasattr(x, "tolist") else os.fspath(x))
        return cls.from_text(text, folder=folder, set=set, plugins=plugins)

    @classmethod
    def from_text(cls, text: str | bytes, *, folder: str | os.PathLike[str] = ".",
                  set: Mapping[str, Any] | Iterable[str] = {}, plugins: bool = False) -> Scene:
        """A scene from the text of a YAML file; files are looked for in `folder`."""
        data = text.encode() if isinstance(text, str) else text
        path = os.path.join(os.fspath(folder), "scene.yaml")
        return cls._make(path, data, setting_list(set), {"plugins": plugins})

    def change(self, set: Mapping[str, Any] | Iterable[str]) -> Scene:
        """The same scene, loaded again with changes."""
        path, text, before = self._source
        return type(self)._make(path, text, before + setting_list(set), self._options)

    def __reduce__(self) -> tuple[Any, ...]:
        path, text, changes = self._source
        return type(self)._make, (path, text, changes, self._options)

    @property
    def path(self) -> str:
        """The path of its file."""
        return self._source[0]

    @property
    def text(self) -> str:
        """The text of its file."""
        return self._source[1].decode()

    @property
    def model(self) -> Model:
        """The model of all that is in the scene."""
        if self._model is None:
            self._model = Model._from_scene(self)
        return self._model

    @property
    def robots(self) -> dict[str, int]:
        """Names of the robots, and the link of each that moves first: its base if that floats."""
        return {name: moving if moving >= 0 else base for name, base, moving in self._robots}

    def world(self) -> World:
        """A world in the initial state; its steps run the controllers and forces of the scene."""
        return World(self)

    def run(self, time: float | None = None, *, set: Mapping[str, Any] | Iterable[str] = {},
            log: str | os.PathLike[str] | None = None, signals: str | Sequence[str] = "*", every: int | None = None,
            controller: Controller | Sequence[Controller] = (), progress: bool = False,
            world: World | None = None) -> Result:
        """Run the scene from its initial state; other threads of Python run meanwhile.

        Args:
            time: duration, s; default: the scene's.
            set: changes, for this run only.
            log: a file to record the run to.
            signals: which to keep in memory: names, groups ("com") or patterns with stars.
            every: steps between two samples; default: so that there are at most 2000.
            controller: objects with `update(world)`, called before every step.
            progress: show a bar on stderr.
            world: continue with this world of the scene instead of a new one.
        """
        if set:
            return self.change(set).run(time, log=log, signals=signals, every=every, controller=controller,
                                        progress=progress)
        world = self.world() if world is None else world
        duration = self.duration if time is None else time
        steps = max(0, round(duration / world.timestep))
        every = every or max(self.log_every, -(-steps // _MAX_ROWS), 1)
        names = [signals] if isinstance(signals, str) else list(signals)
        path = None if log is None else os.fspath(log)
        run = _tabi.Run(world, names, every, path)
        controllers = [controller] if hasattr(controller, "update") else list(controller)
        begun = clock.perf_counter()
        _advance(run, world, steps, controllers, _Bar(steps) if progress else None)
        if path is not None:
            run.close_log()
        return Result(run, world, clock.perf_counter() - begun, path)

    def show(self, time: float | None = None, width: str = "100%", height: int = 480) -> Any:
        """Run the scene and show it with the viewer's page, inline in a notebook."""
        from ._show import show_scene
        return show_scene(self, time, width, height)

    def __repr__(self) -> str:
        return f"<tabi.Scene: '{self.name}', {self.duration:g} s, {self.settings['contact']}, {self.model!r}>"


class _Bar:
    """A bar on stderr, drawn five times a second."""

    def __init__(self, total: int) -> None:
        self.total, self.drawn = total, 0.0

    def draw(self, done: int) -> None:
        now = clock.monotonic()
        if now - self.drawn < 0.2 and done < self.total:
            return
        self.drawn = now
        part = done / self.total if self.total else 1.0
        bar = "#" * int(30 * part)
        end = "\n" if done >= self.total else ""
        print(f"\r{100 * part:3.0f} % [{bar:<30}] {done}/{self.total} steps", end=end, file=sys.stderr, flush=True)


def _advance(run: _tabi.Run, world: World, steps: int, controllers: Sequence[Controller], bar: _Bar | None) -> None:
    chunk = 1 if controllers else 200
    done = 0
    while done < steps and not run.ended():
        for controller in controllers:
            controller.update(world)
        now = run.advance(min(chunk, steps - done))
        done += now
        if bar:
            bar.draw(done)

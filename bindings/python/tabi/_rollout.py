"""Many worlds of one model on all cores."""
from __future__ import annotations

import os
from typing import Any, NamedTuple, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tabi
from ._model import Model

Array = NDArray[np.float64]


class Rollout(NamedTuple):
    """What many worlds did."""

    q: NDArray[np.float64]
    """Positions [worlds, samples, nq]; NaN behind a step that failed."""
    v: NDArray[np.float64]
    """Velocities [worlds, samples, nv]."""
    steps: NDArray[np.int64]
    """Steps that succeeded [worlds]."""


def rollout(model: Model, q0: ArrayLike, v0: ArrayLike | None = None, targets: ArrayLike | None = None,
            threads: int | None = None, *, steps: int | None = None, kp: ArrayLike = 0.0, kd: ArrayLike = 0.0,
            joints: Sequence[int | str] | None = None, controls: ArrayLike | None = None, implicit: bool = True,
            every: int = 1, engine: str | None = None, **settings: Any) -> Rollout:
    """Step many worlds of a model from given states, on many threads, without the interpreter's lock.

    Args:
        model: with ground and all; `scene.model` does, too.
        q0: initial positions [worlds, nq] or [nq].
        v0: initial velocities, likewise; None: at rest.
        targets: of servos: constant [joints] or [worlds, joints], or of every step
            [worlds or 1, steps, joints].  The force is kp (target - q) - kd v.
        threads: None: one for each core.
        steps: how many; default: as many as there are targets or controls.
        kp, kd: gains, one or [joints]: N m/rad and N m s/rad, or N/m and N s/m.
        joints: that the targets are for; default: all with one coordinate.
        controls: inputs of the model's actuators, constant [actuators] or [worlds, actuators], or of every step
            [worlds or 1, steps, actuators].
        implicit: servos that are stable at any stiffness; explicit ones are stepped by worlds only.
        every: steps between two samples.
        engine: "batch": in lanes of the vector unit, as `Batch`; "world": one by one, bit for bit as `World`;
            None: in lanes where they leave nothing out that a world does (`Batch.reason`).
        settings: of the worlds, as in `World`: contact, timestep, friction, ...

    Returns:
        States after every `every` steps; the same bits for any number of threads.
    """
    q0 = np.atleast_2d(np.asarray(q0, float))
    v0 = np.zeros((len(q0), model.nv)) if v0 is None else np.atleast_2d(np.asarray(v0, float))
    if len(v0) != len(q0):
        v0 = np.ascontiguousarray(np.broadcast_to(v0, (len(q0), model.nv)))
    driven = list(model.driven_joints) if joints is None else [model.joint_index(joint) for joint in joints]
    if targets is None:
        driven, targets = [], np.zeros((1, 1, 0))
    inputs = _series(targets), _series(np.zeros(0) if controls is None else controls)
    if steps is None:
        steps = max(x.shape[1] for x in inputs)
        if steps == 1:
            raise ValueError("steps: how many?")
    if engine not in (None, "batch", "world"):
        raise ValueError(f"engine '{engine}' is none of batch, world")
    kp, kd = (np.ascontiguousarray(np.broadcast_to(np.asarray(x, float), len(driven))) for x in (kp, kd))
    threads = threads or available_cores()
    if engine != "world" and implicit:
        run = _in_lanes(model, q0, v0, inputs, driven, kp, kd, steps, every, threads, engine is None, settings)
        if run is not None:
            return run
    if engine == "batch":
        raise ValueError("engine: explicit servos are stepped by worlds")
    q, v, done = _tabi.rollout(model, q0, v0, inputs[0], np.asarray(driven, float), kp, kd, inputs[1],
                               inputs[0].shape[:2], inputs[1].shape[:2], implicit, steps, every, threads, settings)
    return Rollout(q, v, done.astype(np.int64))


def _series(given: ArrayLike) -> Array:
    """Inputs as [worlds or 1, steps or 1, n]."""
    x = np.asarray(given, float)
    return x[None, None] if x.ndim == 1 else x[:, None] if x.ndim == 2 else x


def _in_lanes(model: Model, q0: Array, v0: Array, inputs: tuple[Array, Array], driven: list[int], kp: Array, kd: Array,
              steps: int, every: int, threads: int, exact: bool, settings: dict[str, Any]) -> Rollout | None:
    """The same by a batch; None if it would do otherwise than a world, and that is not wanted."""
    from ._batch import Batch
    count = len(q0)
    at = [model.v_slice(joint).start for joint in driven]
    if not _fits(model, q0, inputs, len(driven), steps):
        return None  # worlds have words for it
    gains = np.zeros((2, model.nv))
    gains[:, at] = kp, kd
    batch = Batch(model, count, threads, kp=gains[0], kd=gains[1], **settings)
    if exact and (batch.lanes == 0 or batch.reason):
        return None
    batch.reset(q=q0, v=v0)
    rows = steps // every
    q, v = np.full((count, rows, model.nq), np.nan), np.full((count, rows, model.nv), np.nan)
    driving: list[tuple[Array, Any, Array]] = [(batch.target, at, inputs[0])] if at else []
    if inputs[1].size:
        driving.append((batch.control, slice(None), inputs[1]))
    for row in range(rows):
        _advance(batch, driving, row * every, every)
        good = batch.status == 0
        q[good, row], v[good, row] = batch.q[good], batch.v[good]
    _advance(batch, driving, rows * every, steps - rows * every)  # behind the last sample only failures show
    return Rollout(q, v, batch.steps)


def _fits(model: Model, q0: Array, inputs: tuple[Array, Array], driven: int, steps: int) -> bool:
    targets, controls = inputs
    worlds = all(len(x) in (1, len(q0)) and (x.shape[1] == 1 or x.shape[1] >= steps) for x in inputs)
    return worlds and q0.shape[1] == model.nq and targets.shape[2] == driven and \
        controls.shape[2] in (0, model.nactuator)


def _advance(batch: Any, driving: list[tuple[Array, Any, Array]], first: int, count: int) -> None:
    """`count` steps from `first` on; driving: arrays of the batch, their columns, and what they get in each step."""
    constant = all(series.shape[1] == 1 for _, _, series in driving)
    for array, columns, series in driving if constant else []:
        array[:, columns] = series[:, 0]
    if constant:
        batch.step(count)
        return
    for step in range(first, first + count):
        for array, columns, series in driving:
            array[:, columns] = series[:, step if series.shape[1] > 1 else 0]
        batch.step()


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

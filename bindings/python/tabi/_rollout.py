"""Many worlds of one model on all cores."""
from __future__ import annotations

import os
from typing import Any, NamedTuple, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tabi
from ._model import Model


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
            joints: Sequence[int | str] | None = None, implicit: bool = True, every: int = 1,
            **settings: Any) -> Rollout:
    """Step many worlds of a model from given states, on many threads, without the interpreter's lock.

    Args:
        model: with ground and all; `scene.model` does, too.
        q0: initial positions [worlds, nq] or [nq].
        v0: initial velocities, likewise; None: at rest.
        targets: of servos: constant [joints] or [worlds, joints], or of every step
            [worlds or 1, steps, joints].  The force is kp (target - q) - kd v.
        threads: None: one for each core.
        steps: how many; default: as many as there are targets.
        kp, kd: gains, one or [joints]: N m/rad and N m s/rad, or N/m and N s/m.
        joints: that the targets are for; default: all with one coordinate.
        implicit: servos that are stable at any stiffness; explicit ones obey effort limits.
        every: steps between two samples.
        settings: of the worlds, as in `World`: contact, timestep, friction, ...

    Returns:
        States after every `every` steps; the same bits for any number of threads.
    """
    q0 = np.atleast_2d(np.asarray(q0, float))
    v0 = np.zeros((len(q0), model.nv)) if v0 is None else np.atleast_2d(np.asarray(v0, float))
    if len(v0) != len(q0):
        v0 = np.ascontiguousarray(np.broadcast_to(v0, (len(q0), model.nv)))
    driven = model.driven_joints if joints is None else [model.joint_index(joint) for joint in joints]
    if targets is None:
        driven, targets = [], np.zeros((1, 1, 0))
    targets = np.asarray(targets, float)
    if targets.ndim == 1:
        targets = targets[None, None]
    elif targets.ndim == 2:
        targets = targets[:, None]
    if steps is None:
        steps = targets.shape[1]
        if steps == 1:
            raise ValueError("steps: how many?")
    kp, kd = (np.ascontiguousarray(np.broadcast_to(np.asarray(x, float), len(driven))) for x in (kp, kd))
    q, v, done = _tabi.rollout(model, q0, v0, targets, np.asarray(driven, float), kp, kd, targets.shape[:2],
                               implicit, steps, every, threads or available_cores(), settings)
    return Rollout(q, v, done.astype(np.int64))


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

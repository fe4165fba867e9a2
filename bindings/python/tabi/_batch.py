"""Many worlds of one model at once, in lanes of the vector unit and on all cores."""
from __future__ import annotations

from typing import Any, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tabi
from ._model import Model
from ._rollout import available_cores

Array = NDArray[np.float64]
_VARIED = ("mass", "com", "inertia", "friction", "kp", "kd", "effort", "gravity", "delay")


class Batch(_tabi.Batch):
    """Many worlds of one model.

    Arrays have the shape [worlds, n] and are the batch's own memory: what is written to them acts in the next step,
    and a step changes them in place.

        batch = tabi.Batch(scene.model, 4096, kp=200.0, kd=5.0)
        batch.target[:] = posture
        batch.step(10)
        batch.reset(batch.q[:, 2] < 0.5)

    Args:
        model: with ground and all; `scene.model` does, too.
        n: number of worlds.
        threads: None: one for each core.
        kp, kd: gains of implicit servos, one for all joints with one coordinate, or [nv].
        vary: names of values that differ between worlds: mass, com, inertia, friction (a factor), kp, kd, effort,
            gravity, delay.  Each is an array then, which begins with the values of the model.
        feet: links whose contact forces are told by `foot`.
        push: link that `push` acts on.
        max_delay: s, of `delay`.
        self_collision: whether bodies of the robot meet, as spheres and capsules.
        lanes: width, None: what this machine is fastest with; 0: every world by itself, as `World` steps it.
        settings: of the worlds, as in `World`: timestep, friction, iterations, ...
    """

    model: Model

    def __init__(self, model: Model, n: int, threads: int | None = None, *, kp: ArrayLike = 0.0, kd: ArrayLike = 0.0,
                 vary: Iterable[str] = (), feet: Sequence[int | str] = (), push: int | str | None = None,
                 max_delay: float = 0.0, self_collision: bool = True, lanes: int | None = None,
                 **settings: Any) -> None:
        names = self._field_names()
        bits = 0
        for name in vary:
            if name not in _VARIED:
                raise ValueError(f"vary: {name!r} is none of {', '.join(_VARIED)}")
            bits |= 1 << names.index(name)
        stiffness, damping = (np.ascontiguousarray(np.broadcast_to(np.asarray(x, float), model.nv)) for x in (kp, kd))
        links = np.array([model.link_index(link) for link in feet], float)
        pushed = -1 if push is None else model.link_index(push)
        super().__init__(model, n, threads or available_cores(), lanes or 0, lanes == 0, self_collision,
                         stiffness, damping, links, pushed, max_delay, bits, settings)
        self.model = model
        self.n = n
        for i, name in enumerate(names):
            flat = self._array(i)
            setattr(self, name, flat.reshape(n, -1) if flat.size else np.empty((n, 0)))
        if len(feet):
            self.foot = self.foot.reshape(n, len(feet), 6)

    q: Array
    """Positions [worlds, nq]."""
    v: Array
    """Velocities [worlds, nv]."""
    target: Array
    """Targets of servos [worlds, nv]; entries of joints with several coordinates are not used."""
    torque: Array
    """Joint forces [worlds, nv]."""
    control: Array
    """Inputs of actuators [worlds, nactuator]."""
    sensor: Array
    """Values of all sensors [worlds, values]."""
    foot: Array
    """Force and torque on feet [worlds, feet, 6]."""
    certificate: Array
    """Residual, overlap, contacts, sweeps, attempts of the last step [worlds, 5]."""
    push: Array
    """Force and torque on the link that is pushed [worlds, 6]; stays until it is changed."""
    mass: Array
    com: Array
    inertia: Array
    friction: Array
    kp: Array
    kd: Array
    effort: Array
    gravity: Array
    delay: Array

    @property
    def status(self) -> NDArray[np.int64]:
        """0 for each world that goes on [worlds]."""
        return self._status()[:, 0].astype(np.int64)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Steps that each world has made since its reset [worlds]."""
        return self._status()[:, 1].astype(np.int64)

    @property
    def threads(self) -> int:
        return self._about()[0]

    @property
    def lanes(self) -> int:
        """Worlds in a vector; 0: they are stepped one by one."""
        return self._about()[1]

    @property
    def reason(self) -> str:
        """Why worlds are stepped one by one, or what lanes do otherwise than a world would."""
        return self._about()[2]

    @property
    def bytes_per_world(self) -> int:
        return self._about()[3]

    def step(self, k: int = 1, active: ArrayLike | None = None) -> int:
        """k steps of all worlds that go on, or of those where `active` [worlds] is true.

        Returns:
            How many worlds have failed in this call.
        """
        if active is None:
            return self._step(k)
        mask = np.ascontiguousarray(active, bool)
        return self._step(k, mask.view(np.uint8).data)

    def reset(self, worlds: ArrayLike | None = None, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Begin worlds anew; their targets are where they stand.

        Args:
            worlds: a mask [worlds] or a list of numbers; None: all.
            q, v: states [chosen, nq] and [chosen, nv], or one for all; None: the initial state, and at rest.
        """
        chosen = np.arange(self.n) if worlds is None else np.asarray(worlds)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)

        def rows(x: ArrayLike | None, n: int) -> Array | None:
            if x is None:
                return None
            return np.ascontiguousarray(np.broadcast_to(np.asarray(x, float), (len(chosen), n)))

        self._reset(chosen.astype(float), rows(q, self.model.nq), rows(v, self.model.nv))

    def scatter(self, worlds: ArrayLike | None = None, seed: int = 0, position: float = 0.0,
                speed: float = 0.0) -> None:
        """Move the joints of worlds by up to `position` (rad or m), and velocities by up to `speed`, at random."""
        chosen = np.arange(self.n) if worlds is None else np.asarray(worlds)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        for world in chosen:
            self._scatter(int(world), (seed * 1000003 + int(world)) & (2**64 - 1), position, speed)

    def rollout(self, targets: ArrayLike | None = None, steps: int | None = None, *,
                torques: ArrayLike | None = None, controls: ArrayLike | None = None) -> tuple[Array, Array]:
        """Open loop: inputs of every step, which end in the arrays `target`, `torque` and `control`.

        Args:
            targets: of servos [worlds, steps, nv]; None: they stay as they are.
            steps: how many; default: as many as there are inputs.
            torques: of joints [worlds, steps, nv]; None: likewise.
            controls: of actuators [worlds, steps, nactuator]; None: likewise.

        Returns:
            States after every step: q [worlds, steps, nq] and v [worlds, steps, nv].
        """
        inputs = [None if x is None else np.ascontiguousarray(x, float) for x in (targets, torques, controls)]
        counts = {x.shape[1] for x in inputs if x is not None} | ({int(steps)} if steps is not None else set())
        if len(counts) != 1:
            raise ValueError(f"inputs for {' and '.join(map(str, sorted(counts)))} steps" if counts
                             else "steps: how many?")
        return self._rollout(counts.pop(), *inputs)

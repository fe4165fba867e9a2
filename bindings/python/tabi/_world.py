"""Worlds: the time step, its state and what it tells."""
from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tabi
from ._model import Model

if TYPE_CHECKING:
    from ._gait import Gait
    from ._scene import Scene


class Certificate(NamedTuple):
    """How well the last step obeyed the laws of contact: the worst contact of each."""

    gap: float
    """m, overlap predicted for the end of the step."""
    complementarity: float
    """m/s, of contacts that push and part."""
    cone: float
    """N, friction beyond the cone."""
    dissipation: float
    """m/s, of friction that does not oppose slip."""
    contacts: int
    """Number of contacts that push."""
    connection: float
    """m/s or rad/s, by which connections that contradict were missed."""
    iterations: int
    """Sweeps, factorisations or passes."""
    converged: bool
    fallback: bool
    """Whether another solver took over."""
    energy_limited: bool
    """Whether impulses that would have added energy were replaced."""
    contact_work: float
    """J, by which contacts changed the kinetic energy: above 0 is energy from nowhere."""
    correction_work: float
    """J, by which depth corrections pushed apart what overlapped."""
    balance_work: float
    """J, by which velocities of what nothing drives were scaled so that it gains no energy."""
    elastic: float
    """J, in springs of contact method penalty."""


class Energy(NamedTuple):
    """Energies at the present state, and the work done since the world was made; J."""

    kinetic: float
    potential: float
    spring: float
    work: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential + self.spring


class Balance(NamedTuple):
    """Balance of a robot in the last step."""

    com: NDArray[np.float64]
    """m, centre of mass [3]."""
    force: NDArray[np.float64]
    """N, of its contacts with others [3]."""
    zmp: NDArray[np.float64]
    """m [3]; meaningless while force[2] is 0."""
    margin: float
    """m, from the ZMP to the nearest edge of the support polygon, negative outside."""
    polygon: NDArray[np.float64]
    """m, corners of the support polygon [n, 2], counter-clockwise."""


class World(_tabi.World):
    """Everything a step may write: one thread at a time.

    Args:
        model: a `Model`, or a `Scene`, whose initial state, settings and controllers are then used.
        contact: "cone", "lcp", "exact", "penalty", "impulse", "gait" or a paper's variant; default "cone".
        timestep: s; default: the model's.
        gait: of contact method "gait".
        settings: integrator, gravity, tolerance, iterations, fallback, impacts, max_contacts, allowed_depth,
            correction, correction_speed, warm_start, friction, seed, static_friction, tangential_stiffness.
    """

    model: Model

    def __init__(self, model: Model | Scene, contact: str | None = None, timestep: float | None = None, *,
                 gait: Gait | None = None, **settings: Any) -> None:
        if contact is not None:
            settings["contact"] = contact
        if timestep is not None:
            settings["timestep"] = timestep
        super().__init__(model, settings, gait)
        self.model = model if isinstance(model, Model) else model.model
        self.scene = None if isinstance(model, Model) else model
        self._sensor_slices: dict[str, slice] | None = None

    @property
    def timestep(self) -> float:
        """Time step, s."""
        return self.settings["timestep"]

    def set_gains(self, kp: ArrayLike, kd: ArrayLike, *, implicit: bool = True) -> None:
        """Servos for all joints with one coordinate, to where they are now.

        Args:
            kp: N m/rad or N/m: one number, or [njoint].
            kd: N m s/rad or N s/m, likewise.
            implicit: stable at any stiffness; explicit servos obey the joints' effort limits.
        """
        kp, kd = (np.broadcast_to(np.asarray(x, float), self.model.njoint) for x in (kp, kd))
        for joint in self.model.driven_joints:
            self.set_servo(joint, kp[joint], kd[joint], implicit=implicit)

    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last step: a new structured array.

        Fields: shape_a, shape_b, link_a, link_b (-1: the world), point [3] (m), normal [3] (from a to b),
        gap (m), impulse [3] (N s on b), velocity [3] (m/s of b against a), friction, couple [3] (N m s).
        """
        return self._contacts()

    @property
    def certificate(self) -> Certificate:
        """How well the last step obeyed the laws of contact."""
        return Certificate(**self._certificate())

    @property
    def energy(self) -> Energy:
        """Energies at the present state, J."""
        return Energy(**self._energy())

    @property
    def com(self) -> NDArray[np.float64]:
        """Centre of mass, m: new array [3]."""
        return self._com()

    @property
    def forces(self) -> NDArray[np.float64]:
        """Sum of the contact forces on every link in the last step, N: new array [nlink, 3]."""
        return self._forces()

    def balance(self, link: int | str = 0) -> Balance:
        """Balance of the robot that a link belongs to: centre of mass, ZMP, support polygon."""
        b = self._balance(link)
        polygon = b["corner"].reshape(-1, 2)[:b["ncorner"]]
        return Balance(b["com"], b["force"], b["zmp"], b["margin"], polygon)

    @property
    def sensor_data(self) -> NDArray[np.float64]:
        """Readings of all sensors after the last step, one after another: new array."""
        return self._sensor_data()

    @property
    def sensors(self) -> dict[str, NDArray[np.float64]]:
        """Readings of all sensors by name; docs/sensors.md gives their order and units."""
        data = self._sensor_data()
        if self._sensor_slices is None:
            self._sensor_slices, start = {}, 0
            for name, sensor in zip(self.model.sensor_names, self.model.items("sensor")):
                size = SENSOR_SIZES[sensor.type]
                self._sensor_slices[name] = slice(start, start + size)
                start += size
        return {name: data[at] for name, at in self._sensor_slices.items()}

    def connection(self, index: int) -> SimpleNamespace:
        """State of a connection: gap (m), turn (rad), force [3] (N), torque [3] (N m), missed, redundant."""
        return SimpleNamespace(**self._connection(index))

    def ray(self, origin: ArrayLike, direction: ArrayLike, max_distance: float = np.inf) -> SimpleNamespace | None:
        """The first colliding shape on a ray, or None: shape, link, distance (m), point [3], normal [3]."""
        hit = self._ray(origin, direction, max_distance)
        return None if hit is None else SimpleNamespace(**hit)

    def dynamics(self) -> Dynamics:
        """The rigid-body quantities of the present state."""
        return Dynamics(self.model).set(self.q, self.v)

    # contact method gait

    @property
    def gait_state(self) -> SimpleNamespace:
        """State of a world of contact method gait: mode, support, steps, outcome, forces, slip, ..."""
        return SimpleNamespace(**self._gait_state())

    @property
    def gait_events(self) -> list[dict[str, Any]]:
        """Changes of mode in the last step."""
        return self._gait_events()

    @property
    def gait_torque(self) -> NDArray[np.float64]:
        """Driving joint torques of contact method gait, N m: new array [nv]."""
        return self._gait_torque()

    # pictures

    def show(self, width: str = "100%", height: int = 480) -> Any:
        """The viewer's page with the present state, inline in a notebook; needs a world of a scene."""
        from ._show import show_world
        return show_world(self, width, height)

    def _repr_html_(self) -> str | None:
        from ._show import world_html
        return world_html(self)

    def __repr__(self) -> str:
        return f"<tabi.World: {self.settings['contact']}, t={self.time:.6g} s, nv={self.model.nv}>"


class Dynamics(_tabi.Dynamics):
    """Mass matrix, forces, Jacobians and momenta of one state; one thread at a time.

    `Dynamics(model)` is at the initial state; `set(q, v)` chooses another one.  All arrays are new.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.model = model

    def set(self, q: ArrayLike, v: ArrayLike | None = None) -> Dynamics:
        """The state of all that follows: q [nq], v [nv] (None: at rest).  Returns itself."""
        super().set(q, v)
        return self


SENSOR_SIZES = dict(_tabi._sensor_sizes())

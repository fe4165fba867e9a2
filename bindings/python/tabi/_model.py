"""Models: from files, or part by part."""
from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tabi
from ._error import Finding, tell

_KINDS = ("link", "joint", "material", "shape", "actuator", "coupling", "connection", "sensor")


class Builder(_tabi.Builder):
    """A model, part by part; several robots may be loaded into one.

    Links, joints and the like are named by their index or name; the parent or link `None` is the
    world.  Every `add_` method returns an index.
    """

    def load(self, path: str | os.PathLike[str], *, text: str | bytes | None = None, base: str | None = None,
             pos: ArrayLike | None = None, quat: ArrayLike | None = None, prefix: str | None = None,
             part: str | None = None, package_path: str | None = None, strict: bool = False,
             need_meshes: bool = False) -> tuple[Finding, ...]:
        """Add a robot from a URDF, MJCF, SDF, Choreonoid or OpenHRP3 file.

        Args:
            path: the file; with `text` the name it has in messages.
            text: its contents, instead of those of the file.
            base: "free" or "fixed"; None: as the file says.
            pos, quat: pose of the root link, m and (w, x, y, z).
            prefix: put before every name, as in "left/".
            part: the model to load of an SDF file with several.
            package_path: folders, separated by ':', in which package:// is looked for.
            strict: refuse what would be repaired with a warning.
            need_meshes: refuse a robot whose meshes are missing.

        Returns:
            What was noticed; what changes behaviour is a `tabi.ModelWarning`, too.
        """
        if isinstance(text, str):
            text = text.encode()
        return tell(self._load(os.fspath(path), text=text, base=base, pos=pos, quat=quat, prefix=prefix,
                               part=part, package_path=package_path, strict=strict, need_meshes=need_meshes))

    def add_link(self, name: str | None = None, *, mass: float = 0.0, **fields: Any) -> int:
        """Add a rigid link: `com` [3] (m), `inertia` [6] (kg m^2 about the com: xx yy zz xy xz yz), `buoyancy`."""
        return self._add("link", name=name, mass=mass, **fields)

    def add_joint(self, name: str | None = None, *, type: str, parent: int | str | None, child: int | str,
                  **fields: Any) -> int:
        """Add a joint from a parent link, or None for the world, to its child.

        Args:
            type: "fixed", "revolute", "continuous", "prismatic", "ball", "planar" or "free".
            fields: `pos` [3], `quat` [4] of the joint frame in the parent's; `axis` [3]; `lower`, `upper`
                (rad or m); `effort`, `velocity` limits; `rotor_inertia`, `gear`; `stiffness`,
                `rest_position`, `damping`, `friction`; `initial_q`.
        """
        return self._add("joint", name=name, type=type, parent=parent, child=child, **fields)

    def add_shape(self, type: str, link: int | str | None = None, *, size: ArrayLike = (), **fields: Any) -> int:
        """Add a shape to a link, or to the world.

        Args:
            type: "plane", "sphere", "capsule", "cylinder", "box", "mesh", "triangles", "heightfield" or
                "ellipsoid".
            size: m: radius; radius and length; edge lengths; semi-axes.
            fields: `name`, `pos` [3], `quat` [4], `mesh`, `material`, `collides`, `visible`, `group`,
                `mask`, `rgba` [4].
        """
        return self._add("shape", type=type, link=link, size=size, **fields)

    def add_ground(self, friction: float | None = None, height: float = 0.0) -> int:
        """Add a level plane to the world, with a material of its own if a friction coefficient is given."""
        material = -1 if friction is None else self.add_material("ground", friction=friction)
        return self.add_shape("plane", None, name="ground", pos=[0, 0, height], material=material)

    def add_mesh(self, vertices: ArrayLike, faces: ArrayLike, name: str | None = None) -> int:
        """Add a mesh of vertices [n, 3] (m) and faces [m, 3], counter-clockwise from outside."""
        return self._add_mesh(name, np.asarray(vertices, float).ravel(), np.asarray(faces, float).ravel())

    def add_material(self, name: str | None = None, **fields: Any) -> int:
        """Add a material: `friction`, `kinetic`, `restitution`, `stiffness` (N/m), `damping` (N s/m), ..."""
        return self._add("material", name=name, **fields)

    def add_pair(self, material_a: int, material_b: int, **fields: Any) -> int:
        """Say what two materials do together, with the fields of `add_material`."""
        return self._add_pair(material_a, material_b, **fields)

    def add_actuator(self, name: str | None = None, *, joint: int | str, **fields: Any) -> int:
        """Add an actuator: force = gear clamp(gain u + bias[0] + bias[1] l + bias[2] ldot), l = gear q."""
        return self._add("actuator", name=name, joint=joint, **fields)

    def add_coupling(self, name: str | None = None, *, joint: int | str, leader: int | str,
                     coef: ArrayLike, **fields: Any) -> int:
        """Couple two joints: q[joint] = sum_k coef[k] q[leader]^k."""
        return self._add("coupling", name=name, joint=joint, leader=leader, coef=coef, **fields)

    def add_connection(self, name: str | None = None, *, type: str, a: int | str | None, b: int | str | None,
                       **fields: Any) -> int:
        """Close a loop between frames on links a and b: "ball", "hinge", "fixed", "axes", "rod" or "spring"."""
        return self._add("connection", name=name, type=type, a=a, b=b, **fields)

    def add_sensor(self, name: str | None = None, *, type: str, **fields: Any) -> int:
        """Add a sensor of a type of docs/sensors.md to a `link` or `joint`: `pos`, `quat`, `noise`, `delay`, ..."""
        return self._add("sensor", name=name, type=type, **fields)

    def add_exclusion(self, link_a: int | str, link_b: int | str) -> int:
        """Two links that shall never touch."""
        return self._add_exclusion(link_a, link_b)

    def add_posture(self, name: str, joints: Mapping[int | str, ArrayLike] = {},
                    controls: Mapping[int, float] = {}) -> int:
        """Add a named posture: q of joints, and inputs of actuators by index; others keep their initial ones."""
        posture = self._add_posture(name)
        for joint, q in joints.items():
            self._set_posture(posture, joint, np.atleast_1d(np.asarray(q, float)))
        for actuator, u in controls.items():
            self._set_posture_control(posture, actuator, u)
        return posture

    def build(self) -> Model:
        """The finished model; the builder stays as it was."""
        return Model._from_builder(self._owner())


class Model(_tabi.Model):
    """An immutable robot, or several, that worlds and threads share.

    Links and joints are found by name or index: `model.joint("l_knee").upper`.  Models can be pickled.
    """

    findings: tuple[Finding, ...] = ()
    """What was noticed while it was loaded."""
    path: str | None = None
    """The file that it is, unchanged; None of one that was built or edited."""

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, base: str | None = None, ground: bool | float = False,
             package_path: str | None = None, strict: bool = False, **options: Any) -> Model:
        """The model of a URDF, MJCF, SDF, Choreonoid or OpenHRP3 file.

        Args:
            path: the file.
            base: "free" or "fixed"; None: as the file says.
            ground: add a level plane at z = 0; a number is its friction coefficient.
            options: as in `Builder.load`.
        """
        builder = Builder()
        found = builder.load(path, base=base, package_path=package_path, strict=strict, **options)
        if ground is not False:
            builder.add_ground(None if ground is True else float(ground))
        model = cls._from_builder(builder._owner())
        model.findings = found
        model.path = os.fspath(path)
        return model

    # items

    @property
    def nlink(self) -> int:
        """Number of links."""
        return self._count("link")

    @property
    def njoint(self) -> int:
        """Number of joints."""
        return self._count("joint")

    @property
    def nactuator(self) -> int:
        """Number of actuators."""
        return self._count("actuator")

    @property
    def nsensor(self) -> int:
        """Number of sensors."""
        return self._count("sensor")

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links; "" for one without."""
        return self._names("link")

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self._names("joint")

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of the actuators."""
        return self._names("actuator")

    @property
    def sensor_names(self) -> tuple[str, ...]:
        """Names of the sensors."""
        return self._names("sensor")

    def link(self, link: int | str) -> SimpleNamespace:
        """A link by name or index: name, mass, com, inertia, ..."""
        return SimpleNamespace(**self._item("link", self._find("link", link)))

    def joint(self, joint: int | str) -> SimpleNamespace:
        """A joint by name or index: name, type, parent, child, axis, lower, upper, effort, ..."""
        return SimpleNamespace(**self._item("joint", self._find("joint", joint)))

    def sensor(self, sensor: int | str) -> SimpleNamespace:
        """A sensor by name or index."""
        return SimpleNamespace(**self._item("sensor", self._find("sensor", sensor)))

    def items(self, kind: str) -> Iterator[SimpleNamespace]:
        """All items of a kind: "link", "joint", "shape", "material", "actuator", "coupling", "connection",
        "sensor"."""
        for i in range(self._count(kind)):
            yield SimpleNamespace(**self._item(kind, i))

    def link_index(self, link: int | str) -> int:
        """The index of a link."""
        return self._find("link", link)

    def joint_index(self, joint: int | str) -> int:
        """The index of a joint."""
        return self._find("joint", joint)

    def q_slice(self, joint: int | str) -> slice:
        """Where the positions of a joint stand in q; empty for a fixed joint."""
        return slice(*self._joint_q(joint))

    def v_slice(self, joint: int | str) -> slice:
        """Where the velocities of a joint stand in v."""
        return slice(*self._joint_v(joint))

    @property
    def driven_joints(self) -> tuple[int, ...]:
        """Indices of the joints with one coordinate, which servos can drive."""
        return tuple(i for i in range(self.njoint) if len(range(*self._joint_q(i))) == 1)

    @property
    def postures(self) -> dict[str, SimpleNamespace]:
        """Named postures (keyframes): q [nq], v [nv] and inputs u [nactuator], NaN where there is none."""
        return {name: SimpleNamespace(q=q, v=v, u=u) for name, q, v, u in self._postures()}

    keyframes = postures

    def check(self) -> tuple[Finding, ...]:
        """The model doctor: masses, joints, connections and overlaps that are suspicious, each with a cure."""
        return tuple(Finding(*item) for item in self._check())

    def place_on_ground(self, q: ArrayLike | None = None) -> NDArray[np.float64]:
        """Positions [nq] with the first free joint moved up or down until it stands on what is below."""
        q = np.array(self.initial_q if q is None else q, float)
        first, rise, up = self._find_rise(q)
        if np.isfinite(rise):
            q[first:first + 3] += rise * np.asarray(up)
        return q

    def __repr__(self) -> str:
        return f"<tabi.Model: {self.nlink} links, {self.njoint} joints, nv={self.nv}, {self.mass:.4g} kg>"

    # pickling: what was added, added again

    def _parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = {kind: [self._item(kind, i) for i in range(self._count(kind))] for kind in _KINDS}
        parts["mesh"] = [self._mesh(i) for i in range(self.nmesh)]
        parts["pair"] = self._pairs()
        parts["exclusion"] = self._exclusions()
        parts["posture"] = self._postures()
        parts["gravity"], parts["timestep"] = self.gravity, self.timestep
        return parts

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._parts(), self.findings)

    def edit(self, *, joints: Mapping[str, Mapping[str, Any]] = {}, links: Mapping[str, Mapping[str, Any]] = {},
             gravity: ArrayLike | None = None) -> Model:
        """A copy with other values: `model.edit(links={"torso": {"mass": 12}}, joints={"l_knee": {"damping": 1}})`."""
        parts = self._parts()
        for kind, changes in (("joint", joints), ("link", links)):
            for name, fields in changes.items():
                parts[kind][self._find(kind, name)].update(fields)
        if gravity is not None:
            parts["gravity"] = gravity
        return _rebuild(type(self), parts, self.findings)


def _add_postures(builder: Builder, model: Model, postures: Iterable[tuple[Any, ...]]) -> None:
    for name, q, v, u in postures:
        posture = builder._add_posture(name)
        for joint in range(model.njoint):
            at, rate = model.q_slice(joint), model.v_slice(joint)
            if at.stop > at.start:
                builder._set_posture(posture, joint, q[at], v[rate])
        for actuator, value in enumerate(u):
            if not np.isnan(value):
                builder._set_posture_control(posture, actuator, value)


def _build(parts: Mapping[str, Any]) -> Builder:
    builder = Builder()
    builder.set_gravity(parts["gravity"])
    builder.set_timestep(parts["timestep"])
    for kind in ("link", "joint", "material"):
        for item in parts[kind]:
            builder._add(kind, **item)
    for name, vertices, faces in parts["mesh"]:
        builder._add_mesh(name, vertices, faces)
    for kind in ("shape", "actuator", "coupling", "connection", "sensor"):
        for item in parts[kind]:
            builder._add(kind, **item)
    for a, b, fields in parts["pair"]:
        builder._add_pair(a, b, **fields)
    for a, b in parts["exclusion"]:
        builder._add_exclusion(a, b)
    return builder


def _rebuild(cls: type[Model], parts: Mapping[str, Any], findings: Sequence[Finding]) -> Model:
    builder = _build(parts)
    model = cls._from_builder(builder._owner())
    if parts["posture"]:
        _add_postures(builder, model, parts["posture"])
        model = cls._from_builder(builder._owner())
    model.findings = tuple(findings)
    return model

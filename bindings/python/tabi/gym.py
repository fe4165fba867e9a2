"""Environments for reinforcement learning, in the shape of Gymnasium.

`tabi/Humanoid-v0` and `tabi/Biped-v0` are registered with `import tabi`; `make_env` makes one of any robot
file or scene.

Action: one number in [-1, 1] for each driven joint, which moves the target of its servo, or of the position actuator
that the robot's file gives it, from the posture at the start by at most `action_scale` (rad or m), within the joint's
limits.

Observation, one after another:

| part | size | |
|---|---|---|
| height | 1 | m, of the base's origin above its height at the start |
| up | 3 | the world's z axis, seen from the base |
| velocity | 3 | m/s, of the base's origin, in its axes |
| rate | 3 | rad/s, of the base, in its axes |
| q | driven joints | rad or m, from the posture at the start |
| v | driven joints | rad/s or m/s |
| action | driven joints | the last one |

Reward for each control step:

- task "stand": 1 + 0.2 up_z - 0.5 |velocity in the plane| - effort;
- task "walk": velocity of the centre of mass along x (at most `max_speed`) + 1 - |velocity along y| - effort;

where effort is 0.1 times the mean square of the action.  An episode terminates when the base has sunk below
`fall_height` of its height at the start, tilts by more than 60 degrees, or the simulation diverges.
"""
from __future__ import annotations

import os
import tempfile
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from ._command import try_robot
from ._data import data_path
from ._error import Error
from ._model import Model
from ._scene import Scene
from ._world import World

TASKS = ("stand", "walk")


class RobotEnv(gymnasium.Env[NDArray[np.float64], NDArray[np.float32]]):
    """A robot of a scene with servos, for the tasks "stand" and "walk".

    Args:
        scene: with the robot, its ground and its servos.
        task: "stand" or "walk".
        control_period: s, between two actions.
        action_scale: rad or m, by which an action of 1 moves a target.
        noise: standard deviation of the initial joint positions (rad or m) and velocities.
        fall_height: share of the base's initial height below which it has fallen.
        max_speed: m/s, above which walking faster gains nothing.
        render_mode: None, or "ansi": a line of text.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 50}

    def __init__(self, scene: Scene, task: str = "stand", *, control_period: float = 0.02, action_scale: float = 0.5,
                 noise: float = 0.01, fall_height: float = 0.6, max_speed: float = 2.0,
                 render_mode: str | None = None) -> None:
        if task not in TASKS:
            raise ValueError(f"task '{task}' is none of {', '.join(TASKS)}")
        self.scene, self.task, self.render_mode = scene, task, render_mode
        self.action_scale, self.noise = action_scale, noise
        self.fall_height, self.max_speed = fall_height, max_speed
        self.world: World = scene.world()
        self.model = self.world.model
        self._substeps = max(1, round(control_period / self.world.timestep))
        self.base = next(iter(scene.robots.values()))
        self._find_joints()
        self._start_q = self.world.q.copy()
        self._start_height = self._height()
        self._snapshot = self.world.save()
        count = len(self.joints)
        self.action_space = spaces.Box(-1.0, 1.0, (count,), np.float32)
        self.observation_space = spaces.Box(-np.inf, np.inf, (10 + 3 * count,), np.float64)
        self._action = np.zeros(count)

    def _find_joints(self) -> None:
        """The joints that servos or position actuators drive; servos are known after the first step."""
        start = self.world.q.copy()
        self.world.step()
        kp = self.world.kp
        servos = [j for j in self.model.driven_joints if kp[j] > 0]
        actuators = {actuator.joint: (i, actuator) for i, actuator in enumerate(self.model.items("actuator"))
                     if actuator.joint not in servos and actuator.gain * actuator.bias[1] * actuator.gear != 0
                     and actuator.joint in self.model.driven_joints}
        self.joints = np.array([*servos, *actuators], dtype=int)
        if len(self.joints) == 0:
            raise Error("no joint of the scene has a servo; give its robot a controller of type pd")
        self._q_at = np.array([self.model.q_slice(int(j)).start for j in self.joints])
        self._v_at = np.array([self.model.v_slice(int(j)).start for j in self.joints])
        self._nservo = len(servos)
        self._centre = start[self._q_at]
        self._centre[:self._nservo] = self.world.target[servos]
        limits = [(joint.lower, joint.upper) for joint in self.model.items("joint")]
        self._lower, self._upper = np.array([limits[j] for j in self.joints]).T
        self._actuators = np.array([i for i, _ in actuators.values()], dtype=int)
        # an input u holds the joint where gain u + bias[0] + bias[1] gear q = 0
        self._input = np.array([[-a.bias[0] / a.gain, -a.bias[1] * a.gear / a.gain]
                                for _, a in actuators.values()]).reshape(-1, 2)
        self.world.reset()

    def _drive(self, target: NDArray[np.float64]) -> None:
        self.world.target[self.joints[:self._nservo]] = target[:self._nservo]
        if len(self._actuators):
            self.world.control[self._actuators] = self._input[:, 0] + self._input[:, 1] * target[self._nservo:]

    def _height(self) -> float:
        return float(self.world.link_pose(self.base)[0][2])

    def _base_axes(self) -> NDArray[np.float64]:
        """Rotation of the base: its axes are the columns."""
        w, x, y, z = self.world.link_pose(self.base)[1]
        return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])

    def _observe(self) -> NDArray[np.float64]:
        axes = self._base_axes()
        linear, angular = self.world.link_velocity(self.base)
        q, v = self.world.q, self.world.v
        return np.concatenate([[self._height() - self._start_height], axes[2], axes.T @ linear, axes.T @ angular,
                               q[self._q_at] - self._start_q[self._q_at], v[self._v_at], self._action])

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[NDArray[np.float64], dict[str, Any]]:
        super().reset(seed=seed)
        self.world.restore(self._snapshot)
        self.world.reset()
        q, v = self._start_q.copy(), np.zeros(self.model.nv)
        count = len(self.joints)
        q[self._q_at] += self.noise * self.np_random.standard_normal(count)
        v[self._v_at] += self.noise * self.np_random.standard_normal(count)
        self.world.set_state(q, v)
        self._action = np.zeros(count)
        return self._observe(), {}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        self._action = np.clip(np.asarray(action, float), -1, 1)
        target = np.clip(self._centre + self.action_scale * self._action, self._lower, self._upper)
        self._drive(target)
        before = self.world.com
        diverged = False
        try:
            self.world.step(self._substeps)
        except Error:
            diverged = True
        speed = (self.world.com - before) / (self._substeps * self.world.timestep)
        observation = self._observe()
        up = float(observation[3])
        fallen = self._height() < self.fall_height * self._start_height or up < 0.5
        reward = self._reward(speed, up)
        return observation, reward, bool(fallen or diverged), False, {"speed": speed, "diverged": diverged}

    def _reward(self, speed: NDArray[np.float64], up: float) -> float:
        effort = 0.1 * float(np.mean(np.square(self._action)))
        if self.task == "stand":
            return 1 + 0.2 * up - 0.5 * float(np.hypot(speed[0], speed[1])) - effort
        return min(float(speed[0]), self.max_speed) + 1 - abs(float(speed[1])) - effort

    def render(self) -> str | None:
        if self.render_mode != "ansi":
            return None
        return f"t={self.world.time:.2f} s, height {self._height():.3f} m, CoM {self.world.com.round(3)}"


def scene_of(model: Any, contact: str | None = None) -> Scene:
    """The scene of what `make_env` takes; a robot file is put on a floor, with gains from its inertias."""
    changes = {} if contact is None else {"contact.model": contact}
    if isinstance(model, Scene):
        return model.change(changes)
    if isinstance(model, dict):
        return Scene.from_dict(model, set=changes)
    if isinstance(model, Model):
        if model.path is None:
            raise Error("the model was built or edited, and has no servos; give a scene with its robot and "
                        "a controller")
        model = model.path
    path = os.fspath(model)
    if path.endswith((".yaml", ".yml")):
        return Scene.load(path, set=changes)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "scene.yaml")
        try_robot(path, time=0.01, contact=["cone"], scene=made)
        return Scene.load(made, set=changes)


def make_env(model: Any, task: str = "stand", *, max_episode_steps: int | None = 1000, contact: str | None = None,
             **options: Any) -> gymnasium.Env:
    """An environment of any robot.

    Args:
        model: path of a robot file or scene, a `tabi.Model` that was loaded, a `tabi.Scene`, or a dictionary of one.
        task: "stand" or "walk".
        max_episode_steps: control steps until an episode is truncated; None: never.
        contact: contact method.
        options: of `RobotEnv`.
    """
    env: gymnasium.Env = RobotEnv(scene_of(model, contact), task, **options)
    if max_episode_steps is not None:
        env = gymnasium.wrappers.TimeLimit(env, max_episode_steps)
    return env


class Humanoid(RobotEnv):
    """`tabi/Humanoid-v0`: humanoid36 on a floor, 36 degrees of freedom, task "stand" by default."""

    def __init__(self, task: str = "stand", contact: str = "cone", **options: Any) -> None:
        super().__init__(scene_of(data_path("scenes/stand.yaml"), contact), task, **options)


class Biped(RobotEnv):
    """`tabi/Biped-v0`: humanoid20, two legs and two arms with 20 joints, task "walk" by default."""

    def __init__(self, task: str = "walk", contact: str = "cone", **options: Any) -> None:
        super().__init__(scene_of(data_path("scenes/stand_humanoid20.yaml"), contact), task, **options)


def register() -> None:
    """Make `tabi/Humanoid-v0` and `tabi/Biped-v0` known to gymnasium.make."""
    for name, entry in (("tabi/Humanoid-v0", "Humanoid"), ("tabi/Biped-v0", "Biped")):
        if name not in gymnasium.registry:
            gymnasium.register(name, f"tabi.gym:{entry}", max_episode_steps=1000)

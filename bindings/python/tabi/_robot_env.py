"""One robot as an environment; `tabi.gym` tells what observation, action and reward are."""
from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from ._error import Error
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
        self._snapshot = self.world.save()
        self._start_q = self.world.q.copy()
        self._start_height = self._height()
        self._find_joints()
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
        self._gains = self.world.kp[servos], self.world.kd[servos]
        self._centre = start[self._q_at]
        self._centre[:self._nservo] = self.world.target[servos]
        limits = [(joint.lower, joint.upper) for joint in self.model.items("joint")]
        self._lower, self._upper = np.array([limits[j] for j in self.joints]).T
        self._actuators = np.array([i for i, _ in actuators.values()], dtype=int)
        # an input u holds the joint where gain u + bias[0] + bias[1] gear q = 0
        self._input = np.array([[-a.bias[0] / a.gain, -a.bias[1] * a.gear / a.gain]
                                for _, a in actuators.values()]).reshape(-1, 2)
        self.world.restore(self._snapshot)

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
        up = observation[3]
        down = fallen(self._height(), up, self.fall_height * self._start_height)
        gain = float(reward(self.task, speed, up, self._action, self.max_speed))
        return observation, gain, bool(down or diverged), False, {"speed": speed, "diverged": diverged}

    def render(self) -> str | None:
        if self.render_mode != "ansi":
            return None
        return f"t={self.world.time:.2f} s, height {self._height():.3f} m, CoM {self.world.com.round(3)}"


def reward(task: str, speed: NDArray[np.float64], up: ArrayLike, action: NDArray[np.float64],
           max_speed: float) -> NDArray[np.float64]:
    """Of one robot or of many: speed of the CoM [..., 3], up_z of the base [...], action [..., joints]."""
    effort = 0.1 * np.mean(np.square(action), axis=-1)
    if task == "stand":
        return 1 + 0.2 * np.asarray(up) - 0.5 * np.hypot(speed[..., 0], speed[..., 1]) - effort
    return np.minimum(speed[..., 0], max_speed) + 1 - np.abs(speed[..., 1]) - effort


def fallen(height: ArrayLike, up: ArrayLike, lowest: float) -> NDArray[np.bool_]:
    """Whether the base of one robot or of many is below `lowest` (m) or tilted by more than 60 degrees."""
    return (np.asarray(height) < lowest) | (np.asarray(up) < 0.5)

"""Environments of many robots at once: Gymnasium's VectorEnv on a batch."""
from __future__ import annotations

from typing import Any, Sequence

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ._batch import Batch
from ._error import Error
from ._robot_env import RobotEnv, fallen, reward
from ._world import World

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Range = tuple[float, float]
_FACTORS = ("mass", "friction", "kp", "kd", "effort", "gravity")


class RobotVectorEnv(VectorEnv[Array, NDArray[np.float32], NDArray[Any]]):
    """Many robots of a scene, stepped together by `tabi.Batch`; each is what `RobotEnv` is.

    Args:
        scene: with one robot, its ground and its servos.
        task: "stand" or "walk".
        num_envs: how many.
        max_episode_steps: control steps until an episode is truncated; None: never.
        autoreset_mode: "NextStep", "SameStep" or "Disabled", as in Gymnasium.
        randomize: what differs between robots, drawn anew at each reset: ranges of factors by the names mass,
            friction, kp, kd, effort, gravity, and of delay in s.
        push: range of the size of random horizontal pushes, N s.
        push_link: that they act on; None: the base.
        push_time: s, that one lasts.
        push_every: s, from one to the next; the first begins after half of it.
        threads, lanes: of the `Batch`.
        options: of `RobotEnv`.
    """

    def __init__(self, scene: Any, task: str = "stand", num_envs: int = 1, *, max_episode_steps: int | None = 1000,
                 autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
                 randomize: dict[str, Range] | None = None, push: Range | None = None,
                 push_link: int | str | None = None, push_time: float = 0.1, push_every: float = 2.0,
                 threads: int | None = None, lanes: int | None = None, **options: Any) -> None:
        self.env = RobotEnv(scene, task, **options)
        self.num_envs, self.max_episode_steps = num_envs, max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.env.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = self.env.render_mode
        self.single_action_space, self.single_observation_space = self.env.action_space, self.env.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.randomize, self.push = dict(randomize or {}), push
        period = self.env._substeps * self.env.world.timestep
        self._push_steps = max(1, round(push_time / period))
        self._push_every = max(self._push_steps + 1, round(push_every / period))
        self.batch = self._make_batch(push_link, threads, lanes)
        self._nominal = {name: getattr(self.batch, name)[0].copy()
                         for name in (*self.randomize, *(["inertia"] if "mass" in self.randomize else []))}
        count = len(self.env.joints)
        self._action = np.zeros((num_envs, count))
        self._elapsed = np.zeros(num_envs, int)
        self._ended = np.zeros(num_envs, bool)
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._seeds: list[int | None] = [None] * num_envs

    def _make_batch(self, push_link: int | str | None, threads: int | None, lanes: int | None) -> Batch:
        """Lanes have a budget of sweeps of their own, unless the scene asks for one; worlds one by one do what
        `World` does."""
        world, env = self.env.world, self.env
        unknown = set(self.randomize) - {*_FACTORS, "delay"}
        if unknown:
            raise ValueError(f"randomize: '{unknown.pop()}' is none of {', '.join(_FACTORS)}, delay")
        if len(env.scene.robots) != 1:
            raise Error("many robots at once need a scene with one robot in it")
        gains = np.zeros((2, env.model.nv))
        gains[:, env._v_at[:env._nservo]] = env._gains
        settings = world.settings
        if lanes != 0 and settings["iterations"] == World(env.model, settings["contact"]).settings["iterations"]:
            del settings["iterations"]
        varied = [*self.randomize, *(["inertia"] if "mass" in self.randomize else [])]
        link = env.base if push_link is None else push_link
        return Batch(env.model, self.num_envs, threads, kp=gains[0], kd=gains[1], vary=varied, lanes=lanes,
                     push=None if self.push is None else link, max_delay=self.randomize.get("delay", (0, 0))[1],
                     **settings)

    # seeds

    def _generator(self, index: int) -> np.random.Generator:
        generator = self._generators[index]
        if generator is None:
            generator, self._seeds[index] = seeding.np_random(None)
            self._generators[index] = generator
        return generator

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generator of each robot, which its resets and pushes draw from."""
        return tuple(self._generator(i) for i in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]
        """The seed of each, None before the first reset."""
        return tuple(self._seeds)

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        if seed is None:
            return
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: {len(seeds)} seeds for {self.num_envs} robots")
        for i, one in enumerate(seeds):
            if one is not None:
                self._generators[i], self._seeds[i] = seeding.np_random(int(one))

    # episodes

    def _begin(self, which: Mask) -> None:
        """New episodes of some robots: what differs, their state, no push."""
        env, batch, chosen = self.env, self.batch, np.flatnonzero(which)
        count = len(env.joints)
        q = np.tile(env._start_q, (len(chosen), 1))
        v = np.zeros((len(chosen), env.model.nv))
        for row, i in enumerate(chosen.tolist()):
            draw = self._generator(i)
            q[row, env._q_at] += env.noise * draw.standard_normal(count)
            v[row, env._v_at] += env.noise * draw.standard_normal(count)
            for name, (low, high) in self.randomize.items():
                value = draw.uniform(low, high)
                getattr(batch, name)[i] = value if name == "delay" else value * self._nominal[name]
                if name == "mass":
                    batch.inertia[i] = value * self._nominal["inertia"]
        batch.reset(chosen, q, v)
        batch.push[chosen] = 0
        self._action[chosen] = 0
        self._elapsed[chosen] = 0
        self._ended[chosen] = False

    def reset(self, *, seed: int | Sequence[int | None] | None = None,  # type: ignore[override]
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """New episodes of all robots, or of those where options["reset_mask"] is true.

        Args:
            seed: of the first robot, the others count up from it; or one for each; None: as they go on.
        """
        which = (options or {}).get("reset_mask")
        if which is not None and (which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any()):
            raise ValueError(f"reset_mask: {self.num_envs} booleans are expected, one of them true")
        self._seed(seed)
        self._begin(np.ones(self.num_envs, bool) if which is None else which)
        return self._observe(), {}

    def _look(self) -> tuple[Array, Array, Array, Array]:
        """Centre of mass, and of the base position, orientation and velocities; [robots, n] each."""
        seen = self.batch._look(self.env.base)
        return seen[:, :3], seen[:, 3:6], seen[:, 6:10], seen[:, 10:]

    def _observe(self) -> Array:
        env, batch = self.env, self.batch
        _, position, orientation, velocity = self._look()
        axes = _axes(orientation)
        inside = [np.einsum("nij,ni->nj", axes, part) for part in (velocity[:, :3], velocity[:, 3:])]
        return np.concatenate([position[:, 2:] - env._start_height, axes[:, 2], *inside,
                               batch.q[:, env._q_at] - env._start_q[env._q_at], batch.v[:, env._v_at],
                               self._action], axis=1)

    def _drive(self, target: Array) -> None:
        env, batch = self.env, self.batch
        batch.target[:, env._v_at[:env._nservo]] = target[:, :env._nservo]
        if len(env._actuators):
            batch.control[:, env._actuators] = env._input[:, 0] + env._input[:, 1] * target[:, env._nservo:]

    def _shove(self) -> None:
        """Pushes that begin or end at this control step."""
        if self.push is None:
            return
        phase = (self._elapsed - self._push_every // 2) % self._push_every
        self.batch.push[phase == self._push_steps] = 0
        begins = (phase == 0) & (self._elapsed > 0)
        time = self._push_steps * self.env._substeps * self.env.world.timestep
        for i in np.flatnonzero(begins).tolist():
            draw = self._generator(i)
            size, angle = draw.uniform(*self.push) / time, draw.uniform(0, 2 * np.pi)
            self.batch.push[i, :2] = size * np.cos(angle), size * np.sin(angle)

    def step(self, actions: ArrayLike) -> tuple[Array, Array, Mask, Mask, dict[str, Any]]:  # type: ignore[override]
        """A control step of all robots; those whose episode ended begin anew as `autoreset_mode` says."""
        actions = np.asarray(actions, float)
        if actions.shape != self._action.shape:
            raise ValueError(f"actions: shape {actions.shape}, expected {self._action.shape}")
        mode = self.autoreset_mode
        if mode == AutoresetMode.DISABLED and self._ended.any():
            raise Error("an episode has ended; reset it by options={'reset_mask': ...}")
        anew = self._ended.copy() if mode == AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, bool)
        if anew.any():
            self._begin(anew)
        goes = ~anew
        rewards, terminated, speed, diverged = self._advance(np.clip(actions, -1, 1), goes)
        truncated = np.zeros(self.num_envs, bool)
        if self.max_episode_steps is not None:
            truncated = goes & (self._elapsed >= self.max_episode_steps)
        self._ended = terminated | truncated
        observations = self._observe()
        told = {"speed": speed, "_speed": goes, "diverged": diverged, "_diverged": goes.copy()}
        infos = {} if anew.all() else told
        if mode == AutoresetMode.SAME_STEP and self._ended.any():
            observations, infos = self._begin_at_once(observations, infos)
        return observations, rewards, terminated, truncated, infos

    def _advance(self, actions: Array, goes: Mask) -> tuple[Array, Mask, Array, Mask]:
        """Reward, whether it fell, speed of the CoM, and whether it diverged, of robots that go on."""
        env, batch = self.env, self.batch
        self._action[goes] = actions[goes]
        self._drive(np.clip(env._centre + env.action_scale * self._action, env._lower, env._upper))
        self._shove()
        before = self._look()[0]
        batch.step(env._substeps, goes)
        self._elapsed[goes] += 1
        com, position, orientation, _ = self._look()
        diverged = goes & (batch.status != 0)
        speed = np.where(goes[:, None], (com - before) / (env._substeps * env.world.timestep), 0.0)
        up = _axes(orientation)[:, 2, 2]
        down = fallen(position[:, 2], up, env.fall_height * env._start_height)
        rewards = reward(env.task, speed, up, self._action, env.max_speed)
        return np.where(goes, rewards, 0.0), goes & (down | diverged), speed, diverged

    def _begin_at_once(self, observations: Array, infos: dict[str, Any]) -> tuple[Array, dict[str, Any]]:
        """Mode SameStep: what ended is told as final, and the observation is that of the new episode."""
        ended = np.flatnonzero(self._ended)
        final: dict[str, Any] = {}
        for i in ended:
            last = {"speed": infos["speed"][i], "diverged": bool(infos["diverged"][i])}
            final = self._add_info(final, {"final_obs": observations[i].copy(), "final_info": last}, int(i))
        began = self._ended.copy()
        self._begin(self._ended)
        told = {name: values.copy() for name, values in infos.items()}
        for name in ("speed", "diverged"):
            told[name][began] = 0
            told["_" + name][began] = False
        if not told["_speed"].any():
            told = {}
        return self._observe(), {**final, **told}

    def render(self) -> tuple[str | None, ...]:  # type: ignore[override]
        """A line of text for each robot, with render_mode "ansi"."""
        if self.render_mode != "ansi":
            return (None,) * self.num_envs
        com, position, _, _ = self._look()
        return tuple(f"step {self._elapsed[i]}, height {position[i, 2]:.3f} m, CoM {com[i].round(3)}"
                     for i in range(self.num_envs))


def _axes(quaternion: Array) -> Array:
    """Rotations [n, 3, 3] of unit quaternions: the axes are the columns."""
    w, x, y, z = quaternion.T
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                     2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                     2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1).reshape(-1, 3, 3)

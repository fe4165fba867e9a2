"""Environments for reinforcement learning, in the shape of Gymnasium.

`tabi/Humanoid-v0` and `tabi/Biped-v0` are registered with `import tabi`; `make_env` makes one of any robot
file or scene, `make_vec` many of them that are stepped together.

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

from ._command import try_robot
from ._data import data_path
from ._error import Error
from ._model import Model
from ._robot_env import RobotEnv
from ._scene import Scene
from ._vector import RobotVectorEnv


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


def make_vec(model: Any, task: str = "stand", num_envs: int = 1, *, contact: str | None = None,
             **options: Any) -> RobotVectorEnv:
    """Many robots at once, in lanes of the vector unit where they can do all that the robot has (`tabi.Batch`).

    Args:
        model: as in `make_env`.
        task: "stand" or "walk".
        num_envs: how many.
        contact: contact method.
        options: of `RobotVectorEnv`.
    """
    return RobotVectorEnv(scene_of(model, contact), task, num_envs, **options)


class Humanoid(RobotEnv):
    """`tabi/Humanoid-v0`: humanoid36 on a floor, 36 degrees of freedom, task "stand" by default."""

    def __init__(self, task: str = "stand", contact: str = "cone", **options: Any) -> None:
        super().__init__(scene_of(data_path("scenes/stand.yaml"), contact), task, **options)


class Biped(RobotEnv):
    """`tabi/Biped-v0`: humanoid20, two legs and two arms with 20 joints, task "walk" by default."""

    def __init__(self, task: str = "walk", contact: str = "cone", **options: Any) -> None:
        super().__init__(scene_of(data_path("scenes/stand_humanoid20.yaml"), contact), task, **options)


def humanoids(num_envs: int, task: str = "stand", **options: Any) -> RobotVectorEnv:
    """Many `tabi/Humanoid-v0`."""
    return make_vec(data_path("scenes/stand.yaml"), task, num_envs, **options)


def bipeds(num_envs: int, task: str = "walk", **options: Any) -> RobotVectorEnv:
    """Many `tabi/Biped-v0`."""
    return make_vec(data_path("scenes/stand_humanoid20.yaml"), task, num_envs, **options)


def register() -> None:
    """Make `tabi/Humanoid-v0` and `tabi/Biped-v0` known to gymnasium.make and gymnasium.make_vec."""
    for name, entry, many in (("tabi/Humanoid-v0", "Humanoid", "humanoids"), ("tabi/Biped-v0", "Biped", "bipeds")):
        if name not in gymnasium.registry:
            gymnasium.register(name, f"tabi.gym:{entry}", max_episode_steps=1000,
                               vector_entry_point=f"tabi.gym:{many}")

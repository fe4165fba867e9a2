"""The pattern generator for walking, and the stabiliser."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tabi
from ._model import Model
from ._world import World


class Walk(_tabi.Walk):
    """A planned walk of a robot with a floating waist and two legs of six hinges each, x forward and z up.

    Args:
        model: the robot.
        waist, left_foot, right_foot: its links.
        steps: dictionaries: forward, sideways (m), turn (rad), double_support, single_support (s), lift (m).
        posture: q [nq] with level waist and soles, knees bent; None: the model's initial q.
        settings: waist_height, spacing, place, yaw, first, stand_before, stand_after, period, horizon,
            jerk_weight, passes, sample_period.
    """

    def __init__(self, model: Model, *, waist: int | str, left_foot: int | str, right_foot: int | str,
                 steps: Sequence[Mapping[str, float]], posture: ArrayLike | None = None, **settings: Any) -> None:
        settings.update(waist=waist, left_foot=left_foot, right_foot=right_foot)
        super().__init__(model, [dict(step) for step in steps], posture, settings)
        self.model = model

    def at(self, time: float) -> SimpleNamespace:
        """The plan at a time: com, com_rate, waist, waist_yaw, zmp, motion_zmp, foot [2, 3], foot_yaw, lifted."""
        state = self._at(time)
        state["foot"] = state["foot"].reshape(2, 3)
        return SimpleNamespace(**state)

    def apply(self, world: World, kp: float, kd: float) -> None:
        """Set the servos of a world of this model for its next step, with feed-forward torques."""
        target, rate, torque = self.joints(world.time + world.timestep)
        drive(world, target, rate, kp, kd, torque)


class Stabiliser(_tabi.Stabiliser):
    """Measures with sensors how a walking robot deviates from its plan, and corrects it with its feet.

    Args:
        walk: the plan.
        left_force, right_force, gyro, accelerometer: sensors of the model.
        settings: pole, delay, foot_damping, height_damping, return_standing, return_lifted, speed_filter,
            attitude_time.
    """

    def __init__(self, walk: Walk, *, left_force: int | str, right_force: int | str, gyro: int | str,
                 accelerometer: int | str, **settings: Any) -> None:
        settings.update(left_force=left_force, right_force=right_force, gyro=gyro, accelerometer=accelerometer)
        super().__init__(walk, settings)
        self.walk = walk

    def update(self, world: World, kp: float | None = None, kd: float = 0.0) -> None:
        """Read the sensors of a world and compute `target` and `rate` of its next step; with gains, set them."""
        self._update(world)
        if kp is not None:
            drive(world, self.target, self.rate, kp, kd)

    @property
    def state(self) -> SimpleNamespace:
        """Estimates and outputs of the last update: tilt, com_error, com_rate_error, zmp, zmp_desired, ..."""
        state = self._state()
        state["foot_turn"] = state["foot_turn"].reshape(2, 2)
        return SimpleNamespace(**state)


def drive(world: World, target: NDArray[np.float64], rate: NDArray[np.float64], kp: float, kd: float,
          torque: NDArray[np.float64] | None = None) -> None:
    """Implicit servos to targets and rates by joint, and joint forces beside them."""
    for joint in world.model.driven_joints:
        world.set_servo(joint, kp, kd, target=target[joint], target_rate=rate[joint])
        if torque is not None:
            world.tau[world.model.v_slice(joint)] = torque[joint]

"""tabi: contact dynamics for humanoid robots.

    import tabi
    scene = tabi.Scene.load("stand.yaml")
    result = scene.run(2.0)
    print(result["com.z"][-1], result.worst)

SI units, z up, quaternions (w, x, y, z).  docs/python.md is the tutorial.
"""
from __future__ import annotations

from . import _tabi
from ._batch import Batch
from ._command import Viewer, compare, try_robot, view
from ._data import data_path
from ._error import Error, Finding, ModelWarning
from ._gait import Gait
from ._log import Log
from ._model import Builder, Model
from ._rollout import Rollout, rollout
from ._scene import Check, Controller, Result, Scene, Signal, Table
from ._solve import FrictionProblem, FrictionResult, solve
from ._sweep import Sweep, sweep
from ._walk import Stabiliser, Walk
from ._world import Balance, Certificate, Dynamics, Energy, World

__version__ = f"{_tabi.VERSION // 10000}.{_tabi.VERSION // 100 % 100}.{_tabi.VERSION % 100}"

contact_methods: dict[str, str] = dict(_tabi._contact_methods())
"""The contact methods and the papers' variants, each with one line about it."""

__all__ = [
    "Balance", "Batch", "Builder", "Certificate", "Check", "Controller", "Dynamics", "Energy", "Error", "Finding",
    "FrictionProblem", "FrictionResult", "Gait", "Log", "Model", "ModelWarning", "Result", "Rollout", "Scene", "Signal",
    "Stabiliser", "Sweep", "Table", "Viewer", "Walk", "World", "compare", "contact_methods", "data_path", "rollout",
    "solve", "sweep", "try_robot", "view",
]

try:
    from .gym import register as _register
    _register()
except ImportError:  # gymnasium is not there
    pass

"""Models and scenes that come with tabi."""
from __future__ import annotations

import os
import pathlib


def data_path(name: str) -> str:
    """The path of a model or scene that comes with tabi, as in "models/humanoid36.urdf" or "scenes/stand.yaml"."""
    here = pathlib.Path(__file__)
    for root in (here.parent / "data", here.resolve().parents[3]):
        if (root / name).is_file():
            return os.fspath(root / name)
    raise FileNotFoundError(f"tabi has no '{name}'")

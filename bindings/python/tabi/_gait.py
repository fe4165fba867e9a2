"""The planar biped of contact method gait."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

from . import _tabi
from ._model import Model


class Gait(_tabi.Gait):
    """A planar biped by contact modes; give it to `World(model, "gait", gait=...)`.

    Args:
        model: whose base joint is planar, and whose other joints are hinges about y.
        feet: two dictionaries: link, heel [3], toe [3] (m, link frame).
        forces: feed-forward forces: first_link, second_link, point [3], amplitude [2] (N), period [2] (s).
        floors: links that must stay above a height: link, height (m).
        settings: initial_support, initial_mode, events, guards, impact, friction, support_friction, slip_stop,
            pivot_damping, min_stride, scuff, sink; docs/gait.md.
    """

    def __init__(self, model: Model, feet: Sequence[Mapping[str, Any]], *, forces: Sequence[Mapping[str, Any]] = (),
                 floors: Sequence[Mapping[str, Any]] = (), **settings: Any) -> None:
        super().__init__(model, [dict(x) for x in feet], [dict(x) for x in forces], [dict(x) for x in floors], settings)
        self.model = model

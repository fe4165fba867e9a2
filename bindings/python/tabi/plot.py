"""Pictures of runs by matplotlib, which is all they need."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._scene import Table


def signals(table: Table, *names: str, axes: Any = None) -> Any:
    """Signals over time; those of one unit share axes.  Without names: height of the CoM, or the first few.

    Args:
        table: a `tabi.Result`, or `log.table(...)`.
        names: as in "com.z" or "l_knee.q"; the end of a name is enough where it is the only one.
        axes: matplotlib axes, one for each unit.

    Returns:
        The figure.
    """
    import matplotlib.pyplot as plt
    chosen = [s for s in table.signals if any(s.name == n or s.name.endswith("/" + n) or
                                              s.name.rsplit(".", 1)[0].endswith(n) for n in names)]
    if not chosen:
        chosen = [s for s in table.signals if s.name.endswith("com.z")] or list(table.signals[:3])
    units = list(dict.fromkeys(s.unit for s in chosen))
    if axes is None:
        _, axes = plt.subplots(len(units), 1, sharex=True, squeeze=False, figsize=(8, 1 + 2 * len(units)))
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    for axis, unit in zip(axes, units):
        for s in chosen:
            if s.unit == unit:
                axis.plot(table.time, table[s.name], label=s.name)
        axis.set_ylabel(unit)
        axis.legend(fontsize="small")
    axes[-1].set_xlabel("time, s")
    return axes[0].figure


def histogram(values: Any, label: str, bins: int = 30, axis: Any = None) -> Any:
    """A histogram of one measure over many runs.  Returns the figure."""
    import matplotlib.pyplot as plt
    if axis is None:
        _, axis = plt.subplots(figsize=(6, 3))
    values = np.asarray(values, float)
    axis.hist(values[np.isfinite(values)], bins=bins)
    axis.set_xlabel(label)
    axis.set_ylabel("runs")
    return axis.figure


def balance(table: Table, axis: Any = None) -> Any:
    """Centre of mass and ZMP of a robot, seen from above.  Returns the figure."""
    import matplotlib.pyplot as plt
    if axis is None:
        _, axis = plt.subplots(figsize=(6, 4))
    for name, label in (("com", "centre of mass"), ("zmp", "ZMP")):
        if name + ".x" in table:
            axis.plot(table[name + ".x"], table[name + ".y"], label=label)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_xlabel("x, m")
    axis.set_ylabel("y, m")
    axis.legend(fontsize="small")
    return axis.figure

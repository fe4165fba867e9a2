"""Friction problems: contacts without a robot."""
from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tabi


class FrictionResult(NamedTuple):
    """The solution of a friction problem."""

    r: NDArray[np.float64]
    """Impulses [contacts, 3]: normal, two tangents."""
    islands: int
    iterations: int
    factorisations: int
    residual: float
    """|r - P(r - u~)| / |q|, P the projection on the cone."""
    scaled: float
    """The same in units of each contact, which does not depend on units."""
    converged: bool


class FrictionProblem(_tabi.FrictionProblem):
    """Find r such that u = W r + q obeys Signorini's condition and Coulomb's law at every contact."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FrictionProblem:
        """A stored problem in the layout of docs/solve.md."""
        return cls._load(os.fspath(path))

    @classmethod
    def from_blocks(cls, row: ArrayLike, column: ArrayLike, block: ArrayLike, q: ArrayLike,
                    friction: ArrayLike) -> FrictionProblem:
        """Of the blocks of W that are not zero, in compressed rows.

        Args:
            row: [n + 1], where the blocks of a contact begin.
            column: [m], of every block the contact whose impulse it multiplies.
            block: [m, 3, 3].
            q: [3 n].
            friction: coefficients [n].
        """
        return cls._create(row, column, block, q, friction)

    @classmethod
    def from_dense(cls, W: ArrayLike, q: ArrayLike, friction: ArrayLike) -> FrictionProblem:
        """Of a matrix W [3 n, 3 n]; components per contact: normal, two tangents."""
        W = np.asarray(W, float)
        mu = np.broadcast_to(np.asarray(friction, float), len(W) // 3)
        blocks = W.reshape(len(mu), 3, len(mu), 3).swapaxes(1, 2)
        used = np.any(blocks != 0, axis=(2, 3)) | np.eye(len(mu), dtype=bool)
        row = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        return cls._create(row, np.nonzero(used)[1], np.ascontiguousarray(blocks[used]), q, mu)

    def solve(self, solver: str = "exact", *, tolerance: float = 1e-10, max_iterations: int = 0,
              start: ArrayLike | None = None) -> FrictionResult:
        """Solve it by "exact", "cone" or "lcp"; other threads run meanwhile."""
        return FrictionResult(**self._solve(solver, tolerance, max_iterations, start))


def solve(W: ArrayLike, q: ArrayLike, friction: ArrayLike, *, solver: str = "exact", tolerance: float = 1e-10,
          max_iterations: int = 0) -> FrictionResult:
    """Contact impulses r with u = W r + q under Coulomb friction.

    Args:
        W: Delassus matrix [3 n, 3 n]; components per contact: normal, two tangents.
        q: velocities without impulses [3 n].
        friction: coefficients, one or [n].
        solver: "exact", "cone" or "lcp".
    """
    problem = FrictionProblem.from_dense(W, q, friction)
    return problem.solve(solver, tolerance=tolerance, max_iterations=max_iterations)

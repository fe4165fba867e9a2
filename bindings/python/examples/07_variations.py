"""Variations of friction and mass of a box that is pushed over a floor, on all cores, with a histogram."""
import sys
from concurrent.futures import ThreadPoolExecutor

import matplotlib
import numpy as np

import tabi
import tabi.plot

matplotlib.use("Agg")
COUNT = 60 if "--quick" in sys.argv else 1000
SCENE = {
    "duration": 1.0, "timestep": 2e-3,
    "materials": {"wood": {"friction": 0.3}},
    "bodies": [{"name": "floor", "fixed": True, "shape": {"plane": {}}, "material": "wood"},
               {"name": "box", "mass": 2, "xyz": [0, 0, 0.1], "lin": [1.5, 0, 0], "shape": {"box": [0.2, 0.2, 0.2]},
                "material": "wood"}],
}


def way(parameters):
    """How far the box slides, m."""
    friction, mass = parameters
    scene = tabi.Scene.from_dict(SCENE, set={"materials.wood.friction": friction, "bodies.box.mass": mass})
    return scene.run(signals=[]).world.q[0]


random = np.random.default_rng(1)
parameters = np.column_stack([random.uniform(0.2, 0.6, COUNT), random.uniform(1, 3, COUNT)])
with ThreadPoolExecutor() as pool:
    ways = np.array(list(pool.map(way, parameters)))
expected = 1.5**2 / (2 * 9.81 * parameters[:, 0])
tabi.plot.histogram(ways, "way, m").savefig("variations.png")
print(f"{COUNT} runs: {ways.mean():.3f} m +- {ways.std():.3f} m, at most {np.abs(ways - expected).max():.3f} m from "
      "v^2 / (2 mu g); histogram in variations.png")
assert np.abs(ways - expected).max() < 0.02

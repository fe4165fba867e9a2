"""The same box on the same slope under every law of contact: how far does it slide?"""
import numpy as np

import tabi

TILT = 0.3
scene = tabi.Scene.from_dict({
    "name": "box on a slope", "duration": 1.0,
    "materials": {"wood": {"friction": 0.25}},
    "bodies": [{"name": "slope", "fixed": True, "shape": {"plane": {}}, "rpy": [0, TILT, 0], "material": "wood"},
               {"name": "box", "mass": 1, "xyz": [0.1 * np.sin(TILT), 0, 0.1 * np.cos(TILT)], "rpy": [0, TILT, 0],
                "shape": {"box": [0.3, 0.3, 0.2]}, "material": "wood"}],
})
g = 9.81
expected = g * (np.sin(TILT) - 0.25 * np.cos(TILT)) / 2
print(f"Coulomb's law: {expected:.4f} m")
for contact in ("cone", "exact", "lcp", "penalty", "impulse"):
    result = scene.run(set={"contact.model": contact}, signals=[])
    way = np.linalg.norm(result.world.q[:3] - scene.world().q[:3])
    print(f"{contact:8} {way:.4f} m, complementarity {result.worst['complementarity']:.1e} m/s, "
          f"{1e6 * result.seconds / result.steps:.1f} us per step")
    assert abs(way - expected) < 0.02 * expected

"""A controller in Python beside that of a scene: the robot squats, and keeps its hips over its feet."""
import numpy as np

import tabi


class Squat:
    """Bends hips, knees and ankles together, so that the soles stay level."""

    def __init__(self, world, depth, period):
        model = world.model
        self.parts = [(model.joint_index(f"robot/{side}_{joint}"), sign) for side in "lr"
                      for joint, sign in (("hip_pitch", -1), ("knee", 2), ("ankle_pitch", -1))]
        self.rest = np.array([world.q[model.q_slice(joint)][0] for joint, _ in self.parts])
        self.depth, self.period = depth, period

    def update(self, world):
        bend = self.depth * (1 - np.cos(2 * np.pi * world.time / self.period)) / 2
        for (joint, sign), rest in zip(self.parts, self.rest):
            world.target[joint] = rest + sign * bend


scene = tabi.Scene.load(tabi.data_path("scenes/stand.yaml"))
result = scene.run(2.0, controller=Squat(scene.world(), depth=0.25, period=2.0), signals=["com"])
low = result["com.z"].min()
print(f"centre of mass from {result['com.z'][0]:.3f} m down to {low:.3f} m and back to {result['com.z'][-1]:.3f} m")
assert low < result["com.z"][0] - 0.02 and abs(result["com.z"][-1] - result["com.z"][0]) < 0.02

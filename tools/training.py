#!/usr/bin/env python3
"""training.py POLICY.npz: writes docs/figures/training.svg from what bindings/python/examples/08_train.py has learnt.

The learning curve, and one push that training never saw, with the untrained and with the trained policy.  The package
must be importable, as with PYTHONPATH=build/release/python.
"""
import importlib.util
import pathlib
import sys

import matplotlib
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("train", ROOT / "bindings" / "python" / "examples" / "08_train.py")
train = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(train)

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "tabi"
from matplotlib import pyplot as plt  # noqa: E402

import tabi  # noqa: E402


def replay(weights, seed, steps):
    """Joint positions of one robot over time, and whether it stands at the end."""
    robots = train.make(1)
    observation, _ = robots.reset(seed=[seed])
    names = [robots.env.model.joint_names[j] for j in robots.env.joints]
    gain = train.policy(weights[None], names)[0]
    path, stands = [robots.batch.q[0].copy()], True
    for _ in range(steps):
        observation, _, fell, _, _ = robots.step((gain @ observation[0])[None])
        stands &= not fell[0]
        if not stands:
            break
        path.append(robots.batch.q[0].copy())
    return robots.env.model, path, stands


def find_push(weights):
    """The first push of those never seen after which only the trained policy stands."""
    for seed in range(1000, 1200):
        if not replay(np.zeros_like(weights), seed, train.STEPS)[2] and replay(weights, seed, train.STEPS)[2]:
            return seed
    raise SystemExit("training.py: no push tells the two policies apart")


def draw(axes, model, path, times, title):
    """Side views of the robot, one beside the other; red: it has fallen before."""
    world, joints = tabi.World(model), [joint for joint in model.items("joint") if joint.parent >= 0]
    for i, time in enumerate(times):
        k = min(round(time / 0.02), len(path) - 1)
        world.set_state(path[k], np.zeros(model.nv))
        base = world.link_pose("robot/pelvis")[0]
        for joint in joints:
            a, b = world.link_pose(joint.parent)[0], world.link_pose(joint.child)[0]
            axes.plot([i + a[0], i + b[0]], [a[2], b[2]], lw=1.5, color="tab:red" if k < round(time / 0.02) else "k")
        axes.text(i, -0.15, f"{time:g} s", ha="center", fontsize=7)
        assert np.isfinite(base).all()
    axes.axhline(0, color="0.6", lw=0.8)
    axes.set(title=title, xlim=(-0.6, len(times) - 0.4), ylim=(-0.2, 1.3), aspect="equal")
    axes.axis("off")


def main():
    stored = np.load(sys.argv[1])
    weights, curve = stored["weights"], stored["curve"]
    seed, times = find_push(weights), [0, 0.5, 0.7, 0.9, 1.1, 1.3, 1.6, 2.5]
    figure = plt.figure(figsize=(9, 4.4))
    grid = figure.add_gridspec(2, 2, width_ratios=(2, 3))
    axes = figure.add_subplot(grid[:, 0])
    axes.plot(curve[:, 0], 100 * curve[:, 2], "o-", ms=3, color="0.6", label="mean policy")
    axes.plot(curve[:, 0], 100 * np.maximum.accumulate(curve[:, 2]), "k-", label="best so far")
    axes.set(xlabel="s", ylabel="% that stand after two pushes of 10 to 40 N s", ylim=(0, 100))
    axes.legend(frameon=False, loc="lower right")
    for place, policy, name in ((0, np.zeros_like(weights), "untrained"), (1, weights, "trained")):
        model, path, _ = replay(policy, seed, train.STEPS)
        draw(figure.add_subplot(grid[place, 1]), model, path, times, name)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "figures" / "training.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

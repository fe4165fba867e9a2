"""humanoid36 learns to stay on its feet when it is pushed: CMA-ES with NumPy alone, on `tabi.gym.make_vec`.

    python 08_train.py --seconds 300 --out policy.npz

The policy is linear: how far the trunk leans, its velocity and its rate bend hips, knees, ankles, waist and
shoulders, both sides alike.  What it has learnt is judged by pushes that training never saw.
"""
import argparse
import time

import numpy as np

import tabi
import tabi.gym

# what joints listen to: (up, velocity, rate) of the trunk, by their places in the observation
FORWARD, SIDEWAYS = (1, 4, 8), (2, 5, 7)
SCALE = np.array([5.0, 2.0, 1.0])  # a lean of 0.1, 0.25 m/s and 0.5 rad/s count alike
GROUPS = [("hip_pitch", FORWARD), ("knee", FORWARD), ("ankle_pitch", FORWARD), ("waist_pitch", FORWARD),
          ("shoulder_pitch", FORWARD), ("hip_roll", SIDEWAYS), ("ankle_roll", SIDEWAYS), ("shoulder_roll", SIDEWAYS)]
SIZE = 3 * len(GROUPS)
STEPS = 125  # of 20 ms: pushes at 0.5 and 1.5 s


def policy(weights, names):
    """Matrices [n, joints, observation] of the policies with weights [n, SIZE]."""
    gain = np.zeros((len(weights), len(names), 10 + 3 * len(names)))
    for k, (group, inputs) in enumerate(GROUPS):
        for joint in (j for j, name in enumerate(names) if name.endswith(group)):
            gain[:, joint, inputs] = SCALE * weights[:, 3 * k:3 * k + 3]
    return gain


def make(count, size=(10.0, 40.0)):
    """Robots that are pushed at the chest with up to `size` N s, by a tenth of a second each."""
    return tabi.gym.make_vec(tabi.data_path("scenes/stand.yaml"), "stand", count, push=size, push_link="robot/chest",
                             push_every=1.0, max_episode_steps=None)


def play(robots, weights, seed):
    """Mean reward and share of robots that stand to the end, of each policy on its share of the robots."""
    names = [robots.env.model.joint_names[j] for j in robots.env.joints]
    share = robots.num_envs // len(weights)
    gain = np.repeat(policy(weights, names), share, axis=0)
    observation, _ = robots.reset(seed=[*range(seed, seed + share)] * len(weights))  # the same pushes for each
    stands, total = np.ones(robots.num_envs, bool), np.zeros(robots.num_envs)
    for _ in range(STEPS):
        observation, reward, fell, _, _ = robots.step(np.einsum("nij,nj->ni", gain, observation))
        stands &= ~fell
        total += np.where(stands, reward, 0.0)
    return total.reshape(len(weights), -1).mean(axis=1) / STEPS, stands.reshape(len(weights), -1).mean(axis=1)


def evolve(score, size, spread, rng, until, population=16):
    """Covariance matrix adaptation (Hansen 2016); `score` takes [population, size], more is better."""
    parents = population // 2
    weight = np.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
    weight /= weight.sum()
    mass = 1 / np.sum(weight**2)
    c_path, c_step = (4 + mass / size) / (size + 4 + 2 * mass / size), (mass + 2) / (size + mass + 5)
    c_one = 2 / ((size + 1.3) ** 2 + mass)
    c_rank = min(1 - c_one, 2 * (mass - 2 + 1 / mass) / ((size + 2) ** 2 + mass))
    damping = 1 + c_step + 2 * max(0.0, np.sqrt((mass - 1) / (size + 1)) - 1)
    length = np.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
    mean, covariance = np.zeros(size), np.eye(size)
    path, step_path = np.zeros(size), np.zeros(size)
    while time.monotonic() < until:
        values, axes = np.linalg.eigh(covariance)
        root = axes * np.sqrt(np.maximum(values, 1e-20))
        moves = rng.standard_normal((population, size)) @ root.T
        order = np.argsort(-score(mean + spread * moves))[:parents]
        move = weight @ moves[order]
        mean = mean + spread * move
        step_path = (1 - c_step) * step_path + np.sqrt(c_step * (2 - c_step) * mass) * (
            axes @ ((axes.T @ move) / np.sqrt(np.maximum(values, 1e-20))))
        spread *= np.exp(c_step / damping * (np.linalg.norm(step_path) / length - 1))
        path = (1 - c_path) * path + np.sqrt(c_path * (2 - c_path) * mass) * move
        covariance = ((1 - c_one - c_rank) * covariance + c_one * np.outer(path, path)
                      + c_rank * np.einsum("k,ki,kj->ij", weight, moves[order], moves[order]))
        yield mean


def train(seconds, episodes=16, judged=128, seed=1):
    """The mean policy that judged best within `seconds`, and the curve: seconds, reward and share that stands."""
    rng = np.random.default_rng(seed)
    robots, judges = make(16 * episodes), make(judged)
    begun, curve = time.monotonic(), []

    def score(weights):
        return play(robots, weights, seed=int(rng.integers(2**30)))[0]

    def judge(weights):
        reward, stands = play(judges, weights[None], seed=7)
        curve.append((time.monotonic() - begun, float(reward[0]), float(stands[0])))
        print(f"{curve[-1][0]:6.0f} s  reward {reward[0]:.3f}  {100 * stands[0]:.0f} % stand", flush=True)
        return stands[0]

    best = np.zeros(SIZE)
    highest = judge(best)
    for generation, weights in enumerate(evolve(score, SIZE, 0.3, rng, begun + seconds)):
        if generation % 3 == 2 and (stands := judge(weights)) > highest:
            best, highest = weights, stands
    return best, np.array(curve)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--quick", action="store_true", help="a few seconds, which teach little")
    parser.add_argument("--out", help="file for the weights and the curve (.npz)")
    given = parser.parse_args()
    weights, curve = train(1, 1, 8) if given.quick else train(given.seconds)
    fresh = make(16 if given.quick else 512)
    (before, after), (stood, stands) = play(fresh, np.stack([np.zeros(SIZE), weights]), seed=1000)
    print(f"pushes never seen: reward {before:.3f} untrained, {after:.3f} trained; "
          f"{100 * stood:.0f} % and {100 * stands:.0f} % stand")
    if given.out:
        np.savez(given.out, weights=weights, curve=curve)


if __name__ == "__main__":
    main()

"""Environments of many robots: equal to Gymnasium's SyncVectorEnv of single ones, seeds, pushes, randomisation."""
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import SyncVectorEnv  # noqa: E402

import tabi.gym  # noqa: E402

STAND = tabi.data_path("scenes/stand.yaml")
MODES = ["NextStep", "SameStep", "Disabled"]


def both(model, mode, count, lanes, steps, task="stand", **options):
    many = tabi.gym.make_vec(model, task, count, autoreset_mode=mode, lanes=lanes, max_episode_steps=steps, **options)
    single = [lambda: tabi.gym.make_env(model, task, max_episode_steps=steps, **options)] * count
    return many, SyncVectorEnv(single, autoreset_mode=mode)


def flat(infos):
    """All arrays of infos by name, nested ones too; of objects those that are there."""
    found = {}
    for name, value in infos.items():
        inside = flat(value) if isinstance(value, dict) else {}
        found.update({f"{name}.{key}": x for key, x in inside.items()})
        if not isinstance(value, dict):
            there = [x for x in value if x is not None] if value.dtype == object else value
            found[name] = np.array(there, float)
    return found


def assert_same(a, b, tolerance):
    for x, y in zip(a[:-1], b[:-1]):
        assert x.dtype == y.dtype and x.shape == y.shape
        assert np.allclose(x, y, rtol=0, atol=tolerance)
    infos, expected = flat(a[-1]), flat(b[-1])
    assert infos.keys() == expected.keys()
    for name, value in infos.items():
        assert np.allclose(value, expected[name], rtol=0, atol=tolerance), name


def play_both(many, single, steps, tolerance):
    """Random actions; how many episodes fell and how many were cut off."""
    assert_same(many.reset(seed=3), single.reset(seed=3), tolerance)
    actions, ends = np.random.default_rng(0), np.zeros(2, int)
    for _ in range(steps):
        action = actions.uniform(-1, 1, many.action_space.shape).astype(np.float32)
        a, b = many.step(action), single.step(action)
        assert_same(a, b, tolerance)
        ends += a[2].sum(), a[3].sum()
        ended = a[2] | a[3]
        if many.metadata["autoreset_mode"].value == "Disabled" and ended.any():
            again = [envs.reset(options={"reset_mask": ended.copy()}) for envs in (many, single)]
            assert_same(*again, tolerance)
    return ends


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", ["stand", "walk"])
def test_worlds_one_by_one_equal_single_environments(mode, task):
    many, single = both(STAND, mode, 4, 0, 12, task, fall_height=0.985)
    assert many.batch.lanes == 0
    fell, cut = play_both(many, single, 40, 1e-8)
    assert fell >= 4 and cut >= 4


@pytest.mark.parametrize("mode", MODES)
def test_lanes_equal_single_environments_at_rest(mode):
    many, single = both(STAND, mode, 3, None, 6, noise=0.0, action_scale=0.0)
    if many.batch.lanes == 0:
        pytest.skip(many.batch.reason)
    assert play_both(many, single, 20, 1e-7)[1] > 0


@pytest.mark.parametrize("mode", MODES)
def test_lanes_that_solve_to_the_end_are_nearer(mode):
    stand = tabi.Scene.load(STAND, set={"contact.tolerance": 1e-12, "contact.iterations": 1000})
    many, single = both(stand, mode, 3, None, 6, noise=0.0, action_scale=0.0)
    if many.batch.lanes == 0:
        pytest.skip(many.batch.reason)
    assert play_both(many, single, 20, 1e-10)[1] > 0


@pytest.mark.parametrize("mode", MODES)
def test_position_actuators(mode, tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text('<mujoco><worldbody><body pos="0 0 0.5"><freejoint/><geom type="box" size="0.3 0.3 0.05" mass="5"/>'
                    '<body pos="0 0 -0.05"><joint name="lift" type="slide" axis="0 0 1" range="-0.1 0.1"/>'
                    '<geom type="box" size="0.2 0.2 0.05" mass="2"/></body></body></worldbody>'
                    '<actuator><position joint="lift" kp="5000" kv="300" gear="2"/></actuator></mujoco>')
    many, single = both(path, mode, 2, 0, 5, action_scale=0.05)
    assert play_both(many, single, 15, 1e-8)[1] > 0


def test_modes_are_those_of_gymnasium():
    envs = gymnasium.make_vec("tabi/Humanoid-v0", num_envs=3)
    assert type(envs.unwrapped).__name__ == "RobotVectorEnv"
    assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    observation, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(observation)
    assert envs.action_space.contains(envs.action_space.sample())
    with pytest.raises(ValueError, match="Other"):
        tabi.gym.make_vec(STAND, num_envs=1, autoreset_mode="Other")
    off = tabi.gym.make_vec(STAND, num_envs=2, autoreset_mode="Disabled", max_episode_steps=1)
    off.reset(seed=1)
    off.step(np.zeros(off.action_space.shape))
    with pytest.raises(tabi.Error, match="reset_mask"):
        off.step(np.zeros(off.action_space.shape))


class One(gymnasium.Env):
    """The only robot of a vector, for the checker."""

    def __init__(self):
        self.many = tabi.gym.make_vec(STAND, num_envs=1, autoreset_mode="Disabled", max_episode_steps=None)
        self.observation_space = self.many.single_observation_space
        self.action_space = self.many.single_action_space
        self.metadata = {"render_modes": []}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.many.reset(seed=seed)[0][0], {}

    def step(self, action):
        if self.many._ended.any():
            self.many.reset()
        observation, reward, terminated, truncated, _ = self.many.step(action[None])
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}


def test_checker():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*imum value is .*infinity.*")
        check_env(One(), skip_render_check=True)


def test_seeds_decide_and_neighbours_do_not():
    def last(count, seeds):
        envs = tabi.gym.make_vec(STAND, num_envs=count, push=(5, 10), push_every=0.1, push_time=0.02,
                                 randomize={"mass": (0.9, 1.1), "friction": (0.5, 1.0)})
        envs.reset(seed=seeds)
        for _ in range(8):
            observation = envs.step(np.zeros(envs.action_space.shape))[0]
        return observation
    three = last(3, [5, 6, 5])
    assert np.array_equal(three[0], three[2]) and not np.array_equal(three[0], three[1])
    assert np.array_equal(last(1, [6])[0], three[1])
    assert np.array_equal(last(2, 5), three[:2])
    with pytest.raises(ValueError, match="seeds"):
        last(2, [1])


def test_randomisation_and_pushes():
    envs = tabi.gym.make_vec(STAND, num_envs=5, randomize={"mass": (0.5, 2), "kp": (0.8, 1.2), "delay": (0, 0.01)},
                             push=(3, 3), push_link="robot/chest", push_time=0.1, push_every=0.4)
    envs.reset(seed=2)
    factor = envs.batch.mass[:, 0] / envs._nominal["mass"][0]
    assert ((factor > 0.5) & (factor < 2)).all() and np.ptp(factor) > 0.1
    assert np.allclose(envs.batch.inertia, factor[:, None] * envs._nominal["inertia"])
    impulse = np.zeros((5, 3))
    for _ in range(19):
        envs.step(np.zeros(envs.action_space.shape))
        impulse += 0.02 * envs.batch.push[:, :3]
    assert np.allclose(np.linalg.norm(impulse, axis=1), 3) and (impulse[:, 2] == 0).all()
    with pytest.raises(ValueError, match="colour"):
        tabi.gym.make_vec(STAND, randomize={"colour": (0, 1)})

"""Environments, judged by gymnasium's own checker."""
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import tabi.gym  # noqa: E402


@pytest.mark.parametrize("name", ["tabi/Humanoid-v0", "tabi/Biped-v0"])
def test_registered_environments_pass_the_checker(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*minimum value is -infinity.*")
        warnings.filterwarnings("ignore", message=".*maximum value is infinity.*")
        check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("task", ["stand", "walk"])
@pytest.mark.parametrize("robot", ["models/humanoid20.urdf", "models/figure40.urdf"])
def test_any_robot(robot, task):
    env = tabi.gym.make_env(tabi.data_path(robot), task, max_episode_steps=5)
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=1)
    ends = [env.step(np.zeros(env.action_space.shape))[2:4] for _ in range(5)]
    assert ends[-1] == (False, True)


def test_loaded_and_built_models():
    path = tabi.data_path("models/humanoid20.urdf")
    env = tabi.gym.make_env(tabi.Model.load(path))
    assert env.action_space == tabi.gym.make_env(path).action_space
    with pytest.raises(tabi.Error, match="give a scene"):
        tabi.gym.make_env(tabi.Model.load(path).edit(gravity=[0, 0, -1.6]))


def test_standing_still_stands_and_random_actions_fall():
    env = gymnasium.make("tabi/Humanoid-v0")
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    total = 0.0
    for _ in range(100):
        observation, reward, terminated, _, _ = env.step(np.zeros(env.action_space.shape))
        assert not terminated
        total += reward
    assert total > 100
    env.action_space.seed(1)
    env.reset(seed=3)
    for _ in range(300):
        _, _, terminated, _, info = env.step(np.sign(env.action_space.sample()))
        if terminated:
            break
    assert terminated


def test_position_actuators_of_a_file(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text('<mujoco><worldbody><body pos="0 0 0.5"><freejoint/><geom type="box" size="0.3 0.3 0.05" mass="5"/>'
                    '<body pos="0 0 -0.05"><joint name="lift" type="slide" axis="0 0 1" range="-0.1 0.1"/>'
                    '<geom type="box" size="0.2 0.2 0.05" mass="2"/></body></body></worldbody>'
                    '<actuator><position joint="lift" kp="5000" kv="300" gear="2"/></actuator></mujoco>')
    env = tabi.gym.make_env(path, action_scale=0.05)
    check_env(env.unwrapped, skip_render_check=True)
    ends = []
    for action in (-1.0, 1.0):
        env.reset(seed=1)
        for _ in range(50):
            observation = env.step(np.full(1, action, np.float32))[0]
        ends.append(observation[10])
    assert ends == pytest.approx([-0.05, 0.05], abs=0.01)


def test_seeds_decide():
    env = tabi.gym.make_env(tabi.data_path("scenes/stand.yaml"), "stand")
    episodes = []
    for seed in (5, 5, 6):
        env.reset(seed=seed)
        env.action_space.seed(0)
        episodes.append([env.step(env.action_space.sample())[0] for _ in range(10)][-1])
    assert np.array_equal(episodes[0], episodes[1]) and not np.array_equal(episodes[0], episodes[2])


def test_vector_environments():
    envs = gymnasium.make_vec("tabi/Biped-v0", num_envs=2, vectorization_mode="sync")
    observations, _ = envs.reset(seed=1)
    assert observations.shape[0] == 2
    envs.step(envs.action_space.sample())
    envs.close()


def test_wrong_tasks_are_refused():
    with pytest.raises(ValueError, match="stand, walk"):
        tabi.gym.make_env(tabi.data_path("scenes/stand.yaml"), "fly")
    with pytest.raises(tabi.Error, match="controller"):
        tabi.gym.make_env({"robots": [{"name": "r", "model": tabi.data_path("models/humanoid20.urdf"),
                                       "base": "free"}]})

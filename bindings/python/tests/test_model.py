"""Models: files, builders, names, postures, the doctor, pickling."""
import pickle

import numpy as np
import pytest

import tabi


def test_load_names_and_items(humanoid):
    assert humanoid.nq == humanoid.nv + 1 == 43
    assert humanoid.joint_names[0] == "base" and "l_knee" in humanoid.joint_names
    assert len(humanoid.link_names) == humanoid.nlink
    knee = humanoid.joint("l_knee")
    assert knee.type == "revolute" and knee.upper > knee.lower and knee.file.endswith("humanoid36.urdf")
    assert humanoid.link(knee.child).name == humanoid.link_names[knee.child]
    assert humanoid.mass == pytest.approx(sum(link.mass for link in humanoid.items("link")))
    assert humanoid.q_slice("base") == slice(0, 7) and humanoid.v_slice("base") == slice(0, 6)


def test_wrong_names_suggest_the_right_one(humanoid):
    with pytest.raises(KeyError, match="did you mean 'l_knee'"):
        humanoid.joint("l_kne")
    with pytest.raises(IndexError):
        humanoid.link(999)
    with pytest.raises(TypeError, match="did you mean 'mass'"):
        tabi.Builder().add_link("a", mas=1)
    with pytest.raises(ValueError, match="none of fixed, revolute"):
        tabi.Builder().add_joint(type="hinge", parent=None, child=0)


def test_errors_tell_file_line_and_cure(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text('<robot name="r">\n <link name="a"/>\n <link name="b"/>\n'
                    ' <joint name="j" type="revolute">\n  <parent link="a"/><child link="b"/>\n'
                    '  <axis xyz="0 0 0"/><limit effort="1" velocity="1"/>\n </joint>\n</robot>\n')
    with pytest.raises(tabi.Error) as caught:
        tabi.Model.load(path)
    error = caught.value
    assert error.file == str(path) and error.line > 0 and error.cure and str(path) in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.file, again.line) == (error.message, error.file, error.line)
    with pytest.raises(tabi.Error, match="nowhere.urdf"):
        tabi.Model.load("nowhere.urdf")


def test_repairs_are_warnings(tmp_path):
    path = tmp_path / "swapped.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(f'<robot name="r"><link name="a">{inertial}</link><link name="b">{inertial}</link>'
                    '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
                    '<limit lower="1" upper="-1" effort="1" velocity="1"/></joint></robot>')
    with pytest.warns(tabi.ModelWarning, match="swapped"):
        model = tabi.Model.load(path)
    assert any(finding.severity == "warning" and finding.what for finding in model.findings)
    with pytest.raises(tabi.Error):
        tabi.Model.load(path, strict=True)


def test_builder_refuses_what_is_impossible():
    builder = tabi.Builder()
    with pytest.raises(tabi.Error):
        builder.add_link("a", mass=-1)
    builder = tabi.Builder()
    builder.add_link("a", mass=1, inertia=[1, 1, 1, 0, 0, 0])
    with pytest.raises(KeyError):
        builder.add_joint(type="free", parent=None, child="b")


def test_doctor_finds_what_is_suspicious():
    builder = tabi.Builder()
    builder.add_link("a", mass=1.0, inertia=[1e-12, 1, 1, 0, 0, 0])
    builder.add_joint("j", type="free", parent=None, child="a")
    try:
        findings = builder.build().check()
    except tabi.Error as error:  # so wrong that it is refused
        findings = [error]
    assert findings


def test_postures(tmp_path):
    path = tmp_path / "key.xml"
    path.write_text('<mujoco><worldbody><body><joint name="a" axis="0 0 1"/><geom size="0.1"/></body></worldbody>'
                    '<actuator><position name="m" joint="a" kp="1"/></actuator>'
                    '<keyframe><key name="bent" qpos="0.5" ctrl="0.7"/></keyframe></mujoco>')
    model = tabi.Model.load(path)
    assert model.postures["bent"].q == pytest.approx([0.5]) and model.keyframes["bent"].u == pytest.approx([0.7])
    again = pickle.loads(pickle.dumps(model))
    assert again.postures["bent"].q == pytest.approx([0.5]) and again.postures["bent"].u == pytest.approx([0.7])


def test_place_on_ground_and_integrate(humanoid):
    q = humanoid.place_on_ground()
    assert humanoid._find_rise(q)[1] == pytest.approx(0, abs=1e-9)
    v = np.zeros(humanoid.nv)
    v[0], v[5] = 1.0, np.pi
    moved = humanoid.integrate(q, v, 0.5)
    assert moved[0] == pytest.approx(q[0] + 0.5)
    assert moved[3:7] == pytest.approx([np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)])


def run(model, steps=300):
    world = tabi.World(model)
    world.set_gains(500, 20)
    world.q = model.place_on_ground()
    world.step(steps)
    return world.hash


@pytest.mark.parametrize("name", ["humanoid36.urdf", "humanoid36_parallel.urdf", "humanoid20.urdf"])
def test_pickled_models_step_equally(models, name):
    model = tabi.Model.load(models / name, base="free", ground=True)
    assert run(pickle.loads(pickle.dumps(model))) == run(model)


@pytest.mark.parametrize("name", ["bowl", "terrain", "chain", "closed_link", "walk_bush"])
def test_pickled_models_of_scenes_step_equally(scenes, name):
    scene = tabi.Scene.load(scenes / f"{name}.yaml")
    hashes = set()
    for model in (scene.model, pickle.loads(pickle.dumps(scene.model))):
        world = tabi.World(model)
        world.q = scene.world().q
        world.step(100)
        hashes.add(world.hash)
    assert len(hashes) == 1


def test_edit(humanoid):
    heavy = humanoid.edit(links={"pelvis": {"mass": 100.0}}, gravity=[0, 0, -1.62])
    assert heavy.link("pelvis").mass == 100.0 and heavy.gravity[2] == -1.62
    assert humanoid.link("pelvis").mass != 100.0

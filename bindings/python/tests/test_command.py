"""What goes through the command: comparisons, trials, pages, exports, plots."""
import csv
import json
import urllib.request

import numpy as np
import pytest

import tabi
from tabi import _command


@pytest.fixture(scope="module", autouse=True)
def command():
    try:
        return _command.command_path()
    except tabi.Error as error:
        pytest.skip(str(error))


def test_compare(scenes):
    report = tabi.compare(scenes / "stack.yaml", contact=["cone", "exact"], time=0.05)
    assert len(json.dumps(report)) > 100 and "exact" in json.dumps(report)
    with pytest.raises(tabi.Error, match="nowhere"):
        tabi.compare("nowhere.yaml")


def test_compare_a_scene_from_a_dictionary(tmp_path):
    scene = tabi.Scene.from_dict({"duration": 0.05, "bodies": [
        {"name": "floor", "fixed": True, "shape": {"plane": {}}},
        {"name": "ball", "mass": 1, "xyz": [0, 0, 0.1], "shape": {"sphere": 0.1}}]}, folder=tmp_path)
    assert "lcp" in json.dumps(tabi.compare(scene, contact=["cone", "lcp"]))


def test_try_robot(models, tmp_path):
    report = tabi.try_robot(models / "humanoid36.urdf", time=0.2, contact=["cone"], scene=tmp_path / "made.yaml")
    assert report["dof"] == 42 and report["runs"][0]["stands"]
    assert tabi.Scene.load(tmp_path / "made.yaml").model.nv == 42


def test_pages_for_notebooks(scenes, stand, tmp_path):
    result = stand.run(0.05, log=tmp_path / "a.tabi")
    pages = [result.show(), tabi.Log(tmp_path / "a.tabi").show(), result.world.show(),
             tabi.Scene.load(scenes / "stack.yaml").show(0.05)]
    for page in pages:
        assert "<html" in page.html.lower() and page._repr_html_().startswith("<iframe srcdoc=")
    assert result.world._repr_html_().startswith("<iframe")
    pages[0].save(tmp_path / "a.html")
    assert (tmp_path / "a.html").stat().st_size > 10000
    with pytest.raises(ValueError):
        stand.run(0.01).show()


def test_live_view(scenes):
    with tabi.view(scenes / "stack.yaml", browser=False) as viewer:
        with urllib.request.urlopen(viewer.address, timeout=10) as reply:
            assert b"<html" in reply.read().lower()


def test_export(stand, tmp_path):
    stand.run(0.05, log=tmp_path / "a.tabi")
    tabi.Log(tmp_path / "a.tabi").export(tmp_path / "a.csv", "com")
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) >= 51


def test_plots(stand, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from tabi import plot
    result = stand.run(0.1, log=tmp_path / "a.tabi")
    figures = [result.plot("com.z", "l_knee.q"), tabi.Log(tmp_path / "a.tabi").plot("com"), plot.balance(result),
               plot.histogram(np.arange(10.0), "m")]
    assert len(figures[0].axes) == 2
    for i, figure in enumerate(figures):
        figure.savefig(tmp_path / f"{i}.png")
        assert (tmp_path / f"{i}.png").stat().st_size > 1000

"""The tutorial runs, the reference is that of the docstrings, the examples do what they say."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import tabi
from conftest import ROOT

PACKAGE = str(pathlib.Path(tabi.__file__).parents[1])
EXAMPLES = sorted((ROOT / "bindings" / "python" / "examples").glob("*.py"))


def test_tutorial_runs(tmp_path, monkeypatch):
    pytest.importorskip("gymnasium")
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)
    assert len(blocks) > 12
    for folder in ("scenes", "models"):
        os.symlink(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {"__name__": "tutorial"})


def test_readme_runs(tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block, = re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)
    os.symlink(ROOT / "scenes", tmp_path / "scenes")
    os.symlink(ROOT / "models", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {})


def test_types_hold():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--python-version", "3.12", "--cache-dir", os.devnull,
                           ROOT / "bindings" / "python" / "tabi"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_reference_is_that_of_the_docstrings():
    pytest.importorskip("gymnasium")
    done = subprocess.run([sys.executable, ROOT / "tools" / "python_api.py", "--check"], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": PACKAGE})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    text = path.read_text(encoding="utf-8")
    for module in ("mujoco", "pinocchio", "matplotlib"):
        if f"import {module}" in text:
            pytest.importorskip(module)
    done = subprocess.run([sys.executable, path, "--quick"], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PYTHONPATH": PACKAGE, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


def test_examples_are_listed():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for path in EXAMPLES:
        assert path.name in text, f"{path.name} is not in docs/python.md"
    assert pathlib.Path(ROOT / "bindings" / "python" / "tabi" / "py.typed").is_file()

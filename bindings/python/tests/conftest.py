"""What all tests share: where things are, and how skipped tests are told to ctest."""
import os
import pathlib

import pytest

import tabi

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("TABI_EXTRA_DATA") or ROOT.parent / "shared")
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


@pytest.fixture(scope="session")
def models():
    return ROOT / "models"


@pytest.fixture(scope="session")
def scenes():
    return ROOT / "scenes"


@pytest.fixture(scope="session")
def stand(scenes):
    return tabi.Scene.load(scenes / "stand.yaml")


@pytest.fixture(scope="session")
def humanoid(models):
    return tabi.Model.load(models / "humanoid36.urdf", base="free", ground=0.7)


@pytest.fixture(scope="session")
def shared():
    if not SHARED.is_dir():
        pytest.skip("no folder with further robots (TABI_EXTRA_DATA)")
    return SHARED


@pytest.fixture
def ball():
    builder = tabi.Builder()
    builder.add_link("ball", mass=2.0, inertia=[0.008, 0.008, 0.008, 0, 0, 0])
    builder.add_joint("free", type="free", parent=None, child="ball", initial_q=[0, 0, 1, 1, 0, 0, 0])
    builder.add_shape("sphere", "ball", size=[0.1])
    builder.add_ground(0.5)
    return builder.build()


def pytest_sessionfinish(session, exitstatus):
    """ctest takes 77 for skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and reporter.stats.get("skipped") and exitstatus == 0 and os.environ.get("TABI_CTEST"):
        session.exitstatus = 77


def pytest_terminal_summary(terminalreporter):
    count = sum(len(terminalreporter.stats.get(kind, ())) for kind in ("passed", "failed"))
    terminalreporter.write_line(f"Ran {count} tests in this run")

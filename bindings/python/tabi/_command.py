"""The command `tabi`, for what lives there: comparisons, trials of robots, the viewer's page, exports."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Iterable, Mapping, Sequence

from ._error import Error

_FAILED = 5  # exit code of a check or criterion that failed: there is a result all the same


def command_path() -> str:
    """Where the command `tabi` is: $TABI_COMMAND, in the wheel, beside a build, or on the path."""
    here = pathlib.Path(__file__).parent
    candidates = [os.environ.get("TABI_COMMAND"), here / "bin" / "tabi", here.parent.parent / "tabi"]
    for candidate in candidates:
        if candidate and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.fspath(candidate)
    found = shutil.which("tabi")
    if found is not None and open(found, "rb").read(2) == b"#!":  # a script of pip, which would call us
        found = None
    if found is None:
        raise Error("the command tabi is not found; put it on the path or name it in TABI_COMMAND")
    return found


def run_command(*arguments: str) -> str:
    """Run the command, and return what it prints.  Its errors become `tabi.Error`."""
    done = subprocess.run([command_path(), *arguments], capture_output=True, text=True)
    if done.returncode not in (0, _FAILED):
        lines = done.stderr.strip().splitlines() or [f"tabi {arguments[0]} ended with {done.returncode}"]
        errors = [line for line in lines if "error:" in line]
        raise Error((errors or lines)[-1])
    return done.stdout


def main() -> None:
    """The command `tabi`, as a wheel installs it."""
    os.execv(command_path(), ["tabi", *sys.argv[1:]])


def scene_file(scene: Any, folder: str) -> tuple[str, list[str]]:
    """A file with a scene, which may be one already, and the changes made to it."""
    if isinstance(scene, (str, os.PathLike)):
        return os.fspath(scene), []
    path, text, changes = scene._source
    if os.path.isfile(path):
        return path, [x for change in changes for x in ("--set", change)]
    # made from a dictionary: a file beside what it names
    place = os.path.dirname(path) or "."
    handle, name = tempfile.mkstemp(".yaml", "tabi-", place if os.access(place, os.W_OK) else folder)
    with os.fdopen(handle, "wb") as file:
        file.write(text)
    return name, [x for change in changes for x in ("--set", change)]


def compare(*what: Any, contact: Sequence[str] = (), time: float | None = None, timestep: float | None = None,
            set: Mapping[str, Any] | Iterable[str] = {}, tolerance: Mapping[str, float] = {},
            html: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Run one scene under several contact methods, or compare several scenes or logs.

    Args:
        what: a scene (or its path), or several scenes, or paths of logs; the first is the reference.
        contact: the contact methods; default: all that can run the scene.
        time, timestep: s.
        set: changes of the scenes.
        tolerance: limits of metrics, {"slip": 1e-3}; docs/compare.md.
        html: write replays of all runs to this file.

    Returns:
        What `tabi compare --json` prints.
    """
    from ._scene import setting_list
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["compare", "--json"]
        for one in what:
            path, changes = scene_file(one, folder)
            arguments += [path, *changes]
        for option, value in (("--contact", ",".join(contact)), ("--time", time), ("--dt", timestep),
                              ("--html", html), ("--tolerance", ",".join(f"{k}={v}" for k, v in tolerance.items()))):
            if value not in (None, ""):
                arguments += [option, str(value)]
        for change in setting_list(set):
            arguments += ["--set", change]
        return json.loads(run_command(*arguments))


def try_robot(path: str | os.PathLike[str], *, base: str | None = None, time: float | None = None,
              keyframe: str | None = None, contact: Sequence[str] = (), scene: str | os.PathLike[str] | None = None,
              html: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Put a robot on a floor and see whether it stands, under every contact method.

    Args:
        path: URDF, MJCF, SDF, ...
        base: "free" or "fixed"; default: decided by its shape.
        time: s; default 5.
        keyframe: a posture of the file.
        contact: contact methods; default: all.
        scene: write the scene that was made to this file.
        html: write the replay to this file.

    Returns:
        What `tabi try --json` prints: mass, dof, gains, repairs, runs, ...
    """
    arguments = ["try", os.fspath(path), "--json"]
    for option, value in (("--base", base), ("--time", time), ("--keyframe", keyframe),
                          ("--contact", ",".join(contact)), ("--scene", scene), ("--html", html)):
        if value not in (None, ""):
            arguments += [option, str(value)]
    return json.loads(run_command(*arguments))


class Viewer:
    """A scene that runs live in the browser; `address` is its page, `close()` ends it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._process = subprocess.Popen([command_path(), *arguments], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = [word for word in line.split() if word.startswith("http://")]
        if not found:
            self.close()
            raise Error("the viewer did not start; try `tabi view` in a terminal")
        self.address = found[0]

    def close(self) -> None:
        """End the viewer."""
        self._process.terminate()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.address}" width="100%" height="480" frameborder="0"></iframe>'


def view(scene: Any, *, browser: bool = True) -> Viewer:
    """Run a scene, a robot or logs live in the browser: push, pause, change contact methods.

    Args:
        scene: a `Scene`, or the path of a scene, a robot or a log.
        browser: open one, where there is a display.
    """
    path, changes = scene_file(scene, tempfile.gettempdir())
    return Viewer(["view", path, *changes, *([] if browser else ["--no-browser"])])

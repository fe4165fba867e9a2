"""The viewer's page inline in notebooks."""
from __future__ import annotations

import html
import os
import tempfile
from typing import TYPE_CHECKING

from . import _tabi
from ._command import run_command, scene_file

if TYPE_CHECKING:
    from ._scene import Scene
    from ._world import World


class Page:
    """The viewer's page, which notebooks draw; `html` is its text, `save(path)` writes it."""

    def __init__(self, text: str, width: str = "100%", height: int = 480) -> None:
        self.html = text
        self.width, self.height = width, height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that any browser plays."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html, quote=True)}" width="{self.width}" '
                f'height="{self.height}" frameborder="0" allowfullscreen></iframe>')


def _page(arguments: list[str], width: str, height: int) -> Page:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        run_command("view", *arguments, "--html", path)
        with open(path, encoding="utf-8") as file:
            return Page(file.read(), width, height)


def show_log(path: str, width: str, height: int) -> Page:
    return _page([path], width, height)


def show_scene(scene: Scene, time: float | None, width: str, height: int) -> Page:
    with tempfile.TemporaryDirectory() as folder:
        path, changes = scene_file(scene, folder)
        if time is not None:
            changes += ["--set", f"duration={time!r}"]
        try:
            return _page([path, *changes], width, height)
        finally:
            if path != scene.path:
                os.unlink(path)


def show_world(world: World, width: str, height: int) -> Page:
    if world.scene is None:
        raise ValueError("only worlds of a scene can be shown; make one with Scene.from_dict")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "world.tabi")
        _tabi.Run(world, [], 1, path).close_log()
        return show_log(path, width, height)


def world_html(world: World) -> str | None:
    """For a notebook that ends a cell with a world; None where it cannot be drawn."""
    return None if world.scene is None else show_world(world, "100%", 480)._repr_html_()

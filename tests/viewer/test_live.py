"""A scene that runs while it is watched: what viewers ask for happens, and nothing else does.
Worlds are paused and stepped where something is compared, so that no test depends on the clock."""

import json
import math
import os
import signal
import struct
import subprocess
import time

from client import CONVERGED, DIVERGED, PAUSED, Refused, Server, WebSocket, read_picture
from command import MODELS, TABI, FolderCase, main, scene

SLOPE = """\
name: a box on a slope
materials: {wood: {friction: 0.9}}
bodies:
  - {name: slope, fixed: true, shape: {plane: {}}, rpy: [0, 0.3, 0], material: wood}
  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.1047], rpy: [0, 0.3, 0],
     material: wood}
"""
BOX = 1  # the link

WALKER = """\
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
robots:
  - name: robot
    model: %s
    base: free
    controller: {type: walk, velocity: [0, 0, 0], steps: 0, stand_before: 0.1}
"""

# a box with a mast, which keyframes bend, high above a floor of its own
MAST = """<mujoco><worldbody><geom type='plane' size='5 5 1'/>
<body name='trunk' pos='0 0 1'><freejoint/><geom type='box' size='0.2 0.2 0.1' mass='3'/>
<body name='mast' pos='0 0 0.1'><joint name='m' axis='0 1 0'/>
<geom type='capsule' fromto='0 0 0 0 0 0.3' size='0.02' mass='0.2'/></body></body></worldbody>
<actuator><position name='p' joint='m' kp='200' kv='10'/></actuator><keyframe>
<key name='bent' qpos='0 0 0.6 1 0 0 0 0.8'/><key name='home' qpos='0 0 0.6 1 0 0 0 0.2'/>
</keyframe></mujoco>"""
TRUNK, MAST_LINK = 0, 1


def place(picture, link=BOX):
    return picture.links[link][:3]


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5


class Live(FolderCase):
    def serve(self, *args, **more):
        server = Server(*args, **more)
        self.addCleanup(server.kill)
        return server

    def watch(self, server):
        viewer = WebSocket(server)
        self.addCleanup(viewer.close)
        return viewer

    def slope(self, text=SLOPE, *args):
        server = self.serve(self.file("slope.yaml", text), *args)
        return server, self.watch(server)

    def test_plays_pauses_and_steps(self):
        server, viewer = self.slope()
        first = viewer.picture()
        later = viewer.picture(lambda p: p.time > first.time + 0.1)
        self.assertFalse(later.flags & (PAUSED | DIVERGED))
        self.assertTrue(later.flags & CONVERGED)
        paused = viewer.pause()
        viewer.do("step")
        stepped = viewer.picture(lambda p: p.step != paused.step)
        self.assertEqual(stepped.step, paused.step + 1)
        self.assertTrue(stepped.flags & PAUSED)
        viewer.do("play")
        viewer.picture(lambda p: not p.flags & PAUSED and p.step > stepped.step + 50)

    def bend(self, picture):
        """rad, of the mast about y"""
        (_, _, _, w, x, y, z) = picture.links[MAST_LINK]
        self.assertAlmostEqual(abs(x) + abs(z), 0, delta=1e-6)
        return 2 * math.atan2(y, w)

    def test_robots_wait_at_their_keyframe(self):
        """a robot's file is shown on the ground, at a keyframe, and waits there"""
        path = self.file("mast.xml", MAST)
        for name, angle in ((None, 0.2), ("home", 0.2), ("bent", 0.8)):
            server = self.serve(path, *(["--keyframe", name] if name else []))
            self.assertEqual([link["name"] for link in self.description(server)["links"]],
                             ["robot/trunk", "robot/mast"])
            viewer = self.watch(server)
            first = viewer.picture()
            self.assertTrue(first.flags & PAUSED)
            self.assertEqual(first.step, 0)
            self.assertAlmostEqual(first.links[TRUNK][2], 0.1, delta=1e-6)
            self.assertAlmostEqual(self.bend(first), angle, delta=1e-6)
            time.sleep(0.2)
            self.assertEqual(viewer.steps(1).step, 1)
            viewer.do("play")
            later = viewer.picture(lambda p: p.time > 0.3)
            self.assertFalse(later.flags & (PAUSED | DIVERGED))
            self.assertAlmostEqual(later.links[TRUNK][2], 0.1, delta=1e-3)
            viewer.do("reset")
            self.assertAlmostEqual(self.bend(viewer.picture(lambda p: p.time < 0.3)), angle,
                                   delta=0.02)
            server.kill()

    def test_try_shows_the_same(self):
        path = self.file("mast.xml", MAST)
        seen = []
        for command in (("view", "--no-browser"), ("try", "--view")):
            server = self.serve(path, "--keyframe", "bent", command=command)
            picture = self.watch(server).picture()
            seen.append((self.description(server), picture.step, picture.flags, picture.bytes))
            server.kill()
        self.assertEqual(seen[0], seen[1])

    def test_robots_that_nothing_touches_are_shown(self):
        text = MAST.replace("<geom", "<geom contype='0' conaffinity='0'")
        server = self.serve(self.file("ghost.xml", text))
        names = [link["name"] for link in self.description(server)["links"]]
        trunk = self.watch(server).picture().links[names.index("robot/trunk")]
        self.assertAlmostEqual(trunk[2], 0.6, delta=1e-6)

    def test_keyframes_are_of_robots(self):
        _, err = self.tabi("view", self.file("mast.xml", MAST), "--keyframe", "up", code=2)
        self.assertIn("no keyframe is called 'up'; its file has: bent, home", err)
        _, err = self.tabi("view", self.file("slope.yaml", SLOPE), "--keyframe", "up", code=2)
        self.assertIn("posture: up", err)

    def test_is_what_run_does(self):
        """steps of a watched world, and its start after a reset, are to the last bit those of
        `tabi run`"""
        path, log = self.file("slope.yaml", SLOPE), self.file("slope.tabi")
        self.tabi("run", path, "--log", log, "--time", "0.1", "--set", "contact.friction=0.1")
        replay = self.serve(log)
        status, _, data = replay.get("replay/0")
        self.assertEqual(status, 200)
        pictures = {}
        while data:
            picture = read_picture(data)
            pictures[picture.step] = picture.bytes
            data = data[struct.unpack_from("<I", data, 4)[0]:]
        self.assertIn(0, pictures)
        server, viewer = self.slope(SLOPE, "--set", "contact.friction=0.1")
        viewer.pause()
        for _ in range(2):
            viewer.do("reset")
            self.assertTrue(viewer.message("scene")["reset"])
            picture = viewer.picture()
            self.assertEqual((picture.step, picture.bytes), (0, pictures[0]))
            self.assertTrue(picture.flags & CONVERGED)  # nothing has been solved, nor failed
            for step in range(1, max(pictures) + 1):
                picture = viewer.steps(1)
                self.assertEqual(picture.step, step)
                if step in pictures:
                    self.assertEqual(picture.bytes, pictures[step])

    def test_steers(self):
        """a robot walks to where it is told, turns, and stops when nothing is held"""
        text = WALKER % os.path.join(MODELS, "humanoid20.urdf")
        server = self.serve(self.file("walker.yaml", text))
        self.assertTrue(self.description(server)["walks"])
        viewer = self.watch(server)
        start = viewer.steps(300)
        viewer.do("walk", velocity=[1, 0, 0])
        walked = viewer.steps(2200)
        self.assertGreater(place(walked)[0] - place(start)[0], 0.15)
        viewer.do("walk", velocity=[0, 0, 1])
        turned = viewer.steps(1500)
        (_, _, _, w, _, _, z) = turned.links[BOX]
        self.assertGreater(2 * math.atan2(z, w), 0.2)
        viewer.do("walk", velocity=[0, 0, 0])
        stopped, later = viewer.steps(1500), viewer.steps(200)
        self.assertLess(distance(place(stopped), place(later)), 0.005)
        self.assertGreater(place(later)[2], 0.8 * place(start)[2])
        viewer.do("walk", velocity=[0, 2, 0])
        self.assertIn("-1 to 1", viewer.message("error")["error"])
        server, viewer = self.slope()
        self.assertFalse(self.description(server)["walks"])
        viewer.do("walk", velocity=[1, 0, 0])
        self.assertIn("no robot here walks", viewer.message("error")["error"])

    def test_pushes(self):
        """the band pulls the box to where the hand is, and no further when it is let go"""
        server, viewer = self.slope()
        start = viewer.steps(1)
        target = [place(start)[0], place(start)[1] + 0.4, place(start)[2] + 0.5]
        viewer.do("push", link=BOX, point=[0, 0, 0], target=target, gain=4)
        pulled = viewer.steps(800)
        # it hangs below by a quarter of half a metre
        target[2] -= 0.125
        self.assertLess(distance(place(pulled), target), 0.05)
        viewer.do("release")
        fallen = viewer.steps(150)
        self.assertLess(place(fallen)[2], place(pulled)[2] - 0.05)

    def test_pushes_a_robot(self):
        server = self.serve(scene("stand_humanoid20"))
        viewer = self.watch(server)
        names = [link["name"] for link in self.description(server)["links"]]
        hand = max(range(len(names)), key=lambda i: "chest" in names[i] or "torso" in names[i])
        start = viewer.steps(1)
        target = [place(start, hand)[0] + 0.5, *place(start, hand)[1:]]
        viewer.do("push", link=hand, point=[0, 0, 0], target=target, gain=1)
        pushed = viewer.steps(60)
        self.assertGreater(place(pushed, hand)[0], place(start, hand)[0] + 0.01)

    def description(self, server):
        return json.loads(server.get("scene/0")[2])

    def change(self, viewer, path, value):
        viewer.do("set", path=path, value=value)
        message = viewer.message("scene")
        self.assertFalse(message.get("reset"))
        return message["scene"]

    def test_switches_on_the_way(self):
        """contact methods, friction and time step take over from the present state"""
        server, viewer = self.slope()
        before = viewer.steps(20)
        for model in ("exact", "lcp", "penalty", "impulse", "cone"):
            self.assertEqual(self.change(viewer, "contact.model", model)["settings"]["contact"],
                             model)
            after = viewer.picture()
            self.assertEqual((after.step, after.bytes), (before.step, before.bytes))
            before = viewer.steps(5)
        self.assertLess(distance(place(before), (0, 0, 0.1047)), 0.001)
        self.assertEqual(self.change(viewer, "contact.friction", 0)["settings"]["friction"], 0)
        slid = viewer.steps(200)
        # 1/2 g sin 0.3 t^2, for 0.2 s
        self.assertAlmostEqual(distance(place(slid), place(before)), 0.058, delta=0.002)
        self.assertEqual(self.change(viewer, "timestep", 5e-4)["settings"]["timestep"], 5e-4)
        finer = viewer.picture()
        self.assertEqual((finer.time, finer.bytes), (slid.time, slid.bytes))
        self.assertEqual(finer.step, 2 * slid.step)
        self.assertAlmostEqual(viewer.steps(1).time, slid.time + 5e-4, places=12)
        # the start is that of the scene with all these
        viewer.do("reset")
        settings = viewer.message("scene")["scene"]["settings"]
        self.assertEqual((settings["friction"], settings["timestep"]), (0, 5e-4))
        self.assertEqual(viewer.picture().step, 0)

    def test_refuses_settings(self):
        """what cannot be set is told, and the world stands where it was"""
        server, viewer = self.slope()
        before = viewer.steps(5)
        for path, value in (("timestep", 0.5), ("contact.model", "gait")):
            viewer.do("set", path=path, value=value)
            self.assertNotEqual(viewer.message("error")["error"], "")
            after = viewer.picture()
            self.assertEqual((after.step, after.bytes), (before.step, before.bytes))
            self.assertTrue(after.flags & PAUSED)
        for path, value in (("timestep", "1"), ("contact.model", "cube"), ("contact.model", 1),
                            ("contact.friction", -1), ("gravity", 0), ("contact", "{}"),
                            ("contact.model", "cone\nbodies: []"), (None, 1), ("timestep", None)):
            viewer.do("set", path=path, value=value)
            self.assertIn("set: ", viewer.message("error")["error"])
        self.assertEqual(viewer.steps(1).step, before.step + 1)
        viewer.do("play")
        viewer.picture(lambda p: not p.flags & PAUSED)
        viewer.do("set", path="timestep", value=0.5)
        self.assertNotEqual(viewer.message("error")["error"], "")
        seen = viewer.picture()
        viewer.picture(lambda p: p.step > seen.step + 50)  # nor does it stop for that

    def test_controllers_that_remember(self):
        """go on under another contact method, but not under another time step, until a reset"""
        text = """\
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
robots:
  - name: robot
    model: %s
    base: free
    controller: {type: plugin, file: %s}
""" % (os.path.abspath(os.path.join(MODELS, "humanoid20.urdf")), os.environ["SWING"])
        server, viewer = self.slope(text)
        before = viewer.steps(3)
        viewer.do("set", path="timestep", value=5e-4)
        self.assertIn("reset", viewer.message("error")["error"])
        self.change(viewer, "contact.model", "exact")
        self.change(viewer, "contact.friction", 0.2)
        self.assertEqual(viewer.steps(1).step, before.step + 1)
        viewer.do("reset")
        viewer.message("scene")
        self.assertEqual(self.change(viewer, "timestep", 5e-4)["settings"]["timestep"], 5e-4)
        self.assertEqual(viewer.steps(2).step, 2)

    def test_steps_that_fail(self):
        """the page is told, the last good state stays, and a reset starts anew"""
        text = SLOPE.replace("materials", "contact: {max_contacts: 2}\nmaterials")
        text = text.replace("0.1047", "0.12")
        server, viewer = self.slope(text)
        self.assertIn("max_contacts", viewer.message("error")["error"])
        failed = viewer.picture(lambda p: p.flags & DIVERGED)
        self.assertTrue(failed.flags & PAUSED)
        self.assertGreater(place(failed)[2], 0.1)
        viewer.do("step")
        self.assertIn("max_contacts", viewer.message("error")["error"])
        self.assertEqual(viewer.picture().bytes, failed.bytes)
        viewer.do("reset")
        viewer.message("scene")
        self.assertEqual(viewer.steps(1).step, 1)

    def test_gait(self):
        """a walk by contact modes knows no forces and no other method"""
        server = self.serve(scene("biped_walk"))
        viewer = self.watch(server)
        before = viewer.steps(20)
        moving = next(i for i, link in enumerate(self.description(server)["links"]) if link["mass"] > 1)
        for order in ({"do": "push", "link": moving, "point": [0, 0, 0], "target": [1, 0, 0], "gain": 1},
                      {"do": "set", "path": "contact.model", "value": "cone"}):
            viewer.do(**order)
            self.assertIn("gait", viewer.message("error")["error"])
        self.assertEqual(viewer.steps(1).step, before.step + 1)

    def test_several_viewers(self):
        """four at once; one that does not read delays no other; the fifth is refused"""
        server, viewer = self.slope()
        others = [self.watch(server) for _ in range(3)]
        for other in (viewer, *others):
            other.picture()  # it is connected
        with self.assertRaises(Refused) as refused:
            WebSocket(server)
        self.assertIn("503", str(refused.exception))
        first = viewer.picture()
        viewer.picture(lambda p: p.step > first.step + 1000)
        others[0].pause()
        self.assertTrue(viewer.picture(lambda p: p.flags & PAUSED))
        for other in others:
            other.close()
        self.assertEqual(server.get()[0], 200)

    def test_stands_still_unwatched(self):
        """and the time without viewers is not counted as slow"""
        server, viewer = self.slope()
        seen = viewer.picture(lambda p: p.time > 0.1)
        viewer.close()
        time.sleep(2)
        viewer = self.watch(server)
        again = viewer.picture()
        self.assertLess(again.time, seen.time + 1)
        self.assertGreater(viewer.picture(lambda p: p.time > again.time + 0.1).factor, 0.25)

    def test_is_never_ahead(self):
        """of the clock, however slow or fast that is"""
        server, viewer = self.slope()
        for speed in (0.03125, 1, 8):
            start = viewer.pause()
            begun = time.monotonic()
            viewer.do("speed", value=speed)
            viewer.do("play")
            later = viewer.picture(lambda p: p.step >= start.step + 400 * speed)
            self.assertGreaterEqual(time.monotonic() - begun + 1e-6,
                                    (later.time - start.time) / speed)

    def test_ends(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server, viewer = self.slope()
            viewer.picture()
            code, said = server.stop(number)
            self.assertEqual((code, said), (128 + number, ""))

    def test_model(self):
        """a robot alone lies on a floor that it touches"""
        server = self.serve(os.path.join(MODELS, "humanoid20.urdf"))
        viewer = self.watch(server)
        description = self.description(server)
        self.assertEqual(description["links"][0]["name"], "floor")
        viewer.picture()
        self.assertGreater(viewer.steps(5).ncontact, 0)

    def test_names(self):
        """a name means what fits best, and says so; no scene that ships with tabi fits these"""
        folder = os.path.join(self.folder, "scenes")
        os.mkdir(folder)
        for name in ("sliding_crate", "crate_slides", "different"):
            with open(os.path.join(folder, name + ".yaml"), "w") as f:
                f.write(SLOPE)
        out = self.file("box.html")
        for word, meant in (("crate_slides", "crate_slides"), ("slid", "sliding_crate"),
                            ("crate", "crate_slides"), ("CRATE", "crate_slides"),
                            ("diffrent", "different")):
            run = subprocess.run([TABI, "view", word, "--html", out, "--set", "duration=0.01"],
                                 cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            err = run.stderr.decode()
            self.assertEqual(run.returncode, 0, err)
            self.assertIn("is scenes/%s.yaml" % meant, err)
        self.tabi("view", "nothing_like_it", code=3)
        self.assertIn("folder", self.tabi("view", folder, code=3)[1])

    def test_usage(self):
        path = self.file("slope.yaml", SLOPE)
        for args in (("--port", "x"), ("--port", "65536"), ("--set", "x"), (path,)):
            self.tabi("view", path, *args, code=2)
        self.tabi("view", path, "--set", "nothing.at=1", code=3)
        log = self.file("slope.tabi")
        self.tabi("run", path, "--log", log, "--time", "0.05")
        self.tabi("view", log, path, code=2)
        self.tabi("view", log, "--contact", "exact", code=2)
        busy = self.serve(path)
        self.tabi("view", path, "--port", str(busy.port), code=2)

    def test_logs(self):
        """two logs: the second is the ghost; nothing listens"""
        path, log = self.file("slope.yaml", SLOPE), self.file("slope.tabi")
        self.tabi("run", path, "--log", log, "--time", "0.05")
        server = self.serve(log, log)
        for name in ("scene/0", "scene/1", "replay/0", "replay/1"):
            self.assertEqual(server.get(name)[0], 200, name)
        for name in ("scene/2", "replay/2", "scene/", "ws"):
            self.assertEqual(server.get(name)[0], 404, name)
        self.assertFalse(self.description(server)["live"])
        self.assertEqual(self.description(server)["runs"], 2)


if __name__ == "__main__":
    main()

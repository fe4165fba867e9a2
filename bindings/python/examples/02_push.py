"""Push a standing robot harder and harder, from one snapshot, until it falls."""
import sys

import tabi

scene = tabi.Scene.load(tabi.data_path("scenes/stand.yaml"))
world = scene.world()
world.step(200)
snapshot, height = world.save(), world.com[2]
pelvis = scene.robots["robot"]


def stands_after(force, duration=0.1):
    """Whether it still stands two seconds after a push forward, N."""
    world.restore(snapshot)
    for _ in range(round(duration / world.timestep)):
        world.apply(pelvis, force=[force, 0, 0])
        world.step()
    world.step(1000 if "--quick" in sys.argv else 2000)
    return world.com[2] > 0.8 * height


for force in (50, 100, 200, 400, 800):
    stands = stands_after(force)
    print(f"{force:4} N for 0.1 s: {'stands' if stands else 'falls'}")
    if not stands:
        break

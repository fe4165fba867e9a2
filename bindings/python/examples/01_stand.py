"""Load a robot, put it on a floor, hold its joints, and print the force under each foot."""
import tabi

robot = tabi.Model.load(tabi.data_path("models/humanoid36.urdf"), base="free", ground=0.7)
world = tabi.World(robot)
world.q = robot.place_on_ground()
world.set_gains(kp=2000, kd=50)
world.step(1000)

print(f"{robot.mass:.1f} kg after {world.time:g} s, centre of mass at {world.com[2]:.3f} m")
for foot in ("l_foot", "r_foot"):
    force = world.forces[robot.link_index(foot)]
    print(f"{foot:8} {force[2]:7.1f} N up, {force[0]:6.1f} N forward")
print(f"residual {world.certificate.complementarity:.1e} m/s")

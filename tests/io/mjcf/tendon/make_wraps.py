"""make_wraps.py - writes the models wrap_*.xml: tendons around spheres and cylinders, with sites and sizes at random.

    make_wraps.py [FOLDER [SEED]]
"""
import pathlib
import random
import sys

NTENDON = 20
KINDS = {
    # how far from the centre a side site is, in radii; None: no such site
    "wrap_sphere": ("sphere", None),
    "wrap_cylinder": ("cylinder", None),
    "wrap_sphere_side": ("sphere", 2.0),
    "wrap_cylinder_side": ("cylinder", 2.0),
    "wrap_sphere_inside": ("sphere", 0.3),
    "wrap_cylinder_inside": ("cylinder", 0.3),
}
BODY = """\
<body name="{0}" pos="{1}"><joint name="{0}" axis="{2}" damping="0.02"/><geom type="capsule" fromto="0 0 0 0.3 0 0" \
size="0.03" mass="{3}"/>
"""


def triple(rng, size):
    return " ".join(f"{rng.uniform(-size, size):.6f}" for _ in range(3))


def write(path, rng, shape, side):
    """Three links, each with a fifth of the obstacles; every tendon has its ends on other links."""
    inside = {body: [] for body in ("world", "upper", "lower", "hand")}
    bodies = list(inside)
    tendons = []
    for i in range(NTENDON):
        on, a, b = bodies[i % 4], bodies[(i + 1) % 4], bodies[(i + 2 + i // 4 % 2) % 4]
        centre = [rng.uniform(-0.15, 0.3), rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2) + (on == "world")]
        radius = rng.uniform(0.03, 0.12)
        place = " ".join(f"{x:.6f}" for x in centre)
        inside[on].append(f'<geom name="g{i}" type="{shape}" size="{radius:.6f} 0.4" pos="{place}" '
                          f'euler="{triple(rng, 2)}" mass="0.01"/>')
        for end, body in (("a", a), ("b", b)):
            lift = "0 0 1" if body == "world" else "0 0 0"
            spread = [float(x) + float(y) for x, y in zip(triple(rng, 0.35).split(), lift.split())]
            inside[body].append(f'<site name="{end}{i}" pos="{" ".join(f"{x:.6f}" for x in spread)}"/>')
        if side:
            towards = [rng.gauss(0, 1) for _ in range(3)]
            length = sum(x * x for x in towards) ** 0.5
            at = " ".join(f"{c + side * radius * x / length:.6f}" for c, x in zip(centre, towards))
            inside[on].append(f'<site name="s{i}" pos="{at}"/>')
        sided = f' sidesite="s{i}"' if side else ""
        tendons.append(f'<spatial stiffness="{rng.uniform(1, 20):.3f}" damping="0.1" springlength="0.2"><site site="a{i}"/>'
                       f'<geom geom="g{i}"{sided}/><site site="b{i}"/></spatial>')
    with open(path, "w", encoding="utf-8") as out:
        print('<mujoco>\n  <compiler angle="radian"/>\n  <default><geom contype="0" conaffinity="0"/></default>\n'
              "  <worldbody>", file=out)
        print(*inside["world"], sep="\n", file=out)
        links = (("upper", "0 0 1", "0 1 0", 1.3), ("lower", "0.3 0 0", "0 1 0.2", 0.7), ("hand", "0.3 0 0", "0.3 1 0", 0.3))
        for link in links:
            print(BODY.format(*link), *inside[link[0]], sep="\n", file=out)
        print("</body></body></body>\n  </worldbody>\n  <tendon>", *tendons, "  </tendon>\n</mujoco>", sep="\n", file=out)


def main(folder=pathlib.Path(__file__).parent, seed="1"):
    for name, (shape, side) in KINDS.items():
        write(pathlib.Path(folder) / f"{name}.xml", random.Random(f"{name} {seed}"), shape, side)


if __name__ == "__main__":
    main(*sys.argv[1:])

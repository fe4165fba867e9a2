"""What the tools that make robots share: solids with their inertia, the text of links and joints.

A robot is a Robot to which links and joints are added in the order in which the file has them.  A
link is made of solids, all of one density; its centre of mass and inertia are theirs.
"""
import math

QUARTER = "1.5707963267948966"
TURN = {"x": f"0 {QUARTER} 0", "y": f"{QUARTER} 0 0"}


class Solid:
    """One shape of a link.  drawn, heavy, solid: is it seen, does it weigh, can it be touched."""

    def __init__(self, shape, size, at, colour, **how):
        self.shape, self.size, self.at, self.colour = shape, size, at, colour
        self.axis = how.get("axis", "z")
        self.drawn = how.get("drawn", True)
        self.heavy = how.get("heavy", True)
        self.solid = how.get("solid", False)

    def volume(self):
        if self.shape == "box":
            return self.size[0] * self.size[1] * self.size[2]
        if self.shape == "sphere":
            return 4 / 3 * math.pi * self.size[0] ** 3
        return math.pi * self.size[0] ** 2 * self.size[1]

    def moments(self, mass):
        """About the own centre: xx, yy, zz."""
        if self.shape == "box":
            return box_moments(mass, *self.size)
        if self.shape == "sphere":
            return [mass * 2 / 5 * self.size[0] ** 2] * 3
        return cylinder_moments(mass, *self.size, self.axis)

    def geometry(self, number):
        if self.shape == "box":
            return f'<box size="{numbers(self.size, number)}"/>'
        if self.shape == "sphere":
            return f'<sphere radius="{number(self.size[0])}"/>'
        return f'<cylinder radius="{number(self.size[0])}" length="{number(self.size[1])}"/>'

    def origin(self, number):
        turn = f' rpy="{TURN[self.axis]}"' if self.axis in TURN else ""
        return f'<origin xyz="{numbers(self.at, number)}"{turn}/>'


def box(size, at, colour, **how):
    return Solid("box", size, at, colour, **how)


def ball(radius, at, colour, **how):
    return Solid("sphere", (radius,), at, colour, **how)


def cylinder(radius, length, at, colour, **how):
    return Solid("cylinder", (radius, length), at, colour, **how)


def box_moments(mass, x, y, z):
    return [mass / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y)]


def cylinder_moments(mass, radius, length, axis="z"):
    across = mass * (length ** 2 / 12 + radius ** 2 / 4)
    moments = [across] * 3
    moments["xyz".index(axis)] = mass * radius ** 2 / 2
    return moments


def numbers(values, number):
    return " ".join(number(v) for v in values)


def inertia(mass, solids):
    """Centre of mass, moments xx yy zz and products xy xz yz about it."""
    heavy = [s for s in solids if s.heavy]
    whole = sum(s.volume() for s in heavy)
    share = [mass * s.volume() / whole for s in heavy]
    com = [sum(m * s.at[k] for m, s in zip(share, heavy)) / mass for k in range(3)]
    moments, products = [0.0] * 3, [0.0] * 3
    for m, solid in zip(share, heavy):
        own = solid.moments(m)
        x, y, z = (solid.at[k] - com[k] for k in range(3))
        for k, arm in enumerate((y * y + z * z, x * x + z * z, x * x + y * y)):
            moments[k] += own[k] + m * arm
        for k, arm in enumerate((x * y, x * z, y * z)):
            products[k] -= m * arm
    return com, moments, products


class Robot:
    def __init__(self, name, about, colours, digits):
        """digits: how many significant ones numbers have; colours: {name: "r g b"}."""
        self.digits = digits
        self.text = f'<?xml version="1.0"?>\n<!--\n{about}-->\n<robot name="{name}">\n'
        for colour, rgb in colours.items():
            self.text += f'  <material name="{colour}"><color rgba="{rgb} 1"/></material>\n'

    def number(self, value):
        # what sums leave of a zero is none
        value = 0.0 if abs(value) < 1e-12 else value
        text = format(value, f".{self.digits}g")
        return format(float(text), "f").rstrip("0").rstrip(".") if "e" in text else text

    def section(self, title):
        self.text += f"\n  <!-- {title} -->\n"

    def link(self, name, mass=0, solids=(), given=None, why=""):
        """given: (com, moments, products) instead of those of the solids."""
        if not mass:
            self.text += f'\n  <link name="{name}"/>\n'
            return
        self.text += f'\n  <link name="{name}">\n'
        com, moments, products = given or inertia(mass, solids)
        self.text += "    <inertial>\n"
        self.text += why
        self.text += f'      <origin xyz="{numbers(com, self.number)}"/>\n'
        self.text += f'      <mass value="{self.number(mass)}"/>\n'
        names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        entries = [f'{n}="{self.number(v)}"' for n, v in zip(names, moments + products)]
        self.text += f'      <inertia {" ".join(entries)}/>\n    </inertial>\n'
        for kind, chosen in (("visual", "drawn"), ("collision", "solid")):
            for solid in (s for s in solids if getattr(s, chosen)):
                self.shape(kind, solid)
        self.text += "  </link>\n"

    def shape(self, kind, solid):
        self.text += f"    <{kind}>\n      {solid.origin(self.number)}\n"
        self.text += f"      <geometry>{solid.geometry(self.number)}</geometry>\n"
        if kind == "visual":
            self.text += f'      <material name="{solid.colour}"/>\n'
        self.text += f"    </{kind}>\n"

    def joint(self, name, parent, child, at, axis, kind="revolute", limit=None, dynamics=None):
        """limit: lower, upper, effort, velocity; dynamics: damping, friction."""
        self.text += f'\n  <joint name="{name}" type="{kind}">\n'
        self.text += f'    <parent link="{parent}"/>\n    <child link="{child}"/>\n'
        self.text += f'    <origin xyz="{numbers(at, self.number)}"/>\n'
        if axis:
            self.text += f'    <axis xyz="{axis}"/>\n'
        if limit:
            lower, upper, effort, velocity = (self.number(v) for v in limit)
            self.text += (f'    <limit lower="{lower}" upper="{upper}" effort="{effort}" '
                          f'velocity="{velocity}"/>\n')
        if dynamics:
            damping, friction = (self.number(v) for v in dynamics)
            self.text += f'    <dynamics damping="{damping}" friction="{friction}"/>\n'
        self.text += "  </joint>\n"

    def finish(self):
        return self.text + "</robot>\n"

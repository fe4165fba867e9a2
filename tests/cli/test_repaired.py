"""Repaired robots: M, bias and acceleration equal those of Pinocchio, which gets the repaired inertias.

Skipped where there is no Pinocchio, neither Python's own nor that of tools/install-python.sh."""

import glob
import json
import os
import random
import site
import unittest
import xml.etree.ElementTree as xml

from command import EXTRA, FolderCase, main

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
for packages in glob.glob(os.path.join(ROOT, "build", "venv", "lib", "python3*", "site-packages")):
    site.addsitedir(packages)

try:
    import numpy
    import pinocchio
except ImportError:
    pinocchio = None

TOLERANCE = 1e-9

INERTIAS = ["ixx='0.01' iyy='0.02' izz='0.05' ixy='0.002' ixz='-0.001' iyz='0.003'",
            "ixx='0.03' iyy='-0.001' izz='0.03' ixy='0.01' ixz='0' iyz='0.002'",
            "ixx='0.02' iyy='0.02' izz='0.03' ixy='0' ixz='0.001' iyz='0'",
            "ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='1e-3' ixz='1e-3' iyz='1e-3'"]


def link(name, inertia, mass):
    return (f"<link name='{name}'><inertial><origin xyz='0.1 -0.05 0.2' rpy='0.3 -0.2 0.5'/>"
            f"<mass value='{mass}'/><inertia {inertia}/></inertial></link>")


def joint(name, parent, child, kind):
    return (f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>"
            "<origin xyz='0.1 0.2 0.3' rpy='0.4 0.5 0.6'/><axis xyz='0.6 0 0.8'/>"
            "<limit lower='2' upper='-2' effort='10' velocity='10'/></joint>")


def robot():
    """A chain of links, three of which no body can be, with swapped limits and a fixed joint."""
    kinds = ["revolute", "prismatic", "fixed", "revolute"]
    text = "<robot name='r'>" + link("a0", INERTIAS[0], 5)
    for i, kind in enumerate(kinds):
        text += link(f"a{i + 1}", INERTIAS[i], 1 + 0.3 * i) + joint(f"j{i}", f"a{i}", f"a{i + 1}", kind)
    return text + "</robot>"


def give_repairs(path, links):
    """The file with the masses and inertias that tabi uses, as text."""
    tree = xml.parse(path)
    used = {l["name"]: l for l in links}
    for node in tree.getroot().findall("link"):
        for child in list(node):
            node.remove(child)
        l = used[node.get("name")]
        inertial = xml.SubElement(node, "inertial")
        xml.SubElement(inertial, "origin", xyz=" ".join(map(repr, l["com"])), rpy="0 0 0")
        xml.SubElement(inertial, "mass", value=repr(l["mass"]))
        names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        xml.SubElement(inertial, "inertia", {n: repr(x) for n, x in zip(names, l["inertia"])})
    for node in tree.getroot().findall("joint"):
        for child in node.findall("mimic"):
            node.remove(child)
        limit = node.find("limit")
        if limit is not None:
            limit.set("lower", "-1000")
            limit.set("upper", "1000")
    return xml.tostring(tree.getroot(), encoding="unicode")


@unittest.skipUnless(pinocchio, "no pinocchio")
class Repaired(FolderCase):
    def random_state(self, joints):
        rng = random.Random(1)
        draw = lambda: {j: rng.uniform(-1, 1) for j in joints}
        base = {"pos": [0.1, 0.2, 0.9], "quat": [1, 0, 0, 0],
                "lin": [rng.uniform(-1, 1) for _ in range(3)],
                "ang": [rng.uniform(-1, 1) for _ in range(3)]}
        return {"base": base, "q": draw(), "v": draw(), "tau": draw()}

    def pinocchio(self, text, state, dofs):
        """M, bias and acceleration in the coordinates of tabi, at a base that is not turned."""
        model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
        data = model.createData()
        names = dofs[6:]
        q, v, tau = pinocchio.neutral(model), numpy.zeros(model.nv), numpy.zeros(model.nv)
        q[:3] = state["base"]["pos"]
        v[:6] = state["base"]["lin"] + state["base"]["ang"]
        order = list(range(6))
        for name in names:
            j = model.joints[model.getJointId(name)]
            order.append(j.idx_v)
            angle = state["q"][name]
            q[j.idx_q:j.idx_q + j.nq] = angle if j.nq == 1 else [numpy.cos(angle), numpy.sin(angle)]
            v[j.idx_v], tau[j.idx_v] = state["v"][name], state["tau"][name]
        self.assertEqual(len(order), model.nv)
        # the base's velocity is in its own axes, which turn
        turning = numpy.zeros(model.nv)
        turning[:3] = numpy.cross(v[3:6], v[:3])
        mass = pinocchio.crba(model, data, q)
        mass = numpy.triu(mass) + numpy.triu(mass, 1).T
        bias = pinocchio.rnea(model, data, q, v, -turning)
        qdd = pinocchio.aba(model, data, q, v, tau) + turning
        return mass[numpy.ix_(order, order)], bias[order], qdd[order]

    def compare(self, path):
        info = self.json("info", path, "--json", "--base", "free")
        free = self.json("dynamics", path, "--base", "free", "--quiet")
        if not free["dofs"][:1] == ["base.x"]:
            self.fail(f"{path}: no free base")
        state = self.random_state(free["dofs"][6:])
        file = self.file("state.json", json.dumps(state))
        ours = self.json("dynamics", path, "--base", "free", "--quiet", "--state", file)
        theirs = self.pinocchio(give_repairs(path, info["links"]), state, free["dofs"])
        for name, want in zip(("M", "bias", "qdd"), theirs):
            got = numpy.array(ours[name])
            error = abs(got - want).max() / max(1, abs(want).max())
            self.assertLessEqual(error, TOLERANCE, f"{path}: {name}")
        return info["repairs"]

    def test_own(self):
        repairs = self.compare(self.file("own.urdf", robot()))
        self.assertEqual(len([r for r in repairs if "nearest moments" in r["what"]]), 4)

    def test_published(self):
        paths = [p for p in sorted(glob.glob(os.path.join(EXTRA, "robots", "**", "*.urdf"), recursive=True))
                 if "bullet" not in p] if EXTRA else []
        if not paths:
            self.skipTest("no published robots")
        for path in paths:
            with self.subTest(path):
                self.compare(path)


if __name__ == "__main__":
    main()

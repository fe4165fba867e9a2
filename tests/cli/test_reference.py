"""tabi dynamics against results of another program, where they are there."""

import json
import os
import unittest

from command import Case, EXTRA, main

FILES = {"sr1_free": "sr1/SR1.urdf", "sr1_fixed": "sr1/SR1.urdf", "g1_free": "g1/g1.urdf",
         "atlas_free": "atlas/atlas_minimal_contact.urdf"}
TOLERANCE = 1e-9


class Reference(Case):
    def near(self, what, a, b, scale):
        self.assertLessEqual(abs(a - b), TOLERANCE * max(scale, 1e-3), f"{what}: {a} {b}")

    def compare_vectors(self, name, got, want, index):
        scale = max(abs(x) for x in want)
        for i, k in enumerate(index):
            self.near(f"{name}[{i}]", got[k], want[i], scale)

    def compare_links(self, got, want):
        self.assertEqual(set(got), set(want))
        for link, pose in want.items():
            scale = max(1, *(abs(x) for x in pose["pos"]))
            for a, b in zip(got[link]["pos"], pose["pos"]):
                self.near(link, a, b, scale)
            dot = sum(a * b for a, b in zip(got[link]["quat"], pose["quat"]))
            for a, b in zip(got[link]["quat"], pose["quat"]):
                self.near(link, a, b if dot > 0 else -b, 1)

    def compare(self, got, want, fixed):
        self.assertEqual(sorted(got["dofs"]), sorted(want["dofs"]))
        index = [got["dofs"].index(name) for name in want["dofs"]]
        self.compare_vectors("bias", got["bias"], want["bias"], index)
        self.compare_vectors("qdd", got["qdd"], want["qdd"], index)
        scale = max(abs(x) for row in want["M"] for x in row)
        for i, row in zip(index, want["M"]):
            for j, value in zip(index, row):
                self.near(f"M[{i}][{j}]", got["M"][i][j], value, scale)
        self.near("kinetic", got["kinetic"], want["kinetic"], abs(want["kinetic"]))
        self.compare_links(got["links"], want["links"])
        if fixed:
            return
        self.near("mass", got["mass"], want["mass"], want["mass"])
        self.near("potential", got["potential"], want["potential"], abs(want["potential"]))
        self.compare_vectors("com", got["com"], want["com"], range(3))

    def test_all(self):
        for name, model in FILES.items():
            path = os.path.join(EXTRA, "reference", name + ".json")
            if not EXTRA or not os.path.exists(path):
                raise unittest.SkipTest(f"{path} is not there")
            with open(path, encoding="utf-8") as file:
                reference = json.load(file)
            for i, case in enumerate(reference["cases"]):
                with self.subTest(name=name, case=i):
                    got = self.json("dynamics", os.path.join(EXTRA, "models", model), "--base",
                                    reference["base"], "--state", "-",
                                    stdin=json.dumps(case["in"]))
                    self.compare(got, case["out"], reference["base"] == "fixed")


if __name__ == "__main__":
    main()

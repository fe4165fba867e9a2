"""Robots of OpenHRP3 and Choreonoid, as many hands write them: what is read of each is the same robot."""

import os
import re

from command import FolderCase, main

# -- VRML

BOX = "Shape { geometry Box { size 0.1 0.2 0.3 } }"
LEG = ('DEF LEG Joint { jointType "rotate" jointId 0 jointAxis 0 1 0 ulimit [1] llimit [-1] children [ DEF L Segment { mass 1 '
       "centerOfMass 0 0 -0.1 momentsOfInertia [0.1 0 0 0 0.1 0 0 0 0.1] children [ %s ] } ] }" % BOX)
ROBOT = ('DEF robot Humanoid { humanoidBody [ DEF WAIST Joint { jointType "free" translation 0 0 1 children [ DEF B Segment '
         "{ mass 2 momentsOfInertia [0.1 0 0 0 0.1 0 0 0 0.1] children [ %s ] } %s ] } ] joints [USE WAIST USE LEG] "
         "segments [USE B USE L] }\n")
HEAD = "#VRML V2.0 utf8\n"
PROTO = HEAD + """PROTO Joint [ exposedField SFVec3f center 0 0 0 exposedField MFNode children [] exposedField MFFloat llimit []
 exposedField MFFloat ulimit [] exposedField SFString name "" exposedField SFRotation rotation 0 0 1 0
 exposedField SFVec3f translation 0 0 0 exposedField SFString jointType "" exposedField SFInt32 jointId -1
 exposedField SFVec3f jointAxis 0 0 1 ] { Transform { center IS center children IS children rotation IS rotation
 translation IS translation } }
PROTO Segment [ exposedField SFVec3f centerOfMass 0 0 0 exposedField MFNode children [ ] exposedField SFFloat mass 0
 exposedField MFFloat momentsOfInertia [ 0 0 0 0 0 0 0 0 0 ] exposedField SFString name "" eventIn MFNode addChildren ]
{ Group { addChildren IS addChildren children IS children } }
"""
PLAIN = ROBOT % (BOX, LEG)
SENSORS = ("DEF g Gyro { sensorId 0 } DEF a AccelerationSensor { sensorId 0 translation 0 0 0.1 } DEF c VisionSensor { type "
           '"COLOR" width 320 } DEF r RangeSensor { scanAngle 1.5 } DEF p PressureSensor { }')
FACES = ("Shape { geometry IndexedFaceSet { coord DEF C Coordinate { point [0 0 0, 1 0 0, 0 1 0, 0 0 1] } "
         "coordIndex [0 2 1 -1, 0 1 3 -1, 0 3 2 -1, 1 2 3] solid TRUE } }")
MY_BOX = ("PROTO MyBox [ field SFVec3f sz 1 1 1 field SFColor col 1 0 0 ] { Shape { appearance Appearance { material Material { "
          "diffuseColor IS col } } geometry Box { size IS sz } } }\n")
OUTER = ("PROTO Outer [ field SFVec3f sz 1 1 1 ] { PROTO Inner [ field SFVec3f q 1 1 1 ] { Shape { geometry Box { size IS q } } } "
         "Transform { children Inner { q IS sz } } }\n")
EXTRA = ('DEF E1 ExtraJoint { link1Name "WAIST" link2Name "LEG" jointType "xy" jointAxis 0 0 1 }\n'
         'DEF E2 ExtraJoint { link1Name "WAIST" link2Name "LEG" jointType "z" }\n')
WORLD = ('NavigationInfo { type ["EXAMINE","ANY"] }\nBackground { skyColor 0.4 0.6 0.4 }\nViewpoint { position 3 0 0.8 }\n'
         'WorldInfo { title "x" info ["a" "b"] }\n')
TIMER = ("DEF T TimeSensor { cycleInterval 1 loop TRUE }\nDEF O OrientationInterpolator { key [0 1] keyValue [0 0 1 0 0 0 1 1] }\n"
         "ROUTE T.fraction_changed TO O.set_fraction\n")

# what differs from 7 DOF, two shapes and no connection: {"dof", "shapes", "connections"}
VRML = {
    "proto": (PROTO + PLAIN, {}),
    "without protos": (HEAD + PLAIN, {}),
    "axis by letter": (PROTO + PLAIN.replace("jointAxis 0 1 0", 'jointAxis "Y"'), {}),
    "limits as one number": (PROTO + PLAIN.replace("ulimit [1] llimit [-1]", "ulimit 1 llimit -1"), {}),
    "empty limits": (PROTO + PLAIN.replace("ulimit [1] llimit [-1]", "ulimit [] llimit []"), {}),
    "slide": (PROTO + PLAIN.replace('"rotate"', '"slide"'), {}),
    "fixed": (PROTO + PLAIN.replace('"rotate"', '"fixed"'), {"dof": 6}),
    "crawler": (PROTO + PLAIN.replace('"rotate"', '"crawler"'), {"dof": 6}),
    "commas": (PROTO + PLAIN.replace("0.1 0 0 0 0.1 0 0 0 0.1", "0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1"), {}),
    "comments": (PROTO + PLAIN.replace("mass 2", 'mass 2 # a { brace [ and "\n'), {}),
    "numbers": (PROTO + PLAIN.replace("mass 1", "mass 1.").replace("0 0 1 children", ".0 -0.0 +1e0 children"), {}),
    "hexadecimal": (PROTO + PLAIN.replace("jointId 0", "jointId 0x0"), {}),
    "byte order mark": ("\ufeff" + PROTO + PLAIN, {}),
    "line ends of Windows": ((PROTO + PLAIN).replace("\n", "\r\n"), {}),
    "use of a shape": (PROTO + ROBOT % ("DEF BX " + BOX, LEG.replace(BOX, "Transform { children USE BX }")), {}),
    "group": (PROTO + ROBOT % ("Group { children [" + BOX + "," + BOX + "] }", LEG), {"shapes": 3}),
    "switch": (PROTO + ROBOT % ("Switch { whichChoice 0 choice [" + BOX + "] }", LEG), {}),
    "levels of detail": (PROTO + ROBOT % ("LOD { range [1] level [" + BOX + "," + BOX + "] }", LEG), {}),
    "inline": (PROTO + ROBOT % ('Inline { url "part.wrl" }', LEG), {}),
    "inline that is missing": (PROTO + ROBOT % ('Inline { url [ "nowhere.wrl" ] }', LEG), {"shapes": 1}),
    "faces": (PROTO + ROBOT % (BOX + FACES, LEG), {"shapes": 4}),
    "lines": (PROTO + ROBOT % (BOX + "Shape { geometry IndexedLineSet { coord Coordinate { point [0 0 0 1 0 0] } coordIndex [0 1] } }",
                               LEG), {}),
    "sensors": (PROTO + ROBOT % (BOX + SENSORS, LEG), {}),
    "extra joints": (PROTO + PLAIN + EXTRA, {"connections": 2}),
    "world": (PROTO + WORLD + PLAIN, {}),
    "routes": (PROTO + PLAIN + TIMER, {}),
    "extern proto": (HEAD + 'EXTERNPROTO Foo [ field SFFloat a ] "foo.wrl#Foo"\n' + PLAIN, {}),
    "own proto": (PROTO + MY_BOX + ROBOT % ("MyBox { sz 0.1 0.1 0.1 }", LEG), {}),
    "proto in a proto": (PROTO + OUTER + ROBOT % ("Outer { sz 0.1 0.1 0.1 }", LEG), {}),
    "no lists": (PROTO + re.sub(r" joints \[.*\]", "", PLAIN), {}),
    "segment without a name": (PROTO + PLAIN.replace("DEF L Segment", "Segment").replace("USE L]", "]"), {}),
    "name as a field": (PROTO + PLAIN.replace("DEF LEG Joint {", 'Joint { name "LEG"').replace("USE LEG]", "]"), {}),
    "unknown fields": (PROTO + PLAIN.replace("jointId 0", "jointId 0 jollity 5 frobs [ 1 2 ] zz NULL yy Foo { a 1 }"), {}),
}

# -- .body

OLD = "format: ChoreonoidBody\nformatVersion: 1.0\nangleUnit: degree\nname: r\n"
NEW = "format: ChoreonoidBody\nformat_version: 2.0\nname: r\nroot_link: BASE\n"
LINKS = """links:
  - name: BASE
    jointType: free
    translation: [0, 0, 1]
    mass: 2
    inertia: [0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1]
    elements: &box
      - type: Shape
        geometry: { type: Box, size: [0.1, 0.2, 0.3] }
        appearance: { material: { diffuseColor: [1, 0, 0] } }
  - name: LEG
    parent: BASE
    jointType: revolute
    jointAxis: Y
    jointId: 0
    jointRange: [-90, 90]
    maxJointVelocity: 200
    gearRatio: 100
    rotorInertia: 1e-5
    translation: [0, 0, -0.2]
    rotation: [0, 0, 1, 90]
    mass: 1
    centerOfMass: [0, 0, -0.1]
    inertia: [0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.12]
    elements: *box
"""
SOLID = """    elements:
      RigidBody: { mass: 1, centerOfMass: [0,0,-0.1], inertia: [0.1,0,0,0.1,0,0.12],
                   elements: { Shape: { geometry: { type: Cylinder, radius: 0.1, height: 0.2 } } } }
"""
SPLIT = """    elements:
      - { type: Visual, elements: [ { type: Shape, geometry: { type: Sphere, radius: 0.1 } } ] }
      - { type: Collision, elements: [ { type: Shape, geometry: { type: Capsule, radius: 0.1, height: 0.2 } } ] }
"""
DEVICES = """    elements:
      - { type: ForceSensor, name: f, id: 0 }
      - { type: RateGyroSensor, name: g, id: 0 }
      - { type: AccelerationSensor, name: a, id: 0 }
      - { type: Camera, name: c, width: 320 }
      - { type: SpotLight, name: s }
      - { type: IMU, name: i, id: 1 }
"""
OLD_EXTRA = "extraJoints:\n  - { link1Name: BASE, link2Name: LEG, jointType: %s, axis: [0,1,0], link1LocalPos: [0,0,-0.2] }\n"


def snake(text):
    """Keys of the second version of the format."""
    return re.sub(r"\b[a-z0-9]+[A-Z]\w*(?=:)", lambda m: re.sub("[A-Z]", lambda c: "_" + c[0].lower(), m[0]), text)


def leg(text, replaced="    elements: *box\n"):
    return LINKS.replace(replaced, text)


BODY = {
    "version 1": (OLD + LINKS, {}),
    "version 2": (NEW + snake(LINKS), {}),
    "both spellings": (OLD + snake(LINKS), {}),
    "no root named": (NEW.replace("root_link: BASE\n", "") + snake(LINKS), {}),
    "axis as numbers": (OLD + LINKS.replace("jointAxis: Y", "jointAxis: [0, 1, 0]"), {}),
    "axis backwards": (OLD + LINKS.replace("jointAxis: Y", "jointAxis: -y"), {}),
    "fixed": (OLD + LINKS.replace("revolute", "fixed"), {"dof": 6}),
    "slide": (OLD + LINKS.replace("revolute", "slide"), {}),
    "prismatic": (OLD + LINKS.replace("revolute", "prismatic"), {}),
    "track": (OLD + LINKS.replace("revolute", "pseudoContinuousTrack"), {"dof": 6}),
    "unlimited": (OLD + LINKS.replace("[-90, 90]", "unlimited"), {}),
    "one limit": (OLD + LINKS.replace("[-90, 90]", "45"), {}),
    "radian": (OLD.replace("degree", "radian") + LINKS.replace("[-90, 90]", "[-1.5, 1.5]").replace("1, 90]", "1, 1.57]"), {}),
    "two rotations": (OLD + LINKS.replace("rotation: [0, 0, 1, 90]", "rotation: [[0,0,1,90],[1,0,0,10]]"), {}),
    "ball": (OLD + LINKS + OLD_EXTRA % "ball", {"connections": 1}),
    "hinge": (NEW + snake(LINKS + OLD_EXTRA % "hinge"), {"connections": 1}),
    "piston": (OLD + LINKS + OLD_EXTRA % "piston", {"connections": 1}),
    "devices": (OLD + leg(DEVICES), {"shapes": 1}),
    "solid": (OLD + leg(SOLID, LINKS[LINKS.rindex("    mass: 1"):]), {}),
    "seen and touched": (OLD + leg(SPLIT), {"shapes": 3}),
    "file that is missing": (OLD + leg('    elements: [ { type: Resource, uri: "missing.stl" } ]\n'), {"shapes": 1}),
    "groups": (OLD + LINKS + "linkGroup:\n  - name: UP\n    links: [ BASE, LEG ]\nstandardPose: [ 30 ]\n", {}),
    "line ends of Windows": ((OLD + LINKS).replace("\n", "\r\n"), {}),
}


class Dialects(FolderCase):
    def check(self, name, text, differs):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        r = self.json("info", path, "--json", "--quiet")
        expected = {"dof": 7, "shapes": 2, "connections": 0, **differs}
        found = {"dof": r["dof"], "shapes": r["counts"]["shapes"], "connections": r["counts"]["connections"]}
        self.assertEqual(found, expected)
        self.assertAlmostEqual(r["mass"], 3, 12)

    def test_vrml(self):
        with open(os.path.join(self.folder, "part.wrl"), "w", encoding="utf-8") as out:
            out.write(HEAD + BOX)
        for name, (text, differs) in VRML.items():
            with self.subTest(name):
                self.check("r.wrl", text, differs)

    def test_body(self):
        for name, (text, differs) in BODY.items():
            with self.subTest(name):
                self.check("r.body", text, differs)


if __name__ == "__main__":
    main()

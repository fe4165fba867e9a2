/* bad_inputs.c - the table.  Numbers in comments count the cases as the project lists them. */
#include "bad_inputs.h"

#include "support/scratch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INERTIAL                                                                 \
  "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' " \
  "iyz='0'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>\n"
#define JOINT(name, a, b, more)                                                               \
  "<joint name='" name "' type='continuous'><parent link='" a "'/><child link='" b "'/>" more \
  "</joint>\n"
#define ROBOT(body) "<robot name='r'>\n" body "</robot>\n"
#define MASS(value)                                                            \
  "<robot name='r'>\n<link name='a'>\n<inertial>\n<mass value='" value "'/>\n" \
  "<inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>\n"
#define INERTIA(moments)                                                            \
  "<robot name='r'>\n<link name='a'><inertial><mass value='1'/>\n<inertia " moments \
  "/></inertial></link></robot>\n"
#define SHAPE(geometry)                                                           \
  "<robot name='r'>\n<link name='a'>" INERTIAL "<collision><geometry>\n" geometry \
  "</geometry></collision></link></robot>\n"
#define BODY(inside) "<mujoco><worldbody>\n<body name='b'" inside "</body></worldbody></mujoco>\n"

static void make_picture(const char *file) {
  scratch_write(file, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
}

static void make_utf16(const char *file) { scratch_write(file, "\xff\xfe<\0r\0/\0>\0", 10); }

static void make_laughs(const char *file) {
  char text[4096] = "<?xml version='1.0'?>\n<!DOCTYPE r [\n<!ENTITY l0 'ha'>\n";
  for (int i = 1; i < 30; ++i) {
    int k = i - 1;
    scratch_append(text, sizeof text, "<!ENTITY l%d '&l%d;&l%d;&l%d;&l%d;'>\n", i, k, k, k, k);
  }
  scratch_append(text, sizeof text, "]>\n<robot name='&l29;'/>\n");
  scratch_text(file, text);
}

/* The entity is a pipe without a writer: a parser that opens it hangs. */
static void make_xxe(const char *file) {
  char text[2048];
  const char *pipe = scratch_path("secret");
  (void)unlink(pipe);
  if (mkfifo(pipe, 0600) != 0) abort();
  (void)snprintf(text, sizeof text,
                 "<!DOCTYPE robot [<!ENTITY x SYSTEM 'file://%s'>]>\n<robot name='r'>&x;</robot>\n",
                 pipe);
  scratch_text(file, text);
}

static void make_deep(const char *file) {
  enum { DEPTH = 10000, PART = 4 };
  char *text = malloc((size_t)DEPTH * PART + 1);
  if (!text) abort();
  for (size_t i = 0; i < DEPTH; ++i)
    memcpy(text + PART * i, "<a>\n", PART);
  scratch_write(file, text, (size_t)DEPTH * PART);
  free(text);
}

static void make_huge(const char *file) {
  const char *path = scratch_text(file, "<robot name='r'/>");
  if (truncate(path, (off_t)65 * 1024 * 1024) != 0) abort();
}

static void make_link_out(const char *file) {
  (void)file;
  const char *path = scratch_path("out.stl");
  (void)unlink(path);
  if (symlink("/etc/passwd", path) != 0) abort();
}

static void make_stl(const char *name, uint32_t declared, size_t faces, const float *corners) {
  unsigned char bytes[84 + 50 * 12] = {0};
  memcpy(bytes + 80, &declared, 4);
  for (size_t i = 0; i < faces; ++i)
    memcpy(bytes + 84 + 50 * i + 12, corners + 9 * i, 36);
  scratch_write(name, bytes, 84 + 50 * faces);
}

static void make_count(const char *file) {
  (void)file;
  make_stl("count.stl", 0xffffffffu, 0, NULL);
}

static void make_nan(const char *file) {
  (void)file;
  const uint32_t bits = 0x7fc00000u;
  float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  memcpy(&corners[7], &bits, sizeof bits);
  make_stl("nan.stl", 1, 1, corners);
}

#define EIGHT "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"

static void make_index99(const char *file) {
  (void)file;
  scratch_text("i99.obj", EIGHT "f 1 2 3\nf 1 2 4\nf 1 2 5\nf 1 2 6\nf 1 2 99\n");
}

static void make_index0(const char *file) {
  (void)file;
  scratch_text("i0.obj", EIGHT "f 1 2 3\nf 0 1 2\n");
}

static void make_flat(const char *file) {
  (void)file;
  const float corners[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0};
  make_stl("flat.stl", 2, 2, corners);
}

static void make_cycle(const char *file) {
  (void)file;
  scratch_text("b.xml", "<mujocoinclude><include file='a.xml'/></mujocoinclude>\n");
}

/* columns of clang-format would move with every row */
// clang-format off
const bad_input bad_inputs[] = {
  // 1 to 9: not a text that could be a robot
    {"empty.urdf", "", NULL, 1, "file is empty"},
    {"white.urdf", " \n\n", NULL, 1, "file is empty"},
    {"trunc.urdf", "<robot name='r'>\n<link name='a'>\n<link nam", NULL, 3,
     "XML not well-formed: unclosed tag 'link' opened at line 3"},
    {"unclosed.urdf", "<robot name='r'>\n<link name='a'>\n</robot>\n", NULL, 3,
     "XML not well-formed: unclosed tag 'link' opened at line 2"},
    {"notxml.urdf", NULL, make_picture, 1, "not an XML text file (byte 0x89 at offset 0)"},
    {"utf16.urdf", NULL, make_utf16, 1, "invalid UTF-8 at byte 0; save as UTF-8"},
    {"latin1.urdf", "<robot name='r'>\n<link name='\xe4'/></robot>\n", NULL, 2,
     "invalid UTF-8 at byte 29; save as UTF-8"},
    {"doctype.urdf", "<?xml version='1.0'?>\n<!DOCTYPE robot>\n<robot name='r'/>\n", NULL, 2,
     "DOCTYPE and entities are not allowed"},
    {"entity.urdf", "<robot name='r'>\n<link name='&a;'/></robot>\n", NULL, 2,
     "DOCTYPE and entities are not allowed"},
    {"laughs.xml", NULL, make_laughs, 2, "DOCTYPE and entities are not allowed"},
    {"xxe.xml", NULL, make_xxe, 1, "DOCTYPE and entities are not allowed"},
    {"deep10k.xml", NULL, make_deep, 257, "nesting depth exceeds 256 at line 257"},
    {"huge65MB.urdf", NULL, make_huge, 1, "file is 65 MB, limit 64 MB"},
    {"html.urdf", "<html/>\n", NULL, 1, "expected <robot> (URDF), <mujoco> (MJCF) or <sdf>"},
    {"part.xml", "<mujocoinclude/>\n", NULL, 1, "<mujocoinclude> is only a part"},
 // 10 to 17: names and the tree
    {"dup_link.urdf", ROBOT(LINK("a") LINK("a")), NULL, 3,
     "link 'a' defined twice (first at line 2)"},
    {"dup_joint.urdf",
     ROBOT(LINK("a") LINK("b") LINK("c") JOINT("j", "a", "b", "") JOINT("j","a", "c", "")), NULL,
     6, "joint 'j' defined twice (first at line 5)"},
    {"no_name.urdf", ROBOT("<link/>\n"), NULL, 2, "link without 'name'"},
    {"no_joint_name.urdf", ROBOT(LINK("a") "<joint type='fixed'/>\n"), NULL, 3,
     "joint without 'name'"},
    {"no_links.urdf", "<robot name='r'/>\n", NULL, 1, "robot without links"},
    {"cycle.urdf", ROBOT(LINK("a") LINK("b") JOINT("j", "a", "b", "") JOINT("k","b", "a", "")),
     NULL, 5, "kinematic loop: a -> b -> a"},
    {"self_joint.urdf", ROBOT(LINK("a") JOINT("j", "a", "a", "")), NULL, 3,
     "joint 'j': parent and child are both 'a'"},
    {"two_roots.urdf", ROBOT(LINK("a") LINK("b")), NULL, 3, "two root links: 'a', 'b'"},
    {"two_parents.urdf",
     ROBOT(LINK("a") LINK("b") LINK("c") JOINT("j1", "a", "c", "") JOINT("j2","b", "c", "")), NULL,
     6, "link 'c' has two parent joints: 'j1','j2'"},
    {"missing_link.urdf", ROBOT(LINK("a") JOINT("j", "a", "x", "")), NULL, 3,
     "joint 'j': child link 'x' does not exist"},
    {"missing_parent.urdf", ROBOT(LINK("a") JOINT("j", "x","a","")), NULL, 3,
     "joint 'j': parent link 'x' does not exist"},
 // 18 to 24: masses, inertia, numbers
    {"neg_mass.urdf", MASS("-1"), NULL, 2, "link 'a': mass -1 must be >= 0"},
    {"nan_mass.urdf", MASS("nan"), NULL, 4, "link 'a': mass 'nan' is not a finite number"},
    {"inf_mass.urdf", MASS("-Infinity"), NULL, 4,
     "link 'a': mass '-Infinity' is not a finite number"},
    {"big_mass.urdf", MASS("1e999"), NULL, 4, "link 'a': mass '1e999' is not a finite number"},
    {"comma.urdf", MASS("1,5"), NULL, 4, "mass '1,5' is not a number (use a point)"},
    {"trailing.urdf", MASS("1.0kg"), NULL, 4, "unexpected 'kg' after number"},
    {"hexadecimal.urdf", MASS("0x1p3"), NULL, 4, "unexpected 'x1p3' after number"},
    {"no_number.urdf", MASS(""), NULL, 4, "link 'a': mass '' is not a number"},
    {"newline.urdf", MASS("a&#10;b"), NULL, 4, "link 'a': mass 'a' is not a number"},
 // 25 to 28: joints
    {"axis.urdf", ROBOT(LINK("a") LINK("b") JOINT("j", "a", "b", "<axis xyz='0 0 0'/>")), NULL, 4,
     "joint 'j': axis has zero length"},
    {"no_limit.urdf",
     ROBOT(LINK("a") LINK("b") "<joint name='j' type='revolute'><parent link='a'/>"
                               "<child link='b'/></joint>\n"),
     NULL, 4, "joint 'j': revolute needs <limit>; use 'continuous' for none"},
    {"hinge.urdf", ROBOT(LINK("a") LINK("b") "<joint name='j' type='hinge'/>\n"), NULL, 4,
     "joint 'j': unknown type 'hinge' (revolute, continuous, prismatic, fixed, floating, planar, "
     "spherical)"},
    {"xyz.urdf", ROBOT(LINK("a") LINK("b") JOINT("j", "a", "b", "<origin xyz='1 2'/>")), NULL, 4,
     "joint 'j': xyz needs 3 numbers, got 2"},
    {"xacro.urdf", ROBOT("<xacro:macro name='m'/>\n"), NULL, 2, "expand the file by xacro first"},
 // 30 to 32: shapes
    {"quat.xml", BODY(" quat='0 0 0 0'><freejoint/><geom size='0.1'/>"), NULL, 2,
     "body 'b': quaternion has zero length"},
    {"box.urdf", SHAPE("<box size='0.1 0.1'/>"), NULL, 3, "box needs 3 sizes, got 2"},
    {"box.xml", BODY("><freejoint/><geom name='g' type='box' size='0.1 0.1'/>"), NULL, 2,
     "geom 'g': box needs 3 sizes, got 2"},
    {"radius.urdf", SHAPE("<sphere radius='-0.1'/>"), NULL, 3, "radius must be > 0"},
    {"radius_nan.urdf", SHAPE("<cylinder radius='nan' length='1'/>"), NULL, 3,
     "radius must be > 0"},
    {"radius.xml", BODY("><freejoint/><geom name='g' size='-0.1'/>"), NULL, 2,
     "geom 'g': radius must be > 0"},
    {"radius_nan.xml", BODY("><freejoint/><geom name='g' size='nan'/>"), NULL, 2,
     "geom 'g': radius must be > 0"},
 // 33 to 38: other files
    {"escape.urdf", SHAPE("<mesh filename='package://../../etc/passwd'/>"), NULL, 3,
     "mesh path leaves the model's package"},
    {"escape_rest.urdf", SHAPE("<mesh filename='package://p/../../x.stl'/>"), NULL, 3,
     "mesh path leaves the model's package"},
    {"escape_plain.urdf", SHAPE("<mesh filename='a/../../../x'/>"), NULL, 3,
     "mesh path leaves the model's package"},
    {"escape_percent.urdf", SHAPE("<mesh filename='%2e%2E/%2e%2E/x.stl'/>"), NULL, 3,
     "mesh path leaves the model's package"},
    {"escape_absolute.urdf", SHAPE("<mesh filename='file:///etc/passwd'/>"), NULL, 3,
     "mesh path leaves the model's package"},
    {"escape_link.urdf", SHAPE("<mesh filename='out.stl'/>"), make_link_out, 3,
     "mesh path leaves the model's package"},
    {"stl_count.urdf", SHAPE("<mesh filename='count.stl'/>"), make_count, 3,
     "STL declares 4294967295 faces, file has room for 0"},
    {"obj_99.urdf", SHAPE("<mesh filename='i99.obj'/>"), make_index99, 3,
     "face 5 uses vertex 99 of 8"},
    {"obj_0.urdf", SHAPE("<mesh filename='i0.obj'/>"), make_index0, 3, "face 2 uses vertex 0 of 8"},
    {"stl_nan.urdf", SHAPE("<mesh filename='nan.stl'/>"), make_nan, 3, "vertex 3 not finite"},
    {"flat.xml",
     "<mujoco><asset><mesh name='m' file='flat.stl'/></asset><worldbody>\n"
     "<body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>\n", make_flat, 0, "mesh 'm': volume is zero; give <inertial>"},
    {"self.xml", "<mujoco>\n<include file='self.xml'/></mujoco>\n", NULL, 0,
     "include cycle: self.xml -> self.xml"},
    {"a.xml", "<mujoco>\n<include file='b.xml'/></mujoco>\n", make_cycle, 0,
     "include cycle: a.xml -> b.xml -> a.xml"},
};
const size_t bad_input_count = sizeof bad_inputs / sizeof *bad_inputs;

const bad_input odd_inputs[] = {
  // 29 and 34
    {"start.urdf",
     ROBOT(LINK("a")
               LINK("b") "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                         "<limit lower='0.26' upper='1.40' effort='1' velocity='1'/></joint>\n"),
     NULL, 4, "joint 'j': start 0 outside [0.26,1.40]"},
    {"no_mesh.urdf", SHAPE("<mesh filename='m.stl'/>"), NULL, 3,
     "mesh 'm.stl' not found (looked in: "},
    {"no_package.urdf", SHAPE("<mesh filename='package://p/m.stl'/>"), NULL, 3,
     "; name the folder of its package by --package-path"},
    {"mimic.urdf", ROBOT(LINK("a") LINK("b") JOINT("j", "a", "b", "<mimic joint='k'/>")), NULL, 4,
     "joint 'j': mimics 'k', which does not exist, coupling left out"},
    {"plane.urdf",
     ROBOT(
         "<link name='p'><collision><geometry><box size='9 9 1'/></geometry></collision></link>\n"),
     NULL, 2, "link 'p': root without mass, fixed in the world"},
    {"ignored.urdf", ROBOT(LINK("a") "<gadget/>\n<gadget/>\n"), NULL, 3,
     "<gadget> is ignored (2 times): no such element in <robot> of URDF"},
};
const size_t odd_input_count = sizeof odd_inputs / sizeof *odd_inputs;

const bad_input repaired_inputs[] = {
  // 20 to 22, 26 and 30
    {"zero_mass_moving.urdf", ROBOT(LINK("r") "<link name='a'/>\n" JOINT("j", "r", "a", "")), NULL,
     3, "link 'a': no mass, but joint 'j' moves it and nothing heavier hangs from it"},
    {"not_pd.urdf", INERTIA("ixx='1' iyy='1' izz='-0.01'"), NULL, 3,
     "link 'a': inertia not positive definite (eigenvalue -0.01)"},
    {"triangle.urdf", INERTIA("ixx='0.015' iyy='0.079' izz='0.097'"), NULL, 3,
     "link 'a': inertia violates A+B>=C (0.015+0.079<0.097)"},
    {"lower.urdf",
     ROBOT(LINK("a") LINK("b") "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                               "<limit lower='1' upper='-1'/></joint>\n"),
     NULL, 4, "joint 'j': lower 1 > upper -1"},
    {"triangle.xml", BODY("><freejoint/>\n<inertial mass='1' pos='0 0 0' diaginertia='1 2 4'/>"),
     NULL, 3, "body 'b': inertia violates A+B>=C (1+2<4)"},
    {"range.xml", BODY("><joint name='j' range='90 -90'/><geom size='0.1'/>"), NULL, 2,
     "joint 'j': lower 90 > upper -90"},
    {"key.xml",
     "<mujoco><worldbody><body name='b'><freejoint name='f'/><geom "
     "size='0.1'/></body></worldbody>\n"
     "<keyframe><key name='k' qpos='0 0 0 0 0 0 0'/></keyframe></mujoco>\n", NULL, 2, "key 'k': quaternion of joint 'f' has zero length"},
};
const size_t repaired_input_count = sizeof repaired_inputs / sizeof *repaired_inputs;
// clang-format on

const char *bad_input_write(const bad_input *input) {
  if (input->make) input->make(input->file);
  return input->text ? scratch_text(input->file, input->text) : scratch_path(input->file);
}

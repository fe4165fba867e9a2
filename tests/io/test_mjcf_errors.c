/* test_mjcf_errors.c - what is refused in MJCF, with the line and the words that say why. */
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <string.h>

#define GEOM "<geom size='0.1'/>"
/* the inside starts on line 2 */
#define WORLD(inside) "<mujoco><worldbody>\n" inside "</worldbody></mujoco>"
#define BODY(inside)  WORLD("<body name='b'>" inside "</body>")
#define AFTER(inside, rest) \
  "<mujoco><worldbody><body name='b'>" inside "</body></worldbody>\n" rest "</mujoco>"
#define BEFORE(rest) "<mujoco>\n" rest "<worldbody/></mujoco>"

static void check_with(const tabi_load_def *def, const char *text, const char *path, int line,
                       const char *words) {
  tabi_error error = {0};
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status = tabi_builder_load_text(builder, text, strlen(text), path, def, &error);
  // some things only show when all is there
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, &error) : NULL;
  if (model) fail_msg("accepted: %s", text);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  if (line != error.line) fail_msg("line %d of %s: %s", (int)error.line, text, error.message);
  tabi_builder_destroy(builder);
}

static void check(const char *text, const char *path, int line, const char *words) {
  check_with(NULL, text, path, line, words);
}

static void refuse(const char *text, int line, const char *words) {
  check(text, scratch_path("m.xml"), line, words);
}

/* Repaired otherwise. */
static void refuse_strict(const char *text, int line, const char *words) {
  tabi_load_def def = tabi_load_def_default();
  def.strict = true;
  check_with(&def, text, scratch_path("m.xml"), line, words);
  tabi_builder *builder = tabi_builder_create();
  tabi_error error = {0};
  if (tabi_builder_load_text(builder, text, strlen(text), scratch_path("m.xml"), NULL, &error))
    fail_msg("%s", error.message);
  tabi_builder_destroy(builder);
}

#define ENDS         "<joint/>" GEOM "<site name='s'/><site name='t' pos='1 0 0'/>"
#define PATH(inside) "<tendon><spatial name='p'>" inside "</spatial></tendon>"

static void test_paths(void **state) {
  (void)state;
  const char *site = "a geom needs a site before it and one behind it";
  refuse(AFTER(ENDS "<geom name='g' type='box' size='1 1 1'/>",
               PATH("<site site='s'/><geom geom='g'/><site site='t'/>")),
         2, "geom 'g' is neither a sphere nor a cylinder");
#define BALL "<geom name='g' size='0.1'/>"
  refuse(AFTER(ENDS BALL, PATH("<geom geom='g'/><site site='s'/><site site='t'/>")), 2, site);
  refuse(AFTER(ENDS BALL, PATH("<site site='s'/><site site='t'/><geom geom='g'/>")), 2, site);
  refuse(AFTER(ENDS BALL, PATH("<site site='s'/><geom geom='g'/><geom geom='g'/><site site='t'/>")),
         2, site);
  refuse(AFTER(ENDS BALL, PATH("<site site='s'/><pulley divisor='2'/><geom geom='g'/>"
                               "<site site='t'/>")),
         2, site);
  refuse(AFTER(ENDS BALL, PATH("<site site='s'/><geom geom='g' sidesite='u'/><site site='t'/>")), 2,
         "site 'u' does not exist");
}

static void test_frames(void **state) {
  (void)state;
  refuse(WORLD("<body name='b' quat='0 0 0 0'/>"), 2, "body 'b': quaternion has zero length");
  refuse(WORLD("<body name='b' quat='1 0 0'/>"), 2, "body 'b': quat needs 4 numbers, got 3");
  refuse(WORLD("<body name='b' quat='1 0 0 0' euler='0 0 0'/>"), 2, "has both quat and euler");
  refuse(WORLD("<body name='b' zaxis='0 0 0'/>"), 2, "body 'b': zaxis has zero length");
  refuse(WORLD("<body name='b' xyaxes='1 0 0 2 0 0'/>"), 2, "the y axis of xyaxes");
  refuse(WORLD("<body name='b' axisangle='0 0 0 1'/>"), 2, "the axis of axisangle");
  refuse(WORLD("<body name='b' pos='0 0 nan'/>"), 2, "body 'b': pos 'nan' is not a finite number");
  refuse(WORLD("<body name='b' pos='0 0 1,5'/>"), 2, "use a point");
  refuse(BEFORE("<compiler eulerseq='xyw'/>"), 2, "eulerseq 'xyw'");
  refuse(BEFORE("<compiler angle='grad'/>"), 2, "unknown angle 'grad' (radian, degree)");
  refuse(BEFORE("<compiler coordinate='here'/>"), 2, "unknown coordinate 'here' (local, global)");
}

static void test_geoms(void **state) {
  (void)state;
  refuse(BODY("<geom name='g' type='box' size='0.1 0.1'/>"), 2,
         "geom 'g': box needs 3 sizes, got 2");
  refuse(BODY("<geom name='g' type='capsule' size='0.1'/>"), 2, "capsule needs 2 sizes, got 1");
  refuse(BODY("<geom name='g'/>"), 2, "geom 'g': sphere needs 1 size, got 0");
  refuse(BODY("<geom name='g' size='-0.1'/>"), 2, "geom 'g': radius must be > 0");
  refuse(BODY("<geom name='g' size='nan'/>"), 2, "geom 'g': radius must be > 0");
  refuse(BODY("<geom name='g' type='box' size='1 0 1'/>"), 2, "geom 'g': every size must be > 0");
  refuse(BODY("<geom name='g' type='cone' size='1'/>"), 2, "unknown type 'cone' (plane, hfield");
  refuse(BODY("<geom name='g' fromto='0 0 0 0 0 1' size='1'/>"), 2, "a sphere cannot have fromto");
  refuse(BODY("<geom type='capsule' fromto='1 1 1 1 1 1' size='1'/>"), 2, "are the same");
  refuse(BODY("<geom name='g' size='1' mass='-1'/>"), 2, "geom 'g': mass -1 must be >= 0");
  refuse(BODY("<geom name='g' size='1' friction='-1'/>"), 2, "geom 'g': friction -1 must be >= 0");
  refuse(BODY("<geom name='g' size='1' condim='6' friction='1 0 -2'/>"), 2,
         "geom 'g': friction -2 must be >= 0");
  refuse(BODY("<geom name='g' size='1' contype='0.5'/>"), 2, "contype 0.5 must be an integer");
  refuse(BODY("<geom name='g' size='1'/>\n<geom name='g' size='1'/>"), 3,
         "geom 'g': defined twice (first at line 2)");
  refuse(BODY("<geom name='g' type='mesh' mesh='m'/>"), 2, "geom 'g': mesh 'm' does not exist");
  refuse(BODY("<geom name='g' type='mesh'/>"), 2, "geom 'g': attribute 'mesh' is missing");
  refuse_strict(BODY("<geom name='g' size='1' material='m'/>"), 2,
                "geom 'g': material 'm' does not exist (if not strict: left out)");
}

static void test_bodies_and_joints(void **state) {
  (void)state;
  refuse(WORLD("<body name='b'/>\n<body name='b'/>"), 3,
         "body 'b': defined twice (first at line 2)");
  refuse(WORLD("<body name='world'/>"), 2, "the name belongs to the world");
  refuse(BODY("<joint name='j'/>\n<joint name='j'/>"), 3,
         "joint 'j': defined twice (first at line 2)");
  refuse(BODY("<joint name='j' axis='0 0 0'/>"), 2, "joint 'j': axis has zero length");
  refuse(BODY("<joint name='j' type='revolute'/>"), 2,
         "joint 'j': unknown type 'revolute' (free, ball, slide, hinge)");
  refuse_strict(BODY("<joint name='j' limited='true'/>" GEOM), 2,
                "lower 0 must be less than upper 0");
  refuse(BODY("<joint name='j' type='ball' range='5 90'/>"), 2,
         "range of a ball joint starts at 0");
  refuse(BODY("<joint/><freejoint name='f'/>"), 2, "must be the only joint of its body");
  refuse(BODY("<freejoint/><joint name='j'/>"), 2, "must be the only joint of its body");
  refuse(BODY("<body><freejoint name='f'/></body>"), 2, "directly in the worldbody");
  refuse(WORLD("<joint name='j'/>"), 2, "the world cannot have joints");
  refuse(BODY("<joint name='j' stiffness='-1'/>" GEOM), 2, "joint 'j': stiffness -1 must be >= 0");
  refuse(BODY("<joint name='j'/>"), 2, "link 'b': no mass, but joint 'j' moves it");
}

static void test_inertia(void **state) {
  (void)state;
  refuse(BODY("<inertial pos='0 0 0'/>"), 2, "inertial: attribute 'mass' is missing");
  refuse(BODY("<inertial mass='-1'/>"), 2, "mass -1 must be >= 0");
  refuse(BODY("<inertial mass='1' diaginertia='1 1 1' fullinertia='1 1 1 0 0 0'/>"), 2,
         "both diaginertia and fullinertia");
  refuse(BODY("<inertial mass='1' quat='1 0 0 0' fullinertia='1 1 1 0 0 0'/>"), 2,
         "fullinertia is given in body axes");
}

static void test_classes(void **state) {
  (void)state;
  refuse(BODY("<joint name='j' class='c'/>"), 2, "joint 'j': default class 'c' does not exist");
  refuse(WORLD("<body name='b' childclass='c'/>"), 2, "body 'b': default class 'c' does not exist");
  refuse(BEFORE("<default><default/></default>"), 2, "nested default without 'class'");
  refuse(BEFORE("<default><default class='c'/>\n<default class='c'/></default>"), 3,
         "default class 'c' defined twice (first at line 2)");
}

static void test_the_rest(void **state) {
  (void)state;
  refuse(AFTER("", "<actuator><motor name='m' joint='j'/></actuator>"), 2,
         "motor 'm': joint 'j' does not exist");
  refuse(AFTER("", "<equality><weld body1='b' body2='x'/></equality>"), 2,
         "weld: body 'x' does not exist");
  refuse(AFTER("", "<equality><connect body1='b'/></equality>"), 2,
         "attribute 'anchor' is missing");
  refuse(AFTER("", "<equality><weld site1='s' site2='t'/></equality>"), 2,
         "weld: site 's' does not exist");
  refuse(AFTER("", "<equality><connect anchor='0 0 0'/></equality>"), 2,
         "attribute 'body1' is missing");
  refuse(AFTER("<joint name='j' type='ball'/>" GEOM, "<equality><joint joint1='j'/></equality>"), 2,
         "only hinge and slide joints can be coupled");
  refuse(AFTER("", "<contact><exclude body1='b' body2='c'/></contact>"), 2,
         "body 'c' does not exist");
  refuse_strict(AFTER(GEOM, "<keyframe><key name='k' ctrl='1'/></keyframe>"), 2,
                "key 'k': ctrl has 1 numbers instead of 0");
  refuse_strict(AFTER(GEOM, "<keyframe><key name='k' qpos='1'/></keyframe>"), 2,
                "key 'k': qpos has 1 numbers instead of 0");
  refuse_strict(AFTER("<freejoint/>" GEOM, "<keyframe><key name='k' qpos='1 2'/></keyframe>"), 2,
                "key 'k': qpos has 2 numbers instead of 7");
  refuse_strict(
      AFTER("<freejoint name='f'/>" GEOM, "<keyframe><key qpos='1 2 3 0 0 0 0'/></keyframe>"), 2,
      "quaternion of joint 'f' has zero length (if not strict: taken as no rotation)");
  refuse(BEFORE("<option timestep='0'/>"), 2, "option: timestep 0 must be > 0");
}

static void test_files(void **state) {
  (void)state;
  (void)scratch_text("part.xml", "<x/>");
  (void)scratch_text("broken.xml", "<x>");
  refuse(BEFORE("<include/>"), 2, "include: attribute 'file' is missing");
  refuse(BEFORE("<include file='none.xml'/>"), 2, "include: file 'none.xml' not found");
  refuse(BEFORE("<include file='../../x.xml'/>"), 2, "leaves the model's package");
  refuse(BEFORE("<include file='/etc/passwd'/>"), 2, "leaves the model's package");
  refuse(BEFORE("<include file='part.xml'/><include file='./part.xml'/>"), 2, "is included twice");
  refuse(BEFORE("<include file='broken.xml'/>"), 1, "not well-formed");
  refuse(BEFORE("<asset><mesh name='m' file='../../m'/></asset>"), 2,
         "mesh path leaves the model's package");
}

static void test_cycles(void **state) {
  (void)state;
  const char *text = "<mujoco>\n<include file='self.xml'/></mujoco>";
  check(text, scratch_text("self.xml", text), 2, "include cycle: self.xml -> self.xml");
  text = "<mujoco><include file='b.xml'/></mujoco>";
  (void)scratch_text("b.xml", "<x>\n\n<include file='a.xml'/></x>");
  check(text, scratch_text("a.xml", text), 3, "include cycle: a.xml -> b.xml -> a.xml");
  text = "<mujoco><include file='c.xml'/></mujoco>";
  (void)scratch_text("c.xml", "<x><body><include file='./sub/../c.xml'/></body></x>");
  (void)scratch_text("sub/x.xml", "<x/>");
  check(text, scratch_text("d.xml", text), 1, "include cycle: d.xml -> c.xml -> c.xml");
}

/* A flat mesh is fine to look at, but weighs nothing. */
static void test_flat_mesh(void **state) {
  (void)state;
  const char *folder = TABI_SOURCE_DIR "/tests/io/mjcf/m.xml";
  check("<mujoco><asset>\n<mesh name='m' file='flat.stl'/></asset><worldbody><body><freejoint/>"
        "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
        folder, 2, "mesh 'm': volume is zero; give <inertial>");
  check("<mujoco><compiler exactmeshinertia='true'/><asset>\n<mesh name='m' file='flat.stl'/>"
        "</asset><worldbody><body><freejoint/>"
        "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
        folder, 2, "mesh 'm': volume is zero; give <inertial>");
}

/* Without its mesh a body has no mass; with <inertial> a missing mesh is only a pity. */
static void test_missing_mesh(void **state) {
  (void)state;
  check("<mujoco><asset><mesh name='m' file='none.stl'/></asset><worldbody><body><freejoint/>\n"
        "<geom name='g' type='mesh' mesh='m'/></body></worldbody></mujoco>",
        scratch_path("m.xml"), 2, "geom 'g': its mesh is missing");
}

static void test_base(void **state) {
  (void)state;
  const char *text =
      "<mujoco><worldbody>\n<body name='b'><joint/>" GEOM "</body></worldbody></mujoco>";
  tabi_load_def def = tabi_load_def_default();
  tabi_error error = {0};
  def.base = TABI_BASE_FREE;
  tabi_builder *builder = tabi_builder_create();
  assert_int_equal(tabi_builder_load_text(builder, text, strlen(text), "m.xml", &def, &error),
                   TABI_ERR_MODEL);
  assert_non_null(strstr(error.message, "body 'b' has joints of its own"));
  assert_int_equal(error.line, 2);
  tabi_builder_destroy(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_paths),        cmocka_unit_test(test_frames),
      cmocka_unit_test(test_geoms),        cmocka_unit_test(test_bodies_and_joints),
      cmocka_unit_test(test_inertia),      cmocka_unit_test(test_classes),
      cmocka_unit_test(test_the_rest),     cmocka_unit_test(test_files),
      cmocka_unit_test(test_cycles),       cmocka_unit_test(test_flat_mesh),
      cmocka_unit_test(test_missing_mesh), cmocka_unit_test(test_base),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

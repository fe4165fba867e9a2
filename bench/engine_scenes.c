/* engine_scenes.c - quadrupeds, a limp humanoid, a chain, balls and a slope. */
#include "engine_scenes.h"

#include "base/error.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A solid in a builder: a link with one shape around its com. */
typedef struct part {
  tabi_shape_type shape;
  double size[3], mass;
  double com[3]; /* and middle of the shape, link frame */
  int32_t material;
  uint32_t group, mask;
} part;

static void set_inertia(tabi_link_def *link, const part *p) {
  const double *s = p->size;
  if (p->shape == TABI_SHAPE_BOX) {
    for (int k = 0; k < 3; ++k) {
      double a = s[(k + 1) % 3], b = s[(k + 2) % 3];
      link->inertia[k] = p->mass / 12 * (a * a + b * b);
    }
    return;
  }
  // a sphere, drawn out to a rod for a capsule
  double length = p->shape == TABI_SHAPE_CAPSULE ? s[1] : 0;
  for (int k = 0; k < 3; ++k)
    link->inertia[k] =
        p->mass * (0.4 * s[0] * s[0] + (k < 2 ? length * length / 12 + length * s[0] / 4 : 0));
}

static int32_t add_part(tabi_builder *builder, const part *p) {
  tabi_link_def link = tabi_link_def_default();
  tabi_shape_def shape = tabi_shape_def_default();
  char name[32];
  (void)snprintf(name, sizeof name, "part%d", (int)tabi_builder_nlink(builder));
  link.name = name;
  link.mass = p->mass;
  memcpy(link.com, p->com, sizeof link.com);
  set_inertia(&link, p);
  shape.link = tabi_builder_add_link(builder, &link);
  shape.type = p->shape;
  shape.material = p->material;
  shape.group = p->group;
  shape.mask = p->mask;
  shape.collides = p->group != 0;
  memcpy(shape.size, p->size, sizeof shape.size);
  memcpy(shape.pos, p->com, sizeof shape.pos);
  (void)tabi_builder_add_shape(builder, &shape);
  return shape.link;
}

static tabi_joint_def joint_to(int32_t parent, int32_t child, tabi_joint_type type,
                               const double pos[3]) {
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = type;
  joint.parent = parent;
  joint.child = child;
  memcpy(joint.pos, pos, sizeof joint.pos);
  return joint;
}

static void add_free(tabi_builder *builder, int32_t link, const double pos[3]) {
  const double origin[3] = {0};
  tabi_joint_def joint = joint_to(TABI_WORLD, link, TABI_JOINT_FREE, origin);
  memcpy(joint.initial_q, pos, 3 * sizeof(double));
  joint.initial_q[3] = 1;
  (void)tabi_builder_add_joint(builder, &joint);
}

static void add_damped_hinge(tabi_builder *builder, int32_t parent, int32_t child,
                             const double pos[3], int axis, double initial_q, double damping) {
  tabi_joint_def joint = joint_to(parent, child, TABI_JOINT_CONTINUOUS, pos);
  for (int k = 0; k < 3; ++k)
    joint.axis[k] = k == axis;
  joint.initial_q[0] = initial_q;
  joint.damping = damping;
  (void)tabi_builder_add_joint(builder, &joint);
}

static void add_hinge(tabi_builder *builder, int32_t parent, int32_t child, const double pos[3],
                      int axis, double initial_q) {
  add_damped_hinge(builder, parent, child, pos, axis, initial_q, 0);
}

static int32_t add_material(tabi_builder *builder, double friction, double restitution) {
  tabi_material_def def = tabi_material_def_default();
  def.friction = friction;
  def.restitution = restitution;
  def.rest_speed = 0.01;
  return tabi_builder_add_material(builder, &def);
}

static void add_floor(tabi_builder *builder, int32_t material, double tilt) {
  tabi_shape_def plane = tabi_shape_def_default();
  plane.type = TABI_SHAPE_PLANE;
  plane.material = material;
  plane.quat[0] = cos(tilt / 2);
  plane.quat[2] = sin(tilt / 2);
  plane.mask = UINT32_MAX;
  (void)tabi_builder_add_shape(builder, &plane);
}

static tabi_status finish(tbi_bench_scene *scene, tabi_builder *builder, tabi_error *err) {
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return tbi_bench_scene_init(scene, model, err);
}

/* --- quadrupeds */

/* front or hind, left or right: signs of x and y */
static void add_leg(tabi_builder *builder, int32_t base, double x, double y) {
  part hip = {.shape = TABI_SHAPE_SPHERE, .size = {0.05}, .mass = 1.1064, .material = TABI_NONE};
  part thigh = {
      .shape = TABI_SHAPE_CAPSULE,
      .size = {0.03,        0.19  },
      .mass = 1.51,
      .com = { 0, 0.0555 * y, -0.125},
      .material = TABI_NONE
  };
  part shank = {
      .shape = TABI_SHAPE_CAPSULE,
      .size = {0.015,       0.28  },
      .mass = 0.318,
      .com = { 0, -0.008 * y, -0.155},
      .material = TABI_NONE
  };
  part foot = {.shape = TABI_SHAPE_SPHERE,
               .size = {0.03},
               .mass = 0.1923,
               .material = TABI_NONE,
               .group = 2};
  const double haa[3] = {0.2629 * x, 0.115 * y, 0}, hfe[3] = {0.0585 * x, 0.0315 * y, 0};
  const double kfe[3] = {0, 0.111 * y, -0.25}, end[3] = {0, -0.016 * y, -0.31};
  int32_t upper = add_part(builder, &hip), middle = add_part(builder, &thigh);
  int32_t lower = add_part(builder, &shank), tip = add_part(builder, &foot);
  add_hinge(builder, base, upper, haa, 0, 0.03 * y);
  add_hinge(builder, upper, middle, hfe, 1, 0.4 * x);
  add_hinge(builder, middle, lower, kfe, 1, -0.8 * x);
  tabi_joint_def ankle = joint_to(lower, tip, TABI_JOINT_FIXED, end);
  (void)tabi_builder_add_joint(builder, &ankle);
}

static void add_quadruped(tabi_builder *builder, const double pos[3]) {
  const part base = {
      .shape = TABI_SHAPE_BOX,
      .size = {0.531, 0.232, 0.26},
      .mass = 21.39,
      .material = TABI_NONE,
      .group = 2
  };
  int32_t link = add_part(builder, &base);
  add_free(builder, link, pos);
  for (int leg = 0; leg < 4; ++leg)
    add_leg(builder, link, leg < 2 ? 1 : -1, leg % 2 ? -1 : 1);
}

static void add_servos(tbi_bench_scene *scene, double kp, double kd) {
  for (int32_t j = 0; j < tabi_model_njoint(scene->model); ++j) {
    tabi_range q = tabi_model_joint_q(scene->model, j);
    if (q.count != 1) continue;
    scene->servo[j] =
        (tabi_servo){.kp = kp, .kd = kd, .target = scene->q[q.first], .implicit = true};
  }
}

tabi_status tbi_bench_scene_quadrupeds(tbi_bench_scene *scene, int32_t robots, bool floor,
                                       tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  if (floor) add_floor(builder, TABI_NONE, 0);
  int32_t side = (int32_t)ceil(sqrt(robots));
  for (int32_t i = 0; i < robots; ++i) {
    const int32_t column = i % side, row = i / side;
    const double pos[3] = {2.0 * column, 2.0 * row, floor ? 0.54 : 2};
    add_quadruped(builder, pos);
  }
  tabi_status status = finish(scene, builder, err);
  if (status == TABI_OK && floor) add_servos(scene, 40, 1);
  return status;
}

tabi_status tbi_bench_scene_hit(tbi_bench_scene *scene, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  const double none[3] = {0}, robot[3] = {0, 0, 2}, pos[3] = {0, -5, 2};
  const part ball = {.shape = TABI_SHAPE_SPHERE,
                     .size = {0.2},
                     .mass = 10,
                     .material = TABI_NONE,
                     .group = 1,
                     .mask = UINT32_MAX};
  tabi_builder_set_gravity(builder, none);
  add_quadruped(builder, robot);
  add_free(builder, add_part(builder, &ball), pos);
  return finish(scene, builder, err);
}

/* --- a limp humanoid */

/* One more capsule that hangs down from a hinge; returns its link. */
static int32_t add_limb(tabi_builder *builder, int32_t parent, const double at[3], int axis,
                        const double size[3], double initial_q) {
  const part limb = {
      .shape = TABI_SHAPE_CAPSULE,
      .size = {size[0], size[1]     },
      .mass = size[2],
      .com = { 0,      0, -size[1] / 2},
      .material = TABI_NONE,
      .group = size[0] > 0.02 ? 1U : 0U,
      .mask = size[0] > 0.02 ? UINT32_MAX : 0U
  };
  int32_t link = add_part(builder, &limb);
  add_damped_hinge(builder, parent, link, at, axis, initial_q, 1);
  return link;
}

/* Several hinges in one place have a small link between each two. */
static int32_t add_cross(tabi_builder *builder, int32_t parent, const double at[3], int axis) {
  const double small[3] = {0.02, 0.02, 0.2};
  return add_limb(builder, parent, at, axis, small, 0);
}

static void add_human_leg(tabi_builder *builder, int32_t pelvis, double y) {
  const double hip[3] = {0, 0.1 * y, -0.06}, here[3] = {0}, knee[3] = {0, 0, -0.4};
  const double ankle[3] = {0, 0, -0.36}, thigh[3] = {0.06, 0.34, 4.5}, shin[3] = {0.05, 0.3, 2.6};
  int32_t link = add_cross(builder, pelvis, hip, 0);
  link = add_cross(builder, link, here, 2);
  link = add_limb(builder, link, here, 1, thigh, -0.2);
  link = add_limb(builder, link, knee, 1, shin, 0.4);
  link = add_cross(builder, link, ankle, 1);
  const part foot = {
      .shape = TABI_SHAPE_BOX,
      .size = {0.2,  0.08, 0.04 },
      .mass = 1,
      .com = {0.05, 0,    -0.03},
      .material = TABI_NONE,
      .group = 1,
      .mask = UINT32_MAX
  };
  int32_t sole = add_part(builder, &foot);
  add_damped_hinge(builder, link, sole, here, 0, 0, 1);
}

static void add_human_arm(tabi_builder *builder, int32_t torso, double y) {
  const double shoulder[3] = {0, 0.2 * y, 0.24}, here[3] = {0}, elbow[3] = {0, 0, -0.28};
  const double upper[3] = {0.04, 0.24, 1.6}, lower[3] = {0.031, 0.24, 1.2};
  int32_t link = add_cross(builder, torso, shoulder, 0);
  link = add_limb(builder, link, here, 1, upper, 0.2);
  (void)add_limb(builder, link, elbow, 1, lower, -0.5);
}

tabi_status tbi_bench_scene_limp(tbi_bench_scene *scene, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  const part pelvis = {
      .shape = TABI_SHAPE_BOX,
      .size = {0.16, 0.24, 0.12},
      .mass = 6,
      .material = TABI_NONE,
      .group = 1,
      .mask = UINT32_MAX
  };
  const part chest = {
      .shape = TABI_SHAPE_BOX,
      .size = {0.18, 0.3, 0.34},
      .mass = 14,
      .com = {0,    0,   0.15},
      .material = TABI_NONE,
      .group = 1,
      .mask = UINT32_MAX
  };
  const double waist[3] = {0, 0, 0.1}, here[3] = {0}, start[3] = {0, 0, 0.875};
  add_floor(builder, TABI_NONE, 0);
  int32_t hips = add_part(builder, &pelvis);
  add_free(builder, hips, start);
  int32_t link = add_cross(builder, hips, waist, 2);
  link = add_cross(builder, link, here, 1);
  int32_t torso = add_part(builder, &chest);
  add_damped_hinge(builder, link, torso, here, 0, 0, 1);
  for (int side = 0; side < 2; ++side) {
    add_human_leg(builder, hips, side ? -1 : 1);
    add_human_arm(builder, torso, side ? -1 : 1);
  }
  // hips and thighs are neighbours but for the small links between them
  for (int32_t a = 0; a < tabi_builder_nlink(builder); ++a)
    (void)tabi_builder_add_exclusion(builder, hips, a == hips ? torso : a);
  return finish(scene, builder, err);
}

/* --- simple bodies */

tabi_status tbi_bench_scene_chain(tbi_bench_scene *scene, int32_t links, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  const part rod = {
      .shape = TABI_SHAPE_CAPSULE,
      .size = {0.02,   0.16},
      .mass = 1,
      .com = { 0.01, -0.02, -0.1},
      .material = TABI_NONE
  };
  const double weightless[3] = {0};
  tabi_builder_set_gravity(builder, weightless);
  uint64_t seed = 9;
  int32_t last = TABI_WORLD;
  for (int32_t i = 0; i < links; ++i) {
    const double pos[3] = {0, 0, i > 0 ? -0.2 : 0};
    int32_t link = add_part(builder, &rod);
    add_hinge(builder, last, link, pos, i % 3, 0.2 * tbi_random_unit(&seed) - 0.1);
    last = link;
  }
  return finish(scene, builder, err);
}

/* A bar from its hinge, at `pos` of the parent, to `end`. */
static int32_t add_bar(tabi_builder *builder, int32_t parent, const double pos[3],
                       const double end[3]) {
  part bar = {
      .shape = TABI_SHAPE_BOX, .size = {0.4, 0.04, 0.04},
           .mass = 1, .material = TABI_NONE
  };
  for (int k = 0; k < 3; ++k)
    bar.com[k] = end[k] / 2;
  int32_t link = add_part(builder, &bar);
  add_hinge(builder, parent, link, pos, 1, 0);
  return link;
}

tabi_status tbi_bench_scene_loops(tbi_bench_scene *scene, int32_t linkages, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  // crank < rocker < coupler, so that the crank can turn round and nothing ever stands in line
  const double crank[3] = {0.05, 0, -0.2}, coupler[3] = {0.35, 0, -0.1},
               rocker[3] = {0.05, 0, -0.3};
  for (int32_t i = 0; i < linkages; ++i) {
    const double left[3] = {0, 0.2 * i, 0}, right[3] = {0.35, 0.2 * i, 0};
    int32_t first = add_bar(builder, TABI_WORLD, left, crank);
    tabi_connection_def connection = tabi_connection_def_default();
    connection.a = add_bar(builder, first, crank, coupler);
    connection.b = add_bar(builder, TABI_WORLD, right, rocker);
    memcpy(connection.pos_a, coupler, sizeof connection.pos_a);
    memcpy(connection.pos_b, rocker, sizeof connection.pos_b);
    (void)tabi_builder_add_connection(builder, &connection);
  }
  return finish(scene, builder, err);
}

tabi_status tbi_bench_scene_slope(tbi_bench_scene *scene, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  const double tilt = 15 * 3.14159265358979323846 / 180, half = 0.05;
  int32_t stuff = add_material(builder, 0.5, 0);
  part cube = {
      .shape = TABI_SHAPE_BOX,
      .size = {2 * half, 2 * half, 2 * half},
      .mass = 1,
      .material = stuff,
      .group = 1,
      .mask = UINT32_MAX
  };
  add_floor(builder, stuff, tilt);
  const double origin[3] = {0};
  tabi_joint_def joint = joint_to(TABI_WORLD, add_part(builder, &cube), TABI_JOINT_FREE, origin);
  joint.initial_q[0] = half * sin(tilt);
  joint.initial_q[2] = half * cos(tilt);
  joint.initial_q[3] = cos(tilt / 2);
  joint.initial_q[5] = sin(tilt / 2);
  (void)tabi_builder_add_joint(builder, &joint);
  return finish(scene, builder, err);
}

static void add_ball(tabi_builder *builder, double radius, double mass, int32_t material,
                     const double pos[3]) {
  const part ball = {.shape = TABI_SHAPE_SPHERE,
                     .size = {radius},
                     .mass = mass,
                     .material = material,
                     .group = 1,
                     .mask = UINT32_MAX};
  add_free(builder, add_part(builder, &ball), pos);
}

tabi_status tbi_bench_scene_rolling(tbi_bench_scene *scene, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  const double depth = 2e-5, middle[3] = {0, 0, 0.5 - depth};
  // of two materials the larger friction counts, as it does in neutral scenes
  int32_t low = add_material(builder, 0.4, 0), high = add_material(builder, 0.8, 0);
  tabi_material_def pair = tabi_material_def_default();
  pair.friction = 0.8;
  (void)tabi_builder_add_pair(builder, low, high, &pair);
  const part plate = {
      .shape = TABI_SHAPE_BOX,
      .size = {20, 20, 1},
      .mass = 10,
      .material = low,
      .group = 1,
      .mask = UINT32_MAX
  };
  add_floor(builder, low, 0);
  add_free(builder, add_part(builder, &plate), middle);
  for (int i = 0; i < 25; ++i) {
    const int column = i / 5, row = i % 5;
    const double pos[3] = {2 * column - 4, 2 * row - 4, 1.5 - 3 * depth};
    add_ball(builder, 0.5, 1, high, pos);
  }
  return finish(scene, builder, err);
}

tabi_status tbi_bench_scene_bouncing(tbi_bench_scene *scene, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  int32_t stuff = add_material(builder, 0, 1);
  add_floor(builder, stuff, 0);
  for (int i = 0; i < 49; ++i) {
    const int column = i / 7, row = i % 7;
    const double pos[3] = {2 * column, 2 * row, 5};
    add_ball(builder, 0.1, 10, stuff, pos);
  }
  return finish(scene, builder, err);
}

tabi_status tbi_bench_scene_balls(tbi_bench_scene *scene, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  uint64_t seed = 42;
  int32_t stuff = add_material(builder, 0, 0);
  add_floor(builder, stuff, 0);
  for (int i = 0; i < 216; ++i) {
    const int at[3] = {i / 36, i / 6 % 6, i % 6};
    double pos[3];
    for (int k = 0; k < 3; ++k)
      pos[k] = 0.21 * at[k] + 1e-3 * tbi_random_unit(&seed) + (k == 2 ? 0.101 : 0);
    add_ball(builder, 0.1, 10, stuff, pos);
  }
  return finish(scene, builder, err);
}
